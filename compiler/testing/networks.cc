// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/networks.h"

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ir/graph.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/onnx_files.h"

namespace heddle::compiler {
namespace {

constexpr float kScale = 0.02f;

// An activation: name, channels, height, width, zero point.
struct Act {
  std::string name;
  int64_t c = 0, h = 0, w = 0;
  uint8_t zero = 0;
};

struct ConvOptions {
  int64_t kernel_h = 1, kernel_w = 1, stride = 1, group = 1;
  bool relu = true;
};

class Network {
 public:
  Network(const std::string& name, int64_t c, int64_t h, int64_t w) {
    builder_.proto().mutable_graph()->set_name(name);
    builder_.Input("input", DataType::kUint8, {1, c, h, w});
    at_ = {"input", c, h, w, 128};
  }
  // [1, features]
  Network(const std::string& name, int64_t features) {
    builder_.proto().mutable_graph()->set_name(name);
    builder_.Input("input", DataType::kUint8, {1, features});
    at_ = {"input", features, 1, 1, 128};
  }

  const Act& at() const { return at_; }
  void Goto(const Act& act) { at_ = act; }

  Network& Conv(int64_t maps, const ConvOptions& o) {
    const int64_t terms = at_.c / o.group * o.kernel_h * o.kernel_w;
    const Act from = at_;
    at_.name = Next("conv");
    at_.c = maps;
    at_.h = (from.h + o.stride - 1) / o.stride;
    at_.w = (from.w + o.stride - 1) / o.stride;
    at_.zero = o.relu ? 0 : 128;
    const std::string w = Weights(
        {maps, from.c / o.group, o.kernel_h, o.kernel_w}, at_.name + "_w");
    onnx::NodeProto* node = builder_.Node(
        "QLinearConv",
        {from.name, Scale(kScale), Zero(from.zero), w, Scale(Gain(terms)),
         SignedZero(), Scale(kScale), Zero(at_.zero), Bias(maps)},
        {at_.name});
    SetInts(node, "kernel_shape", {o.kernel_h, o.kernel_w});
    SetInts(node, "strides", {o.stride, o.stride});
    SetInt(node, "group", o.group);
    const int64_t py = PadOf(from.h, at_.h, o.kernel_h, o.stride);
    const int64_t px = PadOf(from.w, at_.w, o.kernel_w, o.stride);
    // The larger half first, as PyTorch's symmetric pads cut it.
    SetInts(node, "pads", {(py + 1) / 2, (px + 1) / 2, py / 2, px / 2});
    return *this;
  }
  Network& Conv(int64_t maps, int64_t kernel, int64_t stride,
                bool relu = true) {
    return Conv(maps, {kernel, kernel, stride, 1, relu});
  }
  Network& Depthwise(int64_t stride) {
    return Conv(at_.c, {3, 3, stride, at_.c, true});
  }

  Network& MaxPool(int64_t kernel, int64_t stride) {
    const Act from = at_;
    at_.name = Next("pool");
    at_.h = (from.h + stride - 1) / stride;
    at_.w = (from.w + stride - 1) / stride;
    onnx::NodeProto* node = builder_.Node("MaxPool", {from.name}, {at_.name});
    const int64_t p = PadOf(from.h, at_.h, kernel, stride);
    SetInts(node, "kernel_shape", {kernel, kernel});
    SetInts(node, "strides", {stride, stride});
    SetInts(node, "pads", {(p + 1) / 2, (p + 1) / 2, p / 2, p / 2});
    return *this;
  }

  Network& Add(const Act& other, bool relu) {
    const Act from = at_;
    at_.name = Next("add");
    at_.zero = relu ? 0 : 128;
    builder_.Node(
        "QLinearAdd",
        {from.name, Scale(kScale), Zero(from.zero), other.name, Scale(kScale),
         Zero(other.zero), Scale(kScale * 1.5f), Zero(at_.zero)},
        {at_.name}, "com.microsoft");
    return *this;
  }

  Network& GlobalAverage() {
    const Act from = at_;
    at_ = {Next("average"), from.c, 1, 1, from.zero};
    SetInt(builder_.Node("QLinearGlobalAveragePool",
                         {from.name, Scale(kScale), Zero(from.zero),
                          Scale(kScale / 2), Zero(from.zero)},
                         {at_.name}, "com.microsoft"),
           "channels_last", 0);
    return Flatten();
  }

  Network& Flatten() {
    const std::string from = at_.name;
    at_.name = Next("flat");
    at_.c *= at_.h * at_.w;
    at_.h = at_.w = 1;
    builder_.Node("Flatten", {from}, {at_.name});
    return *this;
  }

  // Fully connected, from [1, features].
  Network& Dense(int64_t maps, bool relu) {
    const Act from = at_;
    at_ = {Next("dense"), maps, 1, 1, static_cast<uint8_t>(relu ? 0 : 128)};
    SetInt(builder_.Node(
               "QGemm",
               {from.name, Scale(kScale), Zero(from.zero),
                Weights({maps, from.c}, at_.name + "_w"), Scale(Gain(from.c)),
                SignedZero(), Bias(maps), Scale(kScale), Zero(at_.zero)},
               {at_.name}, "com.microsoft"),
           "transB", 1);
    return *this;
  }

  std::string Bytes() {
    builder_.Output(at_.name);
    return builder_.Bytes();
  }

 private:
  static int64_t PadOf(int64_t in, int64_t out, int64_t kernel,
                       int64_t stride) {
    return std::max<int64_t>(0, (out - 1) * stride + kernel - in);
  }
  // Random codes on both sides have a deviation of about 70 each; results
  // should use most of their range.
  static float Gain(int64_t terms) {
    return 0.009f / std::sqrt(static_cast<float>(terms));
  }

