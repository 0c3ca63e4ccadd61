// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/device_graph_text.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

class Plain : public ClonableOp<Plain> {
 public:
  void Emit(Emitter*, const Tile&) const override {}
};

DeviceGraph Small() {
  DeviceGraph graph;
  for (const char* name : {"x", "y"}) {
    Storage s;
    s.name = name;
    s.extent = ExtentOf({1, 2, 8, 8}, Layout::kDense);
    graph.storages.push_back(s);
    Value v;
    v.storage = static_cast<int>(graph.storages.size()) - 1;
    v.shape = {1, 2, 8, 8};
    v.extent = s.extent;
    graph.values.push_back(v);
  }
  graph.storages[0].is_input = graph.storages[1].is_output = true;
  graph.storages[0].region = graph.storages[1].region = kIoRegion;
  graph.storages[1].dram_offset = 512;
  auto op = std::make_unique<Plain>();
  op->op = "Relu";
  op->name = "r";
  op->engine = "vector";
  op->output = 1;
  op->tileable = true;
  OpInput in;
  in.value = 0;
  in.rows = {AxisNeed::kWindow, 1, 1, 3};
  op->inputs = {in};
  graph.ops.push_back(std::move(op));
  return graph;
}

TEST(ToText, Needs) {
  EXPECT_EQ(ToText(AxisNeed()), "all");
  EXPECT_EQ(ToText(AxisNeed{AxisNeed::kSame}), "same");
  EXPECT_EQ(ToText(AxisNeed{AxisNeed::kDirect}), "read in place");
  EXPECT_EQ(ToText(AxisNeed{AxisNeed::kWindow, 2, 1, 3}), "3 from i*2-1");
  EXPECT_EQ(ToText(AxisNeed{AxisNeed::kWindow, 1, -4, 1}), "1 from i+4");
  EXPECT_EQ(ToText(AxisNeed{AxisNeed::kWindow, 1, 2, 3, 2}),
            "(i-2)/2..(i-2+2)/2");
}

TEST(ToText, Graph) {
  EXPECT_EQ(ToText(Small()),
            "device graph: 1 operation, 2 storages, 0 bytes of inputs and "
            "outputs; images x rows x columns x channels\n"
            "storage s0 'x' float dense, 1 x 8 x 8 x 2, input\n"
            "storage s1 'y' float dense, 1 x 8 x 8 x 2, output\n"
            "value v0 [1,2,8,8] of s0\n"
            "value v1 [1,2,8,8] of s1\n"
            "op 0: Relu 'r' on vector -> v1 'y' [1,2,8,8]\n"
            "  needs v0 'x' [1,2,8,8]: rows 3 from i-1, columns all, channels "
            "all\n"
            "  may be cut along rows; 0 MACs, 0 bytes of constants in 1 "
            "group, 0 temporary bytes\n");
}

TEST(ToText, Plan) {
  DeviceGraph graph = Small();
  isa::Config config = isa::kConfigs[0];
  config.sram_bytes = 1024;
  const auto plan = PlanMemory(&graph, config, {0, {0}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  const std::string text = ToText(graph, *plan);
  EXPECT_NE(text.find("storage s1 'y': io+0x200\n"), std::string::npos) << text;
  EXPECT_NE(text.find("op 0: Relu 'r' on vector -> v1 'y' [1,2,8,8]\n  box "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" x 8 x 2 of 8 x 8 x 2, "), std::string::npos) << text;
  EXPECT_NE(text.find("; v1 in "), std::string::npos) << text;
}

}  // namespace
}  // namespace heddle::compiler
