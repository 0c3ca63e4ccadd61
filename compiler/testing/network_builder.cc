// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/network_builder.h"

#include <algorithm>
#include <cmath>

namespace heddle::compiler {
namespace {

constexpr float kScale = 0.02f;
constexpr char kMicrosoft[] = "com.microsoft";

int64_t PadOf(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return std::max<int64_t>(0, (out - 1) * stride + kernel - in);
}

// Random codes on both sides have a deviation of about 70 each; results should
// use most of their range.
float Gain(int64_t terms) {
  return 0.009f / std::sqrt(static_cast<float>(terms));
}

}  // namespace

NetworkBuilder::NetworkBuilder(const std::string& name, int64_t c, int64_t h,
                               int64_t w) {
  builder_.proto().mutable_graph()->set_name(name);
  builder_.Input("input", DataType::kUint8, {1, c, h, w});
  at_ = {"input", c, h, w, 128};
}

NetworkBuilder::NetworkBuilder(const std::string& name, int64_t features) {
  builder_.proto().mutable_graph()->set_name(name);
  builder_.Input("input", DataType::kUint8, {1, features});
  at_ = {"input", features, 1, 1, 128};
}

// Sets the node's window, and the height and width of at().
void NetworkBuilder::Window(onnx::NodeProto* node, const Activation& from,
                            int64_t kernel_h, int64_t kernel_w, int64_t stride,
                            Padding padding) {
  int64_t py = 0, px = 0;
  if (padding == Padding::kSame) {
    at_.h = (from.h + stride - 1) / stride;
    at_.w = (from.w + stride - 1) / stride;
    py = PadOf(from.h, at_.h, kernel_h, stride);
    px = PadOf(from.w, at_.w, kernel_w, stride);
  } else {
    at_.h = (from.h - kernel_h) / stride + 1;
    at_.w = (from.w - kernel_w) / stride + 1;
  }
  SetInts(node, "kernel_shape", {kernel_h, kernel_w});
  SetInts(node, "strides", {stride, stride});
  // The larger half first, as PyTorch's symmetric pads cut it.
  SetInts(node, "pads", {(py + 1) / 2, (px + 1) / 2, py / 2, px / 2});
}

NetworkBuilder& NetworkBuilder::Conv(int64_t maps, const ConvOptions& o) {
  const int64_t terms = at_.c / o.group * o.kernel_h * o.kernel_w;
  const Activation from = at_;
  at_.name = Next("conv");
  at_.c = maps;
  at_.zero = o.relu ? 0 : 128;
  const std::string w = Weights(
      {maps, from.c / o.group, o.kernel_h, o.kernel_w}, at_.name + "_w");
  onnx::NodeProto* node = builder_.Node(
      "QLinearConv",
      {from.name, Scale(kScale), Zero(from.zero), w, Scale(Gain(terms)),
       SignedZero(), Scale(kScale), Zero(at_.zero), Bias(maps)},
      {at_.name});
  Window(node, from, o.kernel_h, o.kernel_w, o.stride, o.padding);
  SetInt(node, "group", o.group);
  return *this;
}

NetworkBuilder& NetworkBuilder::MaxPool(int64_t kernel, int64_t stride,
                                        Padding padding) {
  const Activation from = at_;
  at_.name = Next("pool");
  Window(builder_.Node("MaxPool", {from.name}, {at_.name}), from, kernel,
         kernel, stride, padding);
  return *this;
}

NetworkBuilder& NetworkBuilder::Add(const Activation& other, bool relu) {
  const Activation from = at_;
  at_.name = Next("add");
  at_.zero = relu ? 0 : 128;
  builder_.Node(
      "QLinearAdd",
      {from.name, Scale(kScale), Zero(from.zero), other.name, Scale(kScale),
       Zero(other.zero), Scale(kScale * 1.5f), Zero(at_.zero)},
      {at_.name}, kMicrosoft);
  return *this;
}

NetworkBuilder& NetworkBuilder::LeakyRelu() {
  const Activation from = at_;
  at_.name = Next("leaky");
  builder_.Node("QLinearLeakyRelu",
                {from.name, Scale(kScale), Zero(from.zero), Scale(kScale),
                 Zero(from.zero)},
                {at_.name}, kMicrosoft);
  return *this;
}

template <typename F>
NetworkBuilder& NetworkBuilder::BetweenCodes(const char* what, F body) {
  const Activation from = at_;
  at_.name = Next(what);
  at_.zero = 19;  // the least value is -0.38
  const std::string x = at_.name + "_x", y = at_.name + "_y";
  builder_.Dequantize(from.name, x, Floats({}, {kScale}),
                      Uint8s({}, {from.zero}));
  body(x, y);
  builder_.Quantize(y, at_.name, kScale, Uint8s({}, {at_.zero}));
  return *this;
}

NetworkBuilder& NetworkBuilder::Silu() {
  return BetweenCodes("silu", [&](const std::string& x, const std::string& y) {
    builder_.Node("Sigmoid", {x}, {y + "_gate"});
    builder_.Node("Mul", {x, y + "_gate"}, {y});
  });
}

NetworkBuilder& NetworkBuilder::HardSwish() {
  return BetweenCodes("hard_swish",
                      [&](const std::string& x, const std::string& y) {
                        builder_.Node("HardSwish", {x}, {y});
                      });
}

NetworkBuilder& NetworkBuilder::PRelu() {
  TensorData slopes = TensorData::Zeros(DataType::kFloat, {at_.c, 1, 1});
  for (int64_t i = 0; i < at_.c; ++i) {
    slopes.as<float>()[i] = 0.01f * static_cast<float>(1 + i % 30);
  }
  return BetweenCodes("prelu", [&](const std::string& x, const std::string& y) {
    builder_.Node("PRelu", {x, Constant(y + "_slopes", slopes)}, {y});
  });
}

NetworkBuilder& NetworkBuilder::Upsample() {
  const Activation from = at_;
  at_.name = Next("upsample");
  at_.h *= 2;
  at_.w *= 2;
  auto* node = builder_.Node(
      "Resize", {from.name, "", Constant("twice", Floats({4}, {1, 1, 2, 2}))},
      {at_.name});
  SetString(node, "mode", "nearest");
  SetString(node, "coordinate_transformation_mode", "asymmetric");
  SetString(node, "nearest_mode", "floor");
  return *this;
}

NetworkBuilder& NetworkBuilder::Concat(const std::vector<Activation>& parts) {
  at_ = parts[0];
  at_.name = Next("concat");
  at_.c = 0;
  std::vector<std::string> names = {Scale(kScale), Zero(at_.zero)};
  for (const Activation& part : parts) {
    at_.c += part.c;
    names.insert(names.end(), {part.name, Scale(kScale), Zero(part.zero)});
  }
  SetInt(builder_.Node("QLinearConcat", names, {at_.name}, kMicrosoft), "axis",
         1);
  return *this;
}

NetworkBuilder& NetworkBuilder::GlobalAverage() {
  const Activation from = at_;
  at_ = {Next("average"), from.c, 1, 1, from.zero};
  SetInt(builder_.Node("QLinearGlobalAveragePool",
                       {from.name, Scale(kScale), Zero(from.zero),
                        Scale(kScale / 2), Zero(from.zero)},
                       {at_.name}, kMicrosoft),
         "channels_last", 0);
  return Flatten();
}

NetworkBuilder& NetworkBuilder::Flatten() {
  const std::string from = at_.name;
  at_.name = Next("flat");
  at_.c *= at_.h * at_.w;
  at_.h = at_.w = 1;
  builder_.Node("Flatten", {from}, {at_.name});
  return *this;
}

NetworkBuilder& NetworkBuilder::Dense(int64_t maps, bool relu) {
  const Activation from = at_;
  at_ = {Next("dense"), maps, 1, 1, static_cast<uint8_t>(relu ? 0 : 128)};
  SetInt(builder_.Node(
             "QGemm",
             {from.name, Scale(kScale), Zero(from.zero),
              Weights({maps, from.c}, at_.name + "_w"), Scale(Gain(from.c)),
              SignedZero(), Bias(maps), Scale(kScale), Zero(at_.zero)},
             {at_.name}, kMicrosoft),
         "transB", 1);
  return *this;
}

NetworkBuilder& NetworkBuilder::Output() {
  builder_.Output(at_.name);
  return *this;
}

std::string NetworkBuilder::Bytes() {
  Output();
  return builder_.Bytes();
}

std::string NetworkBuilder::Constant(const std::string& name,
                                     const TensorData& data) {
  if (known_.emplace(name, true).second) builder_.Constant(name, data);
  return name;
}

std::string NetworkBuilder::Scale(float value) {
  return Constant("scale_" + std::to_string(value * 1e6f), Floats({}, {value}));
}

std::string NetworkBuilder::Zero(uint8_t value) {
  return Constant("zero_" + std::to_string(value), Uint8s({}, {value}));
}

std::string NetworkBuilder::SignedZero() {
  return Constant("zero_s8", Int8s({}, {0}));
}

std::string NetworkBuilder::Weights(const Shape& shape,
                                    const std::string& name) {
  TensorData data = TensorData::Zeros(DataType::kInt8, shape);
  for (uint8_t& byte : data.bytes) {
    byte = static_cast<uint8_t>(random_() >> 24);
  }
  return Constant(name, data);
}

std::string NetworkBuilder::Bias(int64_t maps) {
  TensorData data = TensorData::Zeros(DataType::kInt32, {maps});
  for (int64_t i = 0; i < maps; ++i) {
    data.as<int32_t>()[i] = static_cast<int32_t>(random_() % 4001) - 2000;
  }
  return Constant(Next("bias"), data);
}

}  // namespace heddle::compiler
