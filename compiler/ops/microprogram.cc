// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/microprogram.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "compiler/base/pace.h"
#include "compiler/base/spread.h"
#include "compiler/base/status_macros.h"
#include "simulator/model/kernels.h"
#include "simulator/model/micro.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

using isa::Destination;
using isa::MicroInstruction;
using isa::MicroOp;
using isa::Operand;

std::vector<uint8_t> Microprogram::Bytes() const {
  std::vector<uint8_t> bytes;
  for (const auto* section : {&prologue, &body, &epilogue}) {
    for (const MicroInstruction& m : *section) {
      const uint64_t word = m.Encode();
      for (int i = 0; i < 8; ++i) bytes.push_back(word >> (8 * i));
    }
  }
  return bytes;
}

Term ProgramBuilder::Stream(int i) {
  return {static_cast<Operand>(static_cast<int>(Operand::kStreamA) + i)};
}

Term ProgramBuilder::Arg(int i) {
  return {static_cast<Operand>(static_cast<int>(Operand::kArg0) + i)};
}

Term ProgramBuilder::Imm(float value) { return ImmBits(model::Bits(value)); }

Term ProgramBuilder::Op(MicroOp op, Term a, Term b, Term c) {
  std::array<Term, 3> x = {a, b, c};
  const isa::MicroOpInfo* info = isa::FindMicroOp(static_cast<uint32_t>(op));
  const int count = info->num_operands - 1;
  const Term* immediate = nullptr;
  for (int k = 0; k < 3; ++k) {
    if (k >= count) {
      x[k] = Term();
      continue;
    }
    if (x[k].id >= 0 || x[k].operand != Operand::kImm) continue;
    if (immediate == nullptr) {
      immediate = &x[k];
    } else if (immediate->imm != x[k].imm) {
      x[k] = Op(MicroOp::kMov, x[k]);
    }
  }
  Term result;
  result.id = static_cast<int>(variable_.size());
  variable_.push_back(false);
  steps_[section_].push_back({op, x, result.id});
  return result;
}

Term ProgramBuilder::Variable() {
  Term variable;
  variable.id = static_cast<int>(variable_.size());
  variable_.push_back(true);
  return variable;
}

void ProgramBuilder::Assign(Term variable, Term value) {
  steps_[section_].push_back({MicroOp::kMov, {value}, variable.id});
}

void ProgramBuilder::Out(Term value) {
  steps_[section_].push_back({MicroOp::kMov, {value}, kOut});
}

absl::StatusOr<Microprogram> ProgramBuilder::Finish() const {
  constexpr int kSections = 3;
  Sections steps = {steps_[0], steps_[1], steps_[2]};
  const size_t ids = variable_.size();

  // Drop what nobody reads, last instruction first.
  std::vector<int> uses(ids, 0);
  for (int s = kSections; s-- > 0;) {
    std::vector<Step> kept;
    for (size_t i = steps[s].size(); i-- > 0;) {
      const Step& step = steps[s][i];
      if (step.d != kOut && !variable_[step.d] && uses[step.d] == 0) continue;
      for (const Term& t : step.x) {
        if (t.id >= 0) ++uses[t.id];
      }
      kept.push_back(step);
    }
    std::reverse(kept.begin(), kept.end());
    steps[s] = std::move(kept);
  }
  // A result that is only moved on by the next instruction goes there itself.
  for (auto& section : steps) {
    std::vector<Step> merged;
    for (const Step& step : section) {
      const int from = step.x[0].id;
      if (step.op == MicroOp::kMov && from >= 0 && !merged.empty() &&
          merged.back().d == from && !variable_[from] && uses[from] == 1) {
        merged.back().d = step.d;
      } else {
        merged.push_back(step);
      }
    }
    section = std::move(merged);
  }

  Sections spread;
  for (int s = 0; s < kSections; ++s) spread[s] = Spread(steps[s]);
  auto program = Allocate(spread);
  // (which may want more registers)
  return program.ok() ? program : Allocate(steps);
}

