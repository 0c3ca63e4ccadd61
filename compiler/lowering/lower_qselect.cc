// SPDX-License-Identifier: Apache-2.0
// QLinearWhere and QLinearSoftmax, in ONNX's order of elements.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/lowering/elementwise.h"
#include "compiler/lowering/lower_codes.h"
#include "compiler/lowering/relayout.h"
#include "compiler/ops/codes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/softmax_table.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

constexpr int64_t kInt = sizeof(int32_t);

// Codes of the result's scale: input `i` with its parameters behind it.
absl::StatusOr<Operand> Side(Lowering* l, const Node& node, size_t i,
                             const Shape& shape) {
  const Tensor t = l->tensor(node.inputs[i]);
  // The table is what the operator itself gives for a true condition.
  TensorData yes = TensorData::Zeros(DataType::kBool, {});
  yes.bytes[0] = 1;
  TensorData none = TensorData::Zeros(t.type, {});
  auto table = TableOf(*l, node, t.type,
                       {&yes, nullptr, l->ConstantInput(node, i + 1),
                        l->ConstantInput(node, i + 2), &none,
                        l->ConstantInput(node, 5), l->ConstantInput(node, 6),
                        l->ConstantInput(node, 7), l->ConstantInput(node, 8)},
                       1);
  if (!table.ok()) return table.status();
  Shape padded = t.shape;
  padded.insert(padded.begin(), shape.size() - padded.size(), 1);
  if (t.is_constant()) {
    auto data = std::make_shared<TensorData>(*t.constant);
    data->shape = padded;
    for (uint8_t& code : data->bytes) code = (*table)[code];
    return Operand::Constant(data);
  }
  bool same = true;
  for (int c = 0; c < 256; ++c) same &= (*table)[c] == c;
  int value = -1;
  if (same) {
    value = l->ValueIn(node.inputs[i], Layout::kDense, node);
  } else {
    const int from = l->ValueIn(node.inputs[i], Layout::kBlocked, node);
    const std::string name = absl::StrCat(t.name, "/side", i);
    const int mapped = l->NewTemporary(name, t.type, t.shape, Layout::kBlocked);
    l->Add(MakeTableOp(l, t.type == DataType::kInt8, *std::move(table), from,
                       mapped),
           node);
    value = l->NewTemporary(name + "/dense", t.type, t.shape, Layout::kDense);
    l->Add(MakeRelayout(&l->device(), mapped, value), node);
  }
  return Operand::Of(t.shape == padded ? value : l->Reshaped(value, padded));
}

absl::Status LowerWhere(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(*l, node, {2, 3, 5, 6, 7, 8}); !s.ok()) return s;
  const Shape shape = l->tensor(node.outputs[0]).shape;
  auto x = Side(l, node, 1, shape);
  if (!x.ok()) return x.status();
  auto y = Side(l, node, 4, shape);
  if (!y.ok()) return y.status();
  const Tensor c = l->tensor(node.inputs[0]);
  Shape padded = c.shape;
  padded.insert(padded.begin(), shape.size() - padded.size(), 1);
  Operand condition;
  if (c.is_constant()) {
    auto data = std::make_shared<TensorData>(*c.constant);
    data->shape = padded;
    condition = Operand::Constant(data);
  } else {
    const int value = l->ValueIn(node.inputs[0], Layout::kDense, node);
    condition =
        Operand::Of(c.shape == padded ? value : l->Reshaped(value, padded));
  }
  Microprogram program;
  program.body = {Micro(MicroOp::kSel, Destination::kOut, Source::kStreamA,
                        Source::kStreamB, Source::kStreamC)};
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  l->Add(MakeElementwise(&l->device(), program, {}, {condition, *x, *y}, to),
         node);
  return absl::OkStatus();
}

// Lanes are rows of the softmax; the table of exponentials is gathered by the
// code's distance from the row's maximum.
class Softmax : public DeviceOp {
 public:
  // `from` is [1, 1, rows, d], or [outer, d, 1, inner] with `planes`.
  Softmax(Lowering* l, DataType type, bool planes, int64_t d, float xs, float n,
          int32_t yz, int from, int to)
      : type_(type), planes_(planes), d_(d), n_(n), yz_(yz) {
    engine = "vector";
    output = to;
    tileable = true;
    OpInput in;
    in.value = from;
    in.rows.kind = AxisNeed::kSame;
    inputs = {in};
    const std::vector<float> table = SoftmaxTable(d, xs);
    std::vector<uint8_t> bytes(table.size() * sizeof(float));
    std::memcpy(bytes.data(), table.data(), bytes.size());
    groups = {l->device().constants.Add(bytes)};
    const Extent& e = l->device().values[to].extent;
    width_ = e.w;
    const int64_t budget = l->config().sram_bytes / 8 / (kInt * (d + 2));
    lanes_ = std::max<int64_t>(
        1, std::min({planes ? e.w : e.h, budget, int64_t{65535}}));
    temporary_bytes = lanes_ * kInt * (d + 2);
    const auto top = static_cast<uint32_t>(CodeMax(type) - CodeMin(type));
    distance_.prologue = {Micro(MicroOp::kMov, Destination::kV0, Source::kImm,
                                Source::kV0, Source::kV0,
                                static_cast<uint32_t>(CodeMin(type)))};
    distance_.body = {
        Micro(MicroOp::kImax, Destination::kV0, Source::kV0, Source::kStreamA)};
    distance_.epilogue = {Micro(MicroOp::kIsub, Destination::kOut, Source::kImm,
                                Source::kV0, Source::kV0, top)};
    index_.body = {Micro(MicroOp::kIadd, Destination::kOut, Source::kStreamA,
                         Source::kStreamB)};
    sum_.body = {
        Micro(MicroOp::kFadd, Destination::kV0, Source::kV0, Source::kStreamA)};
    sum_.epilogue = {Micro(MicroOp::kMov, Destination::kOut, Source::kV0)};
    scale_.body = {
        Micro(MicroOp::kFmul, Destination::kV0, Source::kStreamA,
              Source::kArg0),
        Micro(MicroOp::kFdiv, Destination::kV0, Source::kV0, Source::kStreamB),
        Micro(MicroOp::kF2i, Destination::kV0, Source::kV0),
        Micro(MicroOp::kIadd, Destination::kOut, Source::kV0, Source::kArg1)};
  }

