// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/model.h"

#include <cstring>

namespace heddle::conformance {
namespace {

// Field numbers are those of onnx.proto.
void PutVarint(std::string* out, uint64_t value) {
  while (value >= 128) {
    out->push_back(static_cast<char>(value | 128));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void PutInt(std::string* out, int field, int64_t value) {
  PutVarint(out, static_cast<uint64_t>(field) << 3);
  PutVarint(out, static_cast<uint64_t>(value));
}

void PutBytes(std::string* out, int field, const std::string& bytes) {
  PutVarint(out, static_cast<uint64_t>(field) << 3 | 2);
  PutVarint(out, bytes.size());
  out->append(bytes);
}

std::string Encode(const ValueInfo& info) {
  std::string shape;
  for (const Dim& dim : info.shape) {
    std::string bytes;
    if (dim.name.empty()) {
      PutInt(&bytes, 1, dim.value);
    } else {
      PutBytes(&bytes, 2, dim.name);
    }
    PutBytes(&shape, 1, bytes);
  }
  std::string out;
  PutBytes(&out, 1, info.name);
  if (info.type != 0) {
    std::string tensor, type;
    PutInt(&tensor, 1, info.type);
    PutBytes(&tensor, 2, shape);
    PutBytes(&type, 1, tensor);
    PutBytes(&out, 2, type);
  }
  return out;
}

std::string Encode(const Initializer& init) {
  std::string out;
  for (int64_t dim : init.shape) PutInt(&out, 1, dim);
  PutInt(&out, 2, init.type);
  PutBytes(&out, 8, init.name);
  PutBytes(&out, 9, init.raw);
  return out;
}

std::string Encode(const Attribute& attribute) {
  std::string out;
  PutBytes(&out, 1, attribute.name);
  if (attribute.type == 2) PutInt(&out, 3, attribute.i);
  for (int64_t i : attribute.ints) PutInt(&out, 8, i);
  PutInt(&out, 20, attribute.type);
  return out;
}

std::string Encode(const Node& node) {
  std::string out;
  for (const std::string& name : node.inputs) PutBytes(&out, 1, name);
  for (const std::string& name : node.outputs) PutBytes(&out, 2, name);
  PutBytes(&out, 4, node.op);
  for (const Attribute& a : node.attributes) PutBytes(&out, 5, Encode(a));
  if (!node.domain.empty()) PutBytes(&out, 7, node.domain);
  return out;
}

void PutOpset(std::string* out, const std::string& domain, int64_t version) {
  std::string id;
  if (!domain.empty()) PutBytes(&id, 1, domain);
  PutInt(&id, 2, version);
  PutBytes(out, 8, id);
}

}  // namespace

std::string RawFloats(const std::vector<float>& values) {
  std::string raw(values.size() * sizeof(float), '\0');
  if (!values.empty()) std::memcpy(&raw[0], values.data(), raw.size());
  return raw;
}

std::string Model::Serialize() const {
  std::string out;
  if (ir_version != 0) PutInt(&out, 1, ir_version);
  PutBytes(&out, 2, "onnxifi-conformance");
  if (has_graph) {
    std::string graph;
    for (const Node& node : nodes) PutBytes(&graph, 1, Encode(node));
    PutBytes(&graph, 2, "graph");
    for (const Initializer& i : initializers) PutBytes(&graph, 5, Encode(i));
    for (const ValueInfo& i : inputs) PutBytes(&graph, 11, Encode(i));
    for (const ValueInfo& i : outputs) PutBytes(&graph, 12, Encode(i));
    for (const ValueInfo& i : value_infos) PutBytes(&graph, 13, Encode(i));
    PutBytes(&out, 7, graph);
  }
  if (opset != 0) PutOpset(&out, "", opset);
  for (const auto& [domain, version] : other_opsets) {
    PutOpset(&out, domain, version);
  }
  return out;
}

}  // namespace heddle::conformance
