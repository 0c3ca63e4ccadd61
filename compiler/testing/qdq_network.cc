// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/qdq_network.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"

namespace heddle::compiler {
namespace {

// A float value that a DequantizeLinear gives.
struct Activation {
  std::string name;
  Shape shape;
  float scale;
  int zero;
  bool merged = false;  // behind a double pair: has other parameters at last
};

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : random_(seed),
        type_(seed % 2 ? DataType::kInt8 : DataType::kUint8),
        dyadic_(OneIn(3)) {}

  QdqNetwork Run() {
    const Shape shape = {Between(1, 2), Between(1, 20), Between(5, 12),
                         Between(5, 12)};
    net_.model.Input("x", DataType::kFloat, shape);
    net_.names = {"x"};
    const float scale = Scale(0.02f);
    TensorData x = TensorData::Zeros(DataType::kFloat, shape);
    for (int64_t i = 0; i < x.count(); ++i) {
      x.as<float>()[i] = scale * static_cast<float>(Between(-1500, 1500)) / 10;
    }
    net_.inputs = {std::move(x)};
    Finish("x", shape, scale, Zero());
    const int64_t layers = Between(3, 9);
    while (static_cast<int64_t>(values_.size()) <= layers) AddLayer();
    if (OneIn(2)) AddHead();
    for (const std::string& name : open_) net_.model.Output(name);
    return std::move(net_);
  }

 private:
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>((random_() >> 11) %
                                      static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }
  float Real(float low, float high) {
    return low + (high - low) * static_cast<float>(Between(0, 1 << 20)) /
                     static_cast<float>(1 << 20);
  }
  // About `size`; powers of two in some networks, so that ties are frequent.
  float Scale(float size) {
    const float scale = size * Real(0.6f, 1.6f);
    return dyadic_ ? std::exp2(std::round(std::log2(scale))) : scale;
  }
  int Min() const { return type_ == DataType::kInt8 ? -128 : 0; }
  int Zero() {
    return OneIn(4) ? Min() : Min() + static_cast<int>(Between(0, 255));
  }
  TensorData Code(DataType type, int value) {
    TensorData data = TensorData::Zeros(type, {});
    data.bytes[0] = static_cast<uint8_t>(value);
    return data;
  }
  TensorData Codes(DataType type, const Shape& shape) {
    TensorData data = TensorData::Zeros(type, shape);
    for (uint8_t& byte : data.bytes) byte = static_cast<uint8_t>(random_());
    return data;
  }
  std::string Name(const char* what) { return absl::StrCat(what, ++counter_); }

  // `t` through Relu or Clip (if the range implies them), Q and DQ.
  void Finish(std::string t, const Shape& shape, float scale, int zero,
              bool clamp = false) {
    if (clamp && OneIn(3)) {
      const std::string r = Name("r");
      if (OneIn(2)) {
        zero = Min();
        net_.model.Node("Relu", {t}, {r});
      } else {
        // A little wider than the codes.
        const std::string low = Name("low"), high = Name("high");
        net_.model.Constant(
            low, Floats({}, {scale * static_cast<float>(Min() - zero - 1)}));
        net_.model.Constant(
            high, Floats({}, {scale * static_cast<float>(Min() + 256 - zero)}));
        net_.model.Node("Clip", {t, low, high}, {r});
      }
      t = r;
    }
    Activation value = Pair(t, shape, scale, zero);
    if (OneIn(12)) {
      // A double pair: the range becomes the intersection of both.
      value = Pair(value.name, shape, Scale(scale), Zero());
      value.merged = true;
    }
    values_.push_back(value);
    open_.push_back(value.name);
  }
  Activation Pair(const std::string& t, const Shape& shape, float scale,
                  int zero) {
    const std::string q = Name("q"), d = Name("d");
    net_.model.Quantize(t, q, scale, Code(type_, zero));
    net_.model.Dequantize(q, d, Floats({}, {scale}), Code(type_, zero));
    net_.codes.push_back(q);
    return {d, shape, scale, zero};
  }

  const Activation& Use(size_t i) {
    const auto at = std::find(open_.begin(), open_.end(), values_[i].name);
    if (at != open_.end()) open_.erase(at);
    return values_[i];
  }
  // An activation of rank 4, often a recent one.
  Activation Any() {
    const auto last = static_cast<int64_t>(values_.size()) - 1;
    return Use(OneIn(3) ? Between(0, last) : last);
  }

