// SPDX-License-Identifier: Apache-2.0
// heddle.TopK: elements become keys, integers in whose order the first is
// wanted, and for each of the k places one command finds the first of the
// largest; lanes lie along the axis. What is found then gets the least key,
// which no element of less than 32 bits and no float has. Others are not
// overwritten: of those, the next search takes pairs (key, index) behind the
// one before, which costs it thrice the instructions for an element.
//
//   keys   int32[lines][padded]  the axis of a line, up to whole vectors
//   found  index[k][lines]; or (key, index, 14 that nobody reads)[k][lines]
#include <algorithm>
#include <memory>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/reduction_loop.h"
#include "compiler/ops/define.h"
#include "compiler/ops/indices.h"
#include "compiler/schedule/loops.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kLeast = 0x80000000u, kMost = 0x7fffffffu;
constexpr int64_t kWord = 4, kLanes = isa::kVectorLanes, kPair = 16 * kWord;
constexpr int64_t kMaxFound = 64;

struct TopKPrograms {
  // `next`: pairs only.
  Microprogram key, fill, first, next, copy;
};

// Whether no element has the least key.
bool Removes(DataType type) {
  return ElementBytes(type) < kWord || Contains(kReals, type);
}

absl::StatusOr<Microprogram> KeyProgram(DataType type, bool largest) {
  ProgramBuilder b;
  Term key;
  if (Contains(kReals, type)) {
    // -0 as +0, and one NaN; negative ones in the order of integers.
    const Term x = b.Add(b.A(), b.ImmBits(0));
    key = b.Xor(x, b.And(b.Sar(x, 31), b.ImmBits(kMost)));
  } else if (type == DataType::kUint32) {
    key = b.Xor(b.A(), b.ImmBits(kLeast));
  } else {
    key = b.Op(isa::MicroOp::kMov, b.A());
  }
  b.Out(largest ? key : b.Xor(key, b.ImmBits(~0u)));
  return b.Finish();
}

absl::StatusOr<Microprogram> FillProgram() {
  ProgramBuilder b;
  b.Out(b.Op(isa::MicroOp::kMov, b.ImmBits(kLeast)));
  return b.Finish();
}

// The axis is run through from its end, so that of equal keys the last one
// found is the first. Argument 0 is the index of the last vector's first lane.
absl::StatusOr<Microprogram> LargestProgram() {
  ProgramBuilder b;
  const Term best = b.Variable(), vector = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(best, b.ImmBits(kLeast));
  const Term last = b.IAdd(b.Lane(), b.Arg(0));
  b.In(ProgramBuilder::kBody);
  const Term worse = b.ILess(b.A(), best);
  b.Assign(vector, b.Select(worse, vector, b.IndexR()));
  b.Assign(best, b.IMax(best, b.A()));
  b.In(ProgramBuilder::kEpilogue);
  const Term found = b.Op(isa::MicroOp::kHimax, best);
  const Term index = b.ISub(last, b.Shl(vector, 4));
  b.Out(b.Op(isa::MicroOp::kHimin,
             b.Select(b.IEqual(best, found), index, b.ImmBits(kMost))));
  return b.Finish();
}

// The same of pairs behind the last one, (B, C), unless it is the `first`; that
// finds the least key, too. Argument 0 is the index of the first lane behind
// the end.
absl::StatusOr<Microprogram> PairProgram(bool first) {
  ProgramBuilder b;
  const Term best = b.Variable(), index = b.Variable(), here = b.Variable();
  b.In(ProgramBuilder::kPrologue);
  b.Assign(best, b.ImmBits(kLeast));
  b.Assign(index, b.ImmBits(kMost));
  b.Assign(here, b.IAdd(b.Lane(), b.Arg(0)));
  Term last_key, last_index;
  if (!first) {
    last_key = b.Op(isa::MicroOp::kMov, b.B());
    last_index = b.Op(isa::MicroOp::kMov, b.C());
  }
  b.In(ProgramBuilder::kBody);
  const Term key = b.Op(isa::MicroOp::kMov, b.A());
  b.Assign(here, b.ISub(here, b.ImmBits(kLanes)));
  const Term worse = b.ILess(key, best);
  Term skipped = worse;
  if (!first) {
    // Behind the last pair: a smaller key, or the same further back.
    const Term behind =
        b.Or(b.ILess(key, last_key),
             b.And(b.IEqual(key, last_key), b.ILess(last_index, here)));
    skipped = b.Select(behind, worse, b.ImmBits(~0u));
  }
  b.Assign(best, b.Select(skipped, best, key));
  b.Assign(index, b.Select(skipped, index, here));
  b.In(ProgramBuilder::kEpilogue);
  const Term found = b.Op(isa::MicroOp::kHimax, best);
  const Term place =
      b.Op(isa::MicroOp::kHimin,
           b.Select(b.IEqual(best, found), index, b.ImmBits(kMost)));
  b.Out(b.Select(b.Lane(), place, found));
  return b.Finish();
}

