// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/networks.h"

#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// One layer: nothing but its weights' way from device memory.
std::string FullyConnected() {
  return NetworkBuilder("fully_connected", 2048).Dense(1000, false).Bytes();
}

const std::map<std::string, std::function<std::string()>>& Networks() {
  static const auto* networks =
      new std::map<std::string, std::function<std::string()>>{
          {"autoencoder", Autoencoder},
          {"bert_128", [] { return MakeTransformerLayer("bert_128", {}); }},
          {"bert_512", [] { return MakeTransformerLayer("bert_512", {512}); }},
          {"deit_tiny",
           [] {
             return MakeTransformerLayer("deit_tiny", {196, 192, 3, 768});
           }},
          {"ds_cnn", DsCnn},
          {"fully_connected", FullyConnected},
          {"mobilenet_v1",
           [] { return MobileNetV1("mobilenet_v1", 224, 1, 1000); }},
          {"mobilenet_v2", MobileNetV2},
          {"resnet50", ResNet50},
          {"resnet8", ResNet8},
          {"resnext50", ResNeXt50},
          {"squeezenet", SqueezeNet},
          {"vgg16", Vgg16},
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
