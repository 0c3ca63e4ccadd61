// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/graph.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace heddle::compiler {

size_t ElementBytes(DataType type) {
  switch (type) {
    case DataType::kUint8:
    case DataType::kInt8:
    case DataType::kBool:
    case DataType::kFloat8E4M3Fn:
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
    case DataType::kUint4:
    case DataType::kInt4:
    case DataType::kFloat4E2M1:
      return 1;
    case DataType::kUint16:
    case DataType::kInt16:
    case DataType::kFloat16:
    case DataType::kBfloat16:
      return 2;
    case DataType::kFloat:
    case DataType::kInt32:
    case DataType::kUint32:
      return 4;
    case DataType::kInt64:
    case DataType::kDouble:
    case DataType::kUint64:
    case DataType::kComplex64:
      return 8;
    case DataType::kComplex128:
      return 16;
    case DataType::kUndefined:
    case DataType::kString:
      return 0;
  }
  return 0;
}

const char* DataTypeName(DataType type) {
  switch (type) {
    case DataType::kUndefined:
      return "undefined";
    case DataType::kFloat:
      return "float";
    case DataType::kUint8:
      return "uint8";
    case DataType::kInt8:
      return "int8";
    case DataType::kUint16:
      return "uint16";
    case DataType::kInt16:
      return "int16";
    case DataType::kInt32:
      return "int32";
    case DataType::kInt64:
      return "int64";
    case DataType::kString:
      return "string";
    case DataType::kBool:
      return "bool";
    case DataType::kFloat16:
      return "float16";
    case DataType::kDouble:
      return "double";
    case DataType::kUint32:
      return "uint32";
    case DataType::kUint64:
      return "uint64";
    case DataType::kComplex64:
      return "complex64";
    case DataType::kComplex128:
      return "complex128";
    case DataType::kBfloat16:
      return "bfloat16";
    case DataType::kFloat8E4M3Fn:
      return "float8e4m3fn";
    case DataType::kFloat8E4M3FnUz:
      return "float8e4m3fnuz";
    case DataType::kFloat8E5M2:
      return "float8e5m2";
    case DataType::kFloat8E5M2FnUz:
      return "float8e5m2fnuz";
    case DataType::kUint4:
      return "uint4";
    case DataType::kInt4:
      return "int4";
    case DataType::kFloat4E2M1:
      return "float4e2m1";
  }
  return "unknown";
}

int64_t ElementCount(const Shape& shape) {
  // A zero anywhere makes the tensor empty, whatever the other factors are.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t count = 1;
  for (int64_t dimension : shape) {
    if (__builtin_mul_overflow(count, dimension, &count)) {
      return std::numeric_limits<int64_t>::max();
    }
  }
  return count;
}

std::string ShapeToString(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ","), "]");
}

TensorData TensorData::Zeros(DataType type, Shape shape) {
  TensorData data;
  data.type = type;
  data.bytes.resize(static_cast<size_t>(ElementCount(shape)) *
                    ElementBytes(type));
  data.shape = std::move(shape);
  return data;
}

namespace {

template <typename T>
const T* FindAttribute(const Node& node, const std::string& name) {
  auto it = node.attributes.find(name);
  return it == node.attributes.end() ? nullptr : std::get_if<T>(&it->second);
}

}  // namespace

int64_t Node::IntAttribute(const std::string& name, int64_t fallback) const {
  const auto* value = FindAttribute<int64_t>(*this, name);
  return value ? *value : fallback;
}

float Node::FloatAttribute(const std::string& name, float fallback) const {
  const auto* value = FindAttribute<float>(*this, name);
  return value ? *value : fallback;
}

std::string Node::StringAttribute(const std::string& name,
                                  std::string fallback) const {
  const auto* value = FindAttribute<std::string>(*this, name);
  return value ? *value : fallback;
}

std::vector<int64_t> Node::IntsAttribute(const std::string& name,
                                         std::vector<int64_t> fallback) const {
  const auto* value = FindAttribute<std::vector<int64_t>>(*this, name);
  return value ? *value : fallback;
}