std::vector<ProgramBuilder::Step> ProgramBuilder::Spread(
    const std::vector<Step>& section) const {
  // Two groups in turn, of which a result is there four cycles after its
  // instruction: what waits should be so many instructions behind. Strips of
  // four groups and more do not mind the order.
  constexpr int kWait = 2;
  constexpr size_t kLong = 16;
  const size_t count = section.size();
  if (count < kLong) return section;
  std::vector<std::vector<int>> before(count);
  std::map<int, int> made;              // by id: who makes it
  std::map<int, std::vector<int>> all;  // by variable: who reads or assigns it
  for (size_t i = 0; i < count; ++i) {
    const Step& step = section[i];
    // Faults of picks are told in their order, and what is stored is last.
    if (step.op == MicroOp::kPick || (step.d == kOut) != (i + 1 == count)) {
      return section;
    }
    const auto touch = [&](int id) {
      std::vector<int>& others = all[id];
      before[i].insert(before[i].end(), others.begin(), others.end());
      others.push_back(static_cast<int>(i));
    };
    for (const Term& t : step.x) {
      if (t.id < 0) continue;
      if (variable_[t.id]) {
        touch(t.id);
      } else if (const auto it = made.find(t.id); it != made.end()) {
        before[i].push_back(it->second);
      }
    }
    if (step.d == kOut) continue;
    if (variable_[step.d]) {
      touch(step.d);
    } else {
      made[step.d] = static_cast<int>(i);
    }
  }
  // The longest way to the end.
  std::vector<int> way(count, 0);
  for (size_t i = count; i-- > 0;) {
    for (int k : before[i]) way[k] = std::max(way[k], way[i] + kWait);
  }
  const auto wait = [&](const std::vector<int>& order, std::vector<int>* at) {
    int now = 0;
    at->assign(count, -1);
    for (int i : order) {
      for (int k : before[i]) now = std::max(now, (*at)[k] + kWait);
      (*at)[i] = now++;
    }
    return now;
  };
  std::vector<int> order, at(count, -1), plain(count);
  for (size_t i = 0; i < count; ++i) plain[i] = static_cast<int>(i);
  for (int now = 0; order.size() < count; ++now) {
    int best = -1;
    for (size_t i = 0; i < count; ++i) {
      if (at[i] >= 0 || (i + 1 == count && order.size() + 1 < count)) continue;
      const bool ready = std::all_of(
          before[i].begin(), before[i].end(),
          [&](int k) { return at[k] >= 0 && at[k] + kWait <= now; });
      if (ready && (best < 0 || way[i] > way[best])) best = static_cast<int>(i);
    }
    if (best < 0) continue;
    at[best] = now;
    order.push_back(best);
  }
  std::vector<int> unused;
  if (wait(order, &unused) >= wait(plain, &unused)) return section;
  std::vector<Step> spread;
  for (int i : order) spread.push_back(section[i]);
  return spread;
}

