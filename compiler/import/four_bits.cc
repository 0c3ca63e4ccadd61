// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/four_bits.h"

#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/quote.h"

namespace heddle::compiler {
namespace {

// Numbers of onnx.proto from IR version 10 on.
constexpr int kUint4 = 21, kInt4 = 22;

using Names = std::map<std::string, const char*>;  // and types

absl::Status Refuse(const std::string& name, const char* type,
                    const std::string& who) {
  return Reject(
      Rejection::kUnsupportedDatatype,
      absl::StrCat("initializer ", Quote(name), " has type ", type,
                   ", which only DequantizeLinear can read, not ", who));
}

// (The wire format's depth is bounded where it is parsed.)
absl::Status CheckNodes(const onnx::GraphProto& graph, const Names& names) {
  for (const auto& node : graph.node()) {
    const bool reads = node.op_type() == "DequantizeLinear" &&
                       (node.domain().empty() || node.domain() == "ai.onnx");
    for (int i = 0; i < node.input_size(); ++i) {
      const auto found = names.find(node.input(i));
      // (1: scales are no codes)
      if (found == names.end() || (reads && i != 1)) continue;
      return Refuse(found->first, found->second,
                    absl::StrCat(node.op_type(), " ", Quote(node.name())));
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) RETURN_IF_ERROR(CheckNodes(attribute.g(), names));
      for (const auto& inner : attribute.graphs()) {
        RETURN_IF_ERROR(CheckNodes(inner, names));
      }
    }
  }
  for (const auto& output : graph.output()) {
    const auto found = names.find(output.name());
    if (found == names.end()) continue;
    return Refuse(found->first, found->second, "who takes an output");
  }
  return absl::OkStatus();
}

}  // namespace

bool HasFourBits(const onnx::TensorProto& proto) {
  return proto.data_type() == kUint4 || proto.data_type() == kInt4;
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
  TensorData codes = TensorData::Zeros(
      has_sign ? DataType::kInt8 : DataType::kUint8, std::move(shape));
  for (int64_t i = 0; i < count; ++i) {
    const int code = packed.bytes[i / 2] >> (i % 2 * 4) & 15;
    codes.bytes[i] =
        static_cast<uint8_t>(has_sign && code >= 8 ? code - 16 : code);
  }
  return codes;
}

absl::Status CheckFourBitReaders(const onnx::GraphProto& graph) {
  Names names;
  for (const auto& proto : graph.initializer()) {
    if (!HasFourBits(proto)) continue;
    names.emplace(proto.name(), proto.data_type() == kInt4 ? "int4" : "uint4");
  }
  return names.empty() ? absl::OkStatus() : CheckNodes(graph, names);
}

}  // namespace heddle::compiler
