// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/compose_programs.h"

#include <algorithm>

#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

constexpr int kStreams = 3;
constexpr size_t kArguments = 4;

// What an operand is when all parts are seen together.
struct Use {
  // kParameter: a value that the part's program does not hold.
  enum Kind { kResult, kStream, kBits, kParameter, kValid } kind = kBits;
  uint32_t value = 0;  // index of the instruction, stream, or the bits
};

struct Instruction {
  MicroOp op;
  std::array<Use, 3> x;
  int count = 0;  // operands
};

int StreamIndex(Operand o) {
  return static_cast<int>(o) - static_cast<int>(Operand::kStreamA);
}
bool IsStream(Operand o) {
  return o == Operand::kStreamA || o == Operand::kStreamB ||
         o == Operand::kStreamC;
}

int OperandCount(const MicroInstruction& m) {
  return isa::FindMicroOp(static_cast<uint32_t>(m.op))->num_operands - 1;
}

// Whether 1 / value is exact, and a product with it is the division.
bool IsPowerOfTwo(uint32_t bits) {
  const uint32_t exponent = bits >> 23 & 0xff;
  return (bits & 0x7fffff) == 0 && exponent > 0 && exponent < 254;
}
uint32_t ReciprocalOfPower(uint32_t bits) {
  return (bits & 0x80000000u) | ((254 - (bits >> 23 & 0xff)) << 23);
}

class Composer {
 public:
  absl::Status Add(const ProgramPart& part, const std::vector<Use>& results,
                   Use* result) {
    if (!part.program.prologue.empty() || !part.program.epilogue.empty()) {
      return absl::InvalidArgumentError("a part is more than a body");
    }
    std::array<Use, isa::kVectorRegisters> registers;  // 0 at first
    Use out;
    for (const MicroInstruction& m : part.program.body) {
      if (m.op >= MicroOp::kHsum) {
        return absl::InvalidArgumentError("a part reads other lanes");
      }
      Instruction in;
      in.op = m.op;
      in.count = OperandCount(m);
      const Operand operands[3] = {m.a, m.b, m.c};
      for (int k = 0; k < in.count; ++k) {
        const Operand o = operands[k];
        if (IsStream(o)) {
          ASSIGN_OR_RETURN(in.x[k], OfStream(part, StreamIndex(o), results));
        } else if (o == Operand::kImm) {
          in.x[k] = {Use::kBits, m.imm};
        } else if (o >= Operand::kArg0 && o <= Operand::kArg3) {
          in.x[k] = {Use::kParameter,
                     part.arguments[static_cast<int>(o) -
                                    static_cast<int>(Operand::kArg0)]};
        } else if (o == Operand::kValid) {
          in.x[k] = {Use::kValid, 0};
        } else if (static_cast<uint32_t>(o) < isa::kVectorRegisters) {
          in.x[k] = registers[static_cast<uint32_t>(o)];
        } else {
          return absl::InvalidArgumentError("a part reads an index");
        }
      }
      const Use done = Append(in);
      if (m.d == Destination::kOut) {
        out = done;
      } else {
        registers[static_cast<uint32_t>(m.d)] = done;
      }
    }
    *result = out;
    return absl::OkStatus();
  }

  absl::StatusOr<FusedProgram> Finish(const Use& result) {
    ChooseArguments();
    ProgramBuilder b;
    std::vector<Term> terms;
    for (const Instruction& in : instructions_) {
      Term x[3];
      for (int k = 0; k < in.count; ++k) x[k] = TermOf(in.x[k], terms);
      terms.push_back(b.Op(in.op, x[0], x[1], x[2]));
    }
    b.Out(TermOf(result, terms));
    FusedProgram fused;
    ASSIGN_OR_RETURN(fused.program, b.Finish());
    std::copy(arguments_.begin(), arguments_.end(), fused.arguments.begin());
    return fused;
  }

 private:
  static absl::StatusOr<Use> OfStream(const ProgramPart& part, int stream,
                                      const std::vector<Use>& results) {
    if (stream >= static_cast<int>(part.streams.size())) {
      return absl::InvalidArgumentError("a part reads an absent stream");
    }
    const PartSource& source = part.streams[stream];
    switch (source.kind) {
      case PartSource::kPart:
        return results.at(source.value);
      case PartSource::kBits:
        return Use{Use::kParameter, source.value};
      case PartSource::kInput:
        break;
    }
    if (source.value >= kStreams) {
      return absl::InvalidArgumentError("the parts read too many streams");
    }
    return Use{Use::kStream, source.value};
  }

