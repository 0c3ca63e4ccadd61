// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/microprogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using isa::Operand;
using model::Bits;

TEST(ProgramBuilderTest, DropsTheDeadAndWritesOutDirectly) {
  ProgramBuilder b;
  const Term sum = b.Add(b.A(), b.B());
  b.Mul(sum, sum);  // nobody reads it
  b.Out(b.Fma(sum, b.Imm(2), b.C()));
  const auto program = b.Finish();
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->body.size(), 2u);
  EXPECT_EQ(program->body[0].d, Destination::kV0);
  EXPECT_EQ(program->body[1].d, Destination::kOut);
  EXPECT_EQ(program->body[1].imm, Bits(2));
  EXPECT_TRUE(program->prologue.empty() && program->epilogue.empty());
}

TEST(ProgramBuilderTest, ASecondImmediateGetsARegister) {
  ProgramBuilder b;
  b.Out(b.Fma(b.A(), b.Imm(2), b.Imm(3)));
  const auto program = b.Finish();
  ASSERT_TRUE(program.ok());
  ASSERT_EQ(program->body.size(), 2u);
  EXPECT_EQ(program->body[0].op, MicroOp::kMov);
  EXPECT_EQ(program->body[0].imm, Bits(3));
  EXPECT_EQ(program->body[1].c, Operand::kV0);
}

TEST(ProgramBuilderTest, RegistersAreUsedAgain) {
  ProgramBuilder b;
  Term x = b.Add(b.A(), b.A());
  for (int i = 0; i < 100; ++i) x = b.Mul(x, x);
  b.Out(b.Add(x, x));
  ASSERT_TRUE(b.Finish().ok());

  ProgramBuilder wide;
  std::vector<Term> terms;
  for (int i = 0; i < 15; ++i) {
    terms.push_back(wide.Add(wide.A(), wide.Imm(static_cast<float>(i))));
  }
  ProgramBuilder wider = wide;
  for (ProgramBuilder* p : {&wide, &wider}) {
    std::vector<Term> all = terms;
    if (p == &wider) all.push_back(p->Add(p->A(), p->Imm(99)));
    Term sum = all[0];
    for (size_t i = 1; i < all.size(); ++i) sum = p->Add(sum, all[i]);
    // In whatever order: each is read again behind the sum.
    for (const Term& term : all) sum = p->Mul(sum, term);
    p->Out(sum);
  }
  EXPECT_TRUE(wide.Finish().ok());
  EXPECT_EQ(wider.Finish().status().code(), absl::StatusCode::kInternal);
}

// Two chains that wait for nothing of each other, one behind the other in the
// source: their instructions alternate, and the result is the same.
TEST(ProgramBuilderTest, ChainsLieSideBySide) {
  ProgramBuilder b;
  Term ends[2];
  for (int chain = 0; chain < 2; ++chain) {
    Term x = ProgramBuilder::Stream(chain);
    for (int i = 0; i < 12; ++i) {
      x = b.Fma(x, b.Imm(1.5f), b.Arg(chain));
    }
    ends[chain] = x;
  }
  b.Out(b.Sub(ends[0], ends[1]));
  const auto program = b.Finish();
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->body.size(), 25u);
  EXPECT_EQ(program->body.back().d, Destination::kOut);
  for (size_t i = 1; i < 24; ++i) {
    EXPECT_NE(program->body[i].c, program->body[i - 1].c) << i;
  }
  const uint32_t x = Bits(0.3f), y = Bits(-7.1f), p = Bits(2.5f),
                 q = Bits(0.01f);
  uint32_t result = 0;
  ASSERT_TRUE(Evaluate(*program, {p, q, 0, 0},
                       {HostStream{&x, true}, HostStream{&y, true}, {}}, 1,
                       &result)
                  .ok());
  float expected[2] = {0.3f, -7.1f};
  for (int i = 0; i < 12; ++i) {
    expected[0] = std::fma(expected[0], 1.5f, 2.5f);
    expected[1] = std::fma(expected[1], 1.5f, 0.01f);
  }
  EXPECT_EQ(result, Bits(expected[0] - expected[1]));
}

// The order of the source where the other would need too many registers.
TEST(ProgramBuilderTest, OrderGivesWayToRegisters) {
  ProgramBuilder b;
  Term sum = b.Imm(0);
  for (int i = 0; i < 17; ++i) {
    Term x = b.Mul(b.A(), b.Imm(static_cast<float>(i)));
    x = b.Add(b.Mul(x, x), b.Div(x, b.B()));
    sum = b.Add(sum, b.Mul(x, b.Sqrt(x)));
  }
  b.Out(sum);
  EXPECT_TRUE(b.Finish().ok());
}

