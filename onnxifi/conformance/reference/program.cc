// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/reference/program.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <set>
#include <utility>

namespace onnxifi_reference {
namespace {

constexpr uint64_t kMaxElements = uint64_t{1} << 32;

// The value's type and shape. Weights may lack them, others may not.
onnxStatus Read(const onnx::ValueInfoProto& info, Declared* declared,
                int* type) {
  if (info.name().empty() || !info.type().has_tensor_type()) {
    return ONNXIFI_STATUS_INVALID_MODEL;
  }
  const auto& tensor = info.type().tensor_type();
  declared->name = info.name();
  *type = tensor.elem_type();
  if (*type <= 0 || *type > 16) return ONNXIFI_STATUS_INVALID_MODEL;
  if (!tensor.has_shape()) return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
  for (const auto& dim : tensor.shape().dim()) {
    Dimension dimension;
    if (dim.has_dim_param()) {
      dimension.name = dim.dim_param();
    } else if (dim.dim_value() < 0) {
      return ONNXIFI_STATUS_INVALID_MODEL;
    } else {
      dimension.value = static_cast<uint64_t>(dim.dim_value());
    }
    if (dimension.name.empty() && dimension.value == 0) {
      return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
    }
    declared->shape.push_back(dimension);
  }
  if (declared->shape.size() > kMaxRank)
    return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
  return ONNXIFI_STATUS_SUCCESS;
}

uint64_t Elements(const Shape& shape) {
  uint64_t elements = 1;
  for (uint64_t dim : shape) {
    if (dim > kMaxElements || elements * dim > kMaxElements) {
      return kMaxElements + 1;
    }
    elements *= dim;
  }
  return elements;
}

// numpy's rule.
bool Broadcast(const Shape& a, const Shape& b, Shape* out) {
  out->assign(std::max(a.size(), b.size()), 1);
  for (size_t i = 0; i < out->size(); ++i) {
    const uint64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const uint64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    (*out)[out->size() - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

onnxStatus ReadInitializer(const onnx::TensorProto& proto, Weight* weight) {
  for (int64_t dim : proto.dims()) {
    if (dim < 0) return ONNXIFI_STATUS_INVALID_MODEL;
    if (dim == 0) return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
    weight->shape.push_back(static_cast<uint64_t>(dim));
  }
  const uint64_t elements = Elements(weight->shape);
  if (proto.data_type() == onnx::TensorProto::UINT8) {
    weight->byte = true;
    if (proto.has_raw_data()) {
      for (char c : proto.raw_data()) {
        weight->data.push_back(static_cast<uint8_t>(c));
      }
    } else {
      weight->data.assign(proto.int32_data().begin(), proto.int32_data().end());
    }
    return weight->data.size() == elements ? ONNXIFI_STATUS_SUCCESS
                                           : ONNXIFI_STATUS_INVALID_MODEL;
  }
  if (proto.data_type() != onnx::TensorProto::FLOAT) {
    return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
  }
  if (proto.has_raw_data()) {
    if (proto.raw_data().size() != elements * sizeof(float)) {
      return ONNXIFI_STATUS_INVALID_MODEL;
    }
    weight->data.resize(elements);
    std::memcpy(weight->data.data(), proto.raw_data().data(),
                proto.raw_data().size());
  } else {
    weight->data.assign(proto.float_data().begin(), proto.float_data().end());
    if (weight->data.size() != elements) return ONNXIFI_STATUS_INVALID_MODEL;
  }
  return ONNXIFI_STATUS_SUCCESS;
}

// The shape of a declaration with all names for one value.
Shape With(const std::vector<Dimension>& dims, uint64_t value) {
  Shape shape;
  for (const Dimension& d : dims) {
    shape.push_back(d.name.empty() ? d.value : value);
  }
  return shape;
}

}  // namespace

onnxStatus Program::Load(const void* model, size_t size,
                         std::map<std::string, Weight> weights) {
  onnx::ModelProto proto;
  if (size > INT_MAX || !proto.ParseFromArray(model, static_cast<int>(size))) {
    return ONNXIFI_STATUS_INVALID_PROTOBUF;
  }
  if (!proto.has_ir_version() || !proto.has_graph()) {
    return ONNXIFI_STATUS_INVALID_MODEL;
  }
  if (proto.ir_version() < kMinIr || proto.ir_version() > kMaxIr) {
    return ONNXIFI_STATUS_UNSUPPORTED_VERSION;
  }
  bool has_opset = false;
  int64_t version = 0;
  for (const auto& opset : proto.opset_import()) {
    if (!opset.domain().empty() && opset.domain() != "ai.onnx") continue;
    has_opset = true;
    version = opset.version();
    if (opset.version() < 1 || opset.version() > kMaxOpset) {
      return ONNXIFI_STATUS_UNSUPPORTED_VERSION;
    }
  }
  const onnx::GraphProto& graph = proto.graph();
  if (proto.opset_import().empty() || graph.node().empty()) {
    return ONNXIFI_STATUS_INVALID_MODEL;
  }

  // Inputs and weights.
  if (!weights.empty() && !graph.initializer().empty()) {
    return ONNXIFI_STATUS_INVALID_MODEL;
  }
  for (const onnx::TensorProto& initializer : graph.initializer()) {
    Weight weight;
    const onnxStatus status = ReadInitializer(initializer, &weight);
    if (status != ONNXIFI_STATUS_SUCCESS) return status;
    if (!weights.insert({initializer.name(), std::move(weight)}).second) {
      return ONNXIFI_STATUS_INVALID_MODEL;
    }
  }
  std::set<std::string> known;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    Declared declared;
    int type = 0;
    const onnxStatus status = Read(input, &declared, &type);
    if (status != ONNXIFI_STATUS_SUCCESS) return status;
    if (!known.insert(declared.name).second)
      return ONNXIFI_STATUS_INVALID_MODEL;
    declared.byte = type == onnx::TensorProto::UINT8;
    if (type != onnx::TensorProto::FLOAT && !declared.byte) {
      return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
    }
    const auto weight = weights.find(declared.name);
    if (weight != weights.end() && weight->second.byte != declared.byte) {
      return ONNXIFI_STATUS_MISMATCHING_DATATYPE;
    }
    if (declared.byte) bytes_.insert(declared.name);
    if (weight == weights.end()) {
      inputs_.push_back(std::move(declared));
    } else if (With(declared.shape, 1) != weight->second.shape) {
      return ONNXIFI_STATUS_MISMATCHING_SHAPE;
    }
  }
  for (const auto& weight : weights) {
    if (known.count(weight.first) != 0) continue;
    if (graph.initializer().empty()) return ONNXIFI_STATUS_INVALID_NAME;
    if (proto.ir_version() < 4) return ONNXIFI_STATUS_INVALID_MODEL;
    known.insert(weight.first);
    if (weight.second.byte) bytes_.insert(weight.first);
  }
  weights_ = std::move(weights);

  // Nodes.
  onnxStatus verdict = ONNXIFI_STATUS_SUCCESS;
  for (const onnx::NodeProto& node : graph.node()) {
    const bool own = node.domain().empty() || node.domain() == "ai.onnx";
    const std::string& op = node.op_type();
    const bool finds = op == "NonZero", measures = op == "Shape";
    const bool dequantizes = op == "DequantizeLinear" && version >= 13;
    if (!own || (op != "Add" && op != "Relu" && op != "MatMul" && !finds &&
                 !measures && !dequantizes)) {
      return ONNXIFI_STATUS_UNSUPPORTED_OPERATOR;
    }
    if (!has_opset) return ONNXIFI_STATUS_INVALID_MODEL;
    Step step;
    step.op = op;
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!dequantizes || attribute.name() != "axis") {
        return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
      }
      step.axis = attribute.i();
    }
    const bool of_one = op == "Relu" || finds || measures;
    if (node.input_size() != (of_one        ? 1
                              : dequantizes ? 3
                                            : 2) ||
        node.output_size() != 1) {
      return ONNXIFI_STATUS_INVALID_MODEL;
    }
    for (const std::string& input : node.input()) {
      if (known.count(input) == 0) return ONNXIFI_STATUS_INVALID_MODEL;
      if (integers_.count(input) != 0 && !measures) {
        return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
      }
      if (bytes_.count(input) != 0 && !dequantizes) {
        return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
      }
      step.inputs.push_back(input);
    }
    if (dequantizes) {
      const onnxStatus status = ReadQuantization(step);
      if (status != ONNXIFI_STATUS_SUCCESS) return status;
    }
    step.output = node.output(0);
    if (!known.insert(step.output).second) return ONNXIFI_STATUS_INVALID_MODEL;
    if (finds || measures) integers_.insert(step.output);
    if (finds) bounded_.insert(step.output);
    if (op == "MatMul") verdict = ONNXIFI_STATUS_FALLBACK;
    steps_.push_back(std::move(step));
  }

