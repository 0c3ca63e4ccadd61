// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/four_bits.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

constexpr int kUint4 = static_cast<int>(DataType::kUint4),
              kInt4 = static_cast<int>(DataType::kInt4),
              kFloat4 = static_cast<int>(DataType::kFloat4E2M1);

// Takes away what others read. (The wire format's depth is bounded where it is
// parsed.)
void Visit(const onnx::GraphProto& graph, std::set<std::string>* names) {
  for (const auto& node : graph.node()) {
    const bool reads = node.op_type() == "DequantizeLinear" &&
                       (node.domain().empty() || node.domain() == "ai.onnx");
    for (int i = 0; i < node.input_size(); ++i) {
      // (1: scales are no codes)
      if (!reads || i == 1) names->erase(node.input(i));
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) Visit(attribute.g(), names);
      for (const auto& inner : attribute.graphs()) Visit(inner, names);
    }
  }
  for (const auto& output : graph.output()) names->erase(output.name());
}

}  // namespace

bool HasFourBits(const onnx::TensorProto& proto) {
  return proto.data_type() == kUint4 || proto.data_type() == kInt4 ||
         proto.data_type() == kFloat4;
}

absl::StatusOr<TensorData> FromFourBits(const onnx::TensorProto& proto,
                                        const std::string& what,
                                        TensorSource* source) {
  const bool has_sign = proto.data_type() == kInt4;
  Shape shape(proto.dims().begin(), proto.dims().end());
  // Of more elements than a message or a file can have, the bytes say so.
  int64_t count = 1;
  for (int64_t d : shape) {
    if (d < 0 || __builtin_mul_overflow(count, d, &count) ||
        count == INT64_MAX) {
      return Reject(Rejection::kInvalidModel,
                    absl::StrCat(what, " has the impossible shape ",
                                 ShapeToString(shape)));
    }
  }
  onnx::TensorProto bytes = proto;
  bytes.set_data_type(onnx::TensorProto::UINT8);
  bytes.clear_dims();
  bytes.add_dims((count + 1) / 2);
  ASSIGN_OR_RETURN(const TensorData packed,
                   FromTensorProto(bytes, what, source));
  TensorData codes = TensorData::Zeros(static_cast<DataType>(proto.data_type()),
                                       std::move(shape));
  for (int64_t i = 0; i < count; ++i) {
    const int code = packed.bytes[i / 2] >> (i % 2 * 4) & 15;
    codes.bytes[i] =
        static_cast<uint8_t>(has_sign && code >= 8 ? code - 16 : code);
  }
  return codes;
}

std::set<std::string> FourBitsAsBytes(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& proto : graph.initializer()) {
    if (HasFourBits(proto) && proto.data_type() != kFloat4) {
      names.insert(proto.name());
    }
  }
  if (!names.empty()) Visit(graph, &names);
  return names;
}

}  // namespace heddle::compiler