class TopKOp : public ClonableOp<TopKOp> {
 public:
  TopKOp(const DeviceGraph& graph, const ReductionView& view, int64_t k,
         bool removes, TopKPrograms programs, uint64_t sram_bytes, int from,
         int to)
      : view_(view),
        in_type_(VectorType(graph.StorageOf(from).type)),
        k_(k),
        removes_(removes),
        padded_((view.stage().count + kLanes - 1) / kLanes * kLanes),
        programs_(std::move(programs)) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    // As many lines at a time as an eighth of SRAM allows.
    const ReduceStage& stage = view.stage();
    const int64_t line = padded_ * kWord + k_ * Found();
    const int64_t all = stage.inner * (view.by_image() ? 1 : stage.outer);
    lines_ = std::clamp<int64_t>(static_cast<int64_t>(sram_bytes) / 8 / line, 1,
                                 std::min(all, kMaxCount));
    temporary_bytes = lines_ * line;
    // The key, and of each search the instructions for an element.
    const double element = 4 + static_cast<double>(k_) * (removes_ ? 3.5 : 8);
    vector_cycles = element * static_cast<double>(stage.outer * stage.count *
                                                  stage.inner / kLanes);
  }
  std::vector<Microprogram> Programs() const override {
    std::vector<Microprogram> all = {programs_.key, programs_.fill,
                                     programs_.first, programs_.copy};
    if (!removes_) all.push_back(programs_.next);
    return all;
  }
  void Emit(Emitter* emitter, const Tile& tile) const override {
    const ReductionLoop all = view_.LoopOf(tile.rows);
    const ReductionStream x =
        view_.Operand(tile.inputs[0], in_type_, tile.row0);
    const ReductionStream y =
        view_.Operand(tile.output, isa::ElementType::kS32, tile.row0);
    const int64_t inner = std::min(lines_, all.inner), rows = lines_ / inner;
    for (int64_t r = 0; r < all.rows; r += rows) {
      for (int64_t i = 0; i < all.inner; i += inner) {
        const auto moved = [&](ReductionStream s) {
          s.base += static_cast<uint32_t>(r * s.row + i * s.inner);
          return s;
        };
        ReductionLoop part = all;
        part.rows = std::min(rows, all.rows - r);
        part.inner = std::min(inner, all.inner - i);
        EmitPart(emitter, part, tile.temporary, moved(x), moved(y));
      }
    }
  }

 private:
  static constexpr int64_t kMaxCount = 65535;

  // Bytes of what a search finds.
  int64_t Found() const { return removes_ ? kWord : kPair; }

  void EmitPart(Emitter* emitter, ReductionLoop loop, uint32_t temporary,
                const ReductionStream& x, const ReductionStream& y) const {
    const int64_t lines = loop.rows * loop.inner, line = padded_ * kWord;
    ReductionStream keys;
    keys.base = temporary;
    keys.type = isa::ElementType::kS32;
    keys.step = kWord;
    keys.inner = line;
    keys.row = loop.inner * line;
    EmitElementLoop(emitter, emitter->Run(programs_.key), loop, {x}, keys);
    if (padded_ > loop.count) {
      LoopOperand end;
      end.base = keys.base + static_cast<uint32_t>(loop.count * kWord);
      end.type = keys.type;
      end.strides = {kWord, line};
      EmitLoop(emitter, emitter->Run(programs_.fill),
               {padded_ - loop.count, lines}, {}, end);
    }
    const auto behind = keys.base + static_cast<uint32_t>(lines * line);
    const auto place = static_cast<uint32_t>(lines * Found());
    for (int64_t p = 0; p < k_; ++p) {
      const uint32_t to = behind + static_cast<uint32_t>(p) * place;
      EmitSearch(emitter, lines, p == 0, keys.base, to);
      if (removes_ && p + 1 < k_) EmitRemoval(emitter, lines, keys.base, to);
    }
    ReductionStream found;
    found.base = behind + (removes_ ? 0 : kWord);
    found.type = keys.type;
    found.step = place;
    found.inner = Found();
    found.row = loop.inner * Found();
    loop.count = k_;
    EmitElementLoop(emitter, emitter->Run(programs_.copy), loop, {found}, y);
  }

  void EmitSearch(Emitter* emitter, int64_t lines, bool first, uint32_t keys,
                  uint32_t to) const {
    const int64_t line = padded_ * kWord;
    isa::Vrun run =
        emitter->Run(removes_ || first ? programs_.first : programs_.next);
    run.store = isa::StoreMode::kEpilogue;
    run.lanes = kLanes;
    run.n_r1 = static_cast<uint32_t>(padded_ / kLanes);
    run.n_o1 = static_cast<uint32_t>(lines);
    run.arg0 = static_cast<uint32_t>(padded_ - (removes_ ? kLanes : 0));
    isa::Stream a;
    a.type = isa::ElementType::kS32;
    a.base = keys + static_cast<uint32_t>(line - kLanes * kWord);
    a.lane_stride = kWord;
    a.r1_stride = static_cast<int32_t>(-kLanes * kWord);
    a.o1_stride = static_cast<int32_t>(line);
    run.enable_a = true;
    run.SetA(a);
    isa::Stream found;
    found.type = isa::ElementType::kS32;
    found.o1_stride = static_cast<int32_t>(Found());
    if (!removes_ && !first) {
      run.enable_b = run.enable_c = true;
      found.base = to - static_cast<uint32_t>(lines * Found());
      run.SetB(found);
      found.base += kWord;
      run.SetC(found);
    }
    found.base = to;
    found.lane_stride = kWord;
    run.store_one = removes_;
    run.SetD(found);
    emitter->Append(run);
  }

  // What `found` says of each line gets the least key.
  void EmitRemoval(Emitter* emitter, int64_t lines, uint32_t keys,
                   uint32_t found) const {
    isa::Vrun run = emitter->Run(programs_.fill);
    run.store = isa::StoreMode::kBody;
    run.lanes = static_cast<uint32_t>(lines);
    run.scatter_d = run.enable_c = true;
    run.index_stride = kWord;
    run.index_bound = static_cast<uint32_t>(padded_);
    isa::Stream s;
    s.type = isa::ElementType::kS32;
    s.base = found;
    s.lane_stride = kWord;
    run.SetC(s);
    s.base = keys;
    s.lane_stride = static_cast<int32_t>(padded_ * kWord);
    run.SetD(s);
    emitter->Append(run);
  }

  ReductionView view_;
  isa::ElementType in_type_;
  int64_t k_;
  bool removes_;
  int64_t padded_, lines_ = 1;
  TopKPrograms programs_;
};

