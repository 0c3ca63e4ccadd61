// SPDX-License-Identifier: Apache-2.0
#include "tests/exporters/model_text.h"

#include <onnx/defs/parser.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status_macros.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Shape;
using compiler::TensorData;

absl::Status Directive(const std::vector<std::string>& words, ModelText* text) {
  if (words[0] == "run") {
    std::map<std::string, int64_t> sizes;
    for (size_t i = 1; i < words.size(); ++i) {
      const std::pair<std::string, std::string> pair =
          absl::StrSplit(words[i], absl::MaxSplits('=', 1));
      if (!absl::SimpleAtoi(pair.second, &sizes[pair.first])) {
        return absl::InvalidArgumentError("not NAME=SIZE: " + words[i]);
      }
    }
    text->runs.push_back(std::move(sizes));
  } else if (words[0] == "values" && words.size() == 4) {
    auto& range = text->ranges[words[1]];
    if (!absl::SimpleAtod(words[2], &range.first) ||
        !absl::SimpleAtod(words[3], &range.second)) {
      return absl::InvalidArgumentError("not a range: " + words[1]);
    }
  } else if (words[0] == "bound" && words.size() == 3) {
    if (!absl::SimpleAtoi(words[2], &text->bounds[words[1]])) {
      return absl::InvalidArgumentError("not a bound: " + words[1]);
    }
  } else if (words[0] == "host") {
    text->host_operators.assign(words.begin() + 1, words.end());
    std::sort(text->host_operators.begin(), text->host_operators.end());
  } else if (words[0] == "sequences") {
    text->sequences.assign(words.begin() + 1, words.end());
  } else if (words[0] == "tolerance" && words.size() == 2) {
    if (!absl::SimpleAtod(words[1], &text->tolerance)) {
      return absl::InvalidArgumentError("not a number: " + words[1]);
    }
  } else {
    return absl::InvalidArgumentError("no such line: " + words[0]);
  }
  return absl::OkStatus();
}

// (The text of this ONNX has no types but those of tensors.)
void MakeSequences(const std::vector<std::string>& names,
                   onnx::GraphProto* graph) {
  const auto make = [&](onnx::ValueInfoProto* info) {
    if (std::count(names.begin(), names.end(), info->name()) == 0) return;
    onnx::TypeProto element = info->type();
    element.mutable_tensor_type()->clear_shape();
    *info->mutable_type()->mutable_sequence_type()->mutable_elem_type() =
        element;
  };
  for (auto& input : *graph->mutable_input()) make(&input);
  for (auto& output : *graph->mutable_output()) make(&output);
  for (auto& node : *graph->mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) MakeSequences(names, attribute.mutable_g());
    }
  }
}