std::string Node::Describe() const {
  // Names come from the model: a hostile one must not forge a line of a log.
  const auto safe = [](const std::string& text) {
    constexpr size_t kLongest = 200;
    return absl::StrCat(absl::Utf8SafeCHexEscape(text.substr(0, kLongest)),
                        text.size() > kLongest ? "..." : "");
  };
  return absl::StrCat(domain.empty() ? "" : absl::StrCat(safe(domain), "."),
                      safe(op), " '", safe(name), "'");
}

TensorId Graph::AddTensor(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size() - 1);
}

TensorId Graph::AddConstant(std::string name, TensorData data) {
  Tensor tensor;
  tensor.name = std::move(name);
  tensor.type = data.type;
  tensor.shape = data.shape;
  tensor.shape_known = true;
  tensor.constant = std::make_shared<const TensorData>(std::move(data));
  return AddTensor(std::move(tensor));
}

TensorId Graph::AddTemporary(const std::string& hint, DataType type,
                             Shape shape) {
  Tensor tensor;
  tensor.name = hint;
  if (FindTensor(hint) != kNoTensor) {
    std::unordered_set<std::string> taken;
    for (const Tensor& other : tensors) taken.insert(other.name);
    for (int suffix = 1; taken.count(tensor.name) != 0; ++suffix) {
      tensor.name = absl::StrCat(hint, "_", suffix);
    }
  }
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.shape_known = true;
  return AddTensor(std::move(tensor));
}

TensorId Graph::FindTensor(const std::string& name) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return static_cast<TensorId>(i);
  }
  return kNoTensor;
}

std::vector<std::vector<int>> Graph::Consumers() const {
  std::vector<std::vector<int>> consumers(tensors.size());
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (TensorId id : nodes[n].inputs) {
      // One entry per reading node, also when it reads a tensor twice.
      if (id != kNoTensor && (consumers[id].empty() ||
                              consumers[id].back() != static_cast<int>(n))) {
        consumers[id].push_back(static_cast<int>(n));
      }
    }
  }
  return consumers;
}

std::vector<int> Graph::Producers() const {
  std::vector<int> producers(tensors.size(), -1);
  for (size_t n = 0; n < nodes.size(); ++n) {
    for (TensorId id : nodes[n].outputs) {
      if (id != kNoTensor) producers[id] = static_cast<int>(n);
    }
  }
  return producers;
}

bool Graph::IsOutput(TensorId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end();
}

void Graph::RemoveDeadNodes() {
  std::vector<bool> needed(tensors.size(), false);
  for (TensorId id : outputs) needed[id] = true;
  std::vector<bool> keep(nodes.size(), false);
  for (size_t n = nodes.size(); n-- > 0;) {
    for (TensorId id : nodes[n].outputs) {
      if (id != kNoTensor && needed[id]) keep[n] = true;
    }
    if (!keep[n]) continue;
    for (TensorId id : nodes[n].inputs) {
      if (id != kNoTensor) needed[id] = true;
    }
  }
  size_t kept = 0;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!keep[n]) continue;
    if (kept != n) nodes[kept] = std::move(nodes[n]);
    ++kept;
  }
  nodes.resize(kept);
}

absl::Status Graph::Verify() const {
  const auto valid = [this](TensorId id) {
    return id >= 0 && static_cast<size_t>(id) < tensors.size();
  };
  std::vector<bool> available(tensors.size(), false);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (!tensor.is_constant()) continue;
    available[i] = true;
    const TensorData& data = *tensor.constant;
    if (data.type != tensor.type || data.shape != tensor.shape ||
        !tensor.shape_known ||
        data.bytes.size() != static_cast<size_t>(ElementCount(data.shape)) *
                                 ElementBytes(data.type)) {
      return absl::InternalError(absl::StrCat(
          "constant '", tensor.name, "' disagrees with its tensor's type ",
          DataTypeName(tensor.type), " or shape ",
          ShapeToString(tensor.shape)));
    }
  }
  for (TensorId id : inputs) {
    if (!valid(id)) {
      return absl::InternalError(
          absl::StrCat("graph input has invalid tensor id ", id));
    }
    if (available[id]) {
      return absl::InternalError(absl::StrCat("graph input '", tensors[id].name,
                                              "' is a constant or repeated"));
    }
    available[id] = true;
  }
  for (const Node& node : nodes) {
    for (TensorId id : node.inputs) {
      if (id == kNoTensor) continue;
      if (!valid(id)) {
        return absl::InternalError(
            absl::StrCat(node.Describe(), " reads invalid tensor id ", id));
      }
      if (!available[id]) {
        return absl::InternalError(absl::StrCat(node.Describe(), " reads '",
                                                tensors[id].name,
                                                "' before it is computed"));
      }
    }
    for (TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      if (!valid(id)) {
        return absl::InternalError(
            absl::StrCat(node.Describe(), " writes invalid tensor id ", id));
      }
      if (available[id]) {
        return absl::InternalError(
            absl::StrCat(node.Describe(), " writes '", tensors[id].name,
                         "', which has a value already"));
      }
      available[id] = true;
    }
  }
  for (TensorId id : outputs) {
    if (!valid(id)) {
      return absl::InternalError(
          absl::StrCat("graph output has invalid tensor id ", id));
    }
    if (!available[id]) {
      return absl::InternalError(absl::StrCat(
          "graph output '", tensors[id].name, "' is never computed"));
    }
  }
  return absl::OkStatus();
}