absl::Status LowerTopK(Lowering* l, const Node& node) {
  const Tensor& x = l->tensor(node.inputs[0]);
  if (x.type == DataType::kInt64) {
    return RejectNode(
        Rejection::kUnsupportedDatatype, node,
        "the card compares integers of up to 32 bits, input 0 is ",
        DataTypeName(x.type));
  }
  const int64_t k = node.IntAttribute("k", 0);
  if (k > kMaxFound) {
    return RejectNode(Rejection::kUnsupportedShape, node, "k = ", k,
                      ", the card finds at most ", kMaxFound);
  }
  const Shape about =
      AboutAxis(x.shape, static_cast<size_t>(node.IntAttribute("axis", 0)));
  ReduceStage stage;
  stage.outer = about[0];
  stage.count = about[1];
  stage.inner = about[2];
  const uint64_t sram = l->config().sram_bytes;
  const ReductionView view(stage, sram);
  TopKPrograms programs;
  const bool largest = node.IntAttribute("largest", 1) != 0;
  ASSIGN_OR_RETURN(programs.key, KeyProgram(x.type, largest));
  ASSIGN_OR_RETURN(programs.fill, FillProgram());
  const bool removes = Removes(x.type);
  ASSIGN_OR_RETURN(programs.first,
                   removes ? LargestProgram() : PairProgram(true));
  if (!removes) {
    ASSIGN_OR_RETURN(programs.next, PairProgram(false));
  }
  programs.copy = CopyProgram();
  const int from = l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node),
                               view.OperandShape());
  const Tensor& y = l->tensor(node.outputs[0]);
  const Shape found = view.by_image() ? Shape{about[0], k, about[2], 1}
                                      : Shape{about[0], k * about[2]};
  const int to =
      l->NewTemporary(y.name, DataType::kInt32, found, Layout::kDense);
  l->Add(std::make_unique<TopKOp>(l->device(), view, k, removes,
                                  std::move(programs), sram, from, to),
         node);
  l->Bind(node.outputs[0], l->Reshaped(to, y.shape));
  return absl::OkStatus();
}

const LoweringRegistration kTopK(kInternalDomain, "TopK", LowerTopK, true);

}  // namespace
}  // namespace heddle::compiler