  // What is declared of results.
  for (const auto* list : {&graph.output(), &graph.value_info()}) {
    for (const onnx::ValueInfoProto& value : *list) {
      Declared declared;
      int type = onnx::TensorProto::FLOAT;
      onnxStatus status = ONNXIFI_STATUS_SUCCESS;
      if (list == &graph.output() && !value.has_type()) {
        // Some exporters leave it out; it is what follows from the inputs.
        declared.name = value.name();
        declared.open = true;
      } else {
        status = Read(value, &declared, &type);
      }
      if (status != ONNXIFI_STATUS_SUCCESS) return status;
      if (known.count(declared.name) == 0) return ONNXIFI_STATUS_INVALID_MODEL;
      if (bytes_.count(declared.name) != 0) {
        return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
      }
      declared.integer = integers_.count(declared.name) != 0;
      if (!declared.open &&
          type != (declared.integer ? onnx::TensorProto::INT64
                                    : onnx::TensorProto::FLOAT)) {
        return ONNXIFI_STATUS_MISMATCHING_DATATYPE;
      }
      (list == &graph.output() ? outputs_ : values_)
          .push_back(std::move(declared));
    }
  }
  if (outputs_.empty()) return ONNXIFI_STATUS_INVALID_MODEL;

  // Shapes, with two values for names: what differs depends on them, and is
  // left to onnxSetGraphIO.
  std::map<std::string, Shape> shapes[2];
  onnxStatus inferred[2];
  bool symbolic = false;
  for (int i = 0; i < 2; ++i) {
    for (const Declared& input : inputs_) {
      shapes[i][input.name] = With(input.shape, i == 0 ? 1 : 7);
      for (const Dimension& d : input.shape) symbolic |= !d.name.empty();
    }
    inferred[i] = Infer(&shapes[i]);
  }
  if (!symbolic && inferred[0] != ONNXIFI_STATUS_SUCCESS) return inferred[0];
  if (inferred[0] != ONNXIFI_STATUS_SUCCESS ||
      inferred[1] != ONNXIFI_STATUS_SUCCESS) {
    return verdict;
  }
  for (auto* list : {&outputs_, &values_}) {
    for (Declared& declared : *list) {
      const Shape& one = shapes[0][declared.name];
      const Shape& seven = shapes[1][declared.name];
      if (declared.open) {
        declared.shape.resize(one.size());
        for (size_t i = 0; i < one.size(); ++i) {
          declared.shape[i].value = one[i];
          // A name of its own: any value that onnxSetGraphIO infers.
          if (one[i] != seven[i]) {
            declared.shape[i].name = declared.name + "." + std::to_string(i);
          }
        }
      }
      if (one.size() != declared.shape.size()) {
        return ONNXIFI_STATUS_MISMATCHING_SHAPE;
      }
      for (size_t i = 0; i < one.size(); ++i) {
        if (declared.shape[i].name.empty() && one[i] == seven[i] &&
            one[i] != declared.shape[i].value) {
          return ONNXIFI_STATUS_MISMATCHING_SHAPE;
        }
      }
    }
  }
  return verdict;
}

onnxStatus Program::ReadQuantization(const Step& step) {
  const auto scales = weights_.find(step.inputs[1]);
  const auto zeros = weights_.find(step.inputs[2]);
  if (bytes_.count(step.inputs[0]) == 0 || scales == weights_.end() ||
      zeros == weights_.end() || scales->second.byte || !zeros->second.byte) {
    return ONNXIFI_STATUS_UNSUPPORTED_DATATYPE;
  }
  const Shape& shape = scales->second.shape;
  if (zeros->second.shape != shape || step.axis < 0 || shape.size() > 1) {
    return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
  }
  quantizations_[step.inputs[0]] = {static_cast<size_t>(step.axis),
                                    scales->second.data, zeros->second.data};
  return ONNXIFI_STATUS_SUCCESS;
}

uint64_t Program::weight_bytes() const {
  uint64_t bytes = 0;
  for (const auto& weight : weights_) {
    bytes += weight.second.data.size() * sizeof(float);
  }
  return bytes;
}

onnxStatus Program::Infer(std::map<std::string, Shape>* shapes) const {
  for (const auto& weight : weights_) {
    (*shapes)[weight.first] = weight.second.shape;
  }
  for (const Step& step : steps_) {
    const Shape& a = (*shapes)[step.inputs[0]];
    Shape out = a;
    if (step.op == "Add" && !Broadcast(a, (*shapes)[step.inputs[1]], &out)) {
      return ONNXIFI_STATUS_INVALID_MODEL;
    }
    if (step.op == "DequantizeLinear") {
      const Quantization& q = quantizations_.at(step.inputs[0]);
      if (q.scales.size() > 1 &&
          (q.axis >= a.size() || a[q.axis] != q.scales.size())) {
        return ONNXIFI_STATUS_INVALID_MODEL;
      }
    }
    if (step.op == "NonZero") out = {a.size(), Elements(a)};
    if (step.op == "Shape") out = {a.size()};
    if (step.op == "MatMul") {
      const Shape& b = (*shapes)[step.inputs[1]];
      if (a.size() != 2 || b.size() != 2) {
        return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
      }
      if (a[1] != b[0]) return ONNXIFI_STATUS_INVALID_MODEL;
      out = {a[0], b[1]};
    }
    if (Elements(out) > kMaxElements) return ONNXIFI_STATUS_UNSUPPORTED_SHAPE;
    (*shapes)[step.output] = out;
  }
  return ONNXIFI_STATUS_SUCCESS;
}

bool Program::Run(const std::map<std::string, Shape>& shapes,
                  const std::map<std::string, const void*>& inputs,
                  const std::map<std::string, void*>& outputs,
                  const std::map<std::string, Shape>& most) const {
  // Memory of callers has no alignment, so everything is copied.
  std::map<std::string, std::vector<float>> values;
  std::map<std::string, Shape> found;  // of bounded tensors
  for (const auto& input : inputs) {
    std::vector<float>& to = values[input.first];
    to.resize(Elements(shapes.at(input.first)));
    if (bytes_.count(input.first) != 0) {
      const auto* from = static_cast<const uint8_t*>(input.second);
      std::copy(from, from + to.size(), to.begin());
      continue;
    }
    std::memcpy(to.data(), input.second, to.size() * sizeof(float));
  }
  const auto value = [&](const std::string& name) -> const std::vector<float>& {
    const auto weight = weights_.find(name);
    return weight == weights_.end() ? values[name] : weight->second.data;
  };
  for (const Step& step : steps_) {
    const std::vector<float>& a = value(step.inputs[0]);
    const Shape& shape = shapes.at(step.output);
    std::vector<float> out(Elements(shape));
    if (step.op == "Relu") {
      for (size_t i = 0; i < out.size(); ++i) out[i] = a[i] < 0 ? 0 : a[i];
    } else if (step.op == "DequantizeLinear") {
      const Quantization& q = quantizations_.at(step.inputs[0]);
      uint64_t stride = 1;  // of the axis
      for (size_t d = q.axis + 1; d < shape.size(); ++d) stride *= shape[d];
      for (uint64_t i = 0; i < out.size(); ++i) {
        const uint64_t k = q.scales.size() > 1 ? i / stride % shape[q.axis] : 0;
        out[i] = (a[i] - q.zeros[k]) * q.scales[k];
      }
    } else if (step.op == "NonZero") {
      const Shape& of = shapes.at(step.inputs[0]);
      std::vector<std::vector<float>> rows(of.size());
      for (uint64_t i = 0; i < a.size(); ++i) {
        if (a[i] == 0) continue;
        uint64_t rest = i;
        for (size_t d = of.size(); d-- > 0; rest /= of[d]) {
          rows[d].push_back(static_cast<float>(rest % of[d]));
        }
      }
      out.clear();
      for (const auto& row : rows)
        out.insert(out.end(), row.begin(), row.end());
      found[step.output] = {rows.size(), rows.empty() ? 0 : rows[0].size()};
    } else if (step.op == "Shape") {
      const auto actual = found.find(step.inputs[0]);
      const Shape& of =
          actual != found.end() ? actual->second : shapes.at(step.inputs[0]);
      for (size_t d = 0; d < of.size(); ++d) out[d] = static_cast<float>(of[d]);
    } else if (step.op == "MatMul") {
      const std::vector<float>& b = value(step.inputs[1]);
      const uint64_t inner = shapes.at(step.inputs[0])[1];
      for (uint64_t r = 0; r < shape[0]; ++r) {
        for (uint64_t c = 0; c < shape[1]; ++c) {
          float sum = 0;
          for (uint64_t k = 0; k < inner; ++k) {
            sum += a[r * inner + k] * b[k * shape[1] + c];
          }
          out[r * shape[1] + c] = sum;
        }
      }
    } else {
      const std::vector<float>& b = value(step.inputs[1]);
      // Where element i of the result is in an operand.
      const auto at = [&](const Shape& of, uint64_t i) {
        uint64_t index = 0, stride = 1;
        for (size_t d = 0; d < shape.size(); ++d) {
          const uint64_t dim = shape[shape.size() - 1 - d];
          if (d < of.size()) {
            const uint64_t own = of[of.size() - 1 - d];
            index += (own == 1 ? 0 : i % dim) * stride;
            stride *= own;
          }
          i /= dim;
        }
        return index;
      };
      const Shape& sa = shapes.at(step.inputs[0]);
      const Shape& sb = shapes.at(step.inputs[1]);
      for (uint64_t i = 0; i < out.size(); ++i) {
        out[i] = sa == sb ? a[i] + b[i] : a[at(sa, i)] + b[at(sb, i)];
      }
    }
    values[step.output] = std::move(out);
  }
  for (const auto& limit : most) {
    if (found.at(limit.first)[1] > limit.second[1]) return false;
  }
  for (const auto& output : outputs) {
    const std::vector<float>& from = value(output.first);
    if (integers_.count(output.first) != 0) {
      const std::vector<int64_t> whole(from.begin(), from.end());
      if (whole.empty()) continue;
      std::memcpy(output.second, whole.data(), whole.size() * sizeof(int64_t));
      continue;
    }
    std::memcpy(output.second, from.data(), from.size() * sizeof(float));
  }
  return true;
}

}  // namespace onnxifi_reference
