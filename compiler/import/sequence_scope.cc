// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/sequence_scope.h"

#include <cstring>
#include <utility>

namespace heddle::compiler {
namespace {

template <typename T>
std::vector<int64_t> FromBytes(absl::string_view bytes, size_t count) {
  std::vector<int64_t> values;
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values.push_back(value);
  }
  return values;
}

}  // namespace

const Sequence* SequenceScope::FindSequence(const std::string& name) const {
  for (const SequenceScope* s = this; s != nullptr; s = s->outer_) {
    const auto it = s->sequences_.find(name);
    if (it != s->sequences_.end()) return &it->second;
  }
  return nullptr;
}

const IntegerConstant* SequenceScope::FindConstant(
    const std::string& name) const {
  for (const SequenceScope* s = this; s != nullptr; s = s->outer_) {
    const auto it = s->constants_.find(name);
    if (it != s->constants_.end()) return &it->second;
  }
  return nullptr;
}

void SequenceScope::AddTensor(const std::string& name,
                              const onnx::TensorProto& tensor,
                              const TakenBytes& raw) {
  const bool wide = tensor.data_type() == onnx::TensorProto::INT64;
  if ((!wide && tensor.data_type() != onnx::TensorProto::INT32) ||
      tensor.data_location() == onnx::TensorProto::EXTERNAL ||
      tensor.dims_size() > 1) {
    return;
  }
  const int64_t count = tensor.dims_size() == 0 ? 1 : tensor.dims(0);
  if (count < 0 || count > static_cast<int64_t>(kMostKnownValues)) return;
  const auto size = static_cast<size_t>(count);
  IntegerConstant constant;
  constant.rank = tensor.dims_size();
  if (tensor.has_raw_data()) {
    const absl::string_view bytes = raw.Of(tensor.raw_data());
    if (bytes.size() != size * (wide ? sizeof(int64_t) : sizeof(int32_t))) {
      return;
    }
    constant.values = wide ? FromBytes<int64_t>(bytes, size)
                           : FromBytes<int32_t>(bytes, size);
  } else if (wide) {
    constant.values.assign(tensor.int64_data().begin(),
                           tensor.int64_data().end());
  } else {
    constant.values.assign(tensor.int32_data().begin(),
                           tensor.int32_data().end());
  }
  if (constant.values.size() == size) constants_[name] = std::move(constant);
}

void SequenceScope::AddConstant(const onnx::NodeProto& node,
                                const TakenBytes& raw) {
  if (node.output_size() != 1) return;
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) {
      AddTensor(node.output(0), attribute.t(), raw);
    } else if (attribute.name() == "value_int") {
      constants_[node.output(0)] = {{attribute.i()}, 0};
    } else if (attribute.name() == "value_ints" &&
               attribute.ints_size() <= static_cast<int>(kMostKnownValues)) {
      constants_[node.output(0)] = {
          {attribute.ints().begin(), attribute.ints().end()}, 1};
    }
  }
}

}  // namespace heddle::compiler
