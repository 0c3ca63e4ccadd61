// SPDX-License-Identifier: Apache-2.0
// Bad models through ONNXIFI: the right status from both functions that judge a
// model, no handle, and a backend that still works.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/e2e/bad_models.h"
#include "tests/e2e/client.h"
#include "tests/e2e/product.h"

namespace heddle::tests {
namespace {

class BadInput : public testing::Test {
 protected:
  static void SetUpTestSuite() { UseDevice(SimDevice(Configs().front())); }

  void ExpectRefused(const BadModel& bad) {
    SCOPED_TRACE(bad.name);
    const auto allowed = [&bad](int status) {
      return std::count(bad.statuses.begin(), bad.statuses.end(), status) > 0;
    };
    const int verdict =
        Onnxifi().GetBackendCompatibility(backend_.id(), bad.bytes);
    EXPECT_TRUE(allowed(verdict)) << comparer::StatusName(verdict);
    void* graph = &graph;
    const int status = Onnxifi().InitGraph(backend_.get(), bad.bytes, &graph);
    EXPECT_TRUE(allowed(status)) << comparer::StatusName(status);
    EXPECT_EQ(verdict, status) << "the two functions disagree";
    EXPECT_EQ(graph, nullptr);
  }

  void ExpectBackendWorks() {
    Graph graph(backend_, MatMulModel(16, 16, 0.5f));
    ASSERT_EQ(graph.init_status(), status::kSuccess);
    ASSERT_EQ(graph.SetIo(std::vector<float>(16, 1), {1, 16}, {1, 16}),
              status::kSuccess);
    EXPECT_EQ(graph.Run(), status::kSuccess);
    EXPECT_EQ(graph.y(), std::vector<float>(16, 8));
  }

  Backend backend_;
};

TEST_F(BadInput, EachKindHasItsStatus) {
  for (const BadModel& bad : BadModels()) ExpectRefused(bad);
  ExpectBackendWorks();
}

TEST_F(BadInput, TruncatedModels) {
  const std::vector<BadModel> models = TruncatedModels();
  ASSERT_GT(models.size(), 10u);
  for (const BadModel& bad : models) ExpectRefused(bad);
  ExpectBackendWorks();
}

}  // namespace
}  // namespace heddle::tests
