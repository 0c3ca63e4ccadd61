// SPDX-License-Identifier: Apache-2.0
// Generators of nodes: transposed convolutions, products of computed operands,
// and both with Conv in fp16.
#include <map>
#include <string>
#include <vector>

#include "compiler/testing/random_graph.h"

namespace heddle::compiler {
namespace {

bool IsReal(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16;
}

bool AddConvTranspose(RandomGraphBuilder* b, TensorId x) {
  const Shape xs = b->T(x).shape;
  const DataType type = b->T(x).type;
  if ((xs.size() != 3 && xs.size() != 4) || !IsReal(type)) return false;
  int64_t group = 1, maps = b->Pick<int64_t>({1, 2, 5, 16, 17});
  if (b->OneIn(3)) {
    group = xs[1];
    maps = b->Between(1, 2);
  }
  const Shape kernel = b->Kernel(xs.size() - 2);
  Shape ws = {xs[1], maps};
  ws.insert(ws.end(), kernel.begin(), kernel.end());
  auto attributes = b->WindowAttributes(kernel);
  if (group != 1) attributes["group"] = group;
  if (b->OneIn(4)) {
    Shape extra;
    for (size_t i = 0; i < kernel.size(); ++i) extra.push_back(b->Below(3));
    attributes["output_padding"] = extra;
  }
  std::vector<TensorId> in = {
      x, b->Constant(b->Values(type, ws, 1, b->specials() && b->OneIn(3)))};
  if (b->OneIn(2)) {
    in.push_back(
        b->Constant(b->Values(type, {maps * group}, 1, b->specials())));
  }
  return b->Append("", "ConvTranspose", in, attributes);
}

bool AddHalfConv(RandomGraphBuilder* b, TensorId x) {
  const Shape xs = b->T(x).shape;
  const DataType type = b->T(x).type;
  if ((xs.size() != 3 && xs.size() != 4) || type != DataType::kFloat16) {
    return false;
  }
  const int64_t group = b->OneIn(3) ? xs[1] : 1;
  const int64_t maps = group * (group > 1 ? 1 : b->Between(1, 20));
  const Shape kernel = b->Kernel(xs.size() - 2);
  Shape ws = {maps, xs[1] / group};
  ws.insert(ws.end(), kernel.begin(), kernel.end());
  auto attributes = b->WindowAttributes(kernel);
  if (group != 1) attributes["group"] = group;
  return b->Append("", "Conv",
                   {x, b->Constant(b->Values(type, ws, 1, false)),
                    b->Constant(b->Values(type, {maps}, 1, b->specials()))},
                   attributes);
}

// A tensor of `type` and `shape`: a computed one if there is, else a constant.
TensorId Exactly(RandomGraphBuilder* b, DataType type, const Shape& shape) {
  std::vector<TensorId> fitting;
  for (TensorId id : b->computed()) {
    if (b->T(id).type == type && b->T(id).shape == shape) fitting.push_back(id);
  }
  if (fitting.empty()) return b->Constant(b->Values(type, shape, 1, false));
  return fitting[static_cast<size_t>(
      b->Below(static_cast<int64_t>(fitting.size())))];
}

// x with the transposed of another computed tensor, or with itself.
bool AddComputedProduct(RandomGraphBuilder* b, TensorId x) {
  const Shape s = b->T(x).shape;
  const DataType type = b->T(x).type;
  if (s.empty() || !IsReal(type)) return false;
  if (s.size() == 2 && b->Takes("Gemm", 2)) {
    const int64_t trans_a = b->Below(2), trans_b = 1 - trans_a;
    const int64_t m = trans_a ? s[1] : s[0];
    const TensorId other = Exactly(b, type, s);
    std::vector<TensorId> in = {x, other};
    if (b->OneIn(2)) {
      in.push_back(Exactly(b, type, b->Pick<Shape>({{m}, {m, m}, {1, m}})));
    }
    return b->Append("", "Gemm", in,
                     {{"transA", trans_a},
                      {"transB", trans_b},
                      {"alpha", b->Pick<float>({1, 1, 0.5f})},
                      {"beta", b->Pick<float>({1, 0.25f})}});
  }
  // A square of the last dimensions, or a constant stack.
  if (s.size() >= 2 && s[s.size() - 1] == s[s.size() - 2]) {
    return b->Append("", "MatMul", {x, Exactly(b, type, s)});
  }
  Shape other = s;
  if (s.size() == 1) {
    other = b->Pick<Shape>({{s[0]}, {s[0], 3}, {2, s[0], 2}});
  } else {
    other[s.size() - 2] = s.back();
    other[s.size() - 1] = b->Between(1, 18);
    for (size_t i = 0; i + 2 < s.size(); ++i) {
      if (b->OneIn(3)) other[i] = 1;
    }
  }
  const bool swap = b->OneIn(3) && s.size() >= 2;
  if (!swap) return b->Append("", "MatMul", {x, Exactly(b, type, other)});
  other = s;
  other[s.size() - 1] = s[s.size() - 2];
  other[s.size() - 2] = b->Between(1, 18);
  return b->Append("", "MatMul", {Exactly(b, type, other), x});
}

const NodeGeneratorRegistration kConvTranspose("conv_transpose",
                                               {"ConvTranspose"},
                                               AddConvTranspose);
const NodeGeneratorRegistration kHalfConv("half_conv", {"Conv"}, AddHalfConv);
const NodeGeneratorRegistration kComputedProduct("computed_product",
                                                 {"Gemm", "MatMul"},
                                                 AddComputedProduct);

}  // namespace
}  // namespace heddle::compiler
