// SPDX-License-Identifier: Apache-2.0
// QLinearConv, QLinearMatMul and QGemm on the matrix engine.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/device_ops/code_window.h"
#include "compiler/device_ops/lower_qmatmul.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/device_ops/relayout.h"
#include "compiler/lowering/lower_qinteger.h"
#include "compiler/ops/conv.h"
#include "compiler/ops/define.h"
#include "compiler/ops/gemm.h"
#include "compiler/schedule/matrix_op.h"
#include "compiler/schedule/window_need.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {
namespace {

void AddMatrix(Lowering* l, MatrixSpec spec, int from, int to,
               const Node& node) {
  l->Add(std::make_unique<MatrixOp>(
             l->config(), std::make_shared<const MatrixSpec>(std::move(spec)),
             from, to),
         node);
}

// Scalar or per-channel constants, `count` of them.
template <typename T>
std::vector<T> Spread(const T* data, int64_t have, int64_t count) {
  std::vector<T> out(count);
  for (int64_t i = 0; i < count; ++i) out[i] = data[have == 1 ? 0 : i];
  return out;
}

std::vector<uint8_t> WeightZeros(const TensorData* zero, int64_t count) {
  if (zero == nullptr) return std::vector<uint8_t>(count, 0);
  return Spread(zero->bytes.data(), zero->count(), count);
}

isa::OutType OutTypeOf(DataType type) {
  return type == DataType::kInt8    ? isa::OutType::kS8
         : type == DataType::kFloat ? isa::OutType::kF32
                                    : isa::OutType::kU8;
}

// How many groups of `ci` input and `co` output channels are best made one, so
// that commands take whole blocks of channels: that which computes least.
int64_t GroupsTogether(int64_t groups, int64_t ci, int64_t co,
                       const isa::Config& config) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  int64_t best = groups, least = INT64_MAX;
  for (int64_t r = groups; r >= 1; --r) {
    const bool blocks = r * ci % 16 == 0 && r * co % 16 == 0;
    if (groups % r != 0 || (r < groups && !blocks)) continue;
    const int64_t work =
        groups / r * up(r * ci, config.lanes_in) * up(r * co, config.lanes_out);
    if (work < least) {
      least = work;
      best = r;
    }
  }
  return best;
}

absl::Status LowerQLinearConv(Lowering* l, const Node& node) {
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4, 5, 6, 7, 8}));
  const Tensor& x = l->tensor(node.inputs[0]);
  const TensorData& w = *l->ConstantInput(node, 3);
  ASSIGN_OR_RETURN(ConvShape shape, ResolveConv(node, x.shape, w.shape));
  MatrixSpec spec;
  spec.window = shape.window;
  spec.weights.codes = l->ConstantBytes(node, 3);
  spec.weights.co = shape.maps;
  spec.weights.ci = shape.channels / shape.group;
  spec.weights.kh = shape.window.kernel[0];
  spec.weights.kw = shape.window.kernel[1];
  spec.w_signed = w.type == DataType::kInt8;
  spec.in_signed = x.type == DataType::kInt8;
  spec.za = CodeZero(l->ConstantInput(node, 2));
  spec.zo = CodeZero(l->ConstantInput(node, 7));
  spec.out_type = OutTypeOf(l->tensor(node.outputs[0]).type);
  spec.weight_zero = WeightZeros(l->ConstantInput(node, 5), shape.maps);
  spec.macs = shape.n * shape.maps * spec.weights.ci * spec.weights.kh *
              spec.weights.kw * shape.window.out[0] * shape.window.out[1];
  const TensorData& ws = *l->ConstantInput(node, 4);
  const float xs = *l->ConstantInput(node, 1)->as<float>();
  const float ys = *l->ConstantInput(node, 6)->as<float>();
  for (float s : Spread(ws.as<float>(), ws.count(), shape.maps)) {
    const float product = xs * s;
    spec.scale.push_back(product / ys);
  }
  const TensorData* bias = l->ConstantInput(node, 8);
  spec.bias.assign(shape.maps, 0);
  if (bias != nullptr) {
    std::copy_n(bias->as<int32_t>(), shape.maps, spec.bias.begin());
  }
  const bool packed =
      AcceptsPacked(l->graph(), node, l->config()) &&
      l->device().StorageOf(l->ValueOf(node.inputs[0], node)).layout ==
          Layout::kPacked;
  const bool depthwise = shape.group > 1 && shape.group == shape.channels &&
                         shape.maps == shape.channels;
  CodeWindow window;
  window.result = l->tensor(node.outputs[0]).shape;
  if (packed) {
    spec.mode = isa::MatrixMode::kFold;
    window.value = l->ValueOf(node.inputs[0], node);
  } else {
    window = PrepareWindow(l, node, depthwise, static_cast<uint8_t>(spec.za),
                           &spec.window, &spec.weights);
  }
  if (!packed && shape.group > 1) {
    if (depthwise && !window.patches) {
      spec.mode = isa::MatrixMode::kDepthwise;
    } else {
      const int64_t together = GroupsTogether(
          shape.group, spec.weights.ci, shape.maps / shape.group, l->config());
      ASSIGN_OR_RETURN(auto merged, MergeGroups(node, spec.weights, shape.group,
                                                together, spec.weight_zero));
      spec.weights = std::move(merged);
      spec.conv_groups = shape.group / together;
    }
  }
  const TensorId out = node.outputs[0];
  int to = -1;
  if (window.turned) {
    const Tensor& y = l->tensor(out);
    to = l->NewTemporary(y.name, y.type, window.result, Layout::kBlocked);
    l->Bind(out, l->Reshaped(to, y.shape));
  } else {
    to = l->NewValue(out, Layout::kBlocked);
  }
  AddMatrix(l, std::move(spec), window.value, to, node);
  return absl::OkStatus();
}

