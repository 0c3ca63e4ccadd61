// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/wire_check.h"

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

class Walker {
 public:
  explicit Walker(const WireLimits& limits) : limits_(limits) {}

  absl::Status Walk(absl::string_view bytes, const Descriptor& type,
                    int depth) {
    if (depth > limits_.max_depth) {
      return Reject(Rejection::kInvalidProtobuf,
                    absl::StrCat("the model nests messages deeper than ",
                                 limits_.max_depth, " levels"));
    }
    while (!bytes.empty()) {
      uint64_t tag = 0, size = 0;
      if (!Varint(&bytes, &tag) || tag >> 3 == 0 || tag >> 3 > 536870911) {
        return Malformed(type);
      }
      switch (tag & 7) {
        case 0:  // varint
          if (!Varint(&bytes, &size)) return Malformed(type);
          break;
        case 1:
          if (bytes.size() < 8) return Malformed(type);
          bytes.remove_prefix(8);
          break;
        case 5:
          if (bytes.size() < 4) return Malformed(type);
          bytes.remove_prefix(4);
          break;
        case 2: {
          if (!Varint(&bytes, &size) || size > bytes.size()) {
            return Malformed(type);
          }
          if (++objects_ > limits_.max_objects) {
            return Reject(
                Rejection::kNoSystemMemory,
                absl::StrCat("the model has more than ", limits_.max_objects,
                             " strings and messages"));
          }
          const absl::string_view part = bytes.substr(0, size);
          bytes.remove_prefix(size);
          const FieldDescriptor* field =
              type.FindFieldByNumber(static_cast<int>(tag >> 3));
          if (field != nullptr &&
              field->type() == FieldDescriptor::TYPE_MESSAGE) {
            RETURN_IF_ERROR(Walk(part, *field->message_type(), depth + 1));
          }
          break;
        }
        default:  // groups: proto3 has none, and ONNX never had one
          return Malformed(type);
      }
    }
    return absl::OkStatus();
  }

 private:
  static bool Varint(absl::string_view* bytes, uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (bytes->empty()) return false;
      const auto byte = static_cast<uint8_t>(bytes->front());
      bytes->remove_prefix(1);
      if (shift < 64) *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return true;
    }
    return false;
  }

  static absl::Status Malformed(const Descriptor& type) {
    return Reject(Rejection::kInvalidProtobuf,
                  absl::StrCat("the bytes are no ONNX model: a ", type.name(),
                               " is truncated or malformed"));
  }

  const WireLimits limits_;
  int64_t objects_ = 0;
};

}  // namespace

absl::Status CheckWire(absl::string_view bytes, const Descriptor& type,
                       const WireLimits& limits) {
  return Walker(limits).Walk(bytes, type, 1);
}

}  // namespace heddle::compiler
