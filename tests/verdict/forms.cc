// SPDX-License-Identifier: Apache-2.0
#include "tests/verdict/forms.h"

#include <onnx/defs/schema.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace heddle::tests {
namespace {

using Values = std::map<std::string, onnx::ValueInfoProto>;
using Tensors = std::map<std::string, onnx::TensorProto>;

Values ValuesOf(const onnx::GraphProto& graph) {
  Values values;
  for (const auto& value : graph.value_info()) values[value.name()] = value;
  for (const auto& value : graph.output()) values[value.name()] = value;
  for (const auto& value : graph.input()) values[value.name()] = value;
  return values;
}

Tensors ConstantsOf(const onnx::GraphProto& graph) {
  Tensors constants;
  for (const auto& tensor : graph.initializer()) {
    constants[tensor.name()] = tensor;
  }
  for (const auto& node : graph.node()) {
    if (node.op_type() != "Constant" || node.output_size() != 1) continue;
    for (const auto& attribute : node.attribute()) {
      if (attribute.name() != "value") continue;
      constants[node.output(0)] = attribute.t();
      constants[node.output(0)].set_name(node.output(0));
    }
  }
  return constants;
}

onnx::ValueInfoProto Declaration(const Values& values,
                                 const std::string& name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  onnx::ValueInfoProto value;
  value.set_name(name);
  return value;
}

template <typename To, typename Field>
std::string Pack(const Field& field) {
  std::string bytes;
  for (const auto& value : field) {
    const To to = static_cast<To>(value);
    bytes.append(reinterpret_cast<const char*>(&to), sizeof(to));
  }
  return bytes;
}

bool HasShape(const onnx::ValueInfoProto& value) {
  return value.type().tensor_type().has_shape();
}

onnx::TensorProto MadeUp(const onnx::ValueInfoProto& input,
                         const onnx::GraphProto& graph) {
  const auto& type = input.type().tensor_type();
  const bool reshapes =
      graph.node_size() == 1 && graph.node(0).op_type() == "Reshape";
  onnx::TensorProto tensor;
  tensor.set_name(input.name());
  tensor.set_data_type(type.elem_type());
  int64_t count = 1;
  for (const auto& dim : type.shape().dim()) {
    tensor.add_dims(dim.has_dim_value() ? dim.dim_value() : 1);
    count *= tensor.dims().Get(tensor.dims_size() - 1);
  }
  const auto& result = graph.output(0).type().tensor_type().shape();
  const bool list =
      type.elem_type() == onnx::TensorProto::INT64 && tensor.dims_size() == 1;
  const auto dimension = [&](int i) -> int64_t {
    if (!list) return 0;
    if (count == result.dim_size() && result.dim(i).dim_value() > 0) {
      return result.dim(i).dim_value();
    }
    return reshapes ? (i == 0 ? -1 : 1) : count == result.dim_size() ? 1 : 0;
  };
  for (int64_t i = 0; i < count; ++i) {
    switch (type.elem_type()) {
      case onnx::TensorProto::FLOAT:
        tensor.add_float_data(1);
        break;
      case onnx::TensorProto::DOUBLE:
        tensor.add_double_data(1);
        break;
      case onnx::TensorProto::FLOAT16:
        tensor.add_int32_data(0x3c00);
        break;
      case onnx::TensorProto::INT64:
        tensor.add_int64_data(dimension(static_cast<int>(i)));
        break;
      case onnx::TensorProto::UINT32:
      case onnx::TensorProto::UINT64:
        tensor.add_uint64_data(0);
        break;
      default:
        tensor.add_int32_data(0);
    }
  }
  return tensor;
}

}  // namespace

std::string BytesOf(const onnx::TensorProto& tensor) {
  if (tensor.has_raw_data()) return tensor.raw_data();
  switch (tensor.data_type()) {
    case onnx::TensorProto::FLOAT:
      return Pack<float>(tensor.float_data());
    case onnx::TensorProto::DOUBLE:
      return Pack<double>(tensor.double_data());
    case onnx::TensorProto::INT64:
      return Pack<int64_t>(tensor.int64_data());
    case onnx::TensorProto::INT32:
      return Pack<int32_t>(tensor.int32_data());
    case onnx::TensorProto::UINT32:
      return Pack<uint32_t>(tensor.uint64_data());
    case onnx::TensorProto::UINT64:
      return Pack<uint64_t>(tensor.uint64_data());
    case onnx::TensorProto::BOOL:
    case onnx::TensorProto::INT8:
    case onnx::TensorProto::UINT8:
      return Pack<uint8_t>(tensor.int32_data());
    default:  // of 16 bits
      return Pack<uint16_t>(tensor.int32_data());
  }
}

onnx::ModelProto WithData(const CorpusModel& model, int dynamic) {
  onnx::ModelProto result = model.model;
  int number = 0;
  for (const auto& input : model.model.graph().input()) {
    if (number++ == dynamic) continue;
    const auto data = model.data.find(input.name());
    if (data == model.data.end()) continue;
    *result.mutable_graph()->add_initializer() = data->second;
  }
  return result;
}

