// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/compose_programs.h"

#include <gtest/gtest.h>

#include <vector>

#include "compiler/stream/microcode.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::MicroOp;
using model::Bits;

PartSource In(uint32_t i) { return {PartSource::kInput, i}; }
PartSource Part(uint32_t i) { return {PartSource::kPart, i}; }
PartSource Value(float v) { return {PartSource::kBits, Bits(v)}; }

std::vector<uint32_t> ResultsOf(
    const FusedProgram& fused, const std::vector<std::vector<float>>& streams) {
  std::array<HostStream, 3> host;
  std::vector<uint32_t> out(streams[0].size());
  for (size_t i = 0; i < streams.size(); ++i) {
    host[i].data = reinterpret_cast<const uint32_t*>(streams[i].data());
  }
  EXPECT_TRUE(Evaluate(fused.program, fused.arguments, host,
                       static_cast<int64_t>(out.size()), out.data())
                  .ok());
  return out;
}

TEST(ComposePrograms, ResultsGoOnInRegisters) {
  // (x - y) / 3 + y
  const auto fused =
      ComposePrograms({{BinaryProgram(MicroOp::kFsub), {}, {In(0), In(1)}},
                       {BinaryProgram(MicroOp::kFdiv), {}, {Part(0), Value(3)}},
                       {BinaryProgram(MicroOp::kFadd), {}, {Part(1), In(1)}}});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->program.body.size(), 3u);
  EXPECT_EQ(StreamsOf(fused->program), 3u);
  EXPECT_EQ(BodyCycles(fused->program), 34);
  const std::vector<float> x = {1, -7, 1e30f}, y = {0.1f, 3, -2};
  const std::vector<uint32_t> z = ResultsOf(*fused, {x, y});
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(z[i],
              Bits(model::FAdd(model::FDiv(model::FSub(x[i], y[i]), 3), y[i])));
  }
}

TEST(ComposePrograms, DivisionsByPowersOfTwoAreProducts) {
  for (const float by :
       {8.0f, -0.25f, 0x1p-126f, 0x1p126f, 3.0f, 0x1p127f, 0.0f, 0x1p-130f}) {
    const auto fused = ComposePrograms(
        {{BinaryProgram(MicroOp::kFdiv), {}, {In(0), Value(by)}}});
    ASSERT_TRUE(fused.ok()) << fused.status();
    const bool power =
        by == 8 || by == -0.25f || by == 0x1p-126f || by == 0x1p126f;
    EXPECT_EQ(BodyCycles(fused->program), power ? 1 : 32) << by;
    const std::vector<float> x = {
        1, -7, 1e38f, 1e-44f, -0.0f, 0x1.fffffep127f, 0x1.000002p-126f};
    const std::vector<uint32_t> z = ResultsOf(*fused, {x});
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(z[i], Bits(model::FDiv(x[i], by))) << x[i] << " " << by;
    }
  }
}

TEST(ComposePrograms, MoreValuesThanArguments) {
  std::vector<ProgramPart> parts = {
      {ClampProgram(), {Bits(-5), Bits(5), 0, 0}, {In(0)}}};
  for (uint32_t i = 0; i < 6; ++i) {
    parts.push_back({BinaryProgram(MicroOp::kFadd),
                     {},
                     {Part(i), Value(0.5f * static_cast<float>(i) + 0.1f)}});
  }
  const auto fused = ComposePrograms(parts);
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->program.body.size(), 8u);
  float expected = 5;
  for (int i = 0; i < 6; ++i) {
    expected = model::FAdd(expected, 0.5f * static_cast<float>(i) + 0.1f);
  }
  EXPECT_EQ(ResultsOf(*fused, {{9}})[0], Bits(expected));
}

TEST(ComposePrograms, NodesThatDifferInValuesShareAProgram) {
  const auto one = ComposePrograms(
      {{ClampProgram(), {Bits(-5), Bits(5), 0, 0}, {In(0)}},
       {BinaryProgram(MicroOp::kFmul), {}, {Part(0), Value(3)}}});
  const auto other = ComposePrograms(
      {{ClampProgram(), {Bits(0), Bits(7), 0, 0}, {In(0)}},
       {BinaryProgram(MicroOp::kFmul), {}, {Part(0), Value(2)}}});
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->program.Bytes(), other->program.Bytes());
}

TEST(ComposePrograms, RegistersBeginAsZeros) {
  // A Cast to bool reads a register that it never writes.
  const auto fused = ComposePrograms(
      {{CastProgram(ElementKind::kReal, ElementKind::kBool, 8, false),
        {},
        {In(0)}}});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(ResultsOf(*fused, {{0, 3}}), (std::vector<uint32_t>{0, 1}));
}

PartSource Half(uint32_t i) {
  return {PartSource::kInput, i, DataType::kFloat16};
}

int Count(const FusedProgram& fused, MicroOp op) {
  int count = 0;
  for (const auto& m : fused.program.body) count += m.op == op;
  return count;
}