  std::string Next(const char* what) { return what + std::to_string(count_++); }
  std::string Constant(const std::string& name, const TensorData& data) {
    if (known_.emplace(name, true).second) builder_.Constant(name, data);
    return name;
  }
  std::string Scale(float value) {
    return Constant("scale_" + std::to_string(value * 1e6f),
                    Floats({}, {value}));
  }
  std::string Zero(uint8_t value) {
    return Constant("zero_" + std::to_string(value), Uint8s({}, {value}));
  }
  std::string SignedZero() { return Constant("zero_s8", Int8s({}, {0})); }
  std::string Weights(const Shape& shape, const std::string& name) {
    TensorData data = TensorData::Zeros(DataType::kInt8, shape);
    for (uint8_t& byte : data.bytes) {
      byte = static_cast<uint8_t>(random_() >> 24);
    }
    return Constant(name, data);
  }
  std::string Bias(int64_t maps) {
    TensorData data = TensorData::Zeros(DataType::kInt32, {maps});
    for (int64_t i = 0; i < maps; ++i) {
      data.as<int32_t>()[i] = static_cast<int32_t>(random_() % 4001) - 2000;
    }
    return Constant(Next("bias"), data);
  }

  ModelBuilder builder_;
  std::mt19937 random_{20150512};
  int count_ = 0;
  std::map<std::string, bool> known_;
  Act at_;
};

std::string ResNet50() {
  Network n("resnet50", 3, 224, 224);
  n.Conv(64, 7, 2).MaxPool(3, 2);
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t i = 0; i < blocks[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const Act in = n.at();
      Act shortcut = in;
      if (i == 0) shortcut = n.Conv(4 * width, 1, stride, false).at();
      n.Goto(in);
      n.Conv(width, 1, 1).Conv(width, 3, stride).Conv(4 * width, 1, 1, false);
      n.Add(shortcut, true);
    }
  }
  return n.GlobalAverage().Dense(1000, false).Bytes();
}

std::string MobileNetV1(const std::string& name, int64_t size, int64_t divisor,
                        int64_t classes) {
  Network n(name, 3, size, size);
  n.Conv(32 / divisor, 3, 2);
  struct Block {
    int64_t maps, stride;
  };
  const Block blocks[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                          {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                          {512, 1}, {1024, 2}, {1024, 1}};
  for (const Block& b : blocks) {
    n.Depthwise(b.stride).Conv(b.maps / divisor, 1, 1);
  }
  return n.GlobalAverage().Dense(classes, false).Bytes();
}

std::string MobileNetV2() {
  Network n("mobilenet_v2", 3, 224, 224);
  n.Conv(32, 3, 2);
  struct Group {
    int64_t expand, maps, repeat, stride;
  };
  const Group groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                          {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                          {6, 320, 1, 1}};
  for (const Group& g : groups) {
    for (int64_t i = 0; i < g.repeat; ++i) {
      const Act in = n.at();
      const int64_t stride = i == 0 ? g.stride : 1;
      if (g.expand > 1) n.Conv(in.c * g.expand, 1, 1);
      n.Depthwise(stride).Conv(g.maps, 1, 1, false);
      if (stride == 1 && in.c == g.maps) n.Add(in, false);
    }
  }
  n.Conv(1280, 1, 1);
  return n.GlobalAverage().Dense(1000, false).Bytes();
}

std::string ResNet8() {
  Network n("resnet8", 3, 32, 32);
  n.Conv(16, 3, 1);
  for (int64_t width : {16, 32, 64}) {
    const int64_t stride = width == 16 ? 1 : 2;
    const Act in = n.at();
    Act shortcut = in;
    if (stride == 2) shortcut = n.Conv(width, 1, 2, false).at();
    n.Goto(in);
    n.Conv(width, 3, stride).Conv(width, 3, 1, false).Add(shortcut, true);
  }
  return n.GlobalAverage().Dense(10, false).Bytes();
}

std::string DsCnn() {
  Network n("ds_cnn", 1, 49, 10);
  n.Conv(64, {10, 4, 2, 1, true});
  for (int i = 0; i < 4; ++i) n.Depthwise(1).Conv(64, 1, 1);
  return n.GlobalAverage().Dense(12, false).Bytes();
}

std::string Autoencoder() {
  Network n("autoencoder", 640);
  for (int i = 0; i < 4; ++i) n.Dense(128, true);
  n.Dense(8, true);
  for (int i = 0; i < 4; ++i) n.Dense(128, true);
  return n.Dense(640, false).Bytes();
}

const std::map<std::string, std::function<std::string()>>& Networks() {
  static const auto* networks =
      new std::map<std::string, std::function<std::string()>>{
          {"autoencoder", Autoencoder},
          {"ds_cnn", DsCnn},
          {"mobilenet_v1",
           [] { return MobileNetV1("mobilenet_v1", 224, 1, 1000); }},
          {"mobilenet_v2", MobileNetV2},
          {"resnet50", ResNet50},
          {"resnet8", ResNet8},
          {"vww", [] { return MobileNetV1("vww", 96, 4, 2); }},
      };
  return *networks;
}

}  // namespace

std::vector<std::string> NetworkNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Networks()) names.push_back(name);
  return names;
}

std::string MakeNetwork(const std::string& name) {
  const auto it = Networks().find(name);
  return it == Networks().end() ? std::string() : it->second();
}

absl::StatusOr<std::string> NetworkOrFile(const std::string& name) {
  std::string model = MakeNetwork(name);
  if (!model.empty()) return model;
  auto file = ReadFile(name);
  if (file.ok()) return file;
  return absl::NotFoundError(absl::StrCat("'", name,
                                          "' is neither a file nor one of ",
                                          absl::StrJoin(NetworkNames(), ", ")));
}

}  // namespace heddle::compiler
