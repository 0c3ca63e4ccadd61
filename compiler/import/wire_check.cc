// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/wire_check.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

class Walker {
 public:
  // With `to`: takes the values of `field` out.
  explicit Walker(const WireLimits& limits,
                  const FieldDescriptor* field = nullptr,
                  TakenBytes* to = nullptr)
      : limits_(limits), field_(field), to_(to) {}

  absl::Status Walk(absl::string_view bytes, const Descriptor& type,
                    int depth) {
    if (depth > limits_.max_depth) {
      return Reject(Rejection::kInvalidProtobuf,
                    absl::StrCat("the model nests messages deeper than ",
                                 limits_.max_depth, " levels"));
    }
    while (!bytes.empty()) {
      const char* const begin = bytes.data();
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
          const char* const length = bytes.data();
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
          const bool message = field != nullptr &&
                               field->type() == FieldDescriptor::TYPE_MESSAGE;
          if (!message && to_ == nullptr) break;
          const size_t length_bytes = part.data() - length;
          const bool take = to_ != nullptr && field == field_ &&
                            size >= TakenBytes::kNumberBytes;
          if (!message && !take) break;
          Keep(begin, part.data());
          const size_t at = to_ == nullptr ? 0 : to_->rest.size();
          if (message) {
            RETURN_IF_ERROR(Walk(part, *field->message_type(), depth + 1));
          } else {
            Take(part);
          }
          if (to_ != nullptr) {
            const size_t now = to_->rest.size() - at;
            if (now != size) SetVarint(at - length_bytes, length_bytes, now);
          }
          continue;
        }
        default:  // groups: proto3 has none, and ONNX never had one
          return Malformed(type);
      }
      Keep(begin, bytes.data());
    }
    return absl::OkStatus();
  }

 private:
  void Keep(const char* begin, const char* end) {
    if (to_ != nullptr) to_->rest.append(begin, end);
  }

  void Take(absl::string_view value) {
    const uint64_t number = to_->taken.size();
    char bytes[TakenBytes::kNumberBytes];
    static_assert(sizeof(bytes) == sizeof(number), "a number is 64 bits");
    std::memcpy(bytes, &number, sizeof(bytes));
    to_->rest.append(bytes, sizeof(bytes));
    to_->taken.push_back(value);
  }

  // In as many bytes as the length before, which was not smaller.
  void SetVarint(size_t at, size_t bytes, uint64_t value) {
    for (size_t i = 0; i < bytes; ++i, value >>= 7) {
      to_->rest[at + i] =
          static_cast<char>((value & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
    }
  }

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
                  absl::StrCat("not an ONNX model: a ", type.name(),
                               " is truncated or malformed"));
  }

  const WireLimits limits_;
  const FieldDescriptor* const field_;
  TakenBytes* const to_;
  int64_t objects_ = 0;
};

}  // namespace

absl::Status CheckWire(absl::string_view bytes, const Descriptor& type,
                       const WireLimits& limits) {
  return Walker(limits).Walk(bytes, type, 1);
}

absl::string_view TakenBytes::Of(absl::string_view value) const {
  uint64_t number = 0;
  if (value.size() < kNumberBytes) return value;
  std::memcpy(&number, value.data(), sizeof(number));
  return number < taken.size() ? taken[number] : absl::string_view();
}

absl::StatusOr<TakenBytes> TakeBytes(absl::string_view bytes,
                                     const Descriptor& type,
                                     const FieldDescriptor& field,
                                     const WireLimits& limits) {
  TakenBytes result;
  // Of what is never written no page is taken.
  result.rest.reserve(bytes.size());
  RETURN_IF_ERROR(Walker(limits, &field, &result).Walk(bytes, type, 1));
  return result;
}

}  // namespace heddle::compiler