TEST(ProgramBuilderTest, RefusesTooManyInstructionsAndNoBody) {
  ProgramBuilder b;
  EXPECT_FALSE(b.Finish().ok());
  Term x = b.A();
  for (uint32_t i = 0; i < isa::kVectorProgramMax; ++i) x = b.Add(x, b.B());
  b.Out(x);
  EXPECT_TRUE(b.Finish().ok());
  b.Out(b.Add(x, x));
  EXPECT_FALSE(b.Finish().ok());
}

// A variable keeps its register; what the prologue leaves to the body is not
// overwritten by the body's own results.
TEST(ProgramBuilderTest, SectionsShareRegisters) {
  ProgramBuilder b;
  const Term sum = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(sum, b.Imm(5));
  const Term scale = b.Add(b.Arg(0), b.Imm(1));
  b.In(ProgramBuilder::kBody);
  b.Assign(sum, b.Fma(b.Add(b.A(), b.A()), scale, sum));
  b.In(ProgramBuilder::kEpilogue);
  b.Out(b.Mul(sum, scale));
  const auto program = b.Finish();
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->prologue.size(), 2u);
  ASSERT_EQ(program->body.size(), 2u);
  EXPECT_EQ(program->body[1].d, Destination::kV0);
  EXPECT_EQ(program->body[1].c, Operand::kV0);
  EXPECT_EQ(program->body[1].b, Operand::kV1);
  EXPECT_EQ(program->body[0].d, Destination::kV2);
  EXPECT_EQ(program->epilogue.size(), 1u);
  const std::vector<uint32_t> a = {Bits(3), Bits(4)};
  uint32_t out[2];
  ASSERT_TRUE(
      Evaluate(*program, {Bits(1.0f)}, {HostStream{a.data(), false}}, 2, out)
          .ok());
  EXPECT_EQ(out[0], Bits((5 + 6 * 2) * 2));
  EXPECT_EQ(out[1], Bits((5 + 8 * 2) * 2));
}

// Counts around the chunk and the lanes, with single elements and arguments.
TEST(EvaluateTest, AnyCount) {
  ProgramBuilder b;
  b.Out(b.IAdd(b.IMul(b.A(), b.B()), b.ISub(b.C(), b.Arg(3))));
  const auto program = b.Finish();
  ASSERT_TRUE(program.ok());
  std::mt19937 random(1);
  for (int64_t count : {0, 1, 15, 16, 17, 1023, 1024, 1025, 5000}) {
    std::vector<uint32_t> a(count), c(count), out(count + 1, 77);
    for (auto& v : a) v = random();
    for (auto& v : c) v = random();
    const uint32_t factor = random();
    ASSERT_TRUE(
        Evaluate(*program, {0, 0, 0, 9},
                 {HostStream{a.data(), false}, HostStream{&factor, true},
                  HostStream{c.data(), false}},
                 count, out.data())
            .ok());
    for (int64_t i = 0; i < count; ++i) {
      ASSERT_EQ(out[i], a[i] * factor + c[i] - 9) << count << " " << i;
    }
    EXPECT_EQ(out[count], 77u);
  }
}

TEST(EvaluateTest, RefusesWhatALaneDoesNotHave) {
  const uint32_t one = 1;
  uint32_t out = 0;
  auto run = [&](Term (*make)(ProgramBuilder*)) {
    ProgramBuilder b;
    b.Out(make(&b));
    return Evaluate(*b.Finish(), {}, {HostStream{&one, true}}, 1, &out).code();
  };
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(run([](ProgramBuilder* b) { return b->IAdd(b->A(), b->Valid()); }),
            absl::StatusCode::kOk);
  EXPECT_EQ(out, 0u);
  EXPECT_EQ(run([](ProgramBuilder* b) { return b->IAdd(b->A(), b->B()); }),
            kRefused);
  EXPECT_EQ(run([](ProgramBuilder* b) { return b->Lane(); }), kRefused);
  EXPECT_EQ(run([](ProgramBuilder* b) { return b->IndexR(); }), kRefused);
  EXPECT_EQ(
      run([](ProgramBuilder* b) { return b->Op(MicroOp::kHsum, b->A()); }),
      kRefused);
}

}  // namespace
}  // namespace heddle::compiler