// [m,k] codes times constant [k,n] (or [n,k], g.trans_b) codes, input 3. The
// first operand may be one image whose flattening is the row: then its layout
// is kept and the product is a convolution with a kernel of the image's size.
absl::Status LowerProduct(Lowering* l, const Node& node, const GemmShape& g,
                          MatrixSpec spec) {
  const TensorId a = node.inputs[0];
  int from = l->ValueIn(a, Layout::kBlocked, node);
  Window image;
  const Extent extent = l->device().values[from].extent;
  for (int d = 0; d < 2; ++d) {
    image.in[d] = image.kernel[d] = d == 0 ? extent.h : extent.w;
  }
  const bool flattens = l->device().values[from].shape.size() > 2 &&
                        FitsCommands(image, true, l->config().sram_bytes);
  if (!flattens && l->device().values[from].shape.size() > 2) {
    // A row after all.
    const Tensor& t = l->tensor(a);
    from = l->NewTemporary(absl::StrCat(t.name, "/row"), t.type, {g.m, g.k},
                           Layout::kBlocked);
    l->Add(
        MakeRelayout(
            &l->device(),
            l->Reshaped(l->ValueIn(a, Layout::kDense, node), {g.m, g.k}), from),
        node);
  }
  spec.weights.codes = l->ConstantBytes(node, 3);
  spec.weights.outputs_last = !g.trans_b;
  spec.weights.co = g.n;
  spec.macs = g.m * g.n * g.k;
  if (flattens) {
    spec.weights.ci = extent.c;
    spec.weights.kh = extent.h;
    spec.weights.kw = extent.w;
    spec.window = image;
  } else {
    spec.weights.ci = g.k;
    spec.window.in[0] = spec.window.out[0] = g.m;
  }
  if (spec.out_type == isa::OutType::kF32) {
    QMatMulSpec wide;
    wide.window = spec.window;
    wide.weights = std::move(spec.weights);
    wide.weight_zero = std::move(spec.weight_zero);
    wide.bias = std::move(spec.bias);
    wide.scale = std::move(spec.scale);
    wide.in_signed = spec.in_signed;
    wide.w_signed = spec.w_signed;
    wide.za = spec.za;
    wide.out_type = spec.out_type;
    wide.rows_result = true;
    wide.macs = spec.macs;
    l->Add(MakeProduct(l, std::move(wide), from, -1,
                       l->NewValue(node.outputs[0], Layout::kDense)),
           node);
    return absl::OkStatus();
  }
  AddMatrix(l, std::move(spec), from,
            l->NewValue(node.outputs[0], Layout::kBlocked), node);
  return absl::OkStatus();
}

// Whether the fused form below is enough: a constant B, A as it is, and C the
// same in all rows.
bool IsPlainGemm(Lowering* l, const Node& node) {
  const TensorData* b = l->ConstantInput(node, 3);
  if (b == nullptr || node.IntAttribute("transA", 0) != 0) return false;
  if (!HasInput(node, 6)) return true;
  const TensorData* c = l->ConstantInput(node, 6);
  const int64_t n = b->shape[node.IntAttribute("transB", 0) != 0 ? 0 : 1];
  return c != nullptr &&
         (c->count() == 1 || (c->count() == n && c->shape.back() == n));
}

