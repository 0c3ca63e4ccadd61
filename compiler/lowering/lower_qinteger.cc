// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, ConvInteger, MatMulIntegerToFloat, and QLinearMatMul and QGemm
// beyond a constant matrix as second operand.
//
// A zero point that is computed at run time is taken out of the accumulators
// afterwards, modulo 2^32:
//   sum (a - az)(b - bz) = [sum a b - az sum b] - bz [sum a - k az].
#include "compiler/lowering/lower_qinteger.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/code_window.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/lower_qmatmul.h"
#include "compiler/device_ops/mac.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/accumulate.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/define.h"
#include "compiler/ops/gemm.h"
#include "compiler/ops/quantized_values.h"

namespace heddle::compiler {
namespace {

using isa::Destination;
using isa::MicroOp;
using Source = isa::Operand;

// out = a - b * c
Microprogram MinusProductProgram() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kImul, Destination::kV0, Source::kStreamB,
            Source::kStreamC),
      Micro(MicroOp::kIsub, Destination::kOut, Source::kStreamA, Source::kV0)};
  return p;
}

// out = a - arg0 * b
Microprogram MinusScaledProgram() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kImul, Destination::kV0, Source::kStreamB, Source::kArg0),
      Micro(MicroOp::kIsub, Destination::kOut, Source::kStreamA, Source::kV0)};
  return p;
}

// out = f32(f32(a) * f32(b * c))
Microprogram ScaleByProductProgram() {
  Microprogram p;
  p.body = {Micro(MicroOp::kFmul, Destination::kV0, Source::kStreamB,
                  Source::kStreamC),
            Micro(MicroOp::kI2f, Destination::kV1, Source::kStreamA),
            Micro(MicroOp::kFmul, Destination::kOut, Source::kV1, Source::kV0)};
  return p;
}

// out = f32(f32(a) * b)
Microprogram ScaleByProgram() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kI2f, Destination::kV0, Source::kStreamA),
      Micro(MicroOp::kFmul, Destination::kOut, Source::kV0, Source::kStreamB)};
  return p;
}

// out = max(rne(fmin(f32(f32(a) * b), arg1)), arg0) + arg2, arg1 f32
Microprogram RequantizeProgram() {
  Microprogram p;
  p.body = {
      Micro(MicroOp::kI2f, Destination::kV0, Source::kStreamA),
      Micro(MicroOp::kFmul, Destination::kV0, Source::kV0, Source::kStreamB),
      Micro(MicroOp::kFmin, Destination::kV0, Source::kV0, Source::kArg1),
      Micro(MicroOp::kF2i, Destination::kV0, Source::kV0),
      Micro(MicroOp::kImax, Destination::kV0, Source::kV0, Source::kArg0),
      Micro(MicroOp::kIadd, Destination::kOut, Source::kV0, Source::kArg2)};
  return p;
}

Operand ConstantOf(TensorData data, const Shape& shape) {
  data.shape = shape;
  return Operand::Constant(std::make_shared<TensorData>(std::move(data)));
}

Operand Ints(const std::vector<int32_t>& values, const Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kInt32, shape);
  std::copy(values.begin(), values.end(), data.as<int32_t>());
  return ConstantOf(std::move(data), shape);
}

Operand Floats(const std::vector<float>& values, const Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  std::copy(values.begin(), values.end(), data.as<float>());
  return ConstantOf(std::move(data), shape);
}

// Input i, constant or computed, of one element or one per column, as an
// operand of rank 4.
Operand Parameter(Lowering* l, const Node& node, size_t i) {
  const Tensor& t = l->tensor(node.inputs[i]);
  const Shape shape = {1, 1, 1, ElementCount(t.shape)};
  if (t.is_constant()) return ConstantOf(*t.constant, shape);
  return Operand::Of(
      l->Reshaped(l->ValueIn(node.inputs[i], Layout::kDense, node), shape));
}

// An elementwise operation on [matrices, 1, rows, columns], dense.
int Elementwise(Lowering* l, const Node& node, const std::string& what,
                DataType type, const Shape& shape, const Microprogram& program,
                const std::array<uint32_t, 4>& arguments,
                const std::vector<Operand>& operands) {
  const int to =
      l->NewTemporary(absl::StrCat(l->tensor(node.outputs[0]).name, "/", what),
                      type, shape, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), program, arguments, operands, to), node);
  return to;
}

