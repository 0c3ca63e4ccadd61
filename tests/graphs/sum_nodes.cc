// SPDX-License-Identifier: Apache-2.0
// Floats: products of matrices, convolutions, pools, reductions, softmax and
// normalisation.
#include <algorithm>
#include <cmath>

#include "tests/graphs/graph_writer.h"

namespace heddle::tests {
namespace {

using compiler::SetFloat;
using compiler::SetInt;
using compiler::SetInts;

// A sum of `terms` products with weights of at most 1, in quarters.
Value SumOf(const Value& x, int64_t terms, Dims dims) {
  Value y;
  y.dims = std::move(dims);
  y.magnitude = x.magnitude * static_cast<double>(terms);
  y.error = x.error * static_cast<double>(terms);
  y.fraction = x.fraction + 2;
  return Rounded(y);
}

bool AddMatMul(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFloat(v) && v.dims.size() >= 2 && v.dims.back().symbol < 0;
  });
  if (x == nullptr) return false;
  const int64_t k = x->dims.back().size, m = w->random().Between(1, 6);
  Dims dims = x->dims;
  dims.back() = {m};
  const bool gemm = x->dims.size() == 2 && w->OneIn(2);
  Value y = SumOf(*x, k, dims);
  if (!gemm) {
    return w->Append("MatMul", {x->name, w->Weights({k, m})}, y) != nullptr;
  }
  y = SumOf(*x, k + 1, dims);
  y.magnitude += 1;
  const bool turned = w->OneIn(2);
  return w->Append("Gemm",
                   {x->name, turned ? w->Weights({m, k}) : w->Weights({k, m}),
                    w->Weights({m})},
                   y, [&](onnx::NodeProto* node) {
                     if (turned) SetInt(node, "transB", 1);
                   }) != nullptr;
}

// Of two computed values: x times x turned, or another that fits.
bool AddProduct(GraphWriter* w) {
  const Value* a =
      w->Draw([](const Value& v) { return IsFloat(v) && v.dims.size() == 2; });
  if (a == nullptr) return false;
  const Value* b = w->Draw([&](const Value& v) {
    return IsFloat(v) && v.dims.size() == 2 && v.dims[0] == a->dims[1];
  });
  if (b == nullptr) return false;
  const auto terms = static_cast<double>(w->Extent(a->dims[1]));
  Value y;
  y.dims = {a->dims[0], b->dims[1]};
  y.magnitude = terms * a->magnitude * b->magnitude;
  y.fraction = a->fraction + b->fraction;
  y.error = terms * (a->magnitude * b->error + b->magnitude * a->error +
                     a->error * b->error);
  return w->Append("MatMul", {a->name, b->name}, Rounded(y)) != nullptr;
}

const Value* DrawPlanes(GraphWriter* w) {
  return w->Draw([](const Value& v) {
    return IsFloat(v) && v.dims.size() >= 3 && v.dims.size() <= 4 &&
           v.dims[1].symbol < 0;
  });
}

bool AddConv(GraphWriter* w) {
  const Value* x = DrawPlanes(w);
  if (x == nullptr) return false;
  const size_t spatial = x->dims.size() - 2;
  const int64_t c = x->dims[1].size, kernels = w->random().Between(1, 4);
  const bool depthwise = w->OneIn(4);
  const int64_t kernel = w->Pick<int64_t>({1, 2, 3}),
                stride = w->Pick<int64_t>({1, 1, 2});
  Dims dims = {x->dims[0], {depthwise ? c : kernels}};
  compiler::Shape weights = {depthwise ? c : kernels, depthwise ? 1 : c};
  const int64_t pad = w->Below(kernel);
  int64_t terms = depthwise ? 1 : c;
  for (size_t i = 2; i < x->dims.size(); ++i) {
    Dim dim = x->dims[i];
    // A symbol stays what it is.
    if (dim.symbol >= 0 && (kernel != 1 || stride != 1)) return false;
    if (dim.symbol < 0) dim.size = (dim.size + pad - kernel) / stride + 1;
    if (dim.size < 1 ||
        (x->dims[i].symbol < 0 && x->dims[i].size + pad < kernel)) {
      return false;
    }
    dims.push_back(dim);
    weights.push_back(kernel);
    terms *= kernel;
  }
  std::vector<std::string> inputs = {x->name, w->Weights(weights)};
  const bool bias = w->OneIn(2);
  if (bias) inputs.push_back(w->Weights({weights[0]}));
  Value y = SumOf(*x, terms + bias, dims);
  y.magnitude += 1;
  return w->Append("Conv", inputs, y, [&](onnx::NodeProto* node) {
    std::vector<int64_t> pads(spatial, pad);
    pads.resize(2 * spatial, 0);
    SetInts(node, "pads", pads);
    SetInts(node, "strides", std::vector<int64_t>(spatial, stride));
    if (depthwise) SetInt(node, "group", c);
  }) != nullptr;
}

