// SPDX-License-Identifier: Apache-2.0
#include "tests/mutations/judge.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/ir/graph.h"
#include "tests/support/apart.h"

namespace heddle::tests {
namespace {

using compiler::DataType;

RuntimeTensor InputFor(const onnx::ValueInfoProto& info) {
  RuntimeTensor tensor;
  const auto& type = info.type().tensor_type();
  tensor.type = type.elem_type();
  for (const auto& d : type.shape().dim()) {
    tensor.shape.push_back(d.dim_value());
  }
  const auto data_type = static_cast<DataType>(tensor.type);
  const auto count = static_cast<size_t>(compiler::ElementCount(tensor.shape));
  tensor.bytes.resize(count * compiler::ElementBytes(data_type));
  // 1.0 in little-endian bytes.
  static const auto* ones = new std::map<DataType, std::vector<uint8_t>>{
      {DataType::kFloat, {0, 0, 0x80, 0x3f}},
      {DataType::kFloat16, {0, 0x3c}},
      {DataType::kBfloat16, {0x80, 0x3f}},
      {DataType::kDouble, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}}};
  const auto one = ones->find(data_type);
  if (one != ones->end()) {
    for (size_t i = 0; i < tensor.bytes.size(); ++i) {
      tensor.bytes[i] = one->second[i % one->second.size()];
    }
  }
  return tensor;
}

// "(tensor(int64)" after `words`: the number of that type, or 0.
int TypeAfter(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  if (at == std::string::npos) return 0;
  const size_t from = text.find("(tensor(", at);
  if (from == std::string::npos) return 0;
  const std::string name =
      text.substr(from + 8, text.find(')', from) - from - 8);
  for (int type = 1; type <= 16; ++type) {
    if (name == compiler::DataTypeName(static_cast<DataType>(type))) {
      return type;
    }
  }
  return 0;
}

Judgement Judge(OnnxRuntime* runtime, onnx::ModelProto model) {
  std::vector<std::pair<std::string, RuntimeTensor>> inputs;
  for (const auto& input : model.graph().input()) {
    inputs.emplace_back(input.name(), InputFor(input));
  }
  std::vector<std::string> outputs;
  for (auto& output : *model.mutable_graph()->mutable_output()) {
    outputs.push_back(output.name());
    // It wants a type, and says which one.
    output.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  }
  Judgement result;
  for (size_t tries = 0; tries <= outputs.size(); ++tries) {
    const auto run = runtime->Run(model.SerializeAsString(), inputs, outputs);
    if (run.ok()) {
      result.kind = Judgement::kValid;
      return result;
    }
    result.why = std::string(run.status().message());
    const int type = TypeAfter(result.why, "does not match expected type");
    if (type == 0) break;
    for (auto& output : *model.mutable_graph()->mutable_output()) {
      if (absl::StrContains(result.why, "(" + output.name() + ")")) {
        output.mutable_type()->mutable_tensor_type()->set_elem_type(type);
      }
    }
  }
  result.kind = Judgement::kInvalid;
  for (const char* words :
       {"NOT_IMPLEMENTED", "Could not find an implementation",
        "Failed to find kernel",
        // A Cast that it inserts itself, in a form that old opsets lack.
        "InsertedPrecisionFreeCast"}) {
    if (absl::StrContains(result.why, words)) {
      result.kind = Judgement::kUndecided;
    }
  }
  return result;
}

}  // namespace

std::vector<Judgement> JudgeByRuntime(
    OnnxRuntime* runtime, const std::vector<onnx::ModelProto>& models) {
  const auto results = CallApart(models.size(), [&](size_t i) {
    const Judgement judgement = Judge(runtime, models[i]);
    return static_cast<char>('0' + judgement.kind) + judgement.why;
  });
  std::vector<Judgement> all;
  for (const auto& result : results) {
    Judgement judgement = {Judgement::kUndecided,
                           "the library ended its process"};
    if (result) {
      judgement.kind = static_cast<Judgement::Kind>((*result)[0] - '0');
      judgement.why = result->substr(1);
    }
    all.push_back(std::move(judgement));
  }
  return all;
}

}  // namespace heddle::tests