// A product of stacks of matrices, from tensors to the operands of Product.
struct Factors {
  int64_t m = 0, k = 0, n = 0;
  int64_t matrices = 1;  // of the result
  int a = -1;            // rows
  int b = -1;            // rows, when it is computed or a stack
  isa::WeightMode mode = isa::WeightMode::kPacked;
  CodeWeights weights;  // n by k, when constant
  bool a_signed = false, b_signed = false;
  uint64_t macs = 0;
};

// The weights of `outputs` channels, from `inputs` each.
CodeWeights WeightsOf(const Tensor& constant, int64_t outputs, int64_t inputs,
                      bool outputs_last) {
  CodeWeights weights;
  weights.codes = SharedBytes(constant.constant, &constant.constant->bytes);
  weights.co = outputs;
  weights.ci = inputs;
  weights.outputs_last = outputs_last;
  return weights;
}

Factors FactorsOf(Lowering* l, const Node& node, const MatMulShape& shape,
                  TensorId a, TensorId b) {
  Factors f;
  const Tensor& tb = l->tensor(b);
  f.a_signed = l->tensor(a).type == DataType::kInt8;
  f.b_signed = tb.type == DataType::kInt8;
  f.k = shape.k;
  f.n = shape.n;
  f.macs = shape.batches * shape.m * shape.n * shape.k;
  const bool one_b = ElementCount(tb.shape) == shape.k * shape.n;
  // One second operand: all rows of the first are one matrix.
  f.matrices = one_b ? 1 : shape.batches;
  f.m = one_b ? shape.batches * shape.m : shape.m;
  if (one_b && tb.is_constant()) {
    f.weights = WeightsOf(tb, f.n, f.k, true);
  } else {
    const std::vector<int64_t> map =
        one_b ? std::vector<int64_t>{0} : shape.b_matrix;
    const StackInRows* stack = l->FindRows(b);
    if (stack != nullptr && stack->transposed) {
      // Words hold the channels of the contraction already.
      f.mode = isa::WeightMode::kRow;
      f.b = stack->value;
    } else {
      f.mode = isa::WeightMode::kColumn;
      f.b = RowsOf(l, node, b, f.k, f.n, map, false);
    }
  }
  f.a = RowsOf(l, node, a, f.m, f.k,
               one_b ? std::vector<int64_t>{0} : shape.a_matrix, false);
  return f;
}

QMatMulSpec SpecOf(const Factors& f) {
  QMatMulSpec spec;
  spec.window.in[0] = spec.window.out[0] = f.m;
  spec.weights = f.weights;
  spec.weights.co = f.n;
  spec.weights.ci = f.k;
  spec.w_mode = f.mode;
  spec.weight_zero.assign(f.n, 0);
  spec.in_signed = f.a_signed;
  spec.w_signed = f.b_signed;
  spec.rows_result = true;
  spec.macs = f.macs;
  return spec;
}

// What the accumulators take out by themselves.
struct Zeros {
  int64_t a = 0;
  std::vector<uint8_t> b;
  bool a_computed = false, b_computed = false;
};

Zeros ZerosOf(Lowering* l, const Node& node, size_t a, size_t b, int64_t n) {
  Zeros zeros;
  zeros.a_computed = HasInput(node, a) && !l->ConstantInput(node, a);
  zeros.b_computed = HasInput(node, b) && !l->ConstantInput(node, b);
  zeros.a = ZeroPoint(l->ConstantInput(node, a));
  zeros.b = ZeroCodes(l->ConstantInput(node, b), n);
  return zeros;
}

