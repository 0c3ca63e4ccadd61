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