// Uniform values of a range; whole ones of types that are.
absl::Status Fill(double low, double high, std::mt19937_64* random,
                  TensorData* data) {
  // (The library's distributions differ between implementations.)
  const auto draw = [&] {
    const double unit = static_cast<double>((*random)() >> 11) * 0x1p-53;
    return low + unit * (high - low);
  };
  const auto whole = [&] {
    const auto span = static_cast<uint64_t>(high - low) + 1;
    return static_cast<int64_t>(low) + static_cast<int64_t>((*random)() % span);
  };
  for (int64_t i = 0; i < data->count(); ++i) {
    switch (data->type) {
      case DataType::kFloat:
        data->as<float>()[i] = static_cast<float>(draw());
        break;
      case DataType::kDouble:
        data->as<double>()[i] = draw();
        break;
      case DataType::kInt64:
        data->as<int64_t>()[i] = whole();
        break;
      case DataType::kInt32:
        data->as<int32_t>()[i] = static_cast<int32_t>(whole());
        break;
      case DataType::kUint8:
      case DataType::kInt8:
      case DataType::kBool:
        data->as<uint8_t>()[i] = static_cast<uint8_t>(whole());
        break;
      default:
        return absl::UnimplementedError("no values of this type");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorData> Empty(const onnx::ValueInfoProto& info,
                                 const std::map<std::string, int64_t>& sizes) {
  const auto& type = info.type().tensor_type();
  Shape shape;
  for (const auto& dim : type.shape().dim()) {
    if (dim.has_dim_value()) {
      shape.push_back(dim.dim_value());
      continue;
    }
    const auto size = sizes.find(dim.dim_param());
    if (size == sizes.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no size of '", dim.dim_param(), "' of ", info.name()));
    }
    shape.push_back(size->second);
  }
  return TensorData::Zeros(static_cast<DataType>(type.elem_type()), shape);
}

bool IsWeight(const std::string& name) {
  for (const char* prefix : {"w_", "g_", "s_", "ninf_"}) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  return false;
}

absl::StatusOr<TensorData> DrawWeight(const onnx::ValueInfoProto& info,
                                      std::mt19937_64* random) {
  ASSIGN_OR_RETURN(TensorData data, Empty(info, {}));
  double low = 0.5, high = 1.5;
  if (absl::StartsWith(info.name(), "w_")) {
    const Shape& s = data.shape;
    // Convolutions have the outputs first, products last.
    const double sum = s.size() == 2 ? s[0]
                                     : static_cast<double>(data.count()) /
                                           (s.empty() ? 1 : s[0]);
    high = std::sqrt(3 / std::max(sum, 1.0));
    if (data.type != DataType::kFloat) high = 100;
    low = data.type == DataType::kUint8 ? 0 : -high;
  } else if (absl::StartsWith(info.name(), "s_")) {
    low = 0.01;
    high = 0.02;
  } else if (absl::StartsWith(info.name(), "ninf_")) {
    low = high = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] = static_cast<float>(low);
    }
    return data;
  }
  RETURN_IF_ERROR(Fill(low, high, random, &data));
  return data;
}

}  // namespace

absl::StatusOr<ModelText> ParseModelText(const std::string& text) {
  ModelText result;
  std::string model;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "#!")) {
      const std::vector<std::string> words =
          absl::StrSplit(line, ' ', absl::SkipEmpty());
      if (words.empty()) continue;
      RETURN_IF_ERROR(Directive(words, &result));
    } else if (!absl::StartsWith(line, "#")) {
      absl::StrAppend(&model, line, "\n");
    }
  }
  if (result.runs.empty()) result.runs.emplace_back();
  const auto parsed = onnx::OnnxParser::Parse(result.model, model.c_str());
  if (!parsed.IsOK()) {
    return absl::InvalidArgumentError(parsed.ErrorMessage());
  }
  onnx::GraphProto* graph = result.model.mutable_graph();
  MakeSequences(result.sequences, graph);
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs;
  inputs.Swap(graph->mutable_input());
  std::mt19937_64 random(1);
  for (const onnx::ValueInfoProto& info : inputs) {
    if (!IsWeight(info.name())) {
      *graph->add_input() = info;
      continue;
    }
    ASSIGN_OR_RETURN(const TensorData data, DrawWeight(info, &random));
    onnx::TensorProto* initializer = graph->add_initializer();
    initializer->set_name(info.name());
    initializer->set_data_type(static_cast<int>(data.type));
    for (int64_t size : data.shape) initializer->add_dims(size);
    initializer->set_raw_data(data.bytes.data(), data.bytes.size());
  }
  return result;
}

absl::StatusOr<std::vector<TensorData>> DrawInputs(
    const ModelText& text, const std::map<std::string, int64_t>& sizes,
    uint64_t seed) {
  std::vector<TensorData> inputs;
  std::mt19937_64 random(seed);
  for (const auto& info : text.model.graph().input()) {
    ASSIGN_OR_RETURN(TensorData data, Empty(info, sizes));
    std::pair<double, double> range(-1, 1);
    if (data.type == DataType::kBool) {
      range = {0, 1};
    } else if (data.type != DataType::kFloat &&
               data.type != DataType::kDouble) {
      range = {0, 3};
    }
    const auto stated = text.ranges.find(info.name());
    if (stated != text.ranges.end()) range = stated->second;
    RETURN_IF_ERROR(Fill(range.first, range.second, &random, &data));
    inputs.push_back(std::move(data));
  }
  return inputs;
}

}  // namespace heddle::tests