// int32 accumulators as [matrices, 1, m, n], dense. Zero points are inputs.
absl::StatusOr<int> Accumulators(Lowering* l, const Node& node,
                                 const Factors& f, size_t a_zero,
                                 size_t b_zero) {
  const Zeros zeros = ZerosOf(l, node, a_zero, b_zero, f.n);
  const std::string name = l->tensor(node.outputs[0]).name;
  QMatMulSpec spec = SpecOf(f);
  spec.za = zeros.a;
  spec.weight_zero = zeros.b;
  const Shape full = {f.matrices, 1, f.m, f.n};
  int acc = l->NewTemporary(name + "/accumulators", DataType::kInt32, full,
                            Layout::kDense);
  l->Add(MakeProduct(l, std::move(spec), f.a, f.b, acc), node);
  if (zeros.a_computed) {
    // Sums of b's columns, minus its zero point where that is constant.
    Operand sums;
    if (f.b < 0) {
      std::vector<int32_t> values(f.n, 0);
      for (int64_t j = 0; j < f.n; ++j) {
        for (int64_t i = 0; i < f.k; ++i) {
          values[j] = model::WrapAdd(
              values[j], static_cast<int32_t>(
                             CodeValue(f.weights.At(j, i, 0, 0), f.b_signed) -
                             CodeValue(zeros.b[j], f.b_signed)));
        }
      }
      sums = Ints(values, {1, 1, 1, f.n});
    } else {
      TensorData ones = TensorData::Zeros(DataType::kUint8, {1, f.k});
      std::fill(ones.bytes.begin(), ones.bytes.end(), 1);
      const int row = l->NewTemporary(name + "/ones", DataType::kUint8,
                                      {1, f.k}, Layout::kBlocked);
      l->Add(MakeElementwise(
                 &l->device(), CopyProgram(), {},
                 {Operand::Constant(std::make_shared<TensorData>(ones))}, row),
             node);
      Factors column = f;
      column.m = 1;
      column.a_signed = false;
      column.macs = 0;
      QMatMulSpec sum = SpecOf(column);
      sum.weight_zero = zeros.b;
      const int64_t images = l->device().values[f.b].extent.n;
      const int value = l->NewTemporary(name + "/columns", DataType::kInt32,
                                        {images, 1, 1, f.n}, Layout::kDense);
      l->Add(MakeProduct(l, std::move(sum), row, f.b, value), node);
      sums = Operand::Of(value);
    }
    acc = Elementwise(l, node, "without_a_zero", DataType::kInt32, full,
                      MinusProductProgram(), {},
                      {Operand::Of(acc), sums, Parameter(l, node, a_zero)});
  }
  if (zeros.b_computed) {
    const int64_t images = l->device().values[f.a].extent.n;
    const Shape column = {images, 1, f.m, 1};
    Factors row = f;
    row.n = 1;
    row.macs = 0;
    row.b_signed = false;
    row.mode = isa::WeightMode::kPacked;
    row.weights = CodeWeights::Ones(f.k);
    QMatMulSpec sum = SpecOf(row);
    sum.za = zeros.a;
    int sums = l->NewTemporary(name + "/rows", DataType::kInt32, column,
                               Layout::kDense);
    l->Add(MakeProduct(l, std::move(sum), f.a, -1, sums), node);
    if (zeros.a_computed) {
      sums = Elementwise(l, node, "rows_without_zero", DataType::kInt32, column,
                         MinusScaledProgram(),
                         {static_cast<uint32_t>(f.k), 0, 0, 0},
                         {Operand::Of(sums), Parameter(l, node, a_zero)});
    }
    acc = Elementwise(
        l, node, "without_b_zero", DataType::kInt32, full,
        MinusProductProgram(), {},
        {Operand::Of(acc), Operand::Of(sums), Parameter(l, node, b_zero)});
  }
  return acc;
}

void BindResult(Lowering* l, const Node& node, int value) {
  const TensorId out = node.outputs[0];
  l->Bind(out, l->Reshaped(value, l->tensor(out).shape));
}

absl::Status LowerMatMulInteger(Lowering* l, const Node& node) {
  const TensorId a = node.inputs[0], b = node.inputs[1];
  ASSIGN_OR_RETURN(auto shape,
                   ResolveMatMul(node, l->tensor(a).shape, l->tensor(b).shape));
  const Factors f = FactorsOf(l, node, shape, a, b);
  ASSIGN_OR_RETURN(auto acc, Accumulators(l, node, f, 2, 3));
  BindResult(l, node, acc);
  return absl::OkStatus();
}

