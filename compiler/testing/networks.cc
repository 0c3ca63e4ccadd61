// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/networks.h"

#include <functional>
#include <map>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/ops/half.h"
#include "compiler/testing/model_builder.h"
#include "compiler/testing/network_builder.h"
#include "compiler/testing/onnx_files.h"
#include "compiler/testing/transformer.h"

namespace heddle::compiler {
namespace {

std::string ResNet50() {
  NetworkBuilder n("resnet50", 3, 224, 224);
  n.Conv(64, 7, 2).MaxPool(3, 2);
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{64} << stage;
    for (int64_t i = 0; i < blocks[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const Activation in = n.at();
      Activation shortcut = in;
      if (i == 0) shortcut = n.Conv(4 * width, 1, stride, false).at();
      n.Goto(in);
      n.Conv(width, 1, 1).Conv(width, 3, stride).Conv(4 * width, 1, 1, false);
      n.Add(shortcut, true);
    }
  }
  return n.GlobalAverage().Dense(1000, false).Bytes();
}

// 50 layers, 32 groups of 4 (Xie et al. 2017).
std::string ResNeXt50() {
  NetworkBuilder n("resnext50", 3, 224, 224);
  n.Conv(64, 7, 2).MaxPool(3, 2);
  const int64_t blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t width = int64_t{128} << stage;
    for (int64_t i = 0; i < blocks[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const Activation in = n.at();
      Activation shortcut = in;
      if (i == 0) shortcut = n.Conv(2 * width, 1, stride, false).at();
      n.Goto(in);
      n.Conv(width, 1, 1).Conv(width, {3, 3, stride, 32, true});
      n.Conv(2 * width, 1, 1, false).Add(shortcut, true);
    }
  }
  return n.GlobalAverage().Dense(1000, false).Bytes();
}

// Configuration D (Simonyan and Zisserman 2015).
std::string Vgg16() {
  NetworkBuilder n("vgg16", 3, 224, 224);
  const int64_t widths[] = {64, 128, 256, 512, 512};
  for (int stage = 0; stage < 5; ++stage) {
    for (int i = 0; i < (stage < 2 ? 2 : 3); ++i) n.Conv(widths[stage], 3, 1);
    n.MaxPool(2, 2);
  }
  n.Flatten().Dense(4096, true).Dense(4096, true).Dense(1000, false);
  return n.Bytes();
}

std::string MobileNetV1(const std::string& name, int64_t size, int64_t divisor,
                        int64_t classes) {
  NetworkBuilder n(name, 3, size, size);
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
  NetworkBuilder n("mobilenet_v2", 3, 224, 224);
  n.Conv(32, 3, 2);
  struct Group {
    int64_t expand, maps, repeat, stride;
  };
  const Group groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                          {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                          {6, 320, 1, 1}};
  for (const Group& g : groups) {
    for (int64_t i = 0; i < g.repeat; ++i) {
      const Activation in = n.at();
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
  NetworkBuilder n("resnet8", 3, 32, 32);
  n.Conv(16, 3, 1);
  for (int64_t width : {16, 32, 64}) {
    const int64_t stride = width == 16 ? 1 : 2;
    const Activation in = n.at();
    Activation shortcut = in;
    if (stride == 2) shortcut = n.Conv(width, 1, 2, false).at();
    n.Goto(in);
    n.Conv(width, 3, stride).Conv(width, 3, 1, false).Add(shortcut, true);
  }
  return n.GlobalAverage().Dense(10, false).Bytes();
}

std::string DsCnn() {
  NetworkBuilder n("ds_cnn", 1, 49, 10);
  n.Conv(64, {10, 4, 2, 1, true});
  for (int i = 0; i < 4; ++i) n.Depthwise(1).Conv(64, 1, 1);
  return n.GlobalAverage().Dense(12, false).Bytes();
}

std::string Autoencoder() {
  NetworkBuilder n("autoencoder", 640);
  for (int i = 0; i < 4; ++i) n.Dense(128, true);
  n.Dense(8, true);
  for (int i = 0; i < 4; ++i) n.Dense(128, true);
  return n.Dense(640, false).Bytes();
}

// Version 1.1, "2.4x less computation" than 1.0.
std::string SqueezeNet() {
  NetworkBuilder n("squeezenet", 3, 224, 224);
  const auto pool = [&n] { n.MaxPool(3, 2, Padding::kValid); };
  const auto fire = [&n](int64_t squeeze, int64_t expand) {
    const Activation in = n.Conv(squeeze, 1, 1).at();
    const Activation small = n.Conv(expand, 1, 1).at();
    n.Goto(in);
    const Activation large = n.Conv(expand, 3, 1).at();
    n.Concat({small, large});
  };
  n.Conv(64, {3, 3, 2, 1, true, Padding::kValid});
  pool();
  for (int i = 0; i < 2; ++i) fire(16, 64);
  pool();
  for (int i = 0; i < 2; ++i) fire(32, 128);
  pool();
  for (int i = 0; i < 2; ++i) fire(48, 192);
  for (int i = 0; i < 2; ++i) fire(64, 256);
  return n.Conv(1000, 1, 1).GlobalAverage().Bytes();
}

// GoogLeNet (Szegedy et al. 2015) without its side outputs; the branches of a
// module layer by layer, as tools write them that walk a graph in breadth.
std::string Inception() {
  NetworkBuilder n("inception", 3, 224, 224);
  n.Conv(64, 7, 2).MaxPool(3, 2).Conv(64, 1, 1).Conv(192, 3, 1).MaxPool(3, 2);
  struct Module {
    int64_t one, reduce3, three, reduce5, five, pool;
    bool shrink;  // a pooling in front
  };
  const Module modules[] = {
      {64, 96, 128, 16, 32, 32, false},     {128, 128, 192, 32, 96, 64, false},
      {192, 96, 208, 16, 48, 64, true},     {160, 112, 224, 24, 64, 64, false},
      {128, 128, 256, 24, 64, 64, false},   {112, 144, 288, 32, 64, 64, false},
      {256, 160, 320, 32, 128, 128, false}, {256, 160, 320, 32, 128, 128, true},
      {384, 192, 384, 48, 128, 128, false}};
  for (const Module& m : modules) {
    if (m.shrink) n.MaxPool(3, 2);
    const Activation in = n.at();
    const auto from = [&n](const Activation& at) -> NetworkBuilder& {
      n.Goto(at);
      return n;
    };
    const Activation pooled = n.MaxPool(3, 1).at();
    const Activation reduced5 = from(in).Conv(m.reduce5, 1, 1).at();
    const Activation reduced3 = from(in).Conv(m.reduce3, 1, 1).at();
    const Activation one = from(in).Conv(m.one, 1, 1).at();
    const Activation pool = from(pooled).Conv(m.pool, 1, 1).at();
    const Activation five = from(reduced5).Conv(m.five, 5, 1).at();
    const Activation three = from(reduced3).Conv(m.three, 3, 1).at();
    n.Concat({one, three, five, pool});
  }
  return n.GlobalAverage().Dense(1000, false).Bytes();
}

// Blocks of three scales that exchange their maps after every two layers
// (HRNet's form, Sun et al. 2019), in breadth too.
std::string ThreeScales() {
  NetworkBuilder n("three_scales", 3, 256, 256);
  std::vector<Activation> maps = {n.Conv(32, 3, 2).Conv(32, 3, 2).at()};
  maps.push_back(n.Conv(64, 3, 2).at());
  maps.push_back(n.Conv(128, 3, 2).at());
  for (int block = 0; block < 3; ++block) {
    for (int layer = 0; layer < 2; ++layer) {
      for (Activation& map : maps) {
        n.Goto(map);
        map = n.Conv(map.c, 3, 1).Conv(map.c, 3, 1, false).Add(map, true).at();
      }
    }
    const std::vector<Activation> in = maps;
    std::vector<std::vector<Activation>> parts(3);
    for (int to = 0; to < 3; ++to) {
      for (int from = 0; from < 3; ++from) {
        if (from == to) continue;
        n.Goto(in[from]);
        for (int scale = from; scale < to; ++scale) {
          n.Conv(scale + 1 == to ? in[to].c : in[from].c, 3, 2, false);
        }
        if (from > to) n.Conv(in[to].c, 1, 1, false);
        for (int scale = from; scale > to; --scale) n.Upsample();
        parts[to].push_back(n.at());
      }
    }
    for (int to = 0; to < 3; ++to) {
      n.Goto(in[to]);
      for (const Activation& part : parts[to]) n.Add(part, true);
      maps[to] = n.at();
    }
  }
  for (int i = 2; i > 0; --i) {
    n.Goto(maps[i]);
    n.Conv(16, 1, 1, false).Output();
  }
  n.Goto(maps[0]);
  return n.Conv(16, 1, 1, false).Bytes();
}

// 64 base channels, padded convolutions (Ronneberger et al. 2015); upsampling
// by repetition and a 1x1 convolution.
std::string UNet() {
  NetworkBuilder n("unet", 3, 512, 512);
  std::vector<Activation> skips;
  for (int64_t width = 64; width < 1024; width *= 2) {
    skips.push_back(n.Conv(width, 3, 1).Conv(width, 3, 1).at());
    n.MaxPool(2, 2);
  }
  n.Conv(1024, 3, 1).Conv(1024, 3, 1);
  for (; !skips.empty(); skips.pop_back()) {
    const int64_t width = skips.back().c;
    const Activation up = n.Upsample().Conv(width, 1, 1).at();
    n.Concat({skips.back(), up}).Conv(width, 3, 1).Conv(width, 3, 1);
  }
  return n.Conv(2, 1, 1, false).Bytes();
}

// The shape of YOLOv5s 6.0: SiLU everywhere, SPPF, three heads of 3 * 85.
std::string Yolov5s() {
  NetworkBuilder n("yolov5s", 3, 640, 640);
  const auto conv = [&n](int64_t maps, int64_t kernel, int64_t stride) {
    return n.Conv(maps, kernel, stride, false).Silu().at();
  };
  const auto c3 = [&](int64_t maps, int count, bool shortcut) {
    const Activation in = n.at();
    conv(maps / 2, 1, 1);
    for (int i = 0; i < count; ++i) {
      const Activation before = n.at();
      conv(maps / 2, 1, 1);
      conv(maps / 2, 3, 1);
      if (shortcut) n.Add(before, false);
    }
    const Activation deep = n.at();
    n.Goto(in);
    n.Concat({deep, conv(maps / 2, 1, 1)});
    return conv(maps, 1, 1);
  };
  conv(32, 6, 2);
  conv(64, 3, 2);
  c3(64, 1, true);
  conv(128, 3, 2);
  const Activation p3 = c3(128, 2, true);
  conv(256, 3, 2);
  const Activation p4 = c3(256, 3, true);
  conv(512, 3, 2);
  c3(512, 1, true);
  std::vector<Activation> pools = {conv(256, 1, 1)};
  for (int i = 0; i < 3; ++i) pools.push_back(n.MaxPool(5, 1).at());
  n.Concat(pools);
  conv(512, 1, 1);
  const Activation top = conv(256, 1, 1);
  n.Concat({n.Upsample().at(), p4});
  c3(256, 1, false);
  const Activation middle = conv(128, 1, 1);
  n.Concat({n.Upsample().at(), p3});
  const Activation low = c3(128, 1, false);
  n.Concat({conv(128, 3, 2), middle});
  const Activation mid = c3(256, 1, false);
  n.Concat({conv(256, 3, 2), top});
  c3(512, 1, false);
  n.Conv(255, 1, 1, false).Output();
  n.Goto(mid);
  n.Conv(255, 1, 1, false).Output();
  n.Goto(low);
  return n.Conv(255, 1, 1, false).Bytes();
}

// Four layers of 3x3 at 80 x 80, each followed by `activation`.
std::string FourLayers(const std::string& activation) {
  NetworkBuilder n(activation + "_80", 64, 80, 80);
  for (int i = 0; i < 4; ++i) {
    n.Conv(64, 3, 1, activation == "relu");
    if (activation == "silu") n.Silu();
    if (activation == "hard_swish") n.HardSwish();
    if (activation == "prelu") n.PRelu();
  }
  return n.Bytes();
}

// One layer of an image in full HD.
std::string Conv1080p() {
  return NetworkBuilder("conv_1080p", 64, 1080, 1920).Conv(64, 3, 1).Bytes();
}

// fp32: the last product of BERT.
std::string Vocabulary() {
  ModelBuilder b;
  b.proto().mutable_graph()->set_name("vocabulary");
  b.Input("x", DataType::kFloat, {128, 128});
  TensorData w = TensorData::Zeros(DataType::kFloat, {128, 30522});
  std::mt19937 random(3);
  for (int64_t i = 0; i < w.count(); ++i) {
    w.as<float>()[i] = static_cast<float>(random() % 2001) / 1000 - 1;
  }
  b.Constant("w", w);
  b.Node("MatMul", {"x", "w"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

// Float functions as exporters write them where ONNX has no operator of that
// opset, on a tensor of a transformer or of a detector.
std::string FloatFunction(const std::string& name, const Shape& shape,
                          DataType type = DataType::kFloat) {
  ModelBuilder b;
  b.proto().mutable_graph()->set_name(name);
  b.Input("x", type, shape);
  const auto scalar = [&](const std::string& constant, float value) {
    b.Constant(constant, Narrowed(Floats({}, {value}), type));
  };
  const auto row = [&](const std::string& constant, float first) {
    TensorData data = TensorData::Zeros(DataType::kFloat, {shape.back()});
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] = first + 0.001f * static_cast<float>(i % 97);
    }
    b.Constant(constant, Narrowed(std::move(data), type));
  };
  const auto reduce = [&b](const char* op, const std::string& x,
                           const std::string& y) {
    SetInts(b.Node(op, {x}, {y}), "axes", {-1});
  };
  if (name.find("gelu") == 0) {
    scalar("root", 1.41421356f);
    scalar("one", 1);
    scalar("half", 0.5f);
    b.Node("Div", {"x", "root"}, {"d"});
    b.Node("Erf", {"d"}, {"e"});
    b.Node("Add", {"e", "one"}, {"p"});
    b.Node("Mul", {"x", "p"}, {"m"});
    b.Node("Mul", {"m", "half"}, {"y"});
  } else if (name.find("tanh_gelu") == 0) {
    scalar("three", 3);
    scalar("cubic", 0.044715f);
    scalar("root", 0.797884561f);
    scalar("one", 1);
    scalar("half", 0.5f);
    b.Node("Pow", {"x", "three"}, {"c"});
    b.Node("Mul", {"c", "cubic"}, {"s"});
    b.Node("Add", {"x", "s"}, {"a"});
    b.Node("Mul", {"a", "root"}, {"r"});
    b.Node("Tanh", {"r"}, {"t"});
    b.Node("Add", {"t", "one"}, {"p"});
    b.Node("Mul", {"x", "half"}, {"h"});
    b.Node("Mul", {"h", "p"}, {"y"});
  } else if (name.find("hard_swish") == 0) {
    scalar("three", 3);
    scalar("zero", 0);
    scalar("six", 6);
    b.Node("Add", {"x", "three"}, {"a"});
    b.Node("Clip", {"a", "zero", "six"}, {"c"});
    b.Node("Mul", {"x", "c"}, {"m"});
    b.Node("Div", {"m", "six"}, {"y"});
  } else if (name.find("silu") == 0) {
    b.Node("Sigmoid", {"x"}, {"s"});
    b.Node("Mul", {"x", "s"}, {"y"});
  } else if (name.find("layer_norm") == 0) {
    scalar("two", 2);
    scalar("epsilon", 1e-5f);
    row("gamma", 1);
    row("beta", 0);
    reduce("ReduceMean", "x", "mean");
    b.Node("Sub", {"x", "mean"}, {"d"});
    b.Node("Pow", {"d", "two"}, {"square"});
    reduce("ReduceMean", "square", "v");
    b.Node("Add", {"v", "epsilon"}, {"e"});
    b.Node("Sqrt", {"e"}, {"deviation"});
    b.Node("Div", {"d", "deviation"}, {"n"});
    b.Node("Mul", {"n", "gamma"}, {"g"});
    b.Node("Add", {"g", "beta"}, {"y"});
  } else {
    reduce("ReduceMax", "x", "m");
    b.Node("Sub", {"x", "m"}, {"d"});
    b.Node("Exp", {"d"}, {"e"});
    b.Constant("last", Int64s({1}, {-1}));
    b.Node("ReduceSum", {"e", "last"}, {"s"});
    b.Node("Div", {"e", "s"}, {"y"});
  }
  b.Output("y");
  return b.Bytes();
}

// One layer: nothing but its weights' way from device memory.
std::string FullyConnected() {
  return NetworkBuilder("fully_connected", 2048).Dense(1000, false).Bytes();
}

const std::map<std::string, std::function<std::string()>>& Networks() {
  static const auto* networks = [] {
    auto* all = new std::map<std::string, std::function<std::string()>>{
        {"autoencoder", Autoencoder},
        {"bert_128", [] { return MakeTransformerLayer("bert_128", {}); }},
        {"bert_512", [] { return MakeTransformerLayer("bert_512", {512}); }},
        {"conv_1080p", Conv1080p},
        {"deit_tiny",
         [] {
           return MakeTransformerLayer("deit_tiny", {196, 192, 3, 768});
         }},
        {"ds_cnn", DsCnn},
        {"fully_connected", FullyConnected},
        {"hard_swish_80", [] { return FourLayers("hard_swish"); }},
        {"inception", Inception},
        {"mobilenet_v1",
         [] { return MobileNetV1("mobilenet_v1", 224, 1, 1000); }},
        {"mobilenet_v2", MobileNetV2},
        {"prelu_80", [] { return FourLayers("prelu"); }},
        {"relu_80", [] { return FourLayers("relu"); }},
        {"resnet50", ResNet50},
        {"resnet8", ResNet8},
        {"resnext50", ResNeXt50},
        {"silu_80", [] { return FourLayers("silu"); }},
        {"squeezenet", SqueezeNet},
        {"three_scales", ThreeScales},
        {"unet", UNet},
        {"vgg16", Vgg16},
        {"vocabulary", Vocabulary},
        {"vww", [] { return MobileNetV1("vww", 96, 4, 2); }},
        {"yolov5s", Yolov5s},
    };
    for (const char* name : {"gelu", "tanh_gelu", "silu", "layer_norm"}) {
      const std::string rows = absl::StrCat(name, "_rows");
      const std::string planes = absl::StrCat(name, "_planes");
      (*all)[rows] = [rows] { return FloatFunction(rows, {1, 128, 768}); };
      (*all)[planes] = [planes] {
        return FloatFunction(planes, {1, 64, 80, 80});
      };
    }
    for (const char* name : {"gelu", "tanh_gelu", "hard_swish"}) {
      (*all)[absl::StrCat("half_", name)] = [name] {
        return FloatFunction(name, {1, 64, 80, 80}, DataType::kFloat16);
      };
    }
    (*all)["softmax_rows"] = [] {
      return FloatFunction("softmax_rows", {1, 12, 128, 128});
    };
    return all;
  }();
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
