// SPDX-License-Identifier: Apache-2.0
// Generators of operators on codes: tables, poolings, concatenation, integer
// products, dynamic quantization.
#include <string>

#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

// x with its parameters, then those of the result.
std::vector<TensorId> Parameters(RandomGraphBuilder* b, TensorId x,
                                 float ratio) {
  const DataType type = b->T(x).type;
  const float scale = b->Scale();
  return {x, b->ScaleConstant(scale), b->ZeroConstant(type),
          b->ScaleConstant(scale * ratio), b->ZeroConstant(type)};
}

bool AddTable(RandomGraphBuilder* b, TensorId x) {
  if (!IsCode(b->T(x).type)) return false;
  if (b->Takes("QLinearSigmoid", 2)) {
    return b->Append(kMicrosoft, "QLinearSigmoid", Parameters(b, x, 0.1f));
  }
  return b->Append(kMicrosoft, "QLinearLeakyRelu", Parameters(b, x, 1),
                   {{"alpha", b->Real() / 4}});
}

bool AddCodePool(RandomGraphBuilder* b, TensorId x) {
  const Shape shape = b->T(x).shape;
  if (!IsCode(b->T(x).type) || shape.size() < 3) return false;
  if (b->Takes("QLinearGlobalAveragePool", 3) || shape.size() > 4) {
    return b->Append(kMicrosoft, "QLinearGlobalAveragePool",
                     Parameters(b, x, 0.3f));
  }
  const Shape kernel = b->Kernel(shape.size() - 2);
  auto attributes = b->WindowAttributes(kernel);
  attributes.erase("dilations");
  attributes["kernel_shape"] = kernel;
  if (b->OneIn(3)) attributes["count_include_pad"] = int64_t{1};
  if (b->OneIn(4)) attributes["ceil_mode"] = int64_t{1};
  return b->Append(kMicrosoft, "QLinearAveragePool", Parameters(b, x, 0.5f),
                   attributes);
}

bool AddCodeConcat(RandomGraphBuilder* b, TensorId x) {
  const DataType type = b->T(x).type;
  const Shape shape = b->T(x).shape;
  if (!IsCode(type) || shape.empty()) return false;
  const int64_t axis = b->Below(shape.size());
  const float scale = b->Scale();
  const TensorId zero = b->ZeroConstant(type);
  std::vector<TensorId> in = {b->ScaleConstant(scale), zero};
  const int64_t parts = b->Between(1, 3);
  const int64_t at = b->Below(parts);
  for (int64_t i = 0; i < parts; ++i) {
    Shape own = shape;
    own[axis] = b->Between(1, 20);
    const bool same = b->OneIn(3);
    in.push_back(i == at || b->OneIn(3)
                     ? x
                     : b->Constant(b->Values(type, own, 1, false)));
    in.push_back(b->ScaleConstant(same ? scale : b->Scale()));
    in.push_back(same ? zero : b->ZeroConstant(type));
  }
  return b->Append(kMicrosoft, "QLinearConcat", in, {{"axis", axis}});
}