TEST(ComposePrograms, RoundsBetweenParts) {
  // (x + 3) * x: the sum is rounded, the product by being stored.
  const ProgramPart sum = {BinaryProgram(MicroOp::kFadd),
                           {},
                           {Half(0), Value(3)},
                           DataType::kFloat16};
  const ProgramPart product = {BinaryProgram(MicroOp::kFmul),
                               {},
                               {Part(0), Half(0)},
                               DataType::kFloat16};
  auto fused = ComposePrograms({sum, product});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->program.body.size(), 3u);
  EXPECT_EQ(Count(*fused, MicroOp::kRhalf), 1);
  const std::vector<float> x = {1, 0.1f, 2048, -0x1.554p-7f};
  const std::vector<uint32_t> z = ResultsOf(*fused, {x});
  for (size_t i = 0; i < x.size(); ++i) {
    const float s = model::F16ToF32(model::F32ToF16(model::FAdd(x[i], 3)));
    EXPECT_EQ(z[i], Bits(model::FMul(s, x[i])));
  }
  // To fp32 nothing is rounded, to bfloat16 by the other instruction.
  ProgramPart wide = sum, brain = sum;
  wide.type = DataType::kFloat;
  fused = ComposePrograms({wide, product});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->program.body.size(), 2u);
  brain.type = DataType::kBfloat16;
  fused = ComposePrograms({brain, product});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(Count(*fused, MicroOp::kRbf), 1);
  EXPECT_EQ(ResultsOf(*fused, {{0.1f}})[0],
            Bits(model::FMul(model::Bf16ToF32(model::F32ToBf16(3.1f)), 0.1f)));
}

TEST(ComposePrograms, RoundsNoChosenValue) {
  const auto clamp = [](float high, const PartSource& from) {
    return ProgramPart{ClampProgram(),
                       {Bits(0), Bits(high), 0, 0},
                       {from},
                       DataType::kFloat16};
  };
  const ProgramPart twice = {BinaryProgram(MicroOp::kFadd),
                             {},
                             {Part(0), Part(0)},
                             DataType::kFloat16};
  const auto roundings = [&](const ProgramPart& first) {
    const auto fused = ComposePrograms({first, twice});
    EXPECT_TRUE(fused.ok()) << fused.status();
    return fused.ok() ? Count(*fused, MicroOp::kRhalf) : -1;
  };
  EXPECT_EQ(roundings(clamp(6, Half(0))), 0);
  EXPECT_EQ(roundings(clamp(6.1f, Half(0))), 1);  // no float16
  EXPECT_EQ(roundings(clamp(6, In(0))), 1);       // of fp32
}

TEST(ComposePrograms, DivisionsOfFloat16) {
  // Whatever is chosen, the bits are those of the division.
  int products = 0;
  for (float by : {3.0f, 6.0f, -1.4140625f, 0.7001953125f, 1000.0f, 8.0f,
                   1.41421356f, 0.0f, 65504.0f, 6e-8f, 7.0f, 10.0f}) {
    const auto fused = ComposePrograms({{BinaryProgram(MicroOp::kFdiv),
                                         {},
                                         {Half(0), Value(by)},
                                         DataType::kFloat16}});
    ASSERT_TRUE(fused.ok()) << fused.status();
    products += Count(*fused, MicroOp::kFmul);
    std::vector<float> x;
    for (uint32_t code = 0; code < 0x10000; ++code) {
      x.push_back(model::F16ToF32(static_cast<uint16_t>(code)));
    }
    const std::vector<uint32_t> z = ResultsOf(*fused, {x});
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(model::F32ToF16(model::FromBits(z[i])),
                model::F32ToF16(model::FDiv(x[i], by)))
          << x[i] << " " << by;
    }
  }
  EXPECT_GE(products, 4);
  // fp32 has more dividends than that.
  const auto wide = ComposePrograms({{BinaryProgram(MicroOp::kFdiv),
                                      {},
                                      {In(0), Value(3)},
                                      DataType::kFloat16}});
  ASSERT_TRUE(wide.ok()) << wide.status();
  EXPECT_EQ(Count(*wide, MicroOp::kFdiv), 1);
}

TEST(ComposePrograms, CopiesAreNoInstructions) {
  const auto fused =
      ComposePrograms({{CopyProgram(), {}, {Half(0)}, DataType::kFloat},
                       {ReluProgram(), {}, {Part(0)}, DataType::kFloat},
                       {CopyProgram(), {}, {Part(1)}, DataType::kFloat16}});
  ASSERT_TRUE(fused.ok()) << fused.status();
  EXPECT_EQ(fused->program.Bytes(), ReluProgram().Bytes());
  // A stream of another type is rounded: to be stored would not do for bits.
  const auto narrow =
      ComposePrograms({{CopyProgram(), {}, {Half(0)}, DataType::kBfloat16}});
  ASSERT_TRUE(narrow.ok()) << narrow.status();
  EXPECT_EQ(Count(*narrow, MicroOp::kRbf), 1);
}

TEST(ComposePrograms, RefusesWhatCannotBeJoined) {
  EXPECT_FALSE(ComposePrograms({}).ok());
  EXPECT_FALSE(ComposePrograms({{MaxProgram(), {}, {In(0)}}}).ok());
  EXPECT_FALSE(ComposePrograms({{ReluProgram(), {}, {In(3)}}}).ok());
  EXPECT_FALSE(ComposePrograms({{ReluProgram(), {}, {}}}).ok());
  Microprogram sum;
  sum.body = CopyProgram().body;
  sum.body[0].op = MicroOp::kHsum;
  EXPECT_FALSE(ComposePrograms({{sum, {}, {In(0)}}}).ok());
}

}  // namespace
}  // namespace heddle::compiler