// Inputs: a, b, a_scale, b_scale, a_zero, b_zero, bias.
absl::Status LowerMatMulIntegerToFloat(Lowering* l, const Node& node) {
  const TensorId a = node.inputs[0], b = node.inputs[1];
  ASSIGN_OR_RETURN(auto shape,
                   ResolveMatMul(node, l->tensor(a).shape, l->tensor(b).shape));
  const Factors f = FactorsOf(l, node, shape, a, b);
  const Shape full = {f.matrices, 1, f.m, f.n};
  const std::string name = l->tensor(node.outputs[0]).name;
  const model::ScopedFpEnvironment environment;
  if (NeedConstants(*l, node, {2, 3, 4, 5, 6}).ok()) {
    // The output stage does all of it.
    QMatMulSpec spec = SpecOf(f);
    spec.out_type = isa::OutType::kF32;
    spec.za = ZeroOf(*l, node, 4);
    spec.weight_zero = ZeroCodes(l->ConstantInput(node, 5), f.n);
    for (float s : ScalePerChannel(*l->ConstantInput(node, 3), f.n)) {
      spec.scale.push_back(model::FMul(ScaleOf(*l, node, 2), s));
    }
    if (const TensorData* bias = l->ConstantInput(node, 6)) {
      spec.float_bias = ScalePerChannel(*bias, f.n);
    }
    const int to =
        l->NewTemporary(name, DataType::kFloat, full, Layout::kDense);
    l->Add(MakeProduct(l, std::move(spec), f.a, f.b, to), node);
    BindResult(l, node, to);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(auto acc, Accumulators(l, node, f, 4, 5));
  int value = Elementwise(
      l, node, "scaled", DataType::kFloat, full, ScaleByProductProgram(), {},
      {Operand::Of(acc), Parameter(l, node, 2), Parameter(l, node, 3)});
  if (HasInput(node, 6)) {
    value = Elementwise(l, node, "biased", DataType::kFloat, full,
                        BinaryProgram(MicroOp::kFadd), {},
                        {Operand::Of(value), Parameter(l, node, 6)});
  }
  BindResult(l, node, value);
  return absl::OkStatus();
}

// The results along dimension `d` by which taps are inside: the class of each,
// and a result of each class.
struct TapClasses {
  std::vector<int64_t> of, example;
};

TapClasses ClassesOf(const Window& w, int d) {
  TapClasses classes;
  std::map<std::vector<bool>, int64_t> known;
  for (int64_t o = 0; o < w.out[d]; ++o) {
    std::vector<bool> inside;
    for (int64_t k = 0; k < w.kernel[d]; ++k) {
      const int64_t i = o * w.stride[d] - w.pad_begin[d] + k * w.dilation[d];
      inside.push_back(i >= 0 && i < w.in[d]);
    }
    const auto next = static_cast<int64_t>(classes.example.size());
    const auto [found, is_new] = known.try_emplace(inside, next);
    if (is_new) classes.example.push_back(o);
    classes.of.push_back(found->second);
  }
  return classes;
}

// sum of (w - wz) over the taps inside, for every result of one image; one
// value per map where there is no padding. A table for the classes of rows and
// columns, which a small result spreads at compile time, and the card else.
Operand TapSums(Lowering* l, const Node& node, const TensorData& w,
                const TensorData* zero, const ConvShape& shape,
                const Shape& result) {
  const Window& window = shape.window;
  const int64_t taps = w.count() / shape.maps;
  const auto weights = Centered(w, zero, shape.maps, taps);
  // All channels are inside at the same places: one of them, with the sums of
  // the weights over the channels.
  const int64_t area = window.kernel[0] * window.kernel[1];
  std::vector<int32_t> kernels(shape.maps * area, 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    int32_t& sum = kernels[i / taps * area + i % area];
    sum = model::WrapAdd(sum, weights[i]);
  }
  const TapClasses rows = ClassesOf(window, 0), columns = ClassesOf(window, 1);
  const auto inside = [&](int d, int64_t o, int64_t k) {
    const int64_t i =
        o * window.stride[d] - window.pad_begin[d] + k * window.dilation[d];
    return i >= 0 && i < window.in[d];
  };
  std::vector<int32_t> sums;
  for (int64_t m = 0; m < shape.maps; ++m) {
    for (int64_t y : rows.example) {
      for (int64_t x : columns.example) {
        int32_t sum = 0;
        for (int64_t k = 0; k < area; ++k) {
          if (inside(0, y, k / window.kernel[1]) &&
              inside(1, x, k % window.kernel[1])) {
            sum = model::WrapAdd(sum, kernels[m * area + k]);
          }
        }
        sums.push_back(sum);
      }
    }
  }
  const Shape table = {1, shape.maps, static_cast<int64_t>(rows.example.size()),
                       static_cast<int64_t>(columns.example.size())};
  Shape own = result;
  own[0] = 1;
  if (static_cast<int64_t>(sums.size()) == shape.maps) {
    for (size_t i = 2; i < own.size(); ++i) own[i] = 1;
    return Ints(sums, own);
  }
  IndexMap spread = IdentityMap(table);
  spread.axes[2] = rows.of;
  spread.axes[3] = columns.of;
  TensorData data = TensorData::Zeros(DataType::kInt32, table);
  std::copy(sums.begin(), sums.end(), data.as<int32_t>());
  constexpr uint64_t kSmall = 64;  // part of SRAM
  if (ElementCount(own) * sizeof(int32_t) <= l->config().sram_bytes / kSmall) {
    return ConstantOf(TakeElements(data, spread), own);
  }
  const int value =
      ConstantValue(l, l->tensor(node.outputs[0]).name + "/taps", data, table);
  return Operand::Of(l->Reshaped(TakeValue(l, node, value, spread), own));
}

absl::Status LowerConvInteger(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 3}));
  const Tensor& x = l->tensor(node.inputs[0]);
  const TensorData& w = *l->ConstantInput(node, 1);
  ASSIGN_OR_RETURN(ConvShape shape, ResolveConv(node, x.shape, w.shape));
  const bool computed = HasInput(node, 2) && !l->ConstantInput(node, 2);
  QMatMulSpec spec;
  spec.window = shape.window;
  spec.weights = WeightsOf(l->tensor(node.inputs[1]), shape.maps,
                           shape.channels / shape.group, false);
  spec.weights.kh = shape.window.kernel[0];
  spec.weights.kw = shape.window.kernel[1];
  spec.w_signed = w.type == DataType::kInt8;
  spec.in_signed = x.type == DataType::kInt8;
  spec.za = ZeroPoint(l->ConstantInput(node, 2));
  spec.weight_zero = ZeroCodes(l->ConstantInput(node, 3), shape.maps);
  spec.macs = shape.n * shape.maps * (w.count() / shape.maps) *
              shape.window.out[0] * shape.window.out[1];
  const bool depthwise = shape.group > 1 && shape.group == shape.channels &&
                         shape.maps == shape.channels;
  const CodeWindow window =
      PrepareWindow(l, node, depthwise, static_cast<uint8_t>(spec.za),
                    &spec.window, &spec.weights);
  if (shape.group > 1) {
    if (depthwise && !window.patches) {
      spec.mode = isa::MatrixMode::kDepthwise;
    } else {
      ASSIGN_OR_RETURN(auto full, MergeGroups(node, spec.weights, shape.group,
                                              shape.group, spec.weight_zero));
      spec.weights = std::move(full);
    }
  }
  const TensorId out = node.outputs[0];
  const Shape result = l->tensor(out).shape;
  int acc =
      computed || window.turned
          ? l->NewTemporary(l->tensor(out).name + "/raw", DataType::kInt32,
                            window.result, Layout::kDense)
          : l->NewValue(out, Layout::kDense);
  l->Add(MakeProduct(l, std::move(spec), window.value, -1, acc), node);
  if (window.turned) acc = l->Reshaped(acc, result);
  if (!computed) {
    l->Bind(out, acc);
    return absl::OkStatus();
  }
  const Operand sums =
      TapSums(l, node, w, l->ConstantInput(node, 3), shape, result);
  const int zero = l->Reshaped(l->ValueIn(node.inputs[2], Layout::kDense, node),
                               Shape(result.size(), 1));
  const int to = l->NewValue(out, Layout::kDense);
  l->Add(MakeElementwise(&l->device(), MinusProductProgram(), {},
                         {Operand::Of(acc), sums, Operand::Of(zero)}, to),
         node);
  return absl::OkStatus();
}

}  // namespace

