// SPDX-License-Identifier: Apache-2.0
// The memory plan: no two buffers share a byte of SRAM (or of scratch) at the
// same time, on random device graphs and amounts of SRAM; and what is spilled,
// striped and prefetched in small ones.
#include "compiler/schedule/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "compiler/base/diagnostic.h"
#include "compiler/schedule/constant_stream.h"

namespace heddle::compiler {
namespace {

class FakeOp : public ClonableOp<FakeOp> {
 public:
  void Emit(Emitter*, const Tile&) const override {}
};

int AddTensor(DeviceGraph* graph, const Shape& shape, Layout layout,
              DataType type = DataType::kFloat) {
  Storage s;
  s.name = "t" + std::to_string(graph->storages.size());
  s.layout = layout;
  s.type = type;
  s.extent = ExtentOf(shape, layout);
  graph->storages.push_back(s);
  Value v;
  v.storage = graph->storages.size() - 1;
  v.shape = shape;
  v.extent = s.extent;
  graph->values.push_back(v);
  return graph->values.size() - 1;
}

FakeOp* AddOp(DeviceGraph* graph, const std::vector<int>& inputs, int output,
              uint64_t constants = 0) {
  auto op = std::make_unique<FakeOp>();
  op->name = "op" + std::to_string(graph->ops.size());
  op->op = "Fake";
  for (int value : inputs) {
    OpInput in;
    in.value = value;
    in.rows.kind = AxisNeed::kSame;
    op->inputs.push_back(in);
  }
  op->output = output;
  op->tileable = true;
  op->groups = {ConstantGroup{graph->ops.size() << 20, constants}};
  FakeOp* raw = op.get();
  graph->ops.push_back(std::move(op));
  return raw;
}

struct Interval {
  uint64_t begin, end;
  int first, last;
  std::string what;
};

// "" if no two intervals meet in space and time.
std::string Overlap(const std::vector<Interval>& all) {
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      const Interval &a = all[i], &b = all[k];
      if (a.begin < b.end && b.begin < a.end && a.first <= b.last &&
          b.first <= a.last) {
        return a.what + " and " + b.what;
      }
    }
  }
  return "";
}

// Microprograms that all operations share.
ProgramBytes Programs(const DeviceGraph& graph, uint64_t bytes) {
  return {bytes, std::vector<uint64_t>(graph.ops.size(), bytes)};
}

// Every buffer that the scheduler uses, with the steps during which it does.
std::vector<Interval> Buffers(const DeviceGraph& graph, const MemoryPlan& plan,
                              uint64_t program_bytes) {
  std::vector<Interval> all;
  auto add = [&](uint64_t at, uint64_t bytes, int first, int last,
                 std::string what) {
    if (bytes > 0)
      all.push_back({at, at + bytes, first, last, std::move(what)});
  };
  const int count = static_cast<int>(graph.ops.size());
  if (plan.keep_programs) {
    add(plan.programs, program_bytes, 0, count - 1, "programs");
  }
  for (const Storage& s : graph.storages) {
    if (s.resident) add(s.sram, s.SramBytes(), s.first_op, s.last_op, s.name);
  }
  for (int i = 0; i < count; ++i) {
    const DeviceOp& op = *graph.ops[i];
    const OpPlan& p = plan.ops[i];
    const Extent& e = graph.values[op.output].extent;
    const bool several =
        !p.single && (p.tile.rows < e.h || p.tile.columns < e.w ||
                      p.tile.channels < e.c || op.groups.size() > 1 || e.n > 1);
    // Two sides where one is filled while the other is in use.
    auto pair = [&](uint32_t a, uint32_t b, uint64_t bytes, int first, bool two,
                    const std::string& what) {
      add(a, bytes, first, i, op.name + " " + what + " 0");
      if (two) add(b, bytes, first, i, op.name + " " + what + " 1");
    };
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      const Storage& s = graph.StorageOf(op.inputs[k].value);
      if (s.resident && !p.copy[k]) continue;
      pair(p.inputs[k][0], p.inputs[k][1],
           InputTile(graph, op, k, StoredTile(op, p)).bytes,
           i - (p.early ? 1 : 0), several, "input " + std::to_string(k));
    }
    if (!graph.StorageOf(op.output).resident) {
      pair(p.output[0], p.output[1],
           OutputTile(graph, op, StoredTile(op, p)).bytes, i, several,
           "output");
    }
    add(p.temporary, op.temporary_bytes, i, i, op.name + " temporary");
    if (!plan.keep_programs) {
      add(p.programs, program_bytes, i, i, op.name + " programs");
    }
  }
  for (Interval& b : all) {
    b.first = static_cast<int>(plan.first_step[b.first]);
    b.last = static_cast<int>(plan.first_step[b.last + 1]) - 1;
  }
  for (const ConstantUse& use : plan.constants) {
    // Loaded before the commands of the step before, where that is the same
    // operation's and it has two sides.
    size_t loader = 0;
    while (plan.first_step[loader + 1] <= use.when) ++loader;
    const bool early = use.loaded && use.when > plan.first_step[loader] &&
                       !plan.ops[loader].single;
    add(use.address, use.bytes, static_cast<int>(use.when - early),
        static_cast<int>(use.last), graph.ops[use.op]->name + " constants");
  }
  return all;
}

