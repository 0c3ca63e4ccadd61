// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: convolutions, products, max pools, binary arithmetic,
// quantization, shapes and the first activations, float and quantized.
#include <algorithm>
#include <string>

#include "compiler/testing/model_builder.h"
#include "compiler/testing/random_graph.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

bool AddConv(RandomGraphBuilder* b, TensorId x) {
  const Shape xs = b->T(x).shape;
  if (xs.size() != 3 && xs.size() != 4) return false;
  const bool code = IsCode(b->T(x).type);
  int64_t group = 1, maps = b->Pick<int64_t>({1, 3, 8, 16, 17, 20, 32, 40});
  if (b->OneIn(3)) {  // depthwise
    group = xs[1];
    maps = b->OneIn(4) ? 2 * group : group;
  } else if (b->OneIn(4)) {
    std::vector<int64_t> divisors;
    for (int64_t g = 1; g <= xs[1]; ++g) {
      if (xs[1] % g == 0) divisors.push_back(g);
    }
    group = divisors[b->Below(divisors.size())];
    maps = group * b->Between(1, 3);
  }
  const Shape kernel = b->Kernel(xs.size() - 2);
  Shape ws = {maps, xs[1] / group};
  ws.insert(ws.end(), kernel.begin(), kernel.end());
  auto attributes = b->WindowAttributes(kernel);
  if (group != 1) attributes["group"] = group;
  const int64_t terms = ElementCount(ws) / maps;
  if (!code) {
    std::vector<TensorId> in = {
        x, b->Constant(b->Values(DataType::kFloat, ws, 1,
                                 b->specials() && b->OneIn(3)))};
    if (b->OneIn(2))
      in.push_back(
          b->Constant(b->Values(DataType::kFloat, {maps}, 1, b->specials())));
    return b->Append("", "Conv", in, attributes);
  }
  const DataType wt = b->Pick({DataType::kInt8, DataType::kUint8});
  const bool per_channel = b->OneIn(2) && maps > 1;
  TensorId w_scale = b->ScaleConstant(b->Scale(terms)),
           w_zero = b->ZeroConstant(wt);
  if (per_channel) {
    TensorData scales = TensorData::Zeros(DataType::kFloat, {maps});
    for (int64_t i = 0; i < maps; ++i) scales.as<float>()[i] = b->Scale(terms);
    w_scale = b->Constant(scales);
    TensorData zeros = TensorData::Zeros(wt, {maps});
    if (b->OneIn(2)) zeros = b->Values(wt, {maps}, 1, false);
    w_zero = b->Constant(zeros);
  }
  std::vector<TensorId> in = {x,
                              b->ScaleConstant(b->Scale()),
                              b->ZeroConstant(b->T(x).type),
                              b->Constant(b->Values(wt, ws, 1, false)),
                              w_scale,
                              w_zero,
                              b->ScaleConstant(b->Scale() * 4),
                              b->ZeroConstant(b->T(x).type)};
  if (b->OneIn(2))
    in.push_back(
        b->Constant(b->Values(DataType::kInt32, {maps}, 1, b->specials())));
  return b->Append("", "QLinearConv", in, attributes);
}

