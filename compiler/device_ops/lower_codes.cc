// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/lower_codes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/ops/define.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {
namespace {

constexpr uint32_t kWord = isa::kWordBytes;
// Blocks of one command: the identity's constants stay small.
constexpr int64_t kMaxChunk = 32;
constexpr int64_t kMaxCount = 65535;  // rows or columns of one command
constexpr uint32_t kParameterWords = 8;

}  // namespace

isa::MicroInstruction Micro(isa::MicroOp op, isa::Destination d, isa::Operand a,
                            isa::Operand b, isa::Operand c, uint32_t imm) {
  isa::MicroInstruction m;
  m.op = op;
  m.d = d;
  m.a = a;
  m.b = b;
  m.c = c;
  m.imm = imm;
  return m;
}

absl::Status NeedConstants(const Lowering& l, const Node& node,
                           std::initializer_list<size_t> indices) {
  for (size_t i : indices) {
    if (HasInput(node, i) && l.ConstantInput(node, i) == nullptr) {
      return RejectNode(Rejection::kUnsupportedAttribute, node, "input ", i,
                        " ('", l.tensor(node.inputs[i]).name,
                        "') must be a constant");
    }
  }
  return absl::OkStatus();
}

float ScaleOf(const Lowering& l, const Node& node, size_t i) {
  return ScalarF32(*l.ConstantInput(node, i));
}

int32_t ZeroOf(const Lowering& l, const Node& node, size_t i) {
  return ZeroPoint(l.ConstantInput(node, i));
}

absl::StatusOr<std::vector<uint8_t>> TableOf(
    const Lowering& l, const Node& node, DataType type,
    std::vector<const TensorData*> inputs, size_t codes) {
  TensorData all = TensorData::Zeros(type, {256});
  for (int i = 0; i < 256; ++i) all.bytes[i] = static_cast<uint8_t>(i);
  inputs[codes] = &all;
  ASSIGN_OR_RETURN(auto results, EvaluateNode(l.graph(), node, inputs));
  return results[0].bytes.ToVector();
}

int BlockedOperand(Lowering* l, const Node& node, TensorId id,
                   const Shape& shape) {
  Shape padded = l->tensor(id).shape;
  if (padded.size() == shape.size()) {
    return l->ValueIn(id, Layout::kBlocked, node);
  }
  padded.insert(padded.begin(), shape.size() - padded.size(), 1);
  // A vector of channels is the same words in either rank.
  const Extent own = ExtentOf(l->tensor(id).shape, Layout::kBlocked);
  const Extent wanted = ExtentOf(padded, Layout::kBlocked);
  if (own.n == wanted.n && own.c == wanted.c && own.h == wanted.h &&
      own.w == wanted.w) {
    return l->Reshaped(l->ValueIn(id, Layout::kBlocked, node), padded);
  }
  const int dense = l->Reshaped(l->ValueIn(id, Layout::kDense, node), padded);
  const int copy =
      l->NewTemporary(absl::StrCat(l->tensor(id).name, "/padded"),
                      l->tensor(id).type, padded, Layout::kBlocked);
  l->Add(MakeRelayout(&l->device(), dense, copy), node);
  return copy;
}

CodeMap::CodeMap(bool is_signed, int64_t channels, uint64_t sram_bytes)
    : signed_(is_signed) {
  // Parameters and weights of a block.
  constexpr int64_t kBytes = (kParameterWords + 1) * kWord;
  const auto share = static_cast<int64_t>(sram_bytes / 16);
  chunk_ = std::min(
      {CodeBlocks(channels), kMaxChunk, std::max<int64_t>(1, share / kBytes)});
  const int64_t count = chunk_ * kCodeBlock;
  const std::vector<uint8_t> zero(count, 0);
  constants_ =
      PackParameters(std::vector<int32_t>(count, 0),
                     std::vector<float>(count, 1.0f), zero, false, 0, count);
  const std::vector<uint8_t> weights =
      PackDepthwise(CodeWeights::Ones(count), 0, count, zero);
  constants_.insert(constants_.end(), weights.begin(), weights.end());
}

void CodeMap::Emit(Emitter* emitter, const Constants& constants,
                   const Words& from, const Words& to, int64_t channels,
                   int64_t rows, int64_t columns) const {
  // Each row by itself where the distance of rows does not fit its field.
  const bool far = std::max(from.pitch, to.pitch) / kWord > kMaxCount;
  const int64_t row_step = rows == 1 || !far ? kMaxCount : 1;
  isa::Conv c;
  c.mode = isa::MatrixMode::kDepthwise;
  c.in_signed = signed_;
  c.out_type = signed_ ? isa::OutType::kS8 : isa::OutType::kU8;
  c.lut = constants.has_table;
  c.act_min = signed_ ? -128 : 0;
  c.act_max = signed_ ? 127 : 255;
  c.in_plane = from.plane / kWord;
  c.out_plane = to.plane / kWord;
  c.param_addr = constants.identity / kWord;
  c.w_addr = c.param_addr + chunk_ * kParameterWords;
  if (c.lut) c.lut_addr = constants.table / kWord;
  const int64_t step = chunk_ * kCodeBlock;
  for (int64_t first = 0; first < channels; first += step) {
    const int64_t block = first / kCodeBlock;
    c.ci = c.co = std::min(step, channels - first);
    for (int64_t row = 0; row < rows; row += row_step) {
      c.ih = c.out_rows = std::min(row_step, rows - row);
      c.in_pitch = c.ih > 1 ? from.pitch / kWord : 0;
      c.out_pitch = c.ih > 1 ? to.pitch / kWord : 0;
      for (int64_t column = 0; column < columns; column += kMaxCount) {
        c.iw = c.ow = std::min(kMaxCount, columns - column);
        c.in_addr =
            (from.base + block * from.plane + row * from.pitch) / kWord +
            column;
        c.out_addr =
            (to.base + block * to.plane + row * to.pitch) / kWord + column;
        emitter->Append(c);
      }
    }
  }
}

}  // namespace heddle::compiler
