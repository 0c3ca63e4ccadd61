// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "onnxifi/conformance/reference/objects.h"

namespace onnxifi_reference {
namespace {

// onnxRunGraph that has found the graph before onnxReleaseGraph takes it, and
// goes on when that has returned: no run may use the caller's memory then.
TEST(Graph, HasNoRunAfterItWasClosed) {
  Device device;
  auto backend = std::make_shared<Backend>(&device);
  auto graph = std::make_shared<Graph>(backend);
  auto locations = std::make_shared<const Locations>();
  Event input(&device, device.generation());
  ASSERT_EQ(input.Signal(), ONNXIFI_STATUS_SUCCESS);
  auto output = std::make_shared<Event>(&device, device.generation());
  EXPECT_EQ(Start(graph, locations, &input, output), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(output->Wait(), ONNXIFI_STATUS_SUCCESS);
  graph->Close();
  output = std::make_shared<Event>(&device, device.generation());
  EXPECT_EQ(Start(graph, locations, &input, output),
            ONNXIFI_STATUS_INVALID_GRAPH);
  EXPECT_FALSE(output->signalled());
}

}  // namespace
}  // namespace onnxifi_reference