// Inputs: a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero.
absl::Status LowerGeneralMatMul(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 4, 5, 6, 7}));
  const TensorId a = node.inputs[0], b = node.inputs[3], out = node.outputs[0];
  ASSIGN_OR_RETURN(auto shape,
                   ResolveMatMul(node, l->tensor(a).shape, l->tensor(b).shape));
  const model::ScopedFpEnvironment environment;
  const Factors f = FactorsOf(l, node, shape, a, b);
  QMatMulSpec spec = SpecOf(f);
  const DataType type = l->tensor(out).type;
  spec.out_type =
      type == DataType::kInt8 ? isa::OutType::kS8 : isa::OutType::kU8;
  spec.za = ZeroOf(*l, node, 2);
  spec.zo = ZeroOf(*l, node, 7);
  spec.weight_zero = ZeroCodes(l->ConstantInput(node, 5), f.n);
  for (float s : ScalePerChannel(*l->ConstantInput(node, 4), f.n)) {
    spec.scale.push_back(model::FDiv(model::FMul(ScaleOf(*l, node, 1), s),
                                     ScaleOf(*l, node, 6)));
  }
  if (l->tensor(out).shape.size() == 2) {
    const int to = l->NewValue(out, Layout::kBlocked);
    l->Add(MakeProduct(l, std::move(spec), f.a, f.b, to), node);
    return absl::OkStatus();
  }
  const int to = l->NewRows(out, f.matrices, f.m, f.n);
  l->Add(MakeProduct(l, std::move(spec), f.a, f.b, to), node);
  return absl::OkStatus();
}