bool AddPool(GraphWriter* w) {
  const Value* x = DrawPlanes(w);
  if (x == nullptr) return false;
  const size_t spatial = x->dims.size() - 2;
  const bool global = w->OneIn(3), average = w->OneIn(2);
  Dims dims = {x->dims[0], x->dims[1]};
  double terms = 1;
  for (size_t i = 2; i < x->dims.size(); ++i) {
    const Dim& dim = x->dims[i];
    if (!global && (dim.symbol >= 0 || dim.size < 2)) return false;
    dims.push_back(global ? Dim() : Dim{dim.size - 1});
    terms *= global ? static_cast<double>(w->Extent(dim)) : 2;
  }
  Value y = *x;
  y.dims = dims;
  if (average) {
    y.fraction = x->fraction + 2;
    if (global) y.error += x->magnitude * 4e-7 * terms;
  }
  y = Rounded(y);
  const std::string op = std::string(global ? "Global" : "") +
                         (average ? "AveragePool" : "MaxPool");
  return w->Append(op, {x->name}, y, [&](onnx::NodeProto* node) {
    if (!global) {
      SetInts(node, "kernel_shape", std::vector<int64_t>(spatial, 2));
    }
  }) != nullptr;
}

bool AddReduction(GraphWriter* w) {
  const Value* x =
      w->Draw([](const Value& v) { return IsFloat(v) && !v.dims.empty(); });
  if (x == nullptr) return false;
  const auto rank = static_cast<int64_t>(x->dims.size());
  const int64_t axis = w->Below(rank);
  const std::string op = w->Pick({"ReduceSum", "ReduceMax", "ReduceMin",
                                  "ReduceMean", "ReduceL1", "ReduceSumSquare"});
  const bool keep = w->OneIn(2);
  const auto terms = static_cast<double>(w->Extent(x->dims[axis]));
  Value y = *x;
  if (keep) {
    y.dims[axis] = Dim();
  } else {
    y.dims.erase(y.dims.begin() + axis);
  }
  if (op == "ReduceSum" || op == "ReduceL1") {
    y.magnitude *= terms;
    y.error *= terms;
    y = Rounded(y);
  } else if (op == "ReduceMean") {
    y.error += 1e-6 * y.magnitude;
  } else if (op == "ReduceSumSquare") {
    y.magnitude *= y.magnitude * terms;
    y.fraction *= 2;
    y.error = terms * (2 * x->magnitude + x->error) * x->error;
    y = Rounded(y);
  }
  const int since = op == "ReduceSum" ? 13 : 18;
  return w->AppendWithAxes(op, since, *x, {w->OneIn(3) ? axis - rank : axis}, y,
                           [&](onnx::NodeProto* node) {
                             SetInt(node, "keepdims", keep);
                           }) != nullptr;
}

bool AddSoftmax(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFloat(v) && !v.dims.empty() && v.magnitude <= 64;
  });
  if (x == nullptr) return false;
  const bool log = w->OneIn(4);
  Value y = *x;
  y.magnitude = log ? 2 * x->magnitude + 6 : 1;
  y.error = (log ? 2 : 1) * x->error + 4e-6 * y.magnitude;
  return w->Append(log ? "LogSoftmax" : "Softmax", {x->name}, y,
                   [&](onnx::NodeProto* node) {
                     SetInt(node, "axis",
                            w->Below(static_cast<int64_t>(x->dims.size())));
                   }) != nullptr;
}

// An epsilon that is large keeps rows of equal values from amplifying errors.
bool AddLayerNormalization(GraphWriter* w) {
  const Value* x = w->Draw([](const Value& v) {
    return IsFloat(v) && !v.dims.empty() && v.dims.back().symbol < 0;
  });
  if (x == nullptr || w->opset() < 17) return false;
  const int64_t k = x->dims.back().size;
  Value y = *x;
  y.magnitude = std::sqrt(static_cast<double>(k)) + 1;
  y.error = 8 * x->error + 4e-6 * (y.magnitude + x->magnitude);
  return w->Append("LayerNormalization",
                   {x->name, w->Weights({k}), w->Weights({k})}, y,
                   [](onnx::NodeProto* node) {
                     SetFloat(node, "epsilon", 0.25f);
                   }) != nullptr;
}

bool AddCumSum(GraphWriter* w) {
  const Value* x =
      w->Draw([](const Value& v) { return IsFloat(v) && !v.dims.empty(); });
  if (x == nullptr) return false;
  const int64_t axis = w->Below(static_cast<int64_t>(x->dims.size()));
  const auto terms = static_cast<double>(w->Extent(x->dims[axis]));
  Value y = *x;
  y.magnitude *= terms;
  y.error *= terms;
  return w->Append("CumSum",
                   {x->name, w->Constant(compiler::Int64s({}, {axis}))},
                   Rounded(y), [&](onnx::NodeProto* node) {
                     if (w->OneIn(3)) SetInt(node, "reverse", 1);
                     if (w->OneIn(3)) SetInt(node, "exclusive", 1);
                   }) != nullptr;
}

const NodeFamily kMatMulFamily("matmul", Side::kCard, AddMatMul);
const NodeFamily kProductFamily("product", Side::kCard, AddProduct);
const NodeFamily kConvFamily("conv", Side::kCard, AddConv);
const NodeFamily kPoolFamily("pool", Side::kCard, AddPool);
const NodeFamily kReductionFamily("reduction", Side::kCard, AddReduction);
const NodeFamily kSoftmaxFamily("softmax", Side::kCard, AddSoftmax);
const NodeFamily kNormFamily("norm", Side::kCard, AddLayerNormalization);
const NodeFamily kCumSumFamily("cumsum", Side::kCard, AddCumSum);

}  // namespace
}  // namespace heddle::tests