void CheckPlan(const DeviceGraph& graph, const MemoryPlan& plan,
               uint64_t capacity, uint64_t program_bytes) {
  const std::vector<Interval> all = Buffers(graph, plan, program_bytes);
  EXPECT_EQ(Overlap(all), "");
  for (const Interval& b : all) {
    EXPECT_LE(b.end, capacity) << b.what;
    EXPECT_LE(b.end, plan.sram_peak) << b.what;
    EXPECT_EQ(b.begin % isa::kWordBytes, 0u) << b.what;
  }
  // Every step finds its group's constants, loaded in front of it.
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const OpPlan& p = plan.ops[i];
    const size_t steps = plan.first_step[i + 1] - plan.first_step[i];
    const std::vector<int> groups =
        GroupSequence(*graph.ops[i], p, steps / graph.ops[i]->groups.size());
    ASSERT_EQ(groups.size(), steps);
    if (p.uses.empty()) continue;
    ASSERT_EQ(p.uses.size(), steps);
    for (size_t t = 0; t < steps; ++t) {
      const ConstantUse& use = plan.constants[p.uses[t]];
      EXPECT_EQ(use.op, i);
      EXPECT_EQ(use.group, groups[t]);
      EXPECT_LE(use.when, use.first);
      EXPECT_LE(use.first, plan.first_step[i] + t);
      EXPECT_GE(use.last, plan.first_step[i] + t);
      if (use.loaded) continue;
      // Another use has left them there.
      const auto offset_of = [&](const ConstantUse& u) {
        return graph.ops[u.op]->groups[u.group].offset;
      };
      EXPECT_TRUE(std::any_of(plan.constants.begin(), plan.constants.end(),
                              [&](const ConstantUse& other) {
                                return other.last + 1 == use.when &&
                                       other.bytes == use.bytes &&
                                       other.address == use.address &&
                                       offset_of(other) == offset_of(use);
                              }));
    }
  }
  std::vector<Interval> scratch;
  for (const Storage& s : graph.storages) {
    if (s.first_op < 0) continue;
    // Every tensor that operations touch is somewhere.
    if (s.resident) continue;
    if (s.is_input || s.is_output) continue;
    EXPECT_EQ(s.region, kScratchRegion) << s.name;
    scratch.push_back({s.dram_offset, s.dram_offset + s.DramBytes(), s.first_op,
                       s.last_op, s.name});
    EXPECT_LE(s.dram_offset + s.DramBytes(), plan.scratch_bytes);
  }
  EXPECT_EQ(Overlap(scratch), "");
  for (size_t i = 0; i < graph.ops.size(); ++i) {
    const DeviceOp& op = *graph.ops[i];
    const TileShape& tile = plan.ops[i].tile;
    const TileShape whole = WholeTile(graph, op);
    EXPECT_GE(tile.rows, 1);
    EXPECT_LE(tile.rows, whole.rows);
    EXPECT_GE(tile.columns, 1);
    EXPECT_LE(tile.columns, whole.columns);
    EXPECT_GE(tile.channels, 1);
    EXPECT_LE(tile.channels, whole.channels);
    if (!op.tileable) {
      EXPECT_EQ(tile.rows, whole.rows);
    }
    if (!op.columns_tileable) {
      EXPECT_EQ(tile.columns, whole.columns);
    }
    if (!op.channels_tileable) {
      EXPECT_EQ(tile.channels, whole.channels);
    }
    if (tile.channels < whole.channels) {
      EXPECT_EQ(tile.channels % 16, 0);
    }
    if (op.max_pixels > 0) {
      EXPECT_LE(tile.rows * tile.columns, op.max_pixels);
    }
    if (op.max_rows > 0) {
      EXPECT_LE(tile.rows, op.max_rows);
    }
  }
}