absl::StatusOr<Microprogram> ProgramBuilder::Allocate(
    const Sections& steps) const {
  constexpr int kSections = 3;
  const size_t ids = variable_.size();
  // Where each id is read last; across sections: never free again.
  constexpr int kForever = 1 << 30;
  std::vector<int> last(ids, -1), home(ids, -1);
  int position = 0;
  for (int s = 0; s < kSections; ++s) {
    for (const Step& step : steps[s]) {
      for (const Term& t : step.x) {
        if (t.id < 0) continue;
        if (last[t.id] == kForever) continue;
        last[t.id] = variable_[t.id] || home[t.id] == s ? position : kForever;
      }
      if (step.d != kOut && !variable_[step.d]) home[step.d] = s;
      ++position;
    }
  }
  if (steps[kBody].empty() ||
      position > static_cast<int>(isa::kVectorProgramMax)) {
    return absl::InternalError(absl::StrCat(
        "microprogram has ", position, " instructions, ", steps[kBody].size(),
        " in the body; the limit is ", isa::kVectorProgramMax));
  }

  constexpr int kRegisters = isa::kVectorRegisters;
  std::array<int, kRegisters> holds;  // id, or -1
  holds.fill(-1);
  std::vector<int> place(ids, -1);
  auto allocate = [&](int id) {
    for (int r = 0; r < kRegisters; ++r) {
      if (holds[r] >= 0) continue;
      holds[r] = id;
      place[id] = r;
      return true;
    }
    return false;
  };
  const absl::Status full = absl::InternalError(
      absl::StrCat("microprogram needs more than ", kRegisters, " registers"));
  for (size_t id = 0; id < ids; ++id) {
    if (variable_[id] && !allocate(static_cast<int>(id))) return full;
  }
  Microprogram program;
  std::vector<MicroInstruction>* out[kSections] = {
      &program.prologue, &program.body, &program.epilogue};
  position = 0;
  for (int s = 0; s < kSections; ++s) {
    for (const Step& step : steps[s]) {
      MicroInstruction m;
      m.op = step.op;
      Operand* x[3] = {&m.a, &m.b, &m.c};
      for (int k = 0; k < 3; ++k) {
        const Term& t = step.x[k];
        *x[k] = t.id >= 0 ? static_cast<Operand>(place[t.id]) : t.operand;
        if (t.id < 0 && t.operand == Operand::kImm) m.imm = t.imm;
      }
      for (int& id : holds) {
        if (id >= 0 && !variable_[id] && last[id] <= position) id = -1;
      }
      if (step.d == kOut) {
        m.d = Destination::kOut;
      } else {
        if (place[step.d] < 0 && !allocate(step.d)) return full;
        m.d = static_cast<Destination>(place[step.d]);
      }
      out[s]->push_back(m);
      ++position;
    }
  }
  return program;
}

namespace {

// Elements that one instruction works on before the next is looked at: all
// registers that a program has stay in the first cache.
constexpr int64_t kChunk = 512;
// Elements that one thread takes at least.
constexpr int64_t kBlock = 1 << 14;

class HostRun {
 public:
  size_t instructions() const { return program_.size(); }
  absl::Status Prepare(const Microprogram& program,
                       const std::array<uint32_t, 4>& arguments,
                       const std::array<HostStream, 3>& streams,
                       int64_t count) {
    streams_ = streams;
    lanes_ = std::min(kChunk, (count + isa::kVectorLanes - 1) /
                                  isa::kVectorLanes * isa::kVectorLanes);
    registers_.assign(isa::kVectorRegisters * lanes_, 0);
    out_.assign(lanes_, 0);
    zero_.assign(lanes_, 0);
    for (int s = 0; s < 3; ++s) {
      if (streams_[s].data == nullptr) continue;
      tail_[s].assign(lanes_, streams_[s].single ? *streams_[s].data : 0);
    }
    for (const auto* section :
         {&program.prologue, &program.body, &program.epilogue}) {
      for (const MicroInstruction& m : *section) {
        const isa::MicroOpInfo* info =
            isa::FindMicroOp(static_cast<uint32_t>(m.op));
        if (info == nullptr || m.op >= MicroOp::kHsum ||
            m.op == MicroOp::kPick) {
          return absl::InvalidArgumentError(
              "the host runs lane-wise microprograms only");
        }
        Instruction in;
        in.op = m.op;
        const Operand operands[3] = {m.a, m.b, m.c};
        for (int k = 0; k < 3; ++k) {
          in.x[k] = zero_.data();
          if (k + 1 >= info->num_operands) continue;
          RETURN_IF_ERROR(Place(operands[k], m.imm, arguments, k, &in));
        }
        in.d = m.d == Destination::kOut
                   ? out_.data()
                   : &registers_[static_cast<size_t>(m.d) * lanes_];
        program_.push_back(in);
      }
    }
    return absl::OkStatus();
  }

