// SPDX-License-Identifier: Apache-2.0
// Microprograms of the vector engine: what one is, how to write one, and what
// it computes on the host. Results are defined by the instruction set, so an
// operator that is a microprogram has exactly these bits everywhere.
//
//   ProgramBuilder b;                       // out = a * a + 1
//   b.Out(b.Fma(b.A(), b.A(), b.Imm(1)));
//   auto program = b.Finish();
#ifndef HEDDLE_COMPILER_OPS_MICROPROGRAM_H_
#define HEDDLE_COMPILER_OPS_MICROPROGRAM_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/lanes/lanes.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

struct Microprogram {
  std::vector<isa::MicroInstruction> prologue, body, epilogue;
  // Sections one after another, as prog_addr expects them.
  std::vector<uint8_t> Bytes() const;
};

// An operand inside a program under construction: a stream, an argument, an
// immediate, or the result of an instruction.
struct Term {
  isa::Operand operand = isa::Operand::kV0;
  uint32_t imm = 0;
  int id = -1;  // of a result or variable; -1: `operand` as it stands
};

// Appends instructions in single assignment; Finish drops those whose result
// nobody reads, puts chains of a long section that do not wait for each other
// side by side, and gives the rest registers. A result that another section
// reads keeps its register to the end of the program.
class ProgramBuilder {
 public:
  using TermType = Term;  // for compiler/lanes/terms.h
  enum Section { kPrologue, kBody, kEpilogue };

  // Instructions are appended to the body unless told otherwise.
  void In(Section section) { section_ = section; }

  static Term A() { return {isa::Operand::kStreamA}; }
  static Term B() { return {isa::Operand::kStreamB}; }
  static Term C() { return {isa::Operand::kStreamC}; }
  static Term Stream(int i);  // 0 to 2
  static Term Arg(int i);     // 0 to 3
  static Term Valid() { return {isa::Operand::kValid}; }
  static Term Lane() { return {isa::Operand::kLane}; }
  static Term IndexR() { return {isa::Operand::kIndexR}; }
  static Term Imm(float value);
  static Term ImmBits(uint32_t bits) { return {isa::Operand::kImm, bits}; }

  // The result of one instruction. An instruction holds one immediate; a second
  // one is moved to a register first.
  Term Op(isa::MicroOp op, Term a, Term b = {}, Term c = {});

  // A register that keeps its value from group iteration to iteration (0 at
  // first) and is written by Assign only: accumulators of reductions.
  Term Variable();
  void Assign(Term variable, Term value);
  // What is stored. Once per section at most.
  void Out(Term value);

  // Arithmetic; see ISA.md, "Micro-instructions".
  Term Add(Term a, Term b) { return Op(isa::MicroOp::kFadd, a, b); }
  Term Sub(Term a, Term b) { return Op(isa::MicroOp::kFsub, a, b); }
  Term Mul(Term a, Term b) { return Op(isa::MicroOp::kFmul, a, b); }
  Term Fma(Term a, Term b, Term c) { return Op(isa::MicroOp::kFfma, a, b, c); }
  Term Div(Term a, Term b) { return Op(isa::MicroOp::kFdiv, a, b); }
  Term Sqrt(Term a) { return Op(isa::MicroOp::kFsqrt, a); }
  // a < b ? a : b; a NaN in either gives NaN.
  Term Min(Term a, Term b) { return Op(isa::MicroOp::kFmin, a, b); }
  Term Max(Term a, Term b) { return Op(isa::MicroOp::kFmax, a, b); }
  Term Less(Term a, Term b) { return Op(isa::MicroOp::kFlt, a, b); }
  Term LessEqual(Term a, Term b) { return Op(isa::MicroOp::kFle, a, b); }
  Term Equal(Term a, Term b) { return Op(isa::MicroOp::kFeq, a, b); }
  // mask != 0 ? a : b
  Term Select(Term mask, Term a, Term b) {
    return Op(isa::MicroOp::kSel, mask, a, b);
  }
  Term Round(Term a) { return Op(isa::MicroOp::kF2i, a); }
  Term Truncate(Term a) { return Op(isa::MicroOp::kF2iTrunc, a); }
  Term FromInt(Term a) { return Op(isa::MicroOp::kI2f, a); }
  Term IAdd(Term a, Term b) { return Op(isa::MicroOp::kIadd, a, b); }
  Term ISub(Term a, Term b) { return Op(isa::MicroOp::kIsub, a, b); }
  Term IMul(Term a, Term b) { return Op(isa::MicroOp::kImul, a, b); }
  Term And(Term a, Term b) { return Op(isa::MicroOp::kIand, a, b); }
  Term Or(Term a, Term b) { return Op(isa::MicroOp::kIor, a, b); }
  Term Xor(Term a, Term b) { return Op(isa::MicroOp::kIxor, a, b); }
  Term Shl(Term a, uint32_t n) {
    return Op(isa::MicroOp::kIshl, a, ImmBits(n));
  }
  Term Shr(Term a, uint32_t n) {
    return Op(isa::MicroOp::kIshr, a, ImmBits(n));
  }
  Term Sar(Term a, uint32_t n) {
    return Op(isa::MicroOp::kIsar, a, ImmBits(n));
  }
  Term IMin(Term a, Term b) { return Op(isa::MicroOp::kImin, a, b); }
  Term IMax(Term a, Term b) { return Op(isa::MicroOp::kImax, a, b); }
  Term ILess(Term a, Term b) { return Op(isa::MicroOp::kIlt, a, b); }
  Term ULess(Term a, Term b) { return Op(isa::MicroOp::kIltu, a, b); }
  Term IEqual(Term a, Term b) { return Op(isa::MicroOp::kIeq, a, b); }

  // INTERNAL if the program needs more registers or instructions than there
  // are, or has no body.
  absl::StatusOr<Microprogram> Finish() const;

 private:
  static constexpr int kOut = -1;
  struct Step {
    isa::MicroOp op;
    std::array<Term, 3> x;
    int d;  // id of the result, or kOut
  };
  using Sections = std::array<std::vector<Step>, 3>;

  // A section in an order in which more instructions lie between one and those
  // that wait for its result.
  std::vector<Step> Spread(const std::vector<Step>& section) const;
  absl::StatusOr<Microprogram> Allocate(const Sections& steps) const;

  std::vector<Step> steps_[3];
  std::vector<bool> variable_;  // by id
  Section section_ = kBody;
};

// Elements of a stream on the host: 32 bits each as the lanes hold them, or one
// element for all.
using HostStream = LaneStream;

// Runs `program` on `count` elements, each in a lane of its own with one
// iteration of the body. INVALID_ARGUMENT if the program reads an absent
// stream, the lane or reduction index, or another lane.
absl::Status Evaluate(const Microprogram& program,
                      const std::array<uint32_t, 4>& arguments,
                      const std::array<HostStream, 3>& streams, int64_t count,
                      uint32_t* out);

// The same, instruction by instruction: what Evaluate() does with programs that
// are none of compiler/lanes/functions.h. `out` is none of the streams.
absl::Status Interpret(const Microprogram& program,
                       const std::array<uint32_t, 4>& arguments,
                       const std::array<HostStream, 3>& streams, int64_t count,
                       uint32_t* out);

// A function as a program, and the function that a program is; kCount: none.
absl::StatusOr<Microprogram> ProgramOf(LaneFunction function);
LaneFunction FunctionOf(const Microprogram& program);

// A function of `count` elements, in the pace of compiler/base/pace.h.
void Compute(LaneFunction function, const LaneOperands& operands, int64_t count,
             uint32_t* out);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_MICROPROGRAM_H_
