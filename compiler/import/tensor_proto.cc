// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/four_bits.h"

namespace heddle::compiler {
namespace {

template <typename... Args>
absl::Status Invalid(const std::string& what, const Args&... why) {
  return Reject(Rejection::kInvalidModel, absl::StrCat(what, " ", why...));
}

// Copies a typed field into `data`, each value narrowed to T; `per_element`
// values make one element (2 for complex numbers).
template <typename T, typename Field>
absl::Status Take(const Field& field, const char* name, int64_t per_element,
                  const std::string& what, TensorData* data) {
  const int64_t expected = data->count() * per_element;
  if (field.size() != expected) {
    return Invalid(what, "has ", field.size(), " values in ", name,
                   ", its shape ", ShapeToString(data->shape), " needs ",
                   expected);
  }
  T* out = data->as<T>();
  for (int64_t i = 0; i < expected; ++i) {
    const auto value = field.Get(static_cast<int>(i));
    out[i] = static_cast<T>(value);
    if (std::is_integral<T>::value &&
        static_cast<decltype(value)>(out[i]) != value) {
      return Invalid(what, "has value ", value, " in ", name,
                     ", which does not fit ", DataTypeName(data->type));
    }
  }
  return absl::OkStatus();
}

absl::Status TakeTyped(const onnx::TensorProto& proto, const std::string& what,
                       TensorData* data) {
  switch (data->type) {
    case DataType::kFloat:
      return Take<float>(proto.float_data(), "float_data", 1, what, data);
    case DataType::kComplex64:
      return Take<float>(proto.float_data(), "float_data", 2, what, data);
    case DataType::kDouble:
      return Take<double>(proto.double_data(), "double_data", 1, what, data);
    case DataType::kComplex128:
      return Take<double>(proto.double_data(), "double_data", 2, what, data);
    case DataType::kInt64:
      return Take<int64_t>(proto.int64_data(), "int64_data", 1, what, data);
    case DataType::kUint64:
      return Take<uint64_t>(proto.uint64_data(), "uint64_data", 1, what, data);
    case DataType::kUint32:
      return Take<uint32_t>(proto.uint64_data(), "uint64_data", 1, what, data);
    case DataType::kInt32:
      return Take<int32_t>(proto.int32_data(), "int32_data", 1, what, data);
    case DataType::kInt16:
      return Take<int16_t>(proto.int32_data(), "int32_data", 1, what, data);
    case DataType::kInt8:
      return Take<int8_t>(proto.int32_data(), "int32_data", 1, what, data);
    case DataType::kUint8:
    case DataType::kBool:
    case DataType::kFloat8E4M3Fn:  // bit patterns
    case DataType::kFloat8E4M3FnUz:
    case DataType::kFloat8E5M2:
    case DataType::kFloat8E5M2FnUz:
      return Take<uint8_t>(proto.int32_data(), "int32_data", 1, what, data);
    case DataType::kUint16:
    case DataType::kFloat16:   // bit patterns
    case DataType::kBfloat16:  // bit patterns
      return Take<uint16_t>(proto.int32_data(), "int32_data", 1, what, data);
    case DataType::kUint4:  // two to a byte: see four_bits.h
    case DataType::kInt4:
    case DataType::kFloat4E2M1:
    case DataType::kUndefined:
    case DataType::kString:
      break;
  }
  return absl::InternalError("type has no field");
}

// Smaller constants are what the compiler computes with: shapes, scales.
constexpr size_t kSmallestView = 64 << 10;

void NormalizeBools(TensorData* data) {
  if (data->type != DataType::kBool) return;
  for (uint8_t& byte : data->bytes) byte = byte != 0;
}

}  // namespace

bool IsNarrow(DataType type) {
  return type > DataType::kBfloat16 && type <= kLastDataType;
}

const char* NewerTypeName(int type) {
  switch (type) {
    case 24:
      return "float8e8m0";
    case 25:
      return "uint2";
    case 26:
      return "int2";
    default:
      return nullptr;
  }
}

bool MayBeView(DataType type, size_t bytes) {
  if (bytes < kSmallestView) return false;
  switch (type) {
    case DataType::kFloat:
    case DataType::kFloat16:
    case DataType::kBfloat16:
    case DataType::kUint8:
    case DataType::kInt8:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<TensorData> FromTensorProto(const onnx::TensorProto& proto,
                                           const std::string& what,
                                           TensorSource* source) {
  if (proto.has_segment()) {
    return Invalid(what,
                   "is a segment of a tensor, and ONNX does not define where "
                   "the others are; store the whole tensor");
  }
  TensorData data;
  data.type = static_cast<DataType>(proto.data_type());
  data.shape.assign(proto.dims().begin(), proto.dims().end());
  if (HasFourBits(proto)) return FromFourBits(proto, what, source);
  if (const char* newer = NewerTypeName(proto.data_type())) {
    return Reject(
        Rejection::kUnsupportedDatatype,
        absl::StrCat(what, " has type ", newer, ", which is not supported"));
  }
  if (!proto.has_data_type() || proto.data_type() <= 0 ||
      proto.data_type() > static_cast<int>(kLastDataType)) {
    return Invalid(what, "has no valid data_type, but ", proto.data_type());
  }
  if (data.type == DataType::kString) {
    return Reject(Rejection::kUnsupportedDatatype,
                  absl::StrCat(what,
                               " has type string, which is not "
                               "supported"));
  }
  for (int64_t dimension : data.shape) {
    if (dimension < 0) {
      return Invalid(what, "has the negative dimension ", dimension);
    }
  }
  const absl::string_view raw = source->raw.has_value()
                                    ? source->raw->Of(proto.raw_data())
                                    : proto.raw_data();
  const int fields =
      !raw.empty() + (proto.float_data_size() != 0) +
      (proto.int32_data_size() != 0) + (proto.string_data_size() != 0) +
      (proto.int64_data_size() != 0) + (proto.double_data_size() != 0) +
      (proto.uint64_data_size() != 0);
  if (fields > 1) return Invalid(what, "has data in more than one field");
  const bool external = proto.data_location() == onnx::TensorProto::EXTERNAL;
  if (external ? fields != 0 : proto.external_data_size() != 0) {
    return Invalid(what, external ? "has data_location EXTERNAL and data"
                                  : "has external_data, but data_location is "
                                    "not EXTERNAL");
  }

  // No element is smaller than the bytes that state it, in the message or in a
  // file, so the count is bounded by their size before anything is allocated.
  const auto element = static_cast<int64_t>(ElementBytes(data.type));
  const int64_t count = data.count();
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, element, &bytes)) {
    return Invalid(what, "has the impossible shape ",
                   ShapeToString(data.shape));
  }
  if (external) {
    const bool view = MayBeView(data.type, static_cast<size_t>(bytes));
    ASSIGN_OR_RETURN(
        auto read, source->files.Read(proto, what, bytes, view ? element : 0));
    data.bytes = std::move(read);
    NormalizeBools(&data);
    return data;
  }
  const int64_t stated = static_cast<int64_t>(raw.size()) +
                         proto.float_data_size() + proto.int32_data_size() +
                         proto.int64_data_size() + proto.double_data_size() +
                         proto.uint64_data_size();
  if (count > stated) {
    return Invalid(what, "has shape ", ShapeToString(data.shape),
                   " but holds data for at most ", stated, " elements");
  }
  if (!raw.empty()) {
    if (static_cast<int64_t>(raw.size()) != bytes) {
      return Invalid(what, "has ", raw.size(), " bytes in raw_data, its shape ",
                     ShapeToString(data.shape), " needs ", bytes);
    }
    const bool aligned = reinterpret_cast<uintptr_t>(raw.data()) % element == 0;
    if (source->owner != nullptr && aligned &&
        MayBeView(data.type, raw.size())) {
      data.bytes = TensorBytes::View(raw.data(), raw.size(), source->owner);
      return data;
    }
    data.bytes = TensorBytes::Copy(raw.data(), raw.size());
  } else {
    data.bytes.resize(static_cast<size_t>(bytes));
    RETURN_IF_ERROR(TakeTyped(proto, what, &data));
  }
  NormalizeBools(&data);
  return data;
}

}  // namespace heddle::compiler
