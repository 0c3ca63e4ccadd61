// SPDX-License-Identifier: Apache-2.0
#include "tests/graphs/graph_writer.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::TensorData;

using Families = std::map<std::string, bool (*)(GraphWriter*)>;

Families& FamiliesOf(Side side) {
  static auto* const families = new std::map<Side, Families>();
  return (*families)[side];
}

}  // namespace

void DeclareValue(const Value& value, const std::vector<std::string>& symbols,
                  onnx::ValueInfoProto* info) {
  info->set_name(value.name);
  auto* type = info->mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(value.type));
  type->mutable_shape();
  for (const Dim& dim : value.dims) {
    auto* proto = type->mutable_shape()->add_dim();
    if (dim.symbol < 0) {
      proto->set_dim_value(dim.size);
    } else if (dim.size == 1) {
      proto->set_dim_param(symbols[dim.symbol]);
    }
  }
}

NodeFamily::NodeFamily(const char* name, Side side,
                       bool (*add)(GraphWriter* writer)) {
  FamiliesOf(side)[name] = add;
}

bool AddNodes(Side side, GraphWriter* writer) {
  const Families& families = FamiliesOf(side);
  for (int tries = 0; tries < 20; ++tries) {
    auto family = families.begin();
    std::advance(family, writer->Below(static_cast<int64_t>(families.size())));
    if (family->second(writer)) return true;
  }
  return false;
}

std::string GraphWriter::NewName() {
  return absl::StrCat("v", state_->names++);
}

const Value* GraphWriter::Draw(
    const std::function<bool(const Value&)>& is_such) {
  std::vector<const Value*> such;
  for (const GraphWriter* w = this; w != nullptr; w = w->outside_) {
    for (auto v = w->own_.rbegin(); v != w->own_.rend(); ++v) {
      if (is_such(*v)) such.push_back(&*v);
    }
  }
  if (such.empty()) return nullptr;
  const auto count = static_cast<int64_t>(such.size());
  return such[OneIn(2) ? Below(std::min<int64_t>(count, 2)) : Below(count)];
}

const Value* GraphWriter::AddInput(DataType type, const Dims& dims, int64_t low,
                                   int64_t high, int fraction) {
  // A graph inside of a node has inputs of another kind.
  if (outside_ != nullptr) return nullptr;
  RandomInput input;
  input.value.name = NewName();
  input.value.type = type;
  input.value.dims = dims;
  input.value.fraction = fraction;
  input.value.magnitude =
      static_cast<double>(std::max(std::abs(low), std::abs(high)));
  input.low = low;
  input.high = high;
  DeclareValue(input.value, state_->symbols, graph_->add_input());
  state_->inputs.push_back(input);
  return AddValue(input.value);
}

std::string GraphWriter::Constant(const TensorData& data) {
  const std::string name = NewName();
  compiler::AddConstant(graph_, name, data);
  return name;
}

std::string GraphWriter::Numbers(const std::vector<int64_t>& values) {
  return Constant(
      compiler::Int64s({static_cast<int64_t>(values.size())}, values));
}

std::string GraphWriter::Weights(const compiler::Shape& shape) {
  TensorData data = TensorData::Zeros(DataType::kFloat, shape);
  for (int64_t i = 0; i < data.count(); ++i) {
    data.as<float>()[i] = static_cast<float>(random().Between(-4, 4)) / 4;
  }
  return Constant(data);
}

const Value* GraphWriter::Append(
    const std::string& op, const std::vector<std::string>& inputs, Value result,
    const std::function<void(onnx::NodeProto*)>& attributes) {
  if (!IsUseful(result) || Count(result.dims) > kMostElements) return nullptr;
  result.name = NewName();
  onnx::NodeProto* node = AddNode(op, inputs, {result.name});
  if (attributes) attributes(node);
  return AddValue(std::move(result));
}

const Value* GraphWriter::AddValue(Value value) {
  own_.push_back(std::move(value));
  return &own_.back();
}

const Value* GraphWriter::AppendWithAxes(
    const std::string& op, int since, const Value& x,
    const std::vector<int64_t>& axes, Value result,
    const std::function<void(onnx::NodeProto*)>& attributes) {
  std::vector<std::string> inputs = {x.name};
  if (opset() >= since) inputs.push_back(Numbers(axes));
  return Append(op, inputs, std::move(result), [&](onnx::NodeProto* node) {
    if (opset() < since) compiler::SetInts(node, "axes", axes);
    if (attributes) attributes(node);
  });
}

}  // namespace heddle::tests
