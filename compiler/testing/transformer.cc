// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/transformer.h"

#include <cmath>
#include <random>
#include <vector>

#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

class Builder {
 public:
  Builder(const std::string& name, const TransformerLayer& layer)
      : layer_(layer), builder_(13), random_(1) {
    builder_.proto().mutable_graph()->set_name(name);
    builder_.Input("input", DataType::kFloat, {1, layer.sequence, layer.width});
  }

  std::string Encoder() {
    const std::string x = Quantized("input", 0.03f);
    const std::string attended = Add(x, Attention(x));
    const std::string middle = Normalized(attended);
    const std::string out = Normalized(Add(middle, FeedForward(middle)));
    builder_.Output(out);
    return builder_.Bytes();
  }

  std::string AttentionOnly() {
    builder_.Output(Attention(Quantized("input", 0.03f)));
    return builder_.Bytes();
  }

 private:
  std::string Next(const std::string& what) {
    return what + std::to_string(++count_);
  }
  std::string Node(const std::string& op,
                   const std::vector<std::string>& inputs) {
    const std::string out = Next(op);
    last_ = builder_.Node(op, inputs, {out});
    return out;
  }
  std::string Constant(const TensorData& data) {
    const std::string name = Next("c");
    builder_.Constant(name, data);
    return name;
  }
  // QuantizeLinear and DequantizeLinear behind a tensor.
  std::string Quantized(const std::string& x, float scale) {
    const std::string s = Constant(Floats({}, {scale}));
    const std::string z = Constant(Uint8s({}, {128}));
    return Node("DequantizeLinear", {Node("QuantizeLinear", {x, s, z}), s, z});
  }
  std::string Weights(int64_t rows, int64_t columns) {
    TensorData data = TensorData::Zeros(DataType::kInt8, {rows, columns});
    for (uint8_t& byte : data.bytes) {
      byte = static_cast<uint8_t>(random_() >> 24);
    }
    // Rows of deviation 70 times `scale` keep the deviation of what they take.
    const float scale = 1.0f / (70 * std::sqrt(static_cast<float>(rows)));
    return Node("DequantizeLinear",
                {Constant(data), Constant(Floats({}, {scale})),
                 Constant(Int8s({}, {0}))});
  }
  std::string Dense(const std::string& x, int64_t rows, int64_t columns) {
    const std::string product = Node("MatMul", {x, Weights(rows, columns)});
    std::vector<float> bias(columns);
    for (float& b : bias) b = static_cast<float>(random_() % 1000) * 1e-4f;
    return Quantized(Node("Add", {product, Constant(Floats({columns}, bias))}),
                     0.03f);
  }
  std::string Add(const std::string& a, const std::string& b) {
    return Quantized(Node("Add", {a, b}), 0.04f);
  }
  std::string Normalized(const std::string& x) {
    const auto mean = [&](const std::string& t) {
      const std::string m = Node("ReduceMean", {t});
      SetInts(last_, "axes", {-1});
      return m;
    };
    const std::string centred = Node("Sub", {x, mean(x)});
    const std::string square =
        Node("Pow", {centred, Constant(Floats({}, {2.0f}))});
    const std::string deviation = Node(
        "Sqrt", {Node("Add", {mean(square), Constant(Floats({}, {1e-5f}))})});
    const std::vector<float> one(layer_.width, 1.0f), none(layer_.width, 0.0f);
    const std::string scaled =
        Node("Mul", {Node("Div", {centred, deviation}),
                     Constant(Floats({layer_.width}, one))});
    return Quantized(
        Node("Add", {scaled, Constant(Floats({layer_.width}, none))}), 0.03f);
  }
  std::string Transposed(const std::string& x,
                         const std::vector<int64_t>& order) {
    const std::string y = Node("Transpose", {x});
    SetInts(last_, "perm", order);
    return y;
  }
  std::string Heads(const std::string& x, const std::vector<int64_t>& order) {
    const std::string shape = Constant(Int64s(
        {4}, {1, layer_.sequence, layer_.heads, layer_.width / layer_.heads}));
    return Transposed(Node("Reshape", {x, shape}), order);
  }
  std::string Attention(const std::string& x) {
    const int64_t w = layer_.width;
    const std::string q = Heads(Dense(x, w, w), {0, 2, 1, 3});
    const std::string k = Heads(Dense(x, w, w), {0, 2, 3, 1});
    const std::string v = Heads(Dense(x, w, w), {0, 2, 1, 3});
    const float root =
        std::sqrt(static_cast<float>(layer_.width / layer_.heads));
    const std::string scores = Quantized(
        Node("Div", {Node("MatMul", {q, k}), Constant(Floats({}, {root}))}),
        0.03f);
    const std::string weights = Quantized(Node("Softmax", {scores}), 0.004f);
    const std::string mixed = Quantized(Node("MatMul", {weights, v}), 0.01f);
    const std::string shape =
        Constant(Int64s({3}, {1, layer_.sequence, layer_.width}));
    return Dense(Node("Reshape", {Transposed(mixed, {0, 2, 1, 3}), shape}), w,
                 w);
  }
  std::string FeedForward(const std::string& x) {
    const std::string h = Dense(x, layer_.width, layer_.inner);
    const std::string erf =
        Node("Erf", {Node("Div", {h, Constant(Floats({}, {1.41421356f}))})});
    const std::string gate = Node("Add", {erf, Constant(Floats({}, {1.0f}))});
    const std::string gelu = Quantized(
        Node("Mul", {Node("Mul", {h, gate}), Constant(Floats({}, {0.5f}))}),
        0.03f);
    return Dense(gelu, layer_.inner, layer_.width);
  }

  const TransformerLayer layer_;
  ModelBuilder builder_;
  std::mt19937 random_;
  int count_ = 0;
  onnx::NodeProto* last_ = nullptr;
};

}  // namespace

std::string MakeTransformerLayer(const std::string& name,
                                 const TransformerLayer& layer) {
  return Builder(name, layer).Encoder();
}

std::string MakeAttentionLayer(const std::string& name,
                               const TransformerLayer& layer) {
  return Builder(name, layer).AttentionOnly();
}

}  // namespace heddle::compiler