bool AddProduct(RandomGraphBuilder* b, TensorId a) {
  Shape as = b->T(a).shape;
  if (as.empty()) return false;
  const int64_t n = b->Pick<int64_t>({1, 3, 10, 16, 17, 33});
  const int64_t k = as.back();
  if (!IsCode(b->T(a).type)) {
    if (b->T(a).type != DataType::kFloat) return false;
    if (as.size() != 2 || b->Takes("MatMul", 2)) {
      return b->Append(
          "", "MatMul",
          {a, b->Constant(b->Values(DataType::kFloat, {k, n}, 1,
                                    b->specials() && b->OneIn(3)))});
    }
    const int64_t trans_a = b->OneIn(3), trans_b = b->OneIn(2);
    const int64_t m = trans_a ? as[1] : as[0], depth = trans_a ? as[0] : as[1];
    std::vector<TensorId> in = {
        a, b->Constant(b->Values(DataType::kFloat,
                                 trans_b ? Shape{n, depth} : Shape{depth, n}, 1,
                                 false))};
    if (b->OneIn(2)) {
      in.push_back(b->Constant(b->Values(
          DataType::kFloat,
          b->Pick<Shape>({{n}, {1}, {}, {m, 1}, {1, n}, {m, n}}), 1, false)));
    }
    return b->Append("", "Gemm", in,
                     {{"transA", trans_a},
                      {"transB", trans_b},
                      {"alpha", b->Pick<float>({1, 0.5f, 0})},
                      {"beta", b->Pick<float>({1, 0.25f})}});
  }
  const DataType wt = b->Pick({DataType::kInt8, DataType::kUint8});
  const DataType type = b->T(a).type;
  TensorId b_scale = b->ScaleConstant(b->Scale(k)),
           b_zero = b->ZeroConstant(wt);
  if (b->OneIn(2) && n > 1) {
    TensorData scales = TensorData::Zeros(DataType::kFloat, {n});
    for (int64_t i = 0; i < n; ++i) scales.as<float>()[i] = b->Scale(k);
    b_scale = b->Constant(scales);
    b_zero = b->Constant(b->OneIn(2) ? b->Values(wt, {n}, 1, false)
                                     : TensorData::Zeros(wt, {n}));
  }
  if (as.size() != 2 || b->Takes("QLinearMatMul", 2)) {
    return b->Append(
        "", "QLinearMatMul",
        {a, b->ScaleConstant(b->Scale()), b->ZeroConstant(type),
         b->Constant(b->Values(wt, {k, n}, 1, false)), b_scale, b_zero,
         b->ScaleConstant(b->Scale() * 4), b->ZeroConstant(type)});
  }
  const int64_t trans_b = b->OneIn(2);
  std::vector<TensorId> in = {
      a,
      b->ScaleConstant(b->Scale()),
      b->ZeroConstant(type),
      b->Constant(b->Values(wt, trans_b ? Shape{n, k} : Shape{k, n}, 1, false)),
      b_scale,
      b_zero};
  const int64_t m = as[0];
  in.push_back(b->OneIn(2)
                   ? kNoTensor
                   : b->Constant(b->Values(
                         DataType::kInt32,
                         b->Pick<Shape>(
                             {{n}, {1}, {1, n}, {n}, {b->OneIn(5) ? m : 1, 1}}),
                         1, b->specials())));
  if (!b->OneIn(4)) {
    in.push_back(b->ScaleConstant(b->Scale() * 4));
    in.push_back(b->ZeroConstant(type));
  }
  return b->Append("com.microsoft", "QGemm", in,
                   {{"transB", trans_b}, {"alpha", b->Pick<float>({1, 0.5f})}});
}

bool AddBinary(RandomGraphBuilder* b, TensorId x) {
  const DataType type = b->T(x).type;
  TensorId y = b->Partner(type, b->T(x).shape, true);
  const bool swap = b->OneIn(2);
  const TensorId first = swap ? y : x, second = swap ? x : y;
  const bool quantized = b->Takes("QLinearMul", 3) || b->Takes("QLinearAdd", 3);
  if (IsCode(type) && quantized) {
    std::vector<TensorId> in = {first,
                                b->ScaleConstant(b->Scale()),
                                b->ZeroConstant(type),
                                second,
                                b->ScaleConstant(b->Scale()),
                                b->ZeroConstant(type),
                                b->ScaleConstant(b->Scale())};
    if (!b->OneIn(4)) in.push_back(b->ZeroConstant(type));
    return b->Append("com.microsoft", b->PickOp({"QLinearMul", "QLinearAdd"}),
                     in);
  }
  return b->Append("", b->PickOp({"Add", "Sub", "Mul", "Div"}),
                   {first, second});
}

bool AddQuantize(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  const DataType to = b->Pick({DataType::kUint8, DataType::kInt8});
  const bool down = !IsCode(t.type) && (t.type == DataType::kFloat ||
                                        b->Takes("QuantizeLinear", 2));
  const DataType zero_type = down ? to : t.type;
  TensorId scale = b->ScaleConstant(b->Scale());
  TensorId zero = t.type == DataType::kInt32 && !down
                      ? b->Constant(TensorData::Zeros(DataType::kInt32, {}))
                      : b->ZeroConstant(zero_type);
  std::map<std::string, Attribute> attributes;
  if (b->OneIn(3) && !t.shape.empty() &&
      !(t.type == DataType::kInt32 && !down)) {
    const int64_t axis =
        b->OneIn(3) || t.shape.size() < 2 ? b->Below(t.shape.size()) : 1;
    const int64_t n = t.shape[axis];
    TensorData scales = TensorData::Zeros(DataType::kFloat, {n});
    for (int64_t i = 0; i < n; ++i) scales.as<float>()[i] = b->Scale();
    scale = b->Constant(scales);
    zero = b->Constant(b->Values(zero_type, {n}, 1, false));
    attributes["axis"] = axis;
  }
  std::vector<TensorId> in = {x, scale, zero};
  if (b->OneIn(6)) in.pop_back();
  return b->Append("", down ? "QuantizeLinear" : "DequantizeLinear", in,
                   attributes);
}

