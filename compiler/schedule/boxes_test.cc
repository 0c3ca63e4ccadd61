// SPDX-License-Identifier: Apache-2.0
// The closed forms of boxes against what their definition says, and operations
// for which a part of the columns, of the channels or another loop order moves
// fewer bytes than any number of whole rows: the schedule takes it, and the
// memory plan keeps to it.
#include "compiler/schedule/boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "compiler/schedule/choose.h"
#include "compiler/schedule/plan.h"

namespace heddle::compiler {
namespace {

class FakeOp : public ClonableOp<FakeOp> {
 public:
  void Emit(Emitter*, const Tile&) const override {}
};

// From an input [1,channels,rows,columns] of bytes to an output of the same
// shape; a box of the result needs as many more rows and columns of the input
// as `halo` says on each side.
struct Case {
  DeviceGraph graph;
  FakeOp* op = nullptr;

  Case(int64_t channels, int64_t rows, int64_t columns, int64_t halo) {
    const Shape shape = {1, channels, rows, columns};
    for (int i = 0; i < 2; ++i) {
      Storage s;
      s.name = i == 0 ? "from" : "to";
      s.layout = Layout::kBlocked;
      s.type = DataType::kUint8;
      s.extent = ExtentOf(shape, s.layout);
      s.is_input = i == 0;
      s.is_output = i == 1;
      graph.storages.push_back(s);
      Value v;
      v.storage = i;
      v.shape = shape;
      v.extent = s.extent;
      graph.values.push_back(v);
    }
    auto made = std::make_unique<FakeOp>();
    op = made.get();
    op->name = op->op = "fake";
    op->inputs.resize(1);
    OpInput& in = op->inputs[0];
    in.value = 0;
    in.rows = in.columns = {AxisNeed::kWindow, 1, halo, 2 * halo + 1};
    op->output = 1;
    op->tileable = true;
    graph.ops.push_back(std::move(made));
  }

