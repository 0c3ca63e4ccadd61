// SPDX-License-Identifier: Apache-2.0
// What a model states about the quantization of its inputs and outputs, and
// whether a descriptor agrees.
#ifndef HEDDLE_ONNXIFI_QUANTIZATION_H_
#define HEDDLE_ONNXIFI_QUANTIZATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"
#include "onnxifi/descriptor.h"

namespace onnx {
class GraphProto;
}

namespace heddle::onnxifi {

// By the node that reads or writes the tensor as codes (QuantizeLinear,
// DequantizeLinear, QLinearConv, QLinearMatMul, QLinearAdd, QLinearMul).
struct DeclaredQuantization {
  std::string scale, zero_point;  // names of tensors; "": the zero point is 0
  int64_t axis = 0;               // of scales that are more than one
};

// Values of scales and zero points by name.
struct QuantizationModel {
  std::map<std::string, DeclaredQuantization> tensors;
  std::map<std::string, std::vector<double>> values;

  // Weights given by descriptors may be scales and zero points, too.
  void AddValues(const std::map<std::string, compiler::TensorData>& weights);
};

QuantizationModel ReadQuantization(const onnx::GraphProto& graph);

// MISMATCHING_DATATYPE if the descriptor's scales or biases (zero points) are
// not the model's. OK where one of the two says nothing, or the model's values
// are not known. CheckQuantization has passed.
absl::Status CheckAgreement(const QuantizationModel& model,
                            const Descriptor& descriptor,
                            const compiler::Shape& shape);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_QUANTIZATION_H_