void MakeRandom(std::mt19937_64* random, DeviceGraph* graph) {
  auto below = [&](int64_t n) { return static_cast<int64_t>((*random)() % n); };
  auto shape = [&] {
    return Shape{1 + below(2), 1 + below(40), 1 + below(24), 1 + below(24)};
  };
  auto layout = [&] { return below(2) ? Layout::kDense : Layout::kBlocked; };
  std::vector<int> values;
  for (int i = 0; i < 2; ++i) {
    values.push_back(AddTensor(graph, shape(), layout()));
    graph->storages.back().is_input = true;
  }
  const int ops = 1 + below(12);
  for (int i = 0; i < ops; ++i) {
    std::vector<int> inputs;
    const int n = 1 + below(3);
    for (int k = 0; k < n; ++k) {
      inputs.push_back(below(3) ? values.back() : values[below(values.size())]);
    }
    const int out = AddTensor(graph, shape(), layout());
    if (below(5) == 0) graph->storages.back().is_output = true;
    if (graph->storages.back().layout == Layout::kBlocked) {
      graph->storages.back().type = DataType::kUint8;
    }
    FakeOp* op = AddOp(graph, inputs, out, 64 * below(200));
    op->tileable = below(4) != 0;
    op->columns_tileable = below(4) == 0;
    op->channels_tileable = below(4) == 0;
    if (op->tileable && op->columns_tileable && below(4) == 0) {
      op->max_pixels = 16 << below(4);
    }
    if (op->tileable && below(6) == 0) op->max_rows = 1 + below(24);
    op->temporary_bytes = below(3) ? 0 : 64 * below(100);
    if (below(3) == 0) {
      op->groups.assign(1 + below(4), ConstantGroup());
      for (ConstantGroup& g : op->groups) {
        g.offset = 64 * below(1 << 20);
        g.bytes = 64 * below(100);
      }
    }
    // Those of another operation.
    if (below(3) == 0)
      op->groups = graph->ops[below(graph->ops.size())]->groups;
    for (OpInput& in : op->inputs) {
      const AxisNeed::Kind kinds[] = {AxisNeed::kWhole, AxisNeed::kSame};
      in.channels.kind = kinds[below(2)];
      in.columns.kind = kinds[below(2)];
      if (below(4) == 0) {
        in.columns = {AxisNeed::kWindow, 1 + below(2), below(3), 1 + below(5)};
      }
      const int kind = below(3);
      if (kind == 0) in.rows.kind = AxisNeed::kWhole;
      if (kind == 1) {
        in.rows = {AxisNeed::kWindow, 1 + below(2), below(3), 1 + below(5)};
        if (graph->StorageOf(in.value).layout == Layout::kDense) {
          in.halo = {static_cast<int>(in.rows.pad), static_cast<int>(below(3)),
                     1, 1};
          Storage& s = graph->StorageOf(in.value);
          if (!s.is_input && !s.is_output && below(2)) s.halo = in.halo;
        }
      }
    }
    values.push_back(out);
  }
}