// Inputs: a, a_scale, a_zero, b, b_scale, b_zero, c, y_scale, y_zero. The
// accumulators as int32, then C, scale and rounding on the vector engine.
absl::Status LowerGeneralGemm(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 4, 5, 7, 8}));
  const TensorId a = node.inputs[0], b = node.inputs[3], out = node.outputs[0];
  const Tensor& tb = l->tensor(b);
  ASSIGN_OR_RETURN(auto g, ResolveGemm(node, l->tensor(a).shape, tb.shape));
  const model::ScopedFpEnvironment environment;
  Factors f;
  f.m = g.m;
  f.k = g.k;
  f.n = g.n;
  f.macs = g.m * g.n * g.k;
  f.a_signed = l->tensor(a).type == DataType::kInt8;
  f.b_signed = tb.type == DataType::kInt8;
  f.a = RowsOf(l, node, a, f.m, f.k, {0}, g.trans_a);
  if (tb.is_constant()) {
    f.weights = WeightsOf(tb, f.n, f.k, !g.trans_b);
  } else {
    // transB: words hold the channels of the reduction already.
    f.mode = g.trans_b ? isa::WeightMode::kRow : isa::WeightMode::kColumn;
    f.b = g.trans_b ? RowsOf(l, node, b, f.n, f.k, {0}, false)
                    : RowsOf(l, node, b, f.k, f.n, {0}, false);
  }
  ASSIGN_OR_RETURN(auto acc, Accumulators(l, node, f, 2, 5));
  const Shape full = {1, 1, f.m, f.n};
  int value = acc;
  if (HasInput(node, 6)) {
    const Tensor& c = l->tensor(node.inputs[6]);
    Shape padded = c.shape;
    padded.insert(padded.begin(), 4 - padded.size(), 1);
    const Operand bias =
        c.is_constant()
            ? ConstantOf(*c.constant, padded)
            : Operand::Of(l->Reshaped(
                  l->ValueIn(node.inputs[6], Layout::kDense, node), padded));
    value = Elementwise(l, node, "biased", DataType::kInt32, full,
                        IntegerProgram(MicroOp::kIadd, isa::ElementType::kS32),
                        {}, {Operand::Of(value), bias});
  }
  const float scaled =
      model::FMul(node.FloatAttribute("alpha", 1), ScaleOf(*l, node, 1));
  const bool to_float = l->tensor(out).type == DataType::kFloat;
  std::vector<float> scale;
  for (float s : ScalePerChannel(*l->ConstantInput(node, 4), f.n)) {
    const float product = model::FMul(scaled, s);
    scale.push_back(to_float ? product
                             : model::FDiv(product, ScaleOf(*l, node, 7)));
  }
  const Operand factors = Floats(scale, {1, f.n});
  const int matrix = l->Reshaped(value, {f.m, f.n});
  const int to =
      l->NewValue(out, to_float ? Layout::kDense : l->LayoutFor(out));
  std::array<uint32_t, 4> arguments{};
  if (!to_float) {
    const DataType type = l->tensor(out).type;
    const int32_t zero = ZeroOf(*l, node, 8);
    arguments = {static_cast<uint32_t>(QuantizedMin(type) - zero),
                 FloatBits(static_cast<float>(QuantizedMax(type) - zero)),
                 static_cast<uint32_t>(zero), 0};
  }
  l->Add(MakeElementwise(&l->device(),
                         to_float ? ScaleByProgram() : RequantizeProgram(),
                         arguments, {Operand::Of(matrix), factors}, to),
         node);
  return absl::OkStatus();
}

namespace {

const LoweringRegistration kMatMulInteger("", "MatMulInteger",
                                          LowerMatMulInteger);
const LoweringRegistration kConvInteger("", "ConvInteger", LowerConvInteger);
const LoweringRegistration kToFloat("com.microsoft", "MatMulIntegerToFloat",
                                    LowerMatMulIntegerToFloat);

}  // namespace
}  // namespace heddle::compiler