absl::Status LowerQGemm(Lowering* l, const Node& node) {
  if (!IsPlainGemm(l, node)) return LowerGeneralGemm(l, node);
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 3, 4, 5, 6, 7, 8}));
  const Tensor& a = l->tensor(node.inputs[0]);
  const TensorData& b = *l->ConstantInput(node, 3);
  ASSIGN_OR_RETURN(GemmShape g, ResolveGemm(node, a.shape, b.shape));
  MatrixSpec spec;
  spec.w_signed = b.type == DataType::kInt8;
  spec.in_signed = a.type == DataType::kInt8;
  spec.za = CodeZero(l->ConstantInput(node, 2));
  spec.weight_zero = WeightZeros(l->ConstantInput(node, 5), g.n);
  spec.out_type = OutTypeOf(l->tensor(node.outputs[0]).type);
  const bool to_float = spec.out_type == isa::OutType::kF32;
  if (!to_float) spec.zo = CodeZero(l->ConstantInput(node, 8));
  const float alpha = node.FloatAttribute("alpha", 1);
  const float scaled = alpha * *l->ConstantInput(node, 1)->as<float>();
  const TensorData& bs = *l->ConstantInput(node, 4);
  for (float s : Spread(bs.as<float>(), bs.count(), g.n)) {
    const float product = scaled * s;
    spec.scale.push_back(
        to_float ? product : product / *l->ConstantInput(node, 7)->as<float>());
  }
  spec.bias.assign(g.n, 0);
  if (const TensorData* c = l->ConstantInput(node, 6)) {
    spec.bias = Spread(c->as<int32_t>(), c->count(), g.n);
  }
  return LowerProduct(l, node, g, std::move(spec));
}

absl::Status LowerQLinearMatMul(Lowering* l, const Node& node) {
  const Tensor& a = l->tensor(node.inputs[0]);
  if (l->ConstantInput(node, 3) == nullptr || a.shape.size() != 2 ||
      l->ConstantInput(node, 3)->shape.size() != 2) {
    return LowerGeneralMatMul(l, node);
  }
  RETURN_IF_ERROR(NeedConstants(*l, node, {1, 2, 4, 5, 6, 7}));
  const TensorData& b = *l->ConstantInput(node, 3);
  GemmShape g;
  g.m = a.shape[0];
  g.k = a.shape[1];
  g.n = b.shape[1];
  MatrixSpec spec;
  spec.w_signed = b.type == DataType::kInt8;
  spec.in_signed = a.type == DataType::kInt8;
  spec.za = CodeZero(l->ConstantInput(node, 2));
  spec.zo = CodeZero(l->ConstantInput(node, 7));
  spec.weight_zero = WeightZeros(l->ConstantInput(node, 5), g.n);
  spec.out_type = OutTypeOf(l->tensor(node.outputs[0]).type);
  const float as = *l->ConstantInput(node, 1)->as<float>();
  const float ys = *l->ConstantInput(node, 6)->as<float>();
  const TensorData& bs = *l->ConstantInput(node, 4);
  for (float s : Spread(bs.as<float>(), bs.count(), g.n)) {
    const float product = as * s;
    spec.scale.push_back(product / ys);
  }
  spec.bias.assign(g.n, 0);
  return LowerProduct(l, node, g, std::move(spec));
}

const LoweringRegistration kQLinearConv("", "QLinearConv", LowerQLinearConv);
const LoweringRegistration kQLinearMatMul("", "QLinearMatMul",
                                          LowerQLinearMatMul);
const LoweringRegistration kQGemm("com.microsoft", "QGemm", LowerQGemm);

}  // namespace

bool AcceptsPacked(const Graph& graph, const Node& node,
                   const isa::Config& config) {
  if (node.op != "QLinearConv" || node.IntAttribute("group", 1) != 1)
    return false;
  const Tensor& x = graph.tensors[node.inputs[0]];
  const Tensor& w = graph.tensors[node.inputs[3]];
  if (x.shape.size() < 3 || w.shape.size() != x.shape.size()) return false;
  // The hardware's row ports pass at most 48 bytes per output column.
  const std::vector<int64_t> strides = node.IntsAttribute("strides", {1});
  if (x.shape[1] > 8 || strides.back() * x.shape[1] > 48 ||
      ElementCount(w.shape) <= w.shape[0] * w.shape[1]) {
    return false;
  }
  // The weights of one row of cells are one group of constants.
  const auto shape = ResolveConv(node, x.shape, w.shape);
  const uint64_t weights =
      ElementCount(w.shape) / w.shape[0] * config.lanes_out;
  return shape.ok() && weights <= config.sram_bytes / 2 &&
         FitsCommands(shape->window, false, config.sram_bytes) &&
         CountsRows(shape->window);
}

}  // namespace heddle::compiler
