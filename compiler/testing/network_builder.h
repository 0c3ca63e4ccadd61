// SPDX-License-Identifier: Apache-2.0
// Quantized networks layer by layer, as ONNX files of operators on codes:
// uint8 activations (zero point 0 where a ReLU follows, so that saturation is
// the ReLU), int8 weights drawn from a fixed generator. Every layer starts from
// at() and leaves its result there.
#ifndef HEDDLE_COMPILER_TESTING_NETWORK_BUILDER_H_
#define HEDDLE_COMPILER_TESTING_NETWORK_BUILDER_H_

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "compiler/testing/model_builder.h"

namespace heddle::compiler {

// An activation.
struct Activation {
  std::string name;
  int64_t c = 0, h = 0, w = 0;
  uint8_t zero = 0;
};

enum class Padding { kSame, kValid };

struct ConvOptions {
  int64_t kernel_h = 1, kernel_w = 1, stride = 1, group = 1;
  bool relu = true;
  Padding padding = Padding::kSame;
};

class NetworkBuilder {
 public:
  NetworkBuilder(const std::string& name, int64_t c, int64_t h, int64_t w);
  // [1, features]
  NetworkBuilder(const std::string& name, int64_t features);

  const Activation& at() const { return at_; }
  void Goto(const Activation& activation) { at_ = activation; }

  NetworkBuilder& Conv(int64_t maps, const ConvOptions& options);
  NetworkBuilder& Conv(int64_t maps, int64_t kernel, int64_t stride,
                       bool relu = true) {
    return Conv(maps, {kernel, kernel, stride, 1, relu});
  }
  NetworkBuilder& Depthwise(int64_t stride) {
    return Conv(at_.c, {3, 3, stride, at_.c, true});
  }
  NetworkBuilder& MaxPool(int64_t kernel, int64_t stride,
                          Padding padding = Padding::kSame);
  NetworkBuilder& Add(const Activation& other, bool relu);
  // A function of one code that is not a clamp.
  NetworkBuilder& LeakyRelu();
  // x * sigmoid(x), as four float operators between codes, and HardSwish.
  NetworkBuilder& Silu();
  NetworkBuilder& HardSwish();
  // With a slope for each channel.
  NetworkBuilder& PRelu();
  // Every pixel four times.
  NetworkBuilder& Upsample();
  // Of maps with equal heights and widths, along channels.
  NetworkBuilder& Concat(const std::vector<Activation>& parts);
  // And flattened.
  NetworkBuilder& GlobalAverage();
  NetworkBuilder& Flatten();
  // Fully connected, from [1, features].
  NetworkBuilder& Dense(int64_t maps, bool relu);

  // at() becomes an output.
  NetworkBuilder& Output();
  // The serialized model; at() is its (last) output.
  std::string Bytes();

 private:
  // What `body` appends from float x to float y, as a layer of codes.
  template <typename F>
  NetworkBuilder& BetweenCodes(const char* what, F body);
  void Window(onnx::NodeProto* node, const Activation& from, int64_t kernel_h,
              int64_t kernel_w, int64_t stride, Padding padding);
  std::string Next(const char* what) { return what + std::to_string(count_++); }
  std::string Constant(const std::string& name, const TensorData& data);
  std::string Scale(float value);
  std::string Zero(uint8_t value);
  std::string SignedZero();
  std::string Weights(const Shape& shape, const std::string& name);
  std::string Bias(int64_t maps);

  ModelBuilder builder_{14};  // HardSwish
  std::mt19937 random_{20150512};
  int count_ = 0;
  std::map<std::string, bool> known_;
  Activation at_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_TESTING_NETWORK_BUILDER_H_
