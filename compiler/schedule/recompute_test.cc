// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/recompute.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/stream/microcode.h"

namespace heddle::compiler {
namespace {

class FakeOp : public ClonableOp<FakeOp> {
 public:
  void Emit(Emitter*, const Tile&) const override {}
  std::vector<Microprogram> Programs() const override {
    return std::vector<Microprogram>(programs, CopyProgram());
  }
  int programs = 1;
};

isa::Config Small() {
  isa::Config config = isa::kH256;
  config.sram_bytes = 64 << 10;
  return config;
}

class Builder {
 public:
  int Value(uint64_t bytes) {
    Storage s;
    s.name = "t" + std::to_string(graph.storages.size());
    s.type = DataType::kFloat;
    const Shape shape = {1, 1, 16, static_cast<int64_t>(bytes) / 64};
    s.extent = ExtentOf(shape, s.layout);
    graph.storages.push_back(s);
    Value_ v;
    v.storage = static_cast<int>(graph.storages.size()) - 1;
    v.shape = shape;
    v.extent = s.extent;
    graph.values.push_back(v);
    return static_cast<int>(graph.values.size()) - 1;
  }
  int Input(uint64_t bytes) {
    const int value = Value(bytes);
    graph.StorageOf(value).is_input = true;
    return value;
  }
  FakeOp* Op(const std::vector<int>& inputs, int output) {
    auto op = std::make_unique<FakeOp>();
    op->name = "op" + std::to_string(graph.ops.size());
    for (int value : inputs) {
      OpInput in;
      in.value = value;
      op->inputs.push_back(in);
    }
    op->output = output;
    FakeOp* raw = op.get();
    graph.ops.push_back(std::move(op));
    return raw;
  }

  DeviceGraph graph;

 private:
  using Value_ = heddle::compiler::Value;
};

// a is made of `operand` by op 0, read by op 1 and by op 4; between them live
// tensors of 60 KiB.
struct Far {
  explicit Far(uint64_t operand_bytes, uint64_t bytes = 16 << 10,
               bool operand_is_input = false, uint64_t wide = 30 << 10) {
    operand =
        operand_is_input ? b.Input(operand_bytes) : b.Value(operand_bytes);
    if (!operand_is_input) b.Op({b.Input(operand_bytes)}, operand);
    a = b.Value(bytes);
    producer = b.Op({operand}, a);
    const int wide0 = b.Value(wide), wide1 = b.Value(wide);
    b.Op({a}, wide0);
    b.Op({wide0}, wide1);
    const int thin = b.Value(64);
    b.Op({wide1}, thin);
    const int out = b.Value(bytes);
    b.graph.StorageOf(out).is_output = true;
    b.Op({thin, a}, out);
  }
  Builder b;
  int operand, a;
  FakeOp* producer;
};

TEST(Recompute, AgainWhereItWouldWaitInDeviceMemory) {
  Far far(2 << 10);
  const std::vector<Copy> copies = FindCopies(far.b.graph, Small());
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].value, far.a);
  EXPECT_EQ(copies[0].producer, 1);
  EXPECT_EQ(copies[0].before, 5);
  EXPECT_GT(copies[0].saved, 0);
  const size_t storages = far.b.graph.storages.size();
  ApplyCopies(copies, &far.b.graph);
  const DeviceGraph& graph = far.b.graph;
  ASSERT_EQ(graph.ops.size(), 7u);
  const DeviceOp& copy = *graph.ops[5];
  EXPECT_EQ(copy.name, "op1");
  EXPECT_EQ(copy.inputs[0].value, far.operand);
  EXPECT_EQ(graph.values[copy.output].storage, static_cast<int>(storages));
  EXPECT_EQ(graph.StorageOf(copy.output).name,
            graph.StorageOf(far.a).name + "'");
  EXPECT_EQ(graph.ops[6]->inputs[1].value, copy.output);
  EXPECT_EQ(graph.ops[2]->inputs[0].value, far.a);
}

TEST(Recompute, NotWhereSramHoldsIt) {
  Far far(2 << 10, 16 << 10, false, 16 << 10);
  EXPECT_TRUE(FindCopies(far.b.graph, Small()).empty());
  EXPECT_EQ(FindCopies(far.b.graph, isa::kH256).size(), 0u);
}

TEST(Recompute, NotWhereComputingCostsMore) {
  Far far(2 << 10);
  far.producer->programs = 200;
  EXPECT_TRUE(FindCopies(far.b.graph, Small()).empty());
}

TEST(Recompute, NotWhatMultiplies) {
  Far far(2 << 10);
  far.producer->macs = 1;
  EXPECT_TRUE(FindCopies(far.b.graph, Small()).empty());
}

// An operand that would live on must be smaller.
TEST(Recompute, OperandsTakeLessRoom) {
  Far large(16 << 10);
  EXPECT_TRUE(FindCopies(large.b.graph, Small()).empty());
  // One of the network's inputs is there always.
  Far input(16 << 10, 16 << 10, true);
  EXPECT_EQ(FindCopies(input.b.graph, Small()).size(), 1u);
  // Loading more than is saved.
  Far wide(128 << 10, 16 << 10, true);
  EXPECT_TRUE(FindCopies(wide.b.graph, Small()).empty());
}

TEST(Recompute, NotFromBytesThatAreOverwritten) {
  Far far(2 << 10);
  auto& ops = far.b.graph.ops;
  far.b.Op({}, far.operand);
  std::swap(ops[5], ops[6]);  // in front of the reader
  EXPECT_TRUE(FindCopies(far.b.graph, Small()).empty());
}

// A value that is copied may itself be an operand of a later copy.
TEST(Recompute, ReadersTakeTheNearestCopy) {
  Builder b;
  const int in = b.Input(64), a = b.Value(4096), c = b.Value(4096);
  b.Op({in}, a);
  b.Op({a}, c);
  for (int i = 0; i < 3; ++i) b.Op({a, c}, b.Value(64));
  ApplyCopies({{a, 0, 3, 1}, {c, 1, 4, 1}}, &b.graph);
  const auto& ops = b.graph.ops;
  ASSERT_EQ(ops.size(), 7u);
  const int again_a = ops[3]->output, again_c = ops[5]->output;
  EXPECT_EQ(ops[2]->inputs[0].value, a);
  EXPECT_EQ(ops[2]->inputs[1].value, c);
  EXPECT_EQ(ops[4]->inputs[0].value, again_a);
  EXPECT_EQ(ops[4]->inputs[1].value, c);
  EXPECT_EQ(ops[5]->inputs[0].value, again_a);
  EXPECT_EQ(ops[6]->inputs[0].value, again_a);
  EXPECT_EQ(ops[6]->inputs[1].value, again_c);
}

}  // namespace
}  // namespace heddle::compiler
