// SPDX-License-Identifier: Apache-2.0
// Loops of any number and length of dimensions become commands that compute
// each point once.
#include "compiler/schedule/loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "compiler/stream/microcode.h"
#include "compiler/testing/command_bench.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kProgramAt = 0x7f000;

int64_t Product(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t{1},
                         std::multiplies<int64_t>());
}

// Calls f(index) for every point.
template <typename F>
void ForEachPoint(const std::vector<int64_t>& counts, F f) {
  std::vector<int64_t> at(counts.size(), 0);
  for (int64_t i = 0; i < Product(counts); ++i) {
    f(at);
    for (size_t d = 0; d < counts.size(); ++d) {
      if (++at[d] < counts[d]) break;
      at[d] = 0;
    }
  }
}

int64_t Dot(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), int64_t{0});
}

// Strides of a dense layout in which the dimensions follow `order`.
std::vector<int64_t> DenseStrides(const std::vector<int64_t>& counts,
                                  const std::vector<size_t>& order,
                                  int64_t step) {
  std::vector<int64_t> strides(counts.size());
  for (size_t d : order) {
    strides[d] = step;
    step *= counts[d];
  }
  return strides;
}

TEST(Loops, RandomLoops) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    // Up to ten dimensions of at most 4000 points.
    std::vector<int64_t> counts;
    const size_t rank = 1 + random() % 10;
    while (counts.size() < rank) {
      const int64_t n = 1 + random() % (rank > 5 ? 3 : 40);
      counts.push_back(Product(counts) * n <= 4000 ? n : 1);
    }
    CommandBench bench;
    const Microprogram program =
        IntegerProgram(isa::MicroOp::kIadd, isa::ElementType::kS32);
    bench.Load(program, kProgramAt);
    for (size_t i = 0; i < kProgramAt; ++i) bench.sram[i] = random();
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    auto shuffled = [&] {
      if (random() % 2) std::shuffle(order.begin(), order.end(), random);
      return DenseStrides(counts, order, 4);
    };
    std::vector<LoopOperand> operands(2);
    for (size_t k = 0; k < 2; ++k) {
      operands[k].base = 0x10000 + k * 0x10000;
      operands[k].type = isa::ElementType::kS32;
      operands[k].strides = shuffled();
      for (int64_t& s : operands[k].strides) {
        if (random() % 4 == 0) s = 0;  // repeated along this dimension
      }
    }
    LoopOperand result;
    result.base = 0x40000;
    result.type = isa::ElementType::kS32;
    result.strides = shuffled();
    isa::Vrun run = bench.emitter()->Run(program);
    run.enable_a = run.enable_b = true;
    EmitLoop(bench.emitter(), run, counts, operands, result);
    std::vector<uint8_t> expected = bench.sram;
    ForEachPoint(counts, [&](const std::vector<int64_t>& at) {
      int32_t a, b;
      std::memcpy(
          &a, &expected[operands[0].base + Dot(at, operands[0].strides)], 4);
      std::memcpy(
          &b, &expected[operands[1].base + Dot(at, operands[1].strides)], 4);
      a = static_cast<int32_t>(static_cast<uint32_t>(a) +
                               static_cast<uint32_t>(b));
      std::memcpy(&expected[result.base + Dot(at, result.strides)], &a, 4);
    });
    ASSERT_EQ(bench.Run(), "");
    ASSERT_TRUE(bench.sram == expected) << "round " << round;
  }
}

TEST(Loops, MergesWhatIsContiguousForAll) {
  CommandBench bench;
  bench.Load(CopyProgram(), kProgramAt);
  LoopOperand a, d;
  a.base = 0;
  d.base = 0x10000;
  a.strides = d.strides = {4, 40, 400};
  isa::Vrun run = bench.emitter()->Run(CopyProgram());
  run.enable_a = true;
  EmitLoop(bench.emitter(), run, {10, 10, 5}, {a}, d);
  ASSERT_EQ(bench.stream().size(), 1u);
  const auto& c = std::get<isa::Vrun>(bench.stream().commands()[0]);
  EXPECT_EQ(c.lanes, 500u);
  EXPECT_EQ(c.n_o1 * c.n_o2 * c.n_r1, 1u);
}

TEST(Loops, LanesAreALongDimension) {
  CommandBench bench;
  bench.Load(CopyProgram(), kProgramAt);
  LoopOperand a, d;
  d.base = 0x10000;
  a.strides = {4, 12};
  d.strides = {400, 4};
  isa::Vrun run = bench.emitter()->Run(CopyProgram());
  run.enable_a = true;
  EmitLoop(bench.emitter(), run, {3, 100}, {a}, d);
  const auto& c = std::get<isa::Vrun>(bench.stream().commands()[0]);
  EXPECT_EQ(c.lanes, 100u);
}

TEST(Loops, LongDimensionsAreSplit) {
  for (const std::vector<int64_t>& counts :
       {std::vector<int64_t>{70000}, {65536, 2}, {2, 70000}, {131071}}) {
    CommandBench bench;
    bench.Load(CopyProgram(), kProgramAt);
    for (size_t i = 0; i < 200000; ++i) bench.sram[i] = i * 7 + i / 256;
    LoopOperand a, d;
    a.type = d.type = isa::ElementType::kU8;
    d.base = 200000;
    a.strides = DenseStrides(
        counts,
        counts.size() == 2 ? std::vector<size_t>{1, 0} : std::vector<size_t>{0},
        1);
    d.strides = DenseStrides(
        counts,
        counts.size() == 2 ? std::vector<size_t>{0, 1} : std::vector<size_t>{0},
        1);
    isa::Vrun run = bench.emitter()->Run(CopyProgram());
    run.enable_a = true;
    EmitLoop(bench.emitter(), run, counts, {a}, d);
    std::vector<uint8_t> expected = bench.sram;
    ForEachPoint(counts, [&](const std::vector<int64_t>& at) {
      expected[d.base + Dot(at, d.strides)] = expected[Dot(at, a.strides)];
    });
    ASSERT_EQ(bench.Run(), "");
    EXPECT_TRUE(bench.sram == expected) << counts[0];
  }
}

TEST(Loops, CopyKeepsTheBitsOfHalfPrecision) {
  CommandBench bench;
  bench.Load(CopyProgram(), kProgramAt);
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), 0);
  bench.Put(0, all);
  TileView from{0, 0, 512, 0, 2}, to{0x40000, 0, 512, 0, 2};
  for (DataType type :
       {DataType::kFloat16, DataType::kBfloat16, DataType::kInt16}) {
    EmitCopy(bench.emitter(), type, {0, 256}, {0, 256}, {0, 1}, from, to);
    ASSERT_EQ(bench.Run(), "");
    EXPECT_EQ(bench.Get<uint16_t>(0x40000, all.size()), all);
  }
}

}  // namespace
}  // namespace heddle::compiler
