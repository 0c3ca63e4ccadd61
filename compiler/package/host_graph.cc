// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/host_graph.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"

namespace heddle::package {
namespace {

using compiler::Attribute;
using compiler::Graph;
using compiler::Node;
using compiler::Tensor;
using compiler::TensorData;

constexpr size_t kConstantAlign = 64;

size_t AlignConstant(size_t at) {
  return (at + kConstantAlign - 1) / kConstantAlign * kConstantAlign;
}

template <typename... Args>
absl::Status Wrong(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

class Packer {
 public:
  Packer(fb::HostFunctionT* function, std::string* section)
      : function_(function), section_(section) {}

  uint32_t Add(const std::string& name, compiler::DataType type,
               const compiler::Shape& shape, const TensorData* constant) {
    auto entry = std::make_unique<fb::HostTensorT>();
    entry->name = name;
    entry->type = static_cast<int32_t>(type);
    entry->shape = shape;
    entry->constant = constant != nullptr;
    if (constant != nullptr) {
      section_->resize(AlignConstant(section_->size()), '\0');
      section_->append(reinterpret_cast<const char*>(constant->bytes.data()),
                       constant->bytes.size());
    }
    function_->tensors.push_back(std::move(entry));
    return static_cast<uint32_t>(function_->tensors.size() - 1);
  }

  void Add(const Node& node) {
    auto entry = std::make_unique<fb::HostNodeT>();
    entry->op = node.op;
    entry->domain = node.domain;
    entry->name = node.name;
    entry->opset = node.opset;
    entry->inputs = node.inputs;
    entry->outputs = node.outputs;
    for (const auto& [name, value] : node.attributes) {
      entry->attributes.push_back(Pack(name, value));
    }
    function_->nodes.push_back(std::move(entry));
  }

 private:
  std::unique_ptr<fb::HostAttributeT> Pack(const std::string& name,
                                           const Attribute& value) {
    auto entry = std::make_unique<fb::HostAttributeT>();
    entry->name = name;
    entry->kind = static_cast<uint8_t>(value.index());
    if (const auto* i = std::get_if<int64_t>(&value)) entry->int_value = *i;
    if (const auto* f = std::get_if<float>(&value)) entry->float_value = *f;
    if (const auto* s = std::get_if<std::string>(&value)) {
      entry->string_value = *s;
    }
    if (const auto* v = std::get_if<std::vector<int64_t>>(&value)) {
      entry->ints = *v;
    }
    if (const auto* v = std::get_if<std::vector<float>>(&value)) {
      entry->floats = *v;
    }
    if (const auto* v = std::get_if<std::vector<std::string>>(&value)) {
      entry->strings = *v;
    }
    if (const auto* t =
            std::get_if<std::shared_ptr<const TensorData>>(&value)) {
      entry->tensor = Add("", (*t)->type, (*t)->shape, t->get());
    }
    return entry;
  }

  fb::HostFunctionT* const function_;
  std::string* const section_;
};

absl::StatusOr<uint64_t> BytesOf(const fb::HostTensorT& tensor) {
  const uint64_t element =
      compiler::ElementBytes(static_cast<compiler::DataType>(tensor.type));
  if (element == 0) {
    return Wrong("tensor '", tensor.name, "' has type ", tensor.type);
  }
  for (int64_t dimension : tensor.shape) {
    if (dimension < 0) {
      return Wrong("tensor '", tensor.name, "' has dimension ", dimension);
    }
  }
  const auto count =
      static_cast<uint64_t>(compiler::ElementCount(tensor.shape));
  if (count > kMaxHostTensorBytes / element) {
    return Wrong("tensor '", tensor.name, "' has shape ",
                 compiler::ShapeToString(tensor.shape));
  }
  return count * element;
}

absl::StatusOr<Attribute> Unpack(const fb::HostAttributeT& entry,
                                 const Graph& graph) {
  switch (entry.kind) {
    case 0:
      return Attribute(entry.int_value);
    case 1:
      return Attribute(entry.float_value);
    case 2:
      return Attribute(entry.string_value);
    case 3:
      return Attribute(entry.ints);
    case 4:
      return Attribute(entry.floats);
    case 5:
      return Attribute(entry.strings);
    case 6:
      if (entry.tensor < graph.tensors.size() &&
          graph.tensors[entry.tensor].is_constant()) {
        return Attribute(graph.tensors[entry.tensor].constant);
      }
      return Wrong("attribute '", entry.name, "' has tensor ", entry.tensor);
    default:
      return Wrong("attribute '", entry.name, "' has kind ", entry.kind);
  }
}

}  // namespace

std::unique_ptr<fb::HostFunctionT> PackHostGraph(const Graph& graph,
                                                 std::string* section) {
  auto function = std::make_unique<fb::HostFunctionT>();
  Packer packer(function.get(), section);
  for (const Tensor& t : graph.tensors) {
    packer.Add(t.name, t.type, t.shape, t.constant.get());
  }
  function->graph_tensors = static_cast<uint32_t>(graph.tensors.size());
  for (const Node& node : graph.nodes) packer.Add(node);
  function->inputs = graph.inputs;
  function->outputs = graph.outputs;
  return function;
}

absl::StatusOr<Graph> UnpackHostGraph(const fb::HostFunctionT& function,
                                      absl::string_view section) {
  Graph graph;
  size_t at = 0;
  for (const auto& entry : function.tensors) {
    ASSIGN_OR_RETURN(const uint64_t bytes, BytesOf(*entry));
    Tensor tensor;
    tensor.name = entry->name;
    tensor.type = static_cast<compiler::DataType>(entry->type);
    tensor.shape = entry->shape;
    tensor.shape_known = true;
    if (entry->constant) {
      const size_t begin = AlignConstant(at);
      if (begin > section.size() || bytes > section.size() - begin) {
        return Wrong("constant '", tensor.name, "' ends outside its section");
      }
      const absl::string_view gap = section.substr(at, begin - at);
      if (gap.find_first_not_of('\0') != absl::string_view::npos) {
        return Wrong("bytes before constant '", tensor.name, "' are not zero");
      }
      TensorData data;
      data.type = tensor.type;
      data.shape = tensor.shape;
      const absl::string_view raw = section.substr(begin, bytes);
      data.bytes = compiler::TensorBytes::Shared(
          compiler::TensorBytes::Copy(raw.data(), raw.size()));
      tensor.constant = std::make_shared<const TensorData>(std::move(data));
      at = begin + bytes;
    }
    graph.tensors.push_back(std::move(tensor));
  }
  if (at != section.size()) {
    return Wrong(section.size() - at, " bytes follow the last constant");
  }
  for (const auto& entry : function.nodes) {
    Node node;
    node.op = entry->op;
    node.domain = entry->domain;
    node.name = entry->name;
    node.opset = entry->opset;
    node.inputs = entry->inputs;
    node.outputs = entry->outputs;
    for (const auto& attribute : entry->attributes) {
      ASSIGN_OR_RETURN(auto value, Unpack(*attribute, graph));
      if (!node.attributes.emplace(attribute->name, std::move(value)).second) {
        return Wrong(node.Describe(), " has attribute '", attribute->name,
                     "' twice");
      }
    }
    graph.nodes.push_back(std::move(node));
  }
  if (function.graph_tensors > graph.tensors.size()) {
    return Wrong("there are ", graph.tensors.size(), " tensors of ",
                 function.graph_tensors);
  }
  graph.tensors.resize(function.graph_tensors);
  graph.inputs = function.inputs;
  graph.outputs = function.outputs;
  if (const absl::Status s = graph.Verify(); !s.ok()) {
    return Wrong(s.message());
  }
  return graph;
}

}  // namespace heddle::package
