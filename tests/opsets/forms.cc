// SPDX-License-Identifier: Apache-2.0
#include "tests/opsets/forms.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <vector>

#include "tests/opsets/random.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

bool ChangeShape(Form form, Random* random, Shape* shape) {
  if (form == Form::kType) return true;
  if (shape->empty()) return false;
  const auto at =
      static_cast<size_t>(random->Below(static_cast<int64_t>(shape->size())));
  switch (form) {
    case Form::kEmpty:
      (*shape)[at] = 0;
      return true;
    case Form::kScalar:
      shape->clear();
      return true;
    case Form::kOnes: {
      const Shape before = *shape;
      (*shape)[at] = 1;
      for (int64_t& d : *shape) {
        if (random->OneIn(3)) d = 1;
      }
      return *shape != before;
    }
    default:
      shape->erase(shape->begin());
      return true;
  }
}

}  // namespace

const char* FormName(Form form) {
  static constexpr const char* kNames[] = {"empty", "scalar", "broadcast",
                                           "of lower rank", "of another type"};
  return kNames[static_cast<int>(form)];
}

OpsetCase InForm(const OpsetCase& c, Form form, uint64_t seed) {
  onnx::ModelProto model;
  if (c.inputs.empty() || !model.ParseFromString(c.model)) return {};
  Random random(seed);
  OpsetCase result = c;
  // One that a node reads: random graphs have others, too.
  std::vector<size_t> read;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    for (const auto& node : model.graph().node()) {
      if (std::count(node.input().begin(), node.input().end(), c.inputs[i])) {
        read.push_back(i);
        break;
      }
    }
  }
  if (read.empty()) return {};
  const size_t which = read[static_cast<size_t>(
      random.Below(static_cast<int64_t>(read.size())))];
  Shape shape = c.values[which].shape;
  if (!ChangeShape(form, &random, &shape)) return {};
  DataType type = c.values[which].type;
  if (form == Form::kType) {
    type = random.Pick({DataType::kFloat, DataType::kInt32, DataType::kInt64,
                        DataType::kUint8, DataType::kInt8, DataType::kBool,
                        DataType::kUint16, DataType::kInt16});
    if (type == c.values[which].type) return {};
  }
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    if (input.name() != c.inputs[which]) continue;
    auto* tensor = input.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(static_cast<int>(type));
    tensor->mutable_shape()->Clear();
    for (int64_t d : shape)
      tensor->mutable_shape()->add_dim()->set_dim_value(d);
  }
  for (auto& output : *model.mutable_graph()->mutable_output()) {
    output.clear_type();
  }
  result.model = model.SerializeAsString();
  result.values[which] = random.Values(type, shape);
  return result;
}

}  // namespace heddle::tests