TEST(Plan, BuffersNeverMeet) {
  int planned = 0, refused = 0, spilled = 0, striped = 0, boxes = 0;
  int hoisted = 0;
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    DeviceGraph graph;
    MakeRandom(&random, &graph);
    isa::Config config = isa::kH256;
    const uint64_t limits[] = {16 << 10, 32 << 10, 64 << 10, 128 << 10,
                               512 << 10};
    config.sram_bytes = limits[random() % 5];
    const uint64_t programs = 16 * (random() % 40);
    auto plan = PlanMemory(&graph, config, Programs(graph, programs));
    if (!plan.ok()) {
      ++refused;
      EXPECT_EQ(RejectionOf(plan.status()), Rejection::kUnsupportedShape)
          << plan.status();
      continue;
    }
    ++planned;
    CheckPlan(graph, *plan, config.sram_bytes, programs);
    for (const ConstantUse& use : plan->constants) {
      hoisted += use.when < plan->first_step[use.op];
    }
    spilled += plan->scratch_bytes > 0;
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const TileShape whole = WholeTile(graph, *graph.ops[i]);
      striped += plan->ops[i].tile.rows < whole.rows;
      boxes += plan->ops[i].tile.columns < whole.columns ||
               plan->ops[i].tile.channels < whole.channels;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(planned, 200);
  EXPECT_GT(refused, 20);
  EXPECT_GT(spilled, 50);
  EXPECT_GT(striped, 50);
  EXPECT_GT(boxes, 20);
  EXPECT_GT(hoisted, 100);
}

// in -> a -> b -> out, each [1,1,rows,64] floats.
void Chain(DeviceGraph* graph, int64_t rows, uint64_t constants) {
  const Shape shape = {1, 1, rows, 64};
  const int in = AddTensor(graph, shape, Layout::kDense);
  graph->storages.back().is_input = true;
  const int a = AddTensor(graph, shape, Layout::kDense);
  const int b = AddTensor(graph, shape, Layout::kDense);
  const int out = AddTensor(graph, shape, Layout::kDense);
  graph->storages.back().is_output = true;
  AddOp(graph, {in}, a, constants);
  AddOp(graph, {a}, b, constants);
  AddOp(graph, {b}, out, constants);
}

TEST(Plan, EverythingResidentWhenItFits) {
  DeviceGraph graph;
  Chain(&graph, 64, 1024);  // 16 KiB each
  isa::Config config = isa::kH256;
  auto plan = PlanMemory(&graph, config, Programs(graph, 160));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_TRUE(graph.storages[1].resident);
  EXPECT_TRUE(graph.storages[2].resident);
  EXPECT_EQ(plan->scratch_bytes, 0u);
  for (const OpPlan& p : plan->ops) {
    EXPECT_EQ(p.tile.rows, 64);
  }
  // Constants of all are loaded when the first begins.
  ASSERT_EQ(plan->constants.size(), 3u);
  for (const ConstantUse& use : plan->constants) EXPECT_EQ(use.when, 0u);
  CheckPlan(graph, *plan, config.sram_bytes, 160);
}

// Groups that do not fit beside each other flow through SRAM: each is loaded as
// soon as there is room, also while the operation before runs.
TEST(Plan, ConstantsFlowAcrossOperations) {
  DeviceGraph graph;
  Chain(&graph, 16, 0);  // 4 KiB each
  for (int i = 1; i < 3; ++i) {
    graph.ops[i]->groups.assign(8, ConstantGroup{0, 8 << 10});
    for (ConstantGroup& g : graph.ops[i]->groups) {
      g.offset = static_cast<uint64_t>(&g - &graph.ops[i]->groups[0] + 8 * i)
                 << 20;
    }
  }
  isa::Config config = isa::kH256;
  config.sram_bytes = 64 << 10;
  auto plan = PlanMemory(&graph, config, Programs(graph, 160));
  ASSERT_TRUE(plan.ok()) << plan.status();
  CheckPlan(graph, *plan, config.sram_bytes, 160);
  const size_t last = plan->first_step[2];
  int early = 0, ahead = 0;
  for (const ConstantUse& use : plan->constants) {
    ahead += use.when + 2 < use.first;
    early += use.op == 2 && use.when < last;
  }
  EXPECT_GE(ahead, 12);  // of 16
  EXPECT_GE(early, 3);   // of 8, beside the last of the other's
  // As reserved: two sides, loaded when the operation before begins.
  auto reserved = PlanMemory(&graph, config, Programs(graph, 160), {}, false);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  CheckPlan(graph, *reserved, config.sram_bytes, 160);
  for (const ConstantUse& use : reserved->constants) {
    EXPECT_TRUE(use.when == use.first || use.group < 2) << use.group;
  }
}