  void Run(int64_t count, uint32_t* out) {
    const model::Kernels& kernels = model::BestKernels();
    for (int64_t first = 0; first < count; first += lanes_) {
      const int64_t n = std::min(lanes_, count - first);
      Pace(n * static_cast<int64_t>(program_.size() + 1));
      const int64_t padded =
          (n + isa::kVectorLanes - 1) / isa::kVectorLanes * isa::kVectorLanes;
      const uint32_t* stream[3];
      for (int s = 0; s < 3; ++s) {
        stream[s] = tail_[s].data();
        if (streams_[s].data == nullptr || streams_[s].single) continue;
        if (n == padded) {
          stream[s] = streams_[s].data + first;
        } else {
          std::copy_n(streams_[s].data + first, n, tail_[s].begin());
        }
      }
      std::fill(registers_.begin(), registers_.end(), 0);
      std::fill(out_.begin(), out_.end(), 0);
      for (const Instruction& in : program_) {
        const uint32_t* x[3];
        for (int k = 0; k < 3; ++k) {
          x[k] = in.stream[k] >= 0 ? stream[in.stream[k]] : in.x[k];
        }
        if (kernels.lane_op(in.op, x[0], x[1], x[2], in.d, padded)) continue;
        for (int64_t i = 0; i < padded; ++i) {
          in.d[i] = model::LaneOp(in.op, x[0][i], x[1][i], x[2][i]);
        }
      }
      std::copy_n(out_.begin(), n, out + first);
    }
  }

 private:
  struct Instruction {
    MicroOp op;
    const uint32_t* x[3];
    int stream[3] = {-1, -1, -1};
    uint32_t* d;
  };

  const uint32_t* Constant(uint32_t value) {
    std::vector<uint32_t>& lanes = constants_[value];
    if (lanes.empty()) lanes.assign(lanes_, value);
    return lanes.data();
  }

  absl::Status Place(Operand o, uint32_t imm,
                     const std::array<uint32_t, 4>& arguments, int k,
                     Instruction* in) {
    switch (o) {
      case Operand::kStreamA:
      case Operand::kStreamB:
      case Operand::kStreamC:
        in->stream[k] =
            static_cast<int>(o) - static_cast<int>(Operand::kStreamA);
        if (streams_[in->stream[k]].data == nullptr) {
          return absl::InvalidArgumentError(
              absl::StrCat("the microprogram reads stream ", in->stream[k],
                           ", which is absent"));
        }
        break;
      case Operand::kImm:
        in->x[k] = Constant(imm);
        break;
      case Operand::kArg0:
      case Operand::kArg1:
      case Operand::kArg2:
      case Operand::kArg3:
        in->x[k] = Constant(
            arguments[static_cast<int>(o) - static_cast<int>(Operand::kArg0)]);
        break;
      case Operand::kValid:
        in->x[k] = Constant(~uint32_t{0});
        break;
      case Operand::kLane:
      case Operand::kIndexR:
        return absl::InvalidArgumentError(
            "the microprogram reads an index, which the host does not have");
      default:
        in->x[k] = &registers_[static_cast<size_t>(o) * lanes_];
    }
    return absl::OkStatus();
  }

