// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/quantize_products.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::compiler {
namespace {

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

// The factor f of a Mul or Div: a constant of one element, positive, and such
// that scales keep their precision.
std::optional<double> FactorOf(const Rewriter& r, const Node& node, size_t* x) {
  for (size_t c = 0; c < 2; ++c) {
    const Tensor& t = r.tensor(node.inputs[c]);
    if (!t.is_constant() || t.type != DataType::kFloat ||
        t.constant->count() != 1 || (node.op == "Div" && c == 0)) {
      continue;
    }
    const double value = t.constant->as<float>()[0];
    if (!(value > 1e-6 && value < 1e6)) return std::nullopt;
    *x = 1 - c;
    return node.op == "Mul" ? value : 1 / value;
  }
  return std::nullopt;
}

class Folder {
 public:
  Folder(Rewriter* rewriter, int quantize) : r_(*rewriter), q_(quantize) {}

  void Run() {
    const Node q = r_.node(q_);
    if (!IsCode(r_.tensor(q.outputs[0]).type) || !HasScalars(q)) return;
    if (!FindProduct(q.inputs[0])) return;
    const Node product = r_.node(product_);
    const Shape& a = r_.tensor(product.inputs[0]).shape;
    const bool matrix = TakesMatrix(product, r_.tensor(q.outputs[0]).type);
    if (bias_ != kNoTensor && !matrix) return;
    if (passed_.empty() && (!matrix || a.size() <= 2)) return;
    const std::optional<float> scale = Scale(q);
    if (!scale) return;
    Replace(q, product, matrix, *scale);
  }

 private:
  bool IsScalar(TensorId id) const {
    return id != kNoTensor && r_.tensor(id).is_constant() &&
           r_.tensor(id).constant->count() == 1;
  }
  bool HasScalars(const Node& node) const {
    return IsScalar(node.inputs[1]) &&
           (node.input(2) == kNoTensor || IsScalar(node.inputs[2]));
  }
  // The DequantizeLinear of 8-bit codes that makes `id`, or -1.
  int Dequantize(TensorId id) const {
    const int d = r_.Producer(id);
    return r_.IsOp(d, "DequantizeLinear") &&
                   IsCode(r_.tensor(r_.node(d).inputs[0]).type)
               ? d
               : -1;
  }

  // Walks back from the QuantizeLinear to the MatMul.
  bool FindProduct(TensorId id) {
    while (r_.OnlyUse(id)) {
      const int n = r_.Producer(id);
      if (r_.IsOp(n, "MatMul")) {
        product_ = n;
        return Dequantize(r_.node(n).inputs[0]) >= 0 &&
               Dequantize(r_.node(n).inputs[1]) >= 0;
      }
      size_t x = 0;
      if (r_.IsOp(n, "Mul") || r_.IsOp(n, "Div")) {
        const auto factor = FactorOf(r_, r_.node(n), &x);
        if (!factor) return false;
        factor_ *= *factor;
        if (bias_ == kNoTensor) after_bias_ *= *factor;
      } else if (r_.IsOp(n, "Add") && bias_ == kNoTensor) {
        x = r_.tensor(r_.node(n).inputs[1]).is_constant() ? 0 : 1;
        if (!IsBias(r_.node(n), x)) return false;
        bias_ = r_.node(n).inputs[1 - x];
      } else {
        return false;
      }
      passed_.push_back(n);
      id = r_.node(n).inputs[x];
      if (r_.tensor(id).shape != r_.tensor(r_.node(n).outputs[0]).shape) {
        return false;
      }
    }
    return false;
  }

  // One value per column, or one.
  bool IsBias(const Node& add, size_t x) const {
    const Tensor& t = r_.tensor(add.inputs[1 - x]);
    if (!t.is_constant() || t.type != DataType::kFloat) return false;
    const Shape& shape = r_.tensor(add.outputs[0]).shape;
    const int64_t count = t.constant->count();
    return count == 1 ||
           (!shape.empty() && count == shape.back() && t.shape.back() == count);
  }

  // Whether the second operand is a constant matrix that an integer Gemm takes.
  bool TakesMatrix(const Node& product, DataType out) const {
    const Node& a = r_.node(Dequantize(product.inputs[0]));
    const Node& b = r_.node(Dequantize(product.inputs[1]));
    const Tensor& codes = r_.tensor(a.inputs[0]);
    const Tensor& weights = r_.tensor(b.inputs[0]);
    if (!HasScalars(a) || codes.type != out || codes.shape.size() < 2 ||
        ElementCount(codes.shape) == 0 || !weights.is_constant() ||
        weights.shape.size() != 2 ||
        (codes.type == DataType::kInt8 && weights.type != DataType::kInt8)) {
      return false;
    }
    const int64_t axis = b.IntAttribute("axis", 1);
    return HasScalars(b) || axis == 1 || axis == -1;
  }

