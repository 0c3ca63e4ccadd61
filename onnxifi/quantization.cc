// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/quantization.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

using compiler::DataType;

// Which operands of a node are codes, and where their scales stand; the zero
// point is behind the scale. Index -1: output 0.
struct Codes {
  int tensor, scale;
};

std::vector<Codes> CodesOf(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (op == "QuantizeLinear") return {{-1, 1}};
  if (op == "DequantizeLinear") return {{0, 1}};
  if (op == "QLinearConv" || op == "QLinearMatMul" || op == "QLinearAdd" ||
      op == "QLinearMul") {
    return {{0, 1}, {3, 4}, {-1, 6}};
  }
  return {};
}

int64_t AxisOf(const onnx::NodeProto& node) {
  if (node.op_type() == "QLinearConv") return 0;
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "axis") return attribute.i();
  }
  return 1;
}

template <typename T>
std::vector<double> Values(const uint8_t* bytes, size_t size) {
  std::vector<double> values;
  for (size_t i = 0; i + sizeof(T) <= size; i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes + i, sizeof(T));
    values.push_back(value);
  }
  return values;
}

std::vector<double> ValuesOf(int type, const uint8_t* bytes, size_t size) {
  switch (type) {
    case onnx::TensorProto::FLOAT:
      return Values<float>(bytes, size);
    case onnx::TensorProto::UINT8:
      return Values<uint8_t>(bytes, size);
    case onnx::TensorProto::INT8:
      return Values<int8_t>(bytes, size);
    case onnx::TensorProto::INT32:
      return Values<int32_t>(bytes, size);
    default:
      return {};
  }
}

std::vector<double> ValuesOf(const onnx::TensorProto& tensor) {
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    return ValuesOf(tensor.data_type(),
                    reinterpret_cast<const uint8_t*>(raw.data()), raw.size());
  }
  if (tensor.data_type() == onnx::TensorProto::FLOAT) {
    return {tensor.float_data().begin(), tensor.float_data().end()};
  }
  return {tensor.int32_data().begin(), tensor.int32_data().end()};
}

}  // namespace

void QuantizationModel::AddValues(
    const std::map<std::string, compiler::TensorData>& weights) {
  for (const auto& [name, quantization] : tensors) {
    for (const std::string& parameter :
         {quantization.scale, quantization.zero_point}) {
      const auto weight = weights.find(parameter);
      if (weight == weights.end()) continue;
      values[parameter] =
          ValuesOf(static_cast<int>(weight->second.type),
                   weight->second.bytes.data(), weight->second.bytes.size());
    }
  }
}

QuantizationModel ReadQuantization(const onnx::GraphProto& graph) {
  std::set<std::string> outside;
  for (const auto& value : graph.input()) outside.insert(value.name());
  for (const auto& value : graph.output()) outside.insert(value.name());
  QuantizationModel model;
  std::set<std::string> parameters;
  for (const auto& node : graph.node()) {
    for (const Codes& codes : CodesOf(node)) {
      if (codes.scale >= node.input_size() ||
          codes.tensor >= node.input_size() || node.output_size() == 0) {
        continue;
      }
      const std::string& name =
          codes.tensor < 0 ? node.output(0) : node.input(codes.tensor);
      if (outside.count(name) == 0) continue;
      DeclaredQuantization declared;
      declared.scale = node.input(codes.scale);
      if (codes.scale + 1 < node.input_size()) {
        declared.zero_point = node.input(codes.scale + 1);
      }
      declared.axis = AxisOf(node);
      parameters.insert(declared.scale);
      parameters.insert(declared.zero_point);
      model.tensors.emplace(name, std::move(declared));
    }
  }
  for (const auto& tensor : graph.initializer()) {
    if (parameters.count(tensor.name()) == 0) continue;
    model.values[tensor.name()] = ValuesOf(tensor);
  }
  return model;
}

absl::Status CheckAgreement(const QuantizationModel& model,
                            const Descriptor& descriptor,
                            const compiler::Shape& shape) {
  const uint64_t params = descriptor.quantization_params;
  const auto declared = model.tensors.find(descriptor.name);
  if (params == 0 || declared == model.tensors.end()) return absl::OkStatus();
  const DeclaredQuantization& quantization = declared->second;
  const auto scales = model.values.find(quantization.scale);
  if (scales == model.values.end() || scales->second.empty()) {
    return absl::OkStatus();
  }
  const auto zeros = model.values.find(quantization.zero_point);
  const bool zeros_known =
      quantization.zero_point.empty() ||
      (zeros != model.values.end() && !zeros->second.empty());
  const auto disagree = [&](absl::string_view what, uint64_t i,
                            double model_has, double descriptor_has) {
    return Fail(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                absl::StrCat("'", descriptor.name, "': ", what, " ", i, " is ",
                             model_has, " in the model and ", descriptor_has,
                             " in its descriptor"));
  };
  const int64_t axis = quantization.axis < 0
                           ? quantization.axis + int64_t(shape.size())
                           : quantization.axis;
  const uint64_t in_model = scales->second.size();
  const uint64_t elements = std::max(in_model, params);
  if (in_model > 1 && params > 1 &&
      (axis != descriptor.quantization_axis || in_model % params != 0)) {
    return Fail(
        ONNXIFI_STATUS_MISMATCHING_DATATYPE,
        absl::StrCat("'", descriptor.name, "' has ", in_model,
                     " scales along axis ", axis, " in the model, and ", params,
                     " along axis ", descriptor.quantization_axis,
                     " in its descriptor"));
  }
  for (uint64_t i = 0; i < elements; ++i) {
    const uint64_t m = in_model == 1 ? 0 : i;
    const uint64_t d = i * params / elements;
    if (static_cast<float>(scales->second[m]) != descriptor.scales[d]) {
      return disagree("scale", i, scales->second[m], descriptor.scales[d]);
    }
    if (!zeros_known) continue;
    const double zero =
        quantization.zero_point.empty()
            ? 0
            : zeros->second[std::min<uint64_t>(m, zeros->second.size() - 1)];
    if (zero != descriptor.biases[d]) {
      return disagree("zero point", i, zero, descriptor.biases[d]);
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::onnxifi
