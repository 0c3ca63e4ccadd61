// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/compose_programs.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/base/status_macros.h"
#include "compiler/stream/microcode.h"
#include "simulator/model/numerics.h"

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

// Types whose values a register is known to hold, a bit each: rounding to one
// of them changes no bit, of a NaN neither.
enum : uint8_t { kHalf = 1, kBrain = 2 };

struct Instruction {
  MicroOp op;
  std::array<Use, 3> x;
  int count = 0;      // operands
  uint8_t holds = 0;  // of the result
};

uint8_t HoldsOf(DataType type) {
  return type == DataType::kFloat16    ? kHalf
         : type == DataType::kBfloat16 ? kBrain
                                       : 0;
}

uint8_t HoldsOf(uint32_t bits) {
  const float value = model::FromBits(bits);
  uint8_t holds = 0;
  if (model::Bits(model::F16ToF32(model::F32ToF16(value))) == bits) {
    holds |= kHalf;
  }
  if (model::Bits(model::Bf16ToF32(model::F32ToBf16(value))) == bits) {
    holds |= kBrain;
  }
  return holds;
}

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

// Whether x / y and x * reciprocal are the same float16 for every float16 x:
// for positive ones, as the sign goes along.
bool SameHalf(float y, float reciprocal) {
  constexpr uint16_t kInfinity = 0x7c00;
  for (uint16_t x = 0; x <= kInfinity; ++x) {
    const float v = model::F16ToF32(x);
    if (model::F32ToF16(model::FDiv(v, y)) !=
        model::F32ToF16(model::FMul(v, reciprocal))) {
      return false;
    }
  }
  return true;
}

// The reciprocal with which that holds, if it does. What was asked is known:
// the nodes of a network divide by few values, and are composed several times.
std::optional<uint32_t> ReciprocalForHalf(uint32_t bits) {
  constexpr size_t kMost = 1024;
  thread_local std::map<uint32_t, std::optional<uint32_t>> known;
  if (known.size() > kMost) known.clear();
  const auto [it, fresh] = known.try_emplace(bits);
  if (fresh) {
    const model::ScopedFpEnvironment environment;
    const float by = model::FromBits(bits), reciprocal = model::FDiv(1, by);
    if (SameHalf(by, reciprocal)) it->second = model::Bits(reciprocal);
  }
  return it->second;
}

class Composer {
 public:
  // `last`: its result is stored.
  absl::Status Add(const ProgramPart& part, const std::vector<Use>& results,
                   bool last, Use* result) {
    if (!part.program.prologue.empty() || !part.program.epilogue.empty()) {
      return absl::InvalidArgumentError("a part is more than a body");
    }
    if (part.program.Bytes() == CopyProgram().Bytes()) {
      ASSIGN_OR_RETURN(const Use use, OfStream(part, 0, results));
      *result = Rounded(use, part.type, last);
      return absl::OkStatus();
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
    *result = Rounded(out, part.type, last);
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
  absl::StatusOr<Use> OfStream(const ProgramPart& part, int stream,
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
    stream_holds_[source.value] = HoldsOf(source.type);
    return Use{Use::kStream, source.value};
  }

  static bool IsValue(const Use& use) {
    return use.kind == Use::kBits || use.kind == Use::kParameter;
  }

  Use Append(Instruction in) {
    // What is moved is where it was, except a stream: a register that holds it
    // may be there so that it is read once.
    if (in.op == MicroOp::kMov && in.x[0].kind != Use::kStream) return in.x[0];
    if (in.op == MicroOp::kFdiv && IsValue(in.x[1]) &&
        IsPowerOfTwo(in.x[1].value)) {
      in.op = MicroOp::kFmul;
      in.x[1].value = ReciprocalOfPower(in.x[1].value);
    }
    in.holds = ResultHolds(in);
    instructions_.push_back(in);
    return {Use::kResult, static_cast<uint32_t>(instructions_.size() - 1)};
  }

  uint8_t Holds(const Use& use) const {
    switch (use.kind) {
      case Use::kResult:
        return instructions_[use.value].holds;
      case Use::kStream:
        return stream_holds_[use.value];
      case Use::kBits:
      case Use::kParameter:
        return HoldsOf(use.value);
      case Use::kValid:
        break;
    }
    return 0;
  }

  // fmin and fmax give one of their operands, or the NaN that all types have.
  uint8_t ResultHolds(const Instruction& in) const {
    switch (in.op) {
      case MicroOp::kRhalf:
        return kHalf;
      case MicroOp::kRbf:
        return kBrain;
      case MicroOp::kMov:
        return Holds(in.x[0]);
      case MicroOp::kFmin:
      case MicroOp::kFmax:
        return Holds(in.x[0]) & Holds(in.x[1]);
      case MicroOp::kSel:
        return Holds(in.x[1]) & Holds(in.x[2]);
      case MicroOp::kIand: {  // without the sign
        constexpr uint32_t kMagnitude = 0x7fffffff;
        for (int k : {0, 1}) {
          if (in.x[k].kind == Use::kBits && in.x[k].value == kMagnitude) {
            return Holds(in.x[1 - k]);
          }
        }
        return 0;
      }
      default:
        return 0;
    }
  }

  // The result of a part as its type holds it. `stored`: as that type, which
  // rounds by itself; a stream is not merely moved then, as that would keep
  // bits.
  Use Rounded(const Use& use, DataType type, bool stored) {
    const uint8_t wanted = HoldsOf(type);
    if (wanted == 0 || (Holds(use) & wanted) != 0) return use;
    if (use.kind == Use::kResult) {
      Instruction& in = instructions_[use.value];
      // Nobody else reads the last one's quotient.
      if (in.op == MicroOp::kFdiv && use.value + 1 == instructions_.size() &&
          IsValue(in.x[1]) && wanted == kHalf &&
          (Holds(in.x[0]) & kHalf) != 0) {
        if (const auto reciprocal = ReciprocalForHalf(in.x[1].value)) {
          in.op = MicroOp::kFmul;
          in.x[1].value = *reciprocal;
        }
      }
      if (stored && in.op != MicroOp::kMov) return use;
    }
    return Append(Rounding(type, use));
  }

  static Instruction Rounding(DataType type, const Use& use) {
    Instruction in;
    in.op = type == DataType::kFloat16 ? MicroOp::kRhalf : MicroOp::kRbf;
    in.x[0] = use;
    in.count = 1;
    return in;
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
  std::array<uint8_t, kStreams> stream_holds_{};
  std::vector<uint32_t> arguments_;
};

}  // namespace

absl::StatusOr<FusedProgram> ComposePrograms(
    const std::vector<ProgramPart>& parts) {
  Composer composer;
  std::vector<Use> results;
  for (const ProgramPart& part : parts) {
    const bool last = results.size() + 1 == parts.size();
    Use result;
    RETURN_IF_ERROR(composer.Add(part, results, last, &result));
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
