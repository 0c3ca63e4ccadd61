// SPDX-License-Identifier: Apache-2.0
// An ONNX model as this backend runs it: float tensors, Add, Relu and MatMul;
// as inputs, uint8 that DequantizeLinear takes; as outputs, what NonZero and
// Shape make of them (int64).
#ifndef ONNXIFI_CONFORMANCE_REFERENCE_PROGRAM_H_
#define ONNXIFI_CONFORMANCE_REFERENCE_PROGRAM_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnxifi/conformance/reference/abi.h"

namespace onnxifi_reference {

using Shape = std::vector<uint64_t>;

// A dimension is a number, or a name that onnxSetGraphIO gives a value.
struct Dimension {
  uint64_t value = 0;
  std::string name;
};

struct Declared {
  std::string name;
  std::vector<Dimension> shape;
  bool open = false;     // an output whose type is not said
  bool integer = false;  // int64
  bool byte = false;     // uint8
};

struct Weight {
  Shape shape;
  std::vector<float> data;
  bool byte = false;  // uint8, one in a float
};

// Of a uint8 input: one of each for the tensor, or for each place of the axis.
struct Quantization {
  size_t axis = 0;
  std::vector<float> scales, zeros;
};

struct Step {
  std::string op;
  std::vector<std::string> inputs;
  std::string output;
  int64_t axis = 1;  // of DequantizeLinear
};

constexpr char kIrVersions[] = "3 4 5 6 7 8";
constexpr int kMinIr = 3;
constexpr int kMaxIr = 8;
constexpr char kOpsets[] = "ai.onnx:17";
constexpr int kMaxOpset = 17;
constexpr size_t kMaxRank = 8;

class Program {
 public:
  // Parses and checks. SUCCESS; FALLBACK: MatMul, which is not native here; or
  // why not. `weights` come from descriptors. Where there are none, inputs
  // without initializers are given at run time.
  onnxStatus Load(const void* model, size_t size,
                  std::map<std::string, Weight> weights);

  const std::vector<Declared>& inputs() const { return inputs_; }
  const std::vector<Declared>& outputs() const { return outputs_; }
  bool IsWeight(const std::string& name) const {
    return weights_.count(name) != 0;
  }
  uint64_t weight_bytes() const;

  // Whether the values decide how many columns it has: a result of NonZero.
  bool IsBounded(const std::string& name) const {
    return bounded_.count(name) != 0;
  }

  // How an input is quantized, or null.
  const Quantization* QuantizationOf(const std::string& name) const {
    const auto found = quantizations_.find(name);
    return found == quantizations_.end() ? nullptr : &found->second;
  }

  // The shapes of all tensors for those of the inputs; the largest there can
  // be, if they are bounded.
  onnxStatus Infer(std::map<std::string, Shape>* shapes) const;
  // Computes from the inputs' memory to the outputs'. False: there is more of
  // a bounded output than `most` says; nothing is written then.
  bool Run(const std::map<std::string, Shape>& shapes,
           const std::map<std::string, const void*>& inputs,
           const std::map<std::string, void*>& outputs,
           const std::map<std::string, Shape>& most) const;

 private:
  // What DequantizeLinear is told.
  onnxStatus ReadQuantization(const Step& step);

  std::vector<Declared> inputs_;
  std::vector<Declared> outputs_;
  std::vector<Declared> values_;  // value_info
  std::vector<Step> steps_;
  std::map<std::string, Weight> weights_;
  std::map<std::string, Quantization> quantizations_;  // of inputs
  std::set<std::string> integers_, bounded_, bytes_;   // tensors
};

}  // namespace onnxifi_reference

#endif  // ONNXIFI_CONFORMANCE_REFERENCE_PROGRAM_H_