  Use Append(Instruction in) {
    // What is moved is where it was, except a stream: a register that holds it
    // may be there so that it is read once.
    if (in.op == MicroOp::kMov && in.x[0].kind != Use::kStream) return in.x[0];
    const bool constant =
        in.x[1].kind == Use::kBits || in.x[1].kind == Use::kParameter;
    if (in.op == MicroOp::kFdiv && constant && IsPowerOfTwo(in.x[1].value)) {
      in.op = MicroOp::kFmul;
      in.x[1].value = ReciprocalOfPower(in.x[1].value);
    }
    instructions_.push_back(in);
    return {Use::kResult, static_cast<uint32_t>(instructions_.size() - 1)};
  }

  void Want(uint32_t bits) {
    if (arguments_.size() < kArguments && !IsArgument(bits)) {
      arguments_.push_back(bits);
    }
  }
  bool IsArgument(uint32_t bits) const {
    return std::find(arguments_.begin(), arguments_.end(), bits) !=
           arguments_.end();
  }

  // Parameters are arguments, so that nodes that differ in them share a
  // program: first those of instructions with two values, as there is room for
  // one immediate only.
  void ChooseArguments() {
    for (const Instruction& in : instructions_) {
      std::vector<Use> values;
      for (int k = 0; k < in.count; ++k) {
        const Use& x = in.x[k];
        if (x.kind != Use::kBits && x.kind != Use::kParameter) continue;
        const bool known =
            std::any_of(values.begin(), values.end(),
                        [&x](const Use& v) { return v.value == x.value; });
        if (!known) values.push_back(x);
      }
      std::stable_partition(values.begin(), values.end(), [](const Use& v) {
        return v.kind == Use::kParameter;
      });
      for (size_t i = 0; i + 1 < values.size(); ++i) Want(values[i].value);
    }
    for (const Instruction& in : instructions_) {
      for (int k = 0; k < in.count; ++k) {
        if (in.x[k].kind == Use::kParameter) Want(in.x[k].value);
      }
    }
  }

  Term TermOf(const Use& use, const std::vector<Term>& terms) const {
    switch (use.kind) {
      case Use::kResult:
        return terms[use.value];
      case Use::kStream:
        return ProgramBuilder::Stream(static_cast<int>(use.value));
      case Use::kValid:
        return ProgramBuilder::Valid();
      case Use::kBits:
      case Use::kParameter:
        break;
    }
    const auto it = std::find(arguments_.begin(), arguments_.end(), use.value);
    return it == arguments_.end()
               ? ProgramBuilder::ImmBits(use.value)
               : ProgramBuilder::Arg(static_cast<int>(it - arguments_.begin()));
  }

  std::vector<Instruction> instructions_;
  std::vector<uint32_t> arguments_;
};

}  // namespace

absl::StatusOr<FusedProgram> ComposePrograms(
    const std::vector<ProgramPart>& parts) {
  Composer composer;
  std::vector<Use> results;
  for (const ProgramPart& part : parts) {
    Use result;
    RETURN_IF_ERROR(composer.Add(part, results, &result));
    results.push_back(result);
  }
  if (results.empty()) return absl::InvalidArgumentError("there is no part");
  return composer.Finish(results.back());
}

uint32_t StreamsOf(const Microprogram& program) {
  uint32_t streams = 0;
  for (const auto* section :
       {&program.prologue, &program.body, &program.epilogue}) {
    for (const MicroInstruction& m : *section) {
      const Operand operands[3] = {m.a, m.b, m.c};
      for (int k = 0; k < OperandCount(m); ++k) {
        if (IsStream(operands[k])) streams |= 1u << StreamIndex(operands[k]);
      }
    }
  }
  return streams;
}

int64_t BodyCycles(const Microprogram& program) {
  int64_t cycles = 0;
  for (const MicroInstruction& m : program.body) {
    switch (m.op) {  // iterative ones: ISA.md
      case MicroOp::kFdiv:
      case MicroOp::kFsqrt:
        cycles += 32;
        break;
      case MicroOp::kIdiv:
      case MicroOp::kIdivu:
        cycles += 36;
        break;
      default:
        ++cycles;
    }
  }
  return cycles;
}

}  // namespace heddle::compiler