// What an operation has used is not loaded again for the next but one, unless
// its place was needed meanwhile.
TEST(Plan, EqualConstantsAreLoadedOnce) {
  for (const bool room : {true, false}) {
    DeviceGraph graph;
    Chain(&graph, 16, 8 << 10);
    graph.ops[1]->groups = {
        ConstantGroup{5 << 20, room ? 8u << 10 : 24u << 10}};
    graph.ops[2]->groups = graph.ops[0]->groups;
    isa::Config config = isa::kH256;
    config.sram_bytes = 40 << 10;
    auto plan = PlanMemory(&graph, config, Programs(graph, 160));
    ASSERT_TRUE(plan.ok()) << plan.status();
    CheckPlan(graph, *plan, config.sram_bytes, 160);
    ASSERT_EQ(plan->constants.size(), 3u);
    EXPECT_TRUE(plan->constants[0].loaded && plan->constants[1].loaded);
    EXPECT_EQ(plan->constants[2].loaded, !room);
  }
}

// Operands of the second operation do not lie where the first one works, where
// there is room beside it.
TEST(Plan, OperandsAreLoadedBesideTheOperationBefore) {
  for (const bool room : {true, false}) {
    DeviceGraph graph;
    const Shape shape = {1, 1, 64, 64};  // 16 KiB
    const int x = AddTensor(&graph, shape, Layout::kDense);
    const int y = AddTensor(&graph, shape, Layout::kDense);
    graph.storages[0].is_input = true;
    const int a = AddTensor(&graph, shape, Layout::kDense);
    const int b = AddTensor(&graph, shape, Layout::kDense);
    graph.storages[1].is_input = true;
    AddOp(&graph, {x}, a);
    AddOp(&graph, {y}, b);
    isa::Config config = isa::kH256;
    config.sram_bytes = (room ? 80 : 40) << 10;
    auto plan = PlanMemory(&graph, config, Programs(graph, 160));
    ASSERT_TRUE(plan.ok()) << plan.status();
    CheckPlan(graph, *plan, config.sram_bytes, 160);
    EXPECT_EQ(plan->ops[1].early, room);
    EXPECT_EQ(plan->ops[1].inputs[0][0] != plan->ops[0].inputs[0][0], room);
    Features none;
    none.early_operands = false;
    for (Storage& s : graph.storages) s.first_op = s.last_op = -1;
    plan = PlanMemory(&graph, config, Programs(graph, 160), none);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_FALSE(plan->ops[1].early);
  }
}

// An output that another operation reads is in SRAM meanwhile, if it fits.
TEST(Plan, OutputsThatAreReadStay) {
  for (const bool room : {true, false}) {
    DeviceGraph graph;
    Chain(&graph, 64, 0);  // 16 KiB each
    graph.storages[1].is_output = true;
    isa::Config config = isa::kH256;
    if (!room) config.sram_bytes = 20 << 10;
    auto plan = PlanMemory(&graph, config, Programs(graph, 160));
    ASSERT_TRUE(plan.ok()) << plan.status();
    CheckPlan(graph, *plan, config.sram_bytes, 160);
    EXPECT_EQ(graph.storages[1].resident, room);
    EXPECT_FALSE(graph.storages.back().is_output &&
                 graph.storages.back().resident);
  }
}

TEST(Plan, SpillsAndStripesWhatDoesNotFit) {
  DeviceGraph graph;
  Chain(&graph, 1024, 0);  // 256 KiB each
  isa::Config config = isa::kH256;
  config.sram_bytes = 100 << 10;
  auto plan = PlanMemory(&graph, config, Programs(graph, 160));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(graph.storages[1].resident);
  EXPECT_FALSE(graph.storages[2].resident);
  for (const OpPlan& p : plan->ops) EXPECT_LT(p.tile.rows, 1024);
  EXPECT_GE(plan->scratch_bytes, 256u << 10);
  CheckPlan(graph, *plan, config.sram_bytes, 160);
}