  BoxCost Cost(TileShape tile) const {
    Box box;
    box.tile = tile;
    return CostOfBox(graph, *op, box);
  }
};

double Traffic(const BoxCost& cost) {
  double bytes = cost.weight_bytes + cost.output_total;
  for (double total : cost.input_total) bytes += total;
  return bytes;
}

double SramBytes(const BoxCost& cost) {
  double bytes = cost.output_tile;
  for (double tile : cost.input_tile) bytes += tile;
  return cost.weights + (cost.box.single ? 1 : 2) * bytes;
}

// The least that tiles of whole rows move, in any number and with constants
// kept or not.
double BestOfRows(const Case& c, double capacity) {
  double best = std::numeric_limits<double>::infinity();
  const TileShape whole = WholeTile(c.graph, *c.op);
  for (int64_t rows = 1; rows <= whole.rows; ++rows) {
    for (bool keep : {false, true}) {
      Box box;
      box.tile = whole;
      box.tile.rows = rows;
      box.keep = keep;
      const BoxCost cost = CostOfBox(c.graph, *c.op, box);
      if (SramBytes(cost) <= capacity) best = std::min(best, Traffic(cost));
    }
  }
  return best;
}

// What schedule and memory plan make of it in `sram` bytes.
OpPlan Chosen(Case* c, uint64_t sram, const SchedulePrices& prices = {0.3}) {
  isa::Config config = isa::kH256;
  config.sram_bytes = sram;
  ChooseSchedule(&c->graph, config, Features(), 0, prices);
  auto plan = PlanMemory(&c->graph, config,
                         {0, std::vector<uint64_t>(c->graph.ops.size())});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? plan->ops[0] : OpPlan();
}

BoxCost CostOf(const Case& c, const OpPlan& p) {
  return CostOfBox(c.graph, *c.graph.ops[0],
                   {p.tile, p.keep, p.group_outer, p.cut_groups, p.single});
}

TEST(Boxes, AWindowIsLoadedOnceAndItsOverlapAgain) {
  const Case c(16, 64, 64, 1);
  const double row = 64 * 16;
  const BoxCost whole = c.Cost({64, 64, 16});
  EXPECT_EQ(whole.tiles, 1);
  EXPECT_EQ(whole.input_total[0], 64 * row);
  EXPECT_EQ(whole.output_total, 64 * row);
  // Four tiles, of which three load two rows that another one has, too.
  const BoxCost rows = c.Cost({16, 64, 16});
  EXPECT_EQ(rows.tiles, 4);
  EXPECT_EQ(rows.input_tile[0], 18 * row);
  EXPECT_EQ(rows.input_total[0], (64 + 3 * 2) * row);
  // Two columns of them, each with a column of the other and one of padding.
  const BoxCost boxes = c.Cost({16, 32, 16});
  EXPECT_EQ(boxes.tiles, 8);
  EXPECT_EQ(boxes.input_tile[0], 18 * 34 * 16);
  EXPECT_EQ(boxes.input_total[0], 2 * 70 * 34 * 16);
}

TEST(Boxes, WhatDoesNotChangeIsLoadedOnce) {
  Case c(64, 64, 64, 0);
  c.op->channels_tileable = true;
  const BoxCost all_channels = c.Cost({16, 64, 16});
  // All channels for each of four tiles of channels.
  EXPECT_EQ(all_channels.input_total[0], 4.0 * 64 * 64 * 64);
  c.op->inputs[0].channels.kind = AxisNeed::kSame;
  EXPECT_EQ(c.Cost({16, 64, 16}).input_total[0], 64 * 64 * 64);
  c.op->inputs[0].channels.kind = AxisNeed::kWhole;
  c.op->inputs[0].rows.kind = c.op->inputs[0].columns.kind = AxisNeed::kWhole;
  EXPECT_EQ(c.Cost({16, 64, 16}).input_total[0], 64 * 64 * 64);
}

TEST(Boxes, LoopOrdersMoveWhatTheySay) {
  Case c(64, 64, 64, 0);
  c.op->groups.assign(4, ConstantGroup{0, 6400});
  for (int64_t g = 0; g < 4; ++g) c.op->group_channels.push_back({16 * g, 16});
  const double input = 64 * 64 * 64, weights = 4 * 6400;
  Box box;
  box.tile = {8, 64, 64};
  const BoxCost inputs = CostOfBox(c.graph, *c.op, box);
  EXPECT_EQ(inputs.weight_bytes, 8 * weights);
  EXPECT_EQ(inputs.input_total[0], input);
  EXPECT_EQ(inputs.weights, 2 * 6400);
  box.group_outer = box.by_group = true;
  const BoxCost stationary = CostOfBox(c.graph, *c.op, box);
  EXPECT_EQ(stationary.weight_bytes, weights);
  EXPECT_EQ(stationary.input_total[0], 4 * input);
  EXPECT_EQ(stationary.output_tile, 8 * 64 * 16);
  box.group_outer = box.by_group = false;
  box.keep = true;
  const BoxCost kept = CostOfBox(c.graph, *c.op, box);
  EXPECT_EQ(kept.weight_bytes, weights);
  EXPECT_EQ(kept.input_total[0], input);
  EXPECT_EQ(kept.weights, weights);
}

// A row with its window's other ten is most of SRAM: boxes of some columns need
// fewer of them twice.
TEST(Boxes, ColumnsAreCutWhereThatMovesLess) {
  Case c(64, 512, 1024, 5);
  c.op->columns_tileable = true;
  constexpr uint64_t kSram = 1792 << 10;
  const double rows = BestOfRows(c, kSram);
  const OpPlan p = Chosen(&c, kSram);
  EXPECT_LT(p.tile.columns, 1024);
  EXPECT_GT(p.tile.rows, 1);
  EXPECT_LT(Traffic(CostOf(c, p)), 0.5 * rows);
}

// The same where the channels of a box need no others.
TEST(Boxes, ChannelsAreCutWhereThatMovesLess) {
  Case c(256, 128, 256, 2);
  c.op->channels_tileable = true;
  c.op->inputs[0].channels.kind = AxisNeed::kSame;
  constexpr uint64_t kSram = 768 << 10;
  const double rows = BestOfRows(c, kSram);
  const OpPlan p = Chosen(&c, kSram);
  EXPECT_LT(p.tile.channels, 256);
  EXPECT_LT(Traffic(CostOf(c, p)), 0.6 * rows);
}

// Constants that SRAM does not hold, larger than the operand: each group is
// loaded once, and the tiles pass by.
TEST(Boxes, GroupsAreOutsideWhereConstantsAreMost) {
  Case c(64, 32, 32, 0);
  c.op->groups.assign(4, ConstantGroup{0, 48 << 10});
  for (int64_t g = 0; g < 4; ++g) c.op->group_channels.push_back({16 * g, 16});
  constexpr uint64_t kSram = 160 << 10;
  const double rows = BestOfRows(c, kSram);
  const OpPlan p = Chosen(&c, kSram);
  EXPECT_TRUE(p.group_outer);
  EXPECT_TRUE(p.cut_groups);
  EXPECT_LT(Traffic(CostOf(c, p)), 0.8 * rows);
}

// One buffer of each kind where two do not fit, and no smaller box is left.
TEST(Boxes, SingleBuffersWhereDoubleOnesDoNotFit) {
  Case c(16, 8, 4096, 0);  // 64 KiB a row
  const OpPlan two = Chosen(&c, 288 << 10);
  EXPECT_FALSE(two.single);
  Case d(16, 8, 4096, 0);
  const OpPlan one = Chosen(&d, 160 << 10);
  EXPECT_TRUE(one.single);
  ASSERT_TRUE(d.graph.ops[0]->box.has_value());
  EXPECT_TRUE(d.graph.ops[0]->box->single);
}

TEST(Boxes, CommandsAreCounted) {
  Case c(64, 64, 64, 0);
  c.op->groups.assign(4, ConstantGroup{0, 6400});
  for (int64_t g = 0; g < 4; ++g) c.op->group_channels.push_back({16 * g, 16});
  Box box;
  box.tile = {8, 64, 64};
  // Of each of eight tiles: its operand, of each group its constants and the
  // work, the result.
  EXPECT_EQ(CostOfBox(c.graph, *c.op, box).commands, 8 * (1 + 2 * 4 + 1));
  box.keep = true;
  EXPECT_EQ(CostOfBox(c.graph, *c.op, box).commands, 4 + 8 * (1 + 4 + 1));
  box.keep = false;
  box.group_outer = box.by_group = true;
  EXPECT_EQ(CostOfBox(c.graph, *c.op, box).commands, 4 + 4 * 8 * 3);
}

TEST(Boxes, LargerOnesWhereCommandsMustBeFew) {
  const auto make = [] {
    auto c = std::make_unique<Case>(16, 256, 256, 3);
    c->op->columns_tileable = true;
    c->op->groups.assign(8, ConstantGroup{0, 2304});
    for (int64_t g = 0; g < 8; ++g) {
      c->op->group_channels.push_back({2 * g, 2});
      c->op->inputs[0].channel_slices.push_back({0, 16});
    }
    return c;
  };
  constexpr uint64_t kSram = 12 << 10;
  const auto usual = make(), few = make();
  const double of_usual = CostOf(*usual, Chosen(usual.get(), kSram)).commands;
  const double of_few =
      CostOf(*few, Chosen(few.get(), kSram, {0, 10000})).commands;
  EXPECT_LT(of_few, 0.8 * of_usual);
}

}  // namespace
}  // namespace heddle::compiler