  // Of the QuantizeLinear behind the product.
  std::optional<float> Scale(const Node& q) const {
    const double scale = r_.tensor(q.inputs[1]).constant->as<float>()[0];
    const auto folded = static_cast<float>(scale / factor_);
    if (!(folded > 1e-30f && folded < 1e30f)) return std::nullopt;
    return folded;
  }

  TensorId Codes2d(TensorId codes, int64_t columns) {
    const Tensor t = r_.tensor(codes);
    const Shape shape = {ElementCount(t.shape) / columns, columns};
    const TensorId to = r_.NewTensor(t.name + "/matrix", t.type, shape);
    r_.AddReshape(codes, to);
    return to;
  }
  TensorId Bias() {
    const Tensor t = r_.tensor(bias_);
    // (ab * f + c) * g = (ab + c / f) * fg
    const double before = factor_ / after_bias_;
    TensorData data =
        TensorData::Zeros(DataType::kFloat, {t.constant->count()});
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] =
          static_cast<float>(t.constant->as<float>()[i] / before);
    }
    return r_.NewConstant(t.name + "/bias", std::move(data));
  }

  void Replace(const Node& q, const Node& product, bool matrix, float scale) {
    Node target = product;
    Node quantize = q;
    for (size_t i = passed_.size(); i-- > 0;) {
      const std::vector<std::string>& sources = r_.node(passed_[i]).sources;
      target.sources.insert(target.sources.end(), sources.begin(),
                            sources.end());
      r_.Remove(passed_[i]);
    }
    r_.Remove(product_);
    r_.Remove(q_);
    if (factor_ != 1) {
      quantize.inputs[1] = r_.NewConstant(
          r_.tensor(q.inputs[1]).name + "/of_" + r_.tensor(q.outputs[0]).name,
          ScalarOf(scale));
    }
    Shape shape = r_.tensor(product.outputs[0]).shape;
    const bool flat = matrix && shape.size() > 2;
    if (flat) {
      Node dequantize = r_.node(Dequantize(product.inputs[0]));
      const int64_t k = r_.tensor(product.inputs[0]).shape.back();
      dequantize.inputs[0] = Codes2d(dequantize.inputs[0], k);
      const Tensor codes = r_.tensor(dequantize.inputs[0]);
      dequantize.outputs = {
          r_.NewTensor(codes.name + "/dq", DataType::kFloat, codes.shape)};
      dequantize.attributes.erase("axis");
      target.inputs[0] = dequantize.outputs[0];
      r_.Add(std::move(dequantize));
      shape = {codes.shape[0], shape.back()};
      const Tensor out = r_.tensor(q.outputs[0]);
      quantize.outputs = {r_.NewTensor(out.name + "/matrix", out.type, shape)};
      quantize.attributes.erase("axis");
    }
    const std::string name = r_.tensor(product.outputs[0]).name;
    target.outputs = {r_.NewTensor(name + "/product", DataType::kFloat, shape)};
    if (bias_ != kNoTensor) {
      target.op = "Gemm";
      target.inputs.push_back(Bias());
    }
    quantize.inputs[0] = target.outputs[0];
    r_.Add(std::move(target));
    const TensorId codes = quantize.outputs[0];
    r_.Add(std::move(quantize));
    if (flat) r_.AddReshape(codes, q.outputs[0]);
  }

  static TensorData ScalarOf(float value) {
    TensorData data = TensorData::Zeros(DataType::kFloat, {});
    data.as<float>()[0] = value;
    return data;
  }

  Rewriter& r_;
  const int q_;
  int product_ = -1;
  std::vector<int> passed_;  // between product and QuantizeLinear, last first
  double factor_ = 1;        // of all of them
  double after_bias_ = 1;    // of those behind the bias
  TensorId bias_ = kNoTensor;
};

}  // namespace

void FoldIntoProducts(Rewriter* rewriter) {
  const int count = rewriter->size();
  for (int n = 0; n < count; ++n) {
    if (rewriter->alive(n) && rewriter->IsOp(n, "QuantizeLinear")) {
      Folder(rewriter, n).Run();
    }
  }
}

}  // namespace heddle::compiler
