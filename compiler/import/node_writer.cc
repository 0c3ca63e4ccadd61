// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/node_writer.h"

#include "absl/strings/str_cat.h"

namespace heddle::compiler {
namespace {

onnx::AttributeProto* AddAttribute(onnx::NodeProto* node,
                                   const std::string& name,
                                   onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

}  // namespace

void NodeWriter::TakeNames(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) names_.insert(input.name());
  for (const auto& tensor : graph.initializer()) names_.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) {
    names_.insert(tensor.values().name());
  }
  for (const auto& node : graph.node()) {
    names_.insert(node.output().begin(), node.output().end());
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) TakeNames(attribute.g());
    }
  }
}

std::string NodeWriter::NewName(const onnx::NodeProto& of) {
  std::string name;
  do {
    name = absl::StrCat(of.output_size() > 0 ? of.output(0) : "", "/part_",
                        ++made_);
  } while (!names_.insert(name).second);
  return name;
}

std::string NodeWriter::Write(
    const onnx::NodeProto& of, const std::string& op,
    const std::vector<std::string>& inputs, std::string to,
    const std::map<std::string, int64_t>& attributes) {
  if (to.empty()) to = NewName(of);
  onnx::NodeProto* const node = out->Add();
  node->set_op_type(op);
  node->set_name(of.name().empty() ? to : of.name());
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(to);
  for (const auto& [name, value] : attributes) {
    AddAttribute(node, name, onnx::AttributeProto::INT)->set_i(value);
  }
  return to;
}

std::string NodeWriter::WriteInts(const onnx::NodeProto& of,
                                  const std::vector<int64_t>& values, int rank,
                                  const std::string& to) {
  const std::string name = Write(of, "Constant", {}, to);
  onnx::TensorProto* const tensor =
      AddAttribute(&last(), "value", onnx::AttributeProto::TENSOR)->mutable_t();
  tensor->set_data_type(onnx::TensorProto::INT64);
  if (rank == 1) tensor->add_dims(static_cast<int64_t>(values.size()));
  for (int64_t value : values) tensor->add_int64_data(value);
  return name;
}

std::string NodeWriter::WriteUnsqueeze(const onnx::NodeProto& of,
                                       const std::string& x, int64_t axis,
                                       const std::string& to) {
  // Since opset 13 axes are an input.
  if (opset >= 13) {
    return Write(of, "Unsqueeze", {x, WriteInts(of, {axis}, 1)}, to);
  }
  const std::string name = Write(of, "Unsqueeze", {x}, to);
  SetInts("axes", {axis});
  return name;
}

std::string NodeWriter::WriteSlice(const onnx::NodeProto& of,
                                   const std::string& x, int64_t from,
                                   int64_t end, int64_t axis,
                                   const std::string& to) {
  return Write(of, "Slice",
               {x, WriteInts(of, {from}, 1), WriteInts(of, {end}, 1),
                WriteInts(of, {axis}, 1)},
               to);
}

void NodeWriter::SetInts(const std::string& name,
                         const std::vector<int64_t>& values) {
  onnx::AttributeProto* const attribute =
      AddAttribute(&last(), name, onnx::AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

void NodeWriter::SetText(const std::string& name, const std::string& value) {
  AddAttribute(&last(), name, onnx::AttributeProto::STRING)->set_s(value);
}

}  // namespace heddle::compiler