  int64_t lanes_ = 0;
  std::array<HostStream, 3> streams_;
  std::vector<uint32_t> registers_, out_, zero_, tail_[3];
  std::map<uint32_t, std::vector<uint32_t>> constants_;
  std::vector<Instruction> program_;
};

// The instructions of a program that has a body only.
std::vector<uint64_t> WordsOf(const Microprogram& program) {
  std::vector<uint64_t> words;
  words.reserve(program.body.size());
  for (const MicroInstruction& m : program.body) words.push_back(m.Encode());
  return words;
}

// Whether the program reads a stream that is absent.
bool ReadsMore(const Microprogram& program,
               const std::array<HostStream, 3>& streams) {
  for (const MicroInstruction& m : program.body) {
    for (const Operand o : {m.a, m.b, m.c}) {
      const int s = static_cast<int>(o) - static_cast<int>(Operand::kStreamA);
      if (s >= 0 && s < 3 && streams[s].data == nullptr) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<Microprogram> ProgramOf(LaneFunction function) {
  ProgramBuilder b;
  switch (function) {
#define HEDDLE_LANE_FUNCTION(name, expression) \
  case LaneFunction::k##name:                  \
    lane_steps::Make##name::Of(&b);            \
    break;
    HEDDLE_LANE_FUNCTIONS(HEDDLE_LANE_FUNCTION)
#undef HEDDLE_LANE_FUNCTION
    default:
      return absl::InvalidArgumentError("no such function");
  }
  return b.Finish();
}

LaneFunction FunctionOf(const Microprogram& program) {
  static const auto* const functions = [] {
    auto* all = new std::map<std::vector<uint64_t>, LaneFunction>();
    for (int f = 0; f < static_cast<int>(LaneFunction::kCount); ++f) {
      const auto function = static_cast<LaneFunction>(f);
      const auto known = ProgramOf(function);
      if (known.ok()) all->emplace(WordsOf(*known), function);
    }
    return all;
  }();
  if (!program.prologue.empty() || !program.epilogue.empty()) {
    return LaneFunction::kCount;
  }
  const auto found = functions->find(WordsOf(program));
  return found == functions->end() ? LaneFunction::kCount : found->second;
}

void Compute(LaneFunction function, const LaneOperands& operands, int64_t count,
             uint32_t* out) {
  constexpr double kCost = 0.5;
  const LaneKernels& lanes = BestLanes();
  Spread((count + kBlock - 1) / kBlock, kCost * kBlock,
         [&](int64_t begin, int64_t end) {
           for (int64_t block = begin; block < end; ++block) {
             const int64_t first = block * kBlock;
             const int64_t n = std::min(kBlock, count - first);
             Pace(n);
             LaneOperands piece = operands;
             for (LaneStream& stream : piece.streams) {
               if (stream.data != nullptr && !stream.single) {
                 stream.data += first;
               }
             }
             lanes.compute(function, piece, static_cast<size_t>(n),
                           out + first);
           }
         });
}

absl::Status Evaluate(const Microprogram& program,
                      const std::array<uint32_t, 4>& arguments,
                      const std::array<HostStream, 3>& streams, int64_t count,
                      uint32_t* out) {
  const LaneFunction function = FunctionOf(program);
  // Without vectors an instruction at a time takes less.
  if (function == LaneFunction::kCount || &BestLanes() == PortableLanes() ||
      ReadsMore(program, streams)) {
    return Interpret(program, arguments, streams, count, out);
  }
  const model::ScopedFpEnvironment environment;
  LaneOperands operands;
  std::copy(streams.begin(), streams.end(), operands.streams);
  std::copy(arguments.begin(), arguments.end(), operands.arguments);
  Compute(function, operands, count, out);
  return absl::OkStatus();
}

absl::Status Interpret(const Microprogram& program,
                       const std::array<uint32_t, 4>& arguments,
                       const std::array<HostStream, 3>& streams, int64_t count,
                       uint32_t* out) {
  if (count <= 0) return absl::OkStatus();
  const model::ScopedFpEnvironment environment;
  HostRun first;
  RETURN_IF_ERROR(first.Prepare(program, arguments, streams, count));
  const int64_t blocks = (count + kBlock - 1) / kBlock;
  // About what an instruction takes of an element.
  constexpr double kCost = 0.1;
  const double cost =
      kCost * kBlock * static_cast<double>(first.instructions());
  std::mutex mutex;
  absl::Status status;
  Spread(blocks, cost, [&](int64_t begin, int64_t end) {
    if (begin == 0 && end == blocks) return first.Run(count, out);
    const int64_t from = begin * kBlock;
    const int64_t n = std::min(count, end * kBlock) - from;
    std::array<HostStream, 3> parts = streams;
    for (HostStream& stream : parts) {
      if (stream.data != nullptr && !stream.single) stream.data += from;
    }
    HostRun run;
    const absl::Status prepared = run.Prepare(program, arguments, parts, n);
    if (prepared.ok()) return run.Run(n, out + from);
    const std::lock_guard<std::mutex> lock(mutex);
    status = prepared;
  });
  return status;
}

}  // namespace heddle::compiler