TEST(Plan, AnOperationThatCannotBeCutIsRefusedByName) {
  DeviceGraph graph;
  Chain(&graph, 1024, 0);
  graph.ops[1]->tileable = false;
  isa::Config config = isa::kH256;
  config.sram_bytes = 100 << 10;
  auto plan = PlanMemory(&graph, config, Programs(graph, 160));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(RejectionOf(plan.status()), Rejection::kUnsupportedShape);
  EXPECT_NE(plan.status().message().find("op1"), std::string::npos)
      << plan.status();
}

// A larger configuration is advised by name, and only if there is one.
TEST(Plan, WhatHelpsAgainstTooLittleSram) {
  const auto rejection = [](isa::Config config, int64_t channels) {
    DeviceGraph graph;
    Chain(&graph, channels, 0);
    graph.ops[1]->tileable = false;
    auto plan = PlanMemory(&graph, config, Programs(graph, 160));
    EXPECT_FALSE(plan.ok());
    return std::string(plan.status().message());
  };
  isa::Config small = isa::kH256;
  small.sram_bytes = 100 << 10;
  const std::string has_more = rejection(small, 1024);
  EXPECT_NE(has_more.find("use h256, which has " +
                          std::to_string(isa::kH256.sram_bytes)),
            std::string::npos)
      << has_more;
  const isa::Config* largest = &isa::kConfigs[0];
  for (const isa::Config& c : isa::kConfigs) {
    if (c.sram_bytes > largest->sram_bytes) largest = &c;
  }
  const std::string none = rejection(*largest, 1 << 16);
  EXPECT_EQ(none.find("use "), std::string::npos) << none;
  EXPECT_NE(none.find("none has more, so split the operator"),
            std::string::npos)
      << none;
}

TEST(Plan, MicroprogramsNeverMakeAnOperationGiveWay) {
  // The tensors fill SRAM up to the programs' place: whatever finds no place,
  // it must not be the first operation that is blamed for the programs.
  DeviceGraph graph;
  Chain(&graph, 200, 0);
  isa::Config config = isa::kH256;
  config.sram_bytes = 52 * 1024;
  auto plan = PlanMemory(&graph, config, Programs(graph, 2000));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->programs, 0u);
  CheckPlan(graph, *plan, config.sram_bytes, 2000);
  DeviceGraph other;
  Chain(&other, 1, 0);
  config.sram_bytes = 2000;
  EXPECT_EQ(
      RejectionOf(PlanMemory(&other, config, Programs(other, 2000)).status()),
      Rejection::kUnsupportedShape);
}

// Distances have 32 bits, sizes must not: a plane of 64 GiB is not empty.
TEST(Plan, GeometryOfHugeTensors) {
  const Extent e = ExtentOf({1, 1, 65536, 65536}, Layout::kBlocked);
  EXPECT_EQ(GeometryOf(e, Layout::kBlocked, 1, e.h, Halo()).bytes,
            uint64_t{1} << 36);
  const Extent row = ExtentOf({1, 1, 1, int64_t{1} << 30}, Layout::kDense);
  EXPECT_EQ(GeometryOf(row, Layout::kDense, 4, 1, Halo()).bytes,
            uint64_t{1} << 32);
}

TEST(Plan, ScratchBeyondDeviceMemoryIsRefused) {
  DeviceGraph graph;
  Chain(&graph, 10 << 20, 0);  // 2.5 GiB each, two alive at once
  isa::Config config = isa::kH256;
  const auto plan = PlanMemory(&graph, config, Programs(graph, 160));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(RejectionOf(plan.status()), Rejection::kNoDeviceMemory)
      << plan.status();
}

TEST(Plan, TilesBeyondAStreamAreRefusedByName) {
  DeviceGraph graph;
  const Shape shape = {int64_t{1} << 24, 1, 1, 4};
  const int x = AddTensor(&graph, shape, Layout::kDense);
  const int y = AddTensor(&graph, shape, Layout::kDense);
  AddOp(&graph, {x}, y);
  const auto plan = PlanMemory(&graph, isa::kH256, Programs(graph, 160));
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(RejectionOf(plan.status()), Rejection::kUnsupportedShape);
  EXPECT_NE(plan.status().message().find("Fake 'op0'"), std::string::npos)
      << plan.status();
}

}  // namespace
}  // namespace heddle::compiler