namespace {

std::string AttributeText(const Attribute& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return absl::StrCat(*i);
  if (const auto* f = std::get_if<float>(&value)) return absl::StrCat(*f);
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  if (const auto* is = std::get_if<std::vector<int64_t>>(&value)) {
    return ShapeToString(*is);
  }
  if (const auto* fs = std::get_if<std::vector<float>>(&value)) {
    return absl::StrCat("[", absl::StrJoin(*fs, ","), "]");
  }
  if (const auto* ss = std::get_if<std::vector<std::string>>(&value)) {
    return absl::StrCat("[", absl::StrJoin(*ss, ","), "]");
  }
  if (const auto* g = std::get_if<std::shared_ptr<const Graph>>(&value)) {
    return *g == nullptr ? "none"
                         : absl::StrCat("{\n", (*g)->ToString(), "  }");
  }
  const auto& data = std::get<std::shared_ptr<const TensorData>>(value);
  return data == nullptr ? "none"
                         : absl::StrCat(DataTypeName(data->type),
                                        ShapeToString(data->shape));
}

}  // namespace

std::string Graph::ToString() const {
  const auto tensor_text = [this](TensorId id) -> std::string {
    if (id == kNoTensor) return "-";
    const Tensor& tensor = tensors[id];
    const bool known = tensor.type != DataType::kUndefined;
    return absl::StrCat(tensor.is_constant() ? "=" : "", tensor.name, ":",
                        known ? DataTypeName(tensor.type) : "?",
                        tensor.shape_known ? ShapeToString(tensor.shape)
                        : known            ? "[?]"
                                           : "");
  };
  const auto join = [&](const std::vector<TensorId>& ids) {
    return absl::StrJoin(ids, ", ", [&](std::string* out, TensorId id) {
      out->append(tensor_text(id));
    });
  };
  std::string text = absl::StrCat("graph ", name, "(", join(inputs), ") -> (",
                                  join(outputs), ")\n");
  for (const Node& node : nodes) {
    absl::StrAppend(&text, "  ", join(node.outputs), " = ", node.Describe(),
                    "(", join(node.inputs), ")");
    for (const auto& [key, value] : node.attributes) {
      absl::StrAppend(&text, " ", key, "=", AttributeText(value));
    }
    text += "\n";
  }
  return text;
}

Graph Isolated(const Graph& graph, const Node& node) {
  Graph alone;
  std::map<TensorId, TensorId> own;
  Node copy = node;
  const auto take = [&](TensorId* id) {
    if (*id == kNoTensor) return false;
    const auto [it, fresh] = own.try_emplace(*id, kNoTensor);
    if (fresh) it->second = alone.AddTensor(graph.tensors[*id]);
    *id = it->second;
    return fresh;
  };
  for (TensorId& id : copy.inputs) {
    if (take(&id) && !alone.tensors[id].is_constant()) {
      alone.inputs.push_back(id);
    }
  }
  for (TensorId& id : copy.outputs) {
    if (take(&id)) alone.outputs.push_back(id);
  }
  alone.nodes.push_back(std::move(copy));
  return alone;
}

}  // namespace heddle::compiler