  std::vector<Microprogram> Programs() const override {
    return {distance_, index_, sum_, scale_};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const TileView& in = tile.inputs[0];
    const TileView& out = tile.output;
    const int64_t rows = planes_ ? width_ : tile.rows;
    for (int64_t first = 0; first < rows; first += lanes_) {
      const int64_t lanes = std::min(lanes_, rows - first);
      const uint32_t largest = tile.temporary, sums = largest + lanes * kInt,
                     indices = sums + lanes * kInt;
      auto codes = [&](const TileView& v) {
        isa::Stream s;
        s.type = type_ == DataType::kInt8 ? isa::ElementType::kS8
                                          : isa::ElementType::kU8;
        s.lane_stride = planes_ ? v.xstep : v.pitch;
        s.r1_stride = planes_ ? v.plane : v.xstep;
        s.base = RowBase(v, tile.row0) + first * s.lane_stride;
        return s;
      };
      auto words = [&](uint32_t base, isa::ElementType type, int64_t step) {
        isa::Stream s;
        s.type = type;
        s.base = base;
        s.lane_stride = kInt;
        s.r1_stride = step;
        return s;
      };
      isa::Stream table;
      table.type = isa::ElementType::kF32;
      table.base = tile.constants;
      const isa::Stream index =
          words(indices, isa::ElementType::kS32, lanes * kInt);
      auto run = [&](const Microprogram& program, isa::StoreMode store) {
        isa::Vrun r = emitter->Run(program);
        r.store = store;
        r.lanes = lanes;
        r.n_r1 = d_;
        r.enable_a = true;
        return r;
      };
      auto gather = [&](isa::Vrun* r) {
        r->gather_a = r->enable_c = true;
        r->index_stride = kInt;
        r->index_bound = 256;
        r->SetA(table);
        r->SetC(index);
      };
      isa::Vrun r = run(distance_, isa::StoreMode::kEpilogue);
      r.SetA(codes(in));
      r.SetD(words(largest, isa::ElementType::kS32, 0));
      emitter->Append(r);
      r = run(index_, isa::StoreMode::kBody);
      r.enable_b = true;
      r.SetA(codes(in));
      r.SetB(words(largest, isa::ElementType::kS32, 0));
      r.SetD(index);
      emitter->Append(r);
      r = run(sum_, isa::StoreMode::kEpilogue);
      gather(&r);
      r.SetD(words(sums, isa::ElementType::kF32, 0));
      emitter->Append(r);
      r = run(scale_, isa::StoreMode::kBody);
      gather(&r);
      r.enable_b = true;
      r.arg0 = FloatBits(n_);
      r.arg1 = static_cast<uint32_t>(yz_);
      r.SetB(words(sums, isa::ElementType::kF32, 0));
      r.SetD(codes(out));
      emitter->Append(r);
    }
  }

 private:
  DataType type_;
  bool planes_;
  int64_t d_;
  float n_;
  int32_t yz_;
  int64_t width_ = 1;
  int64_t lanes_ = 1;
  Microprogram distance_, index_, sum_, scale_;
};

absl::Status LowerSoftmax(Lowering* l, const Node& node) {
  if (auto s = NeedConstants(*l, node, {1, 2, 3, 4}); !s.ok()) return s;
  const model::ScopedFpEnvironment environment;
  const TensorId out = node.outputs[0];
  const Tensor t = l->tensor(out);
  const SoftmaxShape s = ResolveSoftmaxRows(
      t.shape, node.IntAttribute("axis", -1), node.IntAttribute("opset", 13));
  if (auto status = CheckVectorLimits(node, {s.d}); !status.ok()) return status;
  const bool planes = s.inner > 1;
  const Shape view =
      planes ? Shape{s.outer, s.d, 1, s.inner} : Shape{1, 1, s.outer, s.d};
  const int from =
      l->Reshaped(l->ValueIn(node.inputs[0], Layout::kDense, node), view);
  const int to = l->NewTemporary(t.name, t.type, view, Layout::kDense);
  const float n = std::floor(model::FDiv(1.0f, ScaleOf(*l, node, 3)));
  l->Add(std::make_unique<Softmax>(l, t.type, planes, s.d, ScaleOf(*l, node, 1),
                                   n, ZeroOf(*l, node, 4), from, to),
         node);
  l->Bind(out, l->Reshaped(to, t.shape));
  return absl::OkStatus();
}

const LoweringRegistration kWhere("com.microsoft", "QLinearWhere", LowerWhere);
const LoweringRegistration kSoftmax("com.microsoft", "QLinearSoftmax",
                                    LowerSoftmax);

}  // namespace
}  // namespace heddle::compiler
