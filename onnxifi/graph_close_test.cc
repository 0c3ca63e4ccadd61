// SPDX-License-Identifier: Apache-2.0
// What a call finds that looked a graph up before another thread began to
// release it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "onnxifi/backend.h"
#include "onnxifi/graph.h"
#include "onnxifi/run_queue.h"
#include "onnxifi/status.h"
#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

TEST(GraphClose, ThereIsNoGraphForCallsThatComeLate) {
  FakeWorld::Get().Reset();
  const std::unique_ptr<Engine> engine = MakeEngine();
  const auto devices = engine->ListDevices();
  ASSERT_TRUE(devices.ok() && devices->size() == 1) << devices.status();
  auto id = std::make_shared<BackendId>((*devices)[0], Abi::kExtended,
                                        engine->onnx_support(),
                                        std::make_shared<CardUse>());
  const auto backend =
      Backend::Open(engine.get(), std::move(id), LogLevel::kError,
                    ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT, HostNodes::kRefuse);
  ASSERT_TRUE(backend.ok()) << backend.status();
  const std::string model = Serialize({});
  auto signature = ReadSignature(model);
  ASSERT_TRUE(signature.ok()) << signature.status();
  const auto graph =
      Graph::Create(*backend, model, *std::move(signature), {}, 0);
  ASSERT_TRUE(graph.ok()) << graph.status();

  uint8_t x[4] = {1, 2, 3, 4}, y[4] = {};
  const TestDescriptor dx("x", {4}, x), dy("y", {4}, y);
  const IoArguments io = {1, &dx.value, 1, &dy.value};
  EXPECT_EQ(CodeOf((*graph)->Submit(std::make_unique<onnxifi::Run>())),
            ONNXIFI_STATUS_UNIDENTIFIED_NAME);
  const absl::Status set = (*graph)->SetIo(io);
  ASSERT_TRUE(set.ok()) << set;
  (*graph)->Close();
  EXPECT_EQ(CodeOf((*graph)->Submit(std::make_unique<onnxifi::Run>())),
            ONNXIFI_STATUS_INVALID_GRAPH);
  EXPECT_EQ(CodeOf((*graph)->SetIo(io)), ONNXIFI_STATUS_INVALID_GRAPH);
  EXPECT_EQ(
      CodeOf((*graph)->SetIoAndSubmit(io, std::make_unique<onnxifi::Run>())),
      ONNXIFI_STATUS_INVALID_GRAPH);
  EXPECT_EQ(CodeOf((*graph)->Submit(std::make_unique<onnxifi::Run>())),
            ONNXIFI_STATUS_INVALID_GRAPH)
      << "also after the locations were tried again";
}

}  // namespace
}  // namespace heddle::onnxifi
