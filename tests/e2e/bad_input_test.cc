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
#include "tests/support/onnx_model.h"

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

// A batch of any size: 4 columns never fit 5 rows. Not left to onnxSetGraphIO.
TEST_F(BadInput, SymbolicModelsThatFitNoShape) {
  const auto product = [](int64_t rows) {
    OnnxModel model(13);
    model.Input("x", {1, 4}).Output("y", {1, 6});
    model.Weights("w", {rows, 6}, std::vector<float>(rows * 6, 1));
    model.Node("MatMul", {"x", "w"}, {"y"});
    onnx::GraphProto* graph = model.proto()->mutable_graph();
    for (onnx::ValueInfoProto* value :
         {graph->mutable_input(0), graph->mutable_output(0)}) {
      value->mutable_type()
          ->mutable_tensor_type()
          ->mutable_shape()
          ->mutable_dim(0)
          ->set_dim_param("N");
    }
    return model.Bytes();
  };
  ExpectRefused(
      {"no batch helps", product(5), {status::kMismatchingShape}, ""});
  EXPECT_EQ(Onnxifi().GetBackendCompatibility(backend_.id(), product(4)),
            status::kSuccess);
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
