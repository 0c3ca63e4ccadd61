// SPDX-License-Identifier: Apache-2.0
// Serialized ONNX models, written field by field. No protobuf library: the
// library under test may bring one of its own into the process, and two of them
// do not get along; and a broken model is as easily written as a good one.
#ifndef ONNXIFI_CONFORMANCE_MODEL_H_
#define ONNXIFI_CONFORMANCE_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::conformance {

// One dimension: a number, or a name.
struct Dim {
  Dim(int64_t v) : value(v) {}     // NOLINT: written as numbers in the tests
  Dim(const char* n) : name(n) {}  // NOLINT
  int64_t value = 0;
  std::string name;
};

struct ValueInfo {
  std::string name;
  std::vector<Dim> shape;
  int type = 1;  // TensorProto.DataType: FLOAT; 0: no type at all
};

struct Initializer {
  std::string name;
  std::vector<int64_t> shape;
  int type = 1;
  std::string raw;  // bytes
};

struct Attribute {
  std::string name;
  int type = 2;  // AttributeProto.AttributeType: INT; 1 FLOAT, 7 INTS
  int64_t i = 0;
  std::vector<int64_t> ints;
};

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::string domain;
  std::vector<Attribute> attributes;
};

struct Model {
  int64_t ir_version = 3;  // 0: the field is absent
  int64_t opset = 7;       // of the default domain; 0: absent
  std::vector<std::pair<std::string, int64_t>> other_opsets;
  bool has_graph = true;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
  std::vector<Initializer> initializers;

  std::string Serialize() const;
};

std::string RawFloats(const std::vector<float>& values);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_MODEL_H_