  // Weights behind a DequantizeLinear; `axis` has the output channels.
  std::string Weights(const Shape& shape, int64_t axis, float size,
                      TensorData* scales) {
    const DataType type = type_ == DataType::kInt8 || OneIn(2)
                              ? DataType::kInt8
                              : DataType::kUint8;
    const std::string w = Name("w"), d = Name("wd");
    const int64_t channels = shape[axis];
    const bool per_channel = OneIn(2);
    *scales = TensorData::Zeros(DataType::kFloat,
                                per_channel ? Shape{channels} : Shape{});
    for (int64_t i = 0; i < scales->count(); ++i) {
      scales->as<float>()[i] = Scale(size);
    }
    TensorData zeros = TensorData::Zeros(type, scales->shape);
    if (OneIn(2)) {
      zeros = Codes(type, scales->shape);
    } else if (type == DataType::kUint8) {
      std::fill(zeros.bytes.begin(), zeros.bytes.end(), 128);
    }
    net_.model.Constant(w, Codes(type, shape));
    net_.model.Constant(w + "s", *scales);
    net_.model.Constant(w + "z", zeros);
    auto* node =
        net_.model.Node("DequantizeLinear", {w, w + "s", w + "z"}, {d});
    if (per_channel) SetInt(node, "axis", axis);
    return d;
  }
  // A bias: none, int32 behind a DequantizeLinear, or float.
  // Behind a double pair an int32 bias would not fit any more, and the
  // convolution stay float.
  std::string Bias(int64_t channels, const Activation& x,
                   const TensorData& ws) {
    if (OneIn(3)) return "";
    const float xs = x.scale;
    const std::string b = Name("b");
    std::vector<float> scales(ws.count());
    for (int64_t i = 0; i < ws.count(); ++i) scales[i] = xs * ws.as<float>()[i];
    if (OneIn(2) || x.merged) {
      TensorData data = TensorData::Zeros(DataType::kFloat, {channels});
      for (int64_t i = 0; i < channels; ++i) {
        data.as<float>()[i] =
            scales[ws.count() == 1 ? 0 : i] * Real(-9000, 9000);
      }
      net_.model.Constant(b, data);
      return b;
    }
    TensorData data = TensorData::Zeros(DataType::kInt32, {channels});
    for (int64_t i = 0; i < channels; ++i) {
      data.as<int32_t>()[i] = static_cast<int32_t>(Between(-9000, 9000));
    }
    net_.model.Constant(b, data);
    net_.model.Constant(b + "s", Floats(ws.shape, scales));
    net_.model.Constant(b + "z", TensorData::Zeros(DataType::kInt32, ws.shape));
    auto* node =
        net_.model.Node("DequantizeLinear", {b, b + "s", b + "z"}, {b + "d"});
    if (ws.count() > 1) SetInt(node, "axis", 0);
    return b + "d";
  }
  // The scale that a sum of `terms` products of codes fills.
  float Sum(float xs, const TensorData& ws, int64_t terms) {
    return Scale(xs * ws.as<float>()[0] * 90 *
                 std::sqrt(static_cast<float>(terms)));
  }

  void AddConv() {
    const Activation x = Any();
    const int64_t channels = x.shape[1];
    const bool depthwise = OneIn(3);
    const int64_t maps = depthwise ? channels : Between(1, 24);
    const int64_t group = depthwise ? channels : 1;
    const int64_t k =
        std::min({OneIn(2) ? int64_t{1} : int64_t{3}, x.shape[2], x.shape[3]});
    const int64_t pad = k == 3 ? Between(0, 1) : 0;
    const int64_t stride = OneIn(4) ? 2 : 1;
    TensorData ws;
    const std::string w =
        Weights({maps, channels / group, k, k}, 0, 0.01f, &ws);
    const std::string bias = Bias(maps, x, ws);
    const std::string y = Name("conv");
    std::vector<std::string> inputs = {x.name, w};
    if (!bias.empty()) inputs.push_back(bias);
    auto* node = net_.model.Node("Conv", inputs, {y});
    SetInts(node, "kernel_shape", {k, k});
    SetInts(node, "pads", {pad, pad, pad, pad});
    SetInts(node, "strides", {stride, stride});
    SetInt(node, "group", group);
    const Shape out = {x.shape[0], maps,
                       (x.shape[2] + 2 * pad - k) / stride + 1,
                       (x.shape[3] + 2 * pad - k) / stride + 1};
    Finish(y, out, Sum(x.scale, ws, channels / group * k * k), Zero(), true);
  }

  void AddBinary() {
    const Activation a = Any();
    // Equal, or one that is repeated: [n,c,1,1].
    std::vector<size_t> fits;
    for (size_t i = 0; i < values_.size(); ++i) {
      const Shape& s = values_[i].shape;
      if (s == a.shape || (s.size() == 4 && s[0] == a.shape[0] &&
                           s[1] == a.shape[1] && s[2] == 1 && s[3] == 1)) {
        fits.push_back(i);
      }
    }
    const Activation b =
        Use(fits[Between(0, static_cast<int64_t>(fits.size()) - 1)]);
    if (a.name == b.name) return;
    const bool add = OneIn(2);
    const std::string y = Name(add ? "add" : "mul");
    const bool swap = OneIn(2);
    net_.model.Node(add ? "Add" : "Mul",
                    {swap ? b.name : a.name, swap ? a.name : b.name}, {y});
    const float scale =
        add ? Scale(a.scale + b.scale) : Scale(a.scale * b.scale * 100);
    Finish(y, a.shape, scale, Zero(), true);
  }