bool AddShape(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const std::string op = b->PickOp(
      {"Flatten", "Transpose", "Identity", "Unsqueeze", "Squeeze", "Reshape"});
  if (op == "Flatten") {
    return b->Append(
        "", "Flatten", {x},
        {{"axis", b->OneIn(2) ? int64_t{1} : b->Below(s.size() + 1)}});
  }
  if (op == "Transpose") {
    Shape perm(s.size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = i;
    std::shuffle(perm.begin(), perm.end(), b->random());
    return b->Append("", "Transpose", {x}, {{"perm", perm}});
  }
  if (op == "Identity") return b->Append("", "Identity", {x});
  if (op == "Unsqueeze") {
    const int64_t axis = b->Below(s.size() + 1);
    return b->AppendWithLists(13, op, x, {{"axes", {axis}}});
  }
  if (op == "Squeeze") {
    Shape axes;
    const auto rank = static_cast<int64_t>(s.size());
    for (int64_t i = 0; i < rank; ++i) {
      if (s[i] == 1 && !b->OneIn(3)) axes.push_back(b->OneIn(4) ? i - rank : i);
    }
    // Without axes all of 1, or none at all.
    if (axes.empty()) return b->Append("", "Squeeze", {x});
    return b->AppendWithLists(13, op, x, {{"axes", axes}});
  }
  // Splits the elements among another number of dimensions.
  Shape to;
  int64_t left = ElementCount(s);
  const int rank = b->Between(1, 5);
  if (b->OneIn(2) && !s.empty() && rank > 1) {
    to.push_back(s[0]);
    left /= s[0];
  }
  while (static_cast<int>(to.size()) + 1 < rank) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= left && d <= 64; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    to.push_back(divisors[b->Below(divisors.size())]);
    left /= to.back();
  }
  to.push_back(left);
  const Shape dims = {static_cast<int64_t>(to.size())};
  return b->Append("", "Reshape", {x, b->Constant(Int64s(dims, to))});
}

bool AddUnary(RandomGraphBuilder* b, TensorId x) {
  const Tensor t = b->T(x);
  const char* op = b->PickOp({"Relu", "Clip", "Sigmoid", "LeakyRelu"});
  std::vector<TensorId> in = {x};
  if (std::string(op) == "Clip" && b->opset() < 11) {
    return b->Append("", op, in, {{"min", -1.0f}, {"max", 2.0f}});
  }
  if (std::string(op) == "Clip") {
    for (float bound : {-1.0f, 2.0f}) {
      if (b->OneIn(4)) {
        in.push_back(kNoTensor);
        continue;
      }
      TensorData data = TensorData::Zeros(t.type, {});
      if (t.type == DataType::kFloat) {
        *data.as<float>() = bound;
      } else if (t.type == DataType::kInt32) {
        *data.as<int32_t>() = static_cast<int32_t>(100 * bound);
      } else if (t.type == DataType::kFloat16) {
        *data.as<uint16_t>() = model::F32ToF16(bound);
      } else if (t.type == DataType::kUint16) {
        *data.as<uint16_t>() = bound < 0 ? 3000 : 50000;
      } else if (t.type == DataType::kInt16) {
        *data.as<int16_t>() = static_cast<int16_t>(5000 * bound);
      } else {
        data.bytes[0] = static_cast<uint8_t>(60 + 30 * bound);
      }
      in.push_back(b->Constant(data));
    }
    if (in.back() == kNoTensor) in.pop_back();
  }
  return b->Append("", op, in);
}

bool AddPool(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  if (s.size() != 3 && s.size() != 4) return false;
  const Shape kernel = b->Kernel(s.size() - 2);
  auto attributes = b->WindowAttributes(kernel);
  attributes["kernel_shape"] = kernel;
  if (b->opset() >= 10 && b->OneIn(4)) attributes["ceil_mode"] = int64_t{1};
  return b->Append("", b->PickOp({"AveragePool", "MaxPool", "MaxPool"}), {x},
                   attributes);
}

const NodeGeneratorRegistration kConv("conv", {"Conv", "QLinearConv"}, AddConv);
const NodeGeneratorRegistration kProduct(
    "product", {"MatMul", "Gemm", "QLinearMatMul", "QGemm"}, AddProduct);
const NodeGeneratorRegistration kPool("pool", {"AveragePool", "MaxPool"},
                                      AddPool);
const NodeGeneratorRegistration kBinary("binary",
                                        {"Add", "Sub", "Mul", "Div",
                                         "QLinearAdd", "QLinearMul"},
                                        AddBinary);
const NodeGeneratorRegistration kQuantize(
    "quantize", {"QuantizeLinear", "DequantizeLinear"}, AddQuantize);
const NodeGeneratorRegistration kShape("shape",
                                       {"Flatten", "Transpose", "Identity",
                                        "Unsqueeze", "Squeeze", "Reshape"},
                                       AddShape);
const NodeGeneratorRegistration kUnary("unary",
                                       {"Relu", "Clip", "Sigmoid", "LeakyRelu"},
                                       AddUnary);

}  // namespace
}  // namespace heddle::compiler