bool AddIntegerProduct(RandomGraphBuilder* b, TensorId a) {
  const Shape as = b->T(a).shape;
  const DataType type = b->T(a).type;
  if (!IsCode(type) || as.empty()) return false;
  const DataType other = b->Pick({DataType::kInt8, DataType::kUint8});
  const int64_t k = as.back(), n = b->Pick<int64_t>({1, 3, 16, 17, 33});
  TensorId second = b->Constant(b->Values(other, {k, n}, 1, false));
  // A computed operand that fits, or a stack of constants.
  for (TensorId id : b->computed()) {
    const Shape& s = b->T(id).shape;
    if (b->T(id).type == other && s.size() == 2 && s[0] == k && b->OneIn(2)) {
      second = id;
    }
  }
  if (as.size() > 2 && b->OneIn(3)) {
    Shape stack(as.begin(), as.end() - 2);
    stack.insert(stack.end(), {k, n});
    second = b->Constant(b->Values(other, stack, 1, false));
  }
  const int64_t columns = b->T(second).shape.back();
  const TensorId a_zero = b->OneIn(3) ? kNoTensor : b->ZeroConstant(type);
  TensorId b_zero = b->OneIn(3) ? kNoTensor : b->ZeroConstant(other);
  if (b->OneIn(3)) {
    b_zero = b->Constant(b->Values(other, {columns}, 1, false));
  }
  const std::string op =
      b->PickOp({"MatMulInteger", "MatMulIntegerToFloat", "QLinearMatMul"});
  if (op == "MatMulInteger") {
    return b->Append("", op, {a, second, a_zero, b_zero});
  }
  if (op == "MatMulIntegerToFloat") {
    std::vector<TensorId> in = {a,
                                second,
                                b->ScaleConstant(b->Scale()),
                                b->ScaleConstant(b->Scale(k)),
                                a_zero,
                                b_zero};
    if (b->OneIn(2)) {
      in.push_back(
          b->Constant(b->Values(DataType::kFloat, {columns}, 1, false)));
    }
    return b->Append(kMicrosoft, "MatMulIntegerToFloat", in);
  }
  if (type == DataType::kInt8 && other == DataType::kUint8) return false;
  return b->Append(
      "", "QLinearMatMul",
      {a, b->ScaleConstant(b->Scale()), b->ZeroConstant(type), second,
       b->ScaleConstant(b->Scale(k)), b->ZeroConstant(other),
       b->ScaleConstant(b->Scale() * 4), b->ZeroConstant(type)});
}

bool AddConvInteger(RandomGraphBuilder* b, TensorId x) {
  const Shape xs = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (!IsCode(type) || xs.size() < 3 || xs.size() > 4) return false;
  const DataType other = b->Pick({DataType::kInt8, DataType::kUint8});
  const int64_t group = b->OneIn(3) ? xs[1] : 1;
  const int64_t maps = group > 1 ? xs[1] : b->Pick<int64_t>({1, 5, 16, 17, 33});
  const Shape kernel = b->Kernel(xs.size() - 2);
  Shape ws = {maps, xs[1] / group};
  ws.insert(ws.end(), kernel.begin(), kernel.end());
  auto attributes = b->WindowAttributes(kernel);
  if (group != 1) attributes["group"] = group;
  std::vector<TensorId> in = {x, b->Constant(b->Values(other, ws, 1, false)),
                              b->OneIn(3) ? kNoTensor : b->ZeroConstant(type)};
  if (b->OneIn(2)) in.push_back(b->ZeroConstant(other));
  while (in.back() == kNoTensor) in.pop_back();
  return b->Append("", "ConvInteger", in, attributes);
}

bool AddDynamic(RandomGraphBuilder* b, TensorId x) {
  if (b->T(x).type != DataType::kFloat) return false;
  return b->Append("", "DynamicQuantizeLinear", {x}, {}, 3);
}

const NodeGeneratorRegistration kTable("code_table",
                                       {"QLinearSigmoid", "QLinearLeakyRelu"},
                                       AddTable);
const NodeGeneratorRegistration kPool("code_pool",
                                      {"QLinearGlobalAveragePool",
                                       "QLinearAveragePool"},
                                      AddCodePool);
const NodeGeneratorRegistration kConcat("code_concat", {"QLinearConcat"},
                                        AddCodeConcat);
const NodeGeneratorRegistration kProduct("integer_product",
                                         {"MatMulInteger",
                                          "MatMulIntegerToFloat",
                                          "QLinearMatMul"},
                                         AddIntegerProduct);
const NodeGeneratorRegistration kConv("integer_conv", {"ConvInteger"},
                                      AddConvInteger);
const NodeGeneratorRegistration kDynamic("dynamic_quantize",
                                         {"DynamicQuantizeLinear"}, AddDynamic);

}  // namespace
}  // namespace heddle::compiler