onnx::ModelProto WithoutInitializers(const onnx::ModelProto& model,
                                     std::vector<onnx::TensorProto>* weights) {
  onnx::ModelProto result = model;
  auto* graph = result.mutable_graph();
  weights->assign(graph->initializer().begin(), graph->initializer().end());
  graph->clear_initializer();
  std::set<std::string> declared;
  for (const auto& input : graph->input()) declared.insert(input.name());
  for (const auto& tensor : *weights) {
    if (declared.count(tensor.name()) != 0) continue;
    auto* input = graph->add_input();
    input->set_name(tensor.name());
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    type->mutable_shape();
    for (int64_t dim : tensor.dims()) {
      type->mutable_shape()->add_dim()->set_dim_value(dim);
    }
  }
  return result;
}

std::vector<std::vector<onnx::TensorProto>> WeightChoices(
    const onnx::ModelProto& model, const std::vector<onnx::TensorProto>& known,
    int most) {
  const auto& graph = model.graph();
  std::map<std::string, onnx::TensorProto> values;
  for (const auto& tensor : known) values[tensor.name()] = tensor;
  std::vector<std::vector<onnx::TensorProto>> choices;
  if (!known.empty() && static_cast<int>(known.size()) < graph.input_size()) {
    choices.push_back(known);
  }
  if (graph.input_size() < 2 || graph.output_size() == 0) return choices;
  for (int dynamic = 0; dynamic < std::min(graph.input_size(), most);
       ++dynamic) {
    std::vector<onnx::TensorProto> choice;
    bool whole = true;
    for (int i = 0; i < graph.input_size(); ++i) {
      if (i == dynamic) continue;
      const auto found = values.find(graph.input(i).name());
      whole = whole && (found != values.end() || HasShape(graph.input(i)));
      choice.push_back(found != values.end() ? found->second
                                             : MadeUp(graph.input(i), graph));
    }
    if (whole) choices.push_back(std::move(choice));
  }
  return choices;
}

onnx::ModelProto Inferred(const onnx::ModelProto& model) {
  onnx::ModelProto inferred = model;
  try {
    onnx::shape_inference::InferShapes(
        inferred, onnx::OpSchemaRegistry::Instance(),
        onnx::ShapeInferenceOptions(false, 0, true));
  } catch (const std::exception&) {
    return model;
  }
  return inferred;
}

std::string Anonymous(const onnx::ModelProto& model) {
  onnx::ModelProto copy = model;
  auto* graph = copy.mutable_graph();
  std::map<std::string, std::string> names;
  const auto rename = [&names](std::string* name) {
    if (name->empty()) return;
    *name = names.emplace(*name, std::to_string(names.size())).first->second;
  };
  for (auto& value : *graph->mutable_input()) rename(value.mutable_name());
  for (auto& tensor : *graph->mutable_initializer()) {
    rename(tensor.mutable_name());
  }
  for (auto& node : *graph->mutable_node()) {
    node.clear_name();
    node.clear_doc_string();
    for (std::string& name : *node.mutable_input()) rename(&name);
    for (std::string& name : *node.mutable_output()) rename(&name);
  }
  for (auto& value : *graph->mutable_output()) rename(value.mutable_name());
  return copy.SerializeAsString();
}

Parts::Parts(onnx::ModelProto model)
    : model_(std::move(model)),
      values_(ValuesOf(model_.graph())),
      constants_(ConstantsOf(model_.graph())) {}

onnx::ModelProto Parts::Of(const std::vector<int>& nodes) const {
  onnx::ModelProto part;
  part.set_ir_version(model_.ir_version());
  *part.mutable_opset_import() = model_.opset_import();
  *part.mutable_functions() = model_.functions();
  auto* graph = part.mutable_graph();
  graph->set_name("part");
  std::set<std::string> seen, made;
  for (int i : nodes) {
    const auto& node = model_.graph().node(i);
    for (const std::string& name : node.input()) {
      if (name.empty() || made.count(name) != 0 || !seen.insert(name).second) {
        continue;
      }
      const auto constant = constants_.find(name);
      if (constant != constants_.end()) {
        *graph->add_initializer() = constant->second;
      } else {
        *graph->add_input() = Declaration(values_, name);
      }
    }
    made.insert(node.output().begin(), node.output().end());
    *graph->add_node() = node;
  }
  // What is computed for others, or for nobody, goes out.
  std::set<std::string> read_outside, read_inside;
  for (const auto& node : graph->node()) {
    read_inside.insert(node.input().begin(), node.input().end());
  }
  for (int i = 0; i < model_.graph().node_size(); ++i) {
    if (std::count(nodes.begin(), nodes.end(), i) != 0) continue;
    const auto& node = model_.graph().node(i);
    read_outside.insert(node.input().begin(), node.input().end());
  }
  for (const auto& output : model_.graph().output()) {
    read_outside.insert(output.name());
  }
  for (int i : nodes) {
    for (const std::string& name : model_.graph().node(i).output()) {
      if (!name.empty() &&
          (read_outside.count(name) != 0 || read_inside.count(name) == 0)) {
        *graph->add_output() = Declaration(values_, name);
      }
    }
  }
  return part;
}

}  // namespace heddle::tests