  void AddConcat() {
    const Activation a = Any();
    std::vector<Activation> parts = {a};
    for (size_t i = 0; i < values_.size() && parts.size() < 3; ++i) {
      const Shape& s = values_[i].shape;
      if (values_[i].name != a.name && s[0] == a.shape[0] &&
          s[2] == a.shape[2] && s[3] == a.shape[3] && OneIn(2)) {
        parts.push_back(Use(i));
      }
    }
    if (parts.size() < 2) return;
    Shape out = a.shape;
    out[1] = 0;
    std::vector<std::string> inputs;
    for (const Activation& part : parts) {
      out[1] += part.shape[1];
      inputs.push_back(part.name);
    }
    if (out[1] > 70) return;
    const std::string y = Name("concat");
    SetInt(net_.model.Node("Concat", inputs, {y}), "axis", 1);
    const bool same = OneIn(2);  // the first part is copied
    Finish(y, out, same ? a.scale : Scale(a.scale), same ? a.zero : Zero());
  }

  void AddPool() {
    const Activation x = Any();
    if (OneIn(3)) {
      const std::string y = Name("gap");
      net_.model.Node("GlobalAveragePool", {x.name}, {y});
      Finish(y, {x.shape[0], x.shape[1], 1, 1}, Scale(x.scale / 3), Zero());
      return;
    }
    if (x.shape[2] < 2 || x.shape[3] < 2) return;
    const bool max = OneIn(2);
    const std::string y = Name(max ? "maxpool" : "avgpool");
    auto* node =
        net_.model.Node(max ? "MaxPool" : "AveragePool", {x.name}, {y});
    const int64_t pad = Between(0, 1), stride = Between(1, 2);
    SetInts(node, "kernel_shape", {2, 2});
    SetInts(node, "pads", {pad, pad, pad, pad});
    SetInts(node, "strides", {stride, stride});
    if (!max && OneIn(3)) SetInt(node, "count_include_pad", 1);
    const Shape out = {x.shape[0], x.shape[1],
                       (x.shape[2] + 2 * pad - 2) / stride + 1,
                       (x.shape[3] + 2 * pad - 2) / stride + 1};
    if (max) {
      Finish(y, out, x.scale, x.zero);
    } else {
      Finish(y, out, Scale(x.scale / 2), Zero());
    }
  }

  void AddTable() {
    const Activation x = Any();
    const std::string y = Name("table");
    if (OneIn(2)) {
      net_.model.Node("Sigmoid", {x.name}, {y});
      Finish(y, x.shape, Scale(1 / 256.0f), OneIn(2) ? Min() : Zero());
    } else {
      SetFloat(net_.model.Node("LeakyRelu", {x.name}, {y}), "alpha",
               Real(-0.5f, 0.9f));
      Finish(y, x.shape, Scale(x.scale), Zero());
    }
  }

  // Transpose and back, with the same parameters on the way.
  void AddTranspose() {
    const Activation x = Any();
    const std::string y = Name("transpose");
    SetInts(net_.model.Node("Transpose", {x.name}, {y}), "perm", {0, 1, 3, 2});
    Finish(y, {x.shape[0], x.shape[1], x.shape[3], x.shape[2]}, x.scale,
           x.zero);
  }

  void AddLayer() {
    switch (Between(0, 7)) {
      case 0:
      case 1:
      case 2:
        return AddConv();
      case 3:
        return AddBinary();
      case 4:
        return AddConcat();
      case 5:
        return AddPool();
      case 6:
        return AddTable();
      default:
        return AddTranspose();
    }
  }

  // Flatten or Reshape, then a product.
  void AddHead() {
    const Activation x = Any();
    const int64_t k = x.shape[1] * x.shape[2] * x.shape[3];
    const std::string flat = Name("flat");
    std::string matrix = flat;
    if (OneIn(2)) {
      net_.model.Constant(flat + "to", Int64s({2}, {x.shape[0], k}));
      net_.model.Node("Reshape", {x.name, flat + "to"}, {flat});
    } else {
      net_.model.Node("Flatten", {x.name}, {flat});
    }
    matrix = Pair(flat, {x.shape[0], k}, x.scale, x.zero).name;
    const int64_t n = Between(2, 40);
    TensorData ws;
    const std::string y = Name("product");
    if (OneIn(2)) {
      const std::string w = Weights({k, n}, 1, 0.01f, &ws);
      net_.model.Node("MatMul", {matrix, w}, {y});
    } else {
      const bool transposed = OneIn(2);
      const std::string w = Weights(transposed ? Shape{n, k} : Shape{k, n},
                                    transposed ? 0 : 1, 0.01f, &ws);
      const std::string bias = Bias(n, x, ws);
      std::vector<std::string> inputs = {matrix, w};
      if (!bias.empty()) inputs.push_back(bias);
      SetInt(net_.model.Node("Gemm", inputs, {y}), "transB", transposed);
    }
    const Activation result =
        Pair(y, {x.shape[0], n}, Sum(x.scale, ws, k), Zero());
    open_.push_back(result.name);
  }

  std::mt19937_64 random_;
  DataType type_;
  bool dyadic_;
  QdqNetwork net_;
  int counter_ = 0;
  std::vector<Activation> values_;
  std::vector<std::string> open_;  // without a consumer
};

}  // namespace

QdqNetwork MakeQdqNetwork(uint64_t seed) { return Generator(seed).Run(); }

}  // namespace heddle::compiler
