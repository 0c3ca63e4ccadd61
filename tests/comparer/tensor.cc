// SPDX-License-Identifier: Apache-2.0
#include "tests/comparer/tensor.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace heddle::comparer {
namespace {

using onnx::TensorProto;

template <typename To, typename Field>
std::string Pack(const Field& values) {
  std::string bytes(values.size() * sizeof(To), '\0');
  for (int i = 0; i < values.size(); ++i) {
    const To value = static_cast<To>(values.Get(i));
    std::memcpy(&bytes[i * sizeof(To)], &value, sizeof(To));
  }
  return bytes;
}

// The bytes of the typed field that onnx.proto names for the type.
std::string TypedBytes(const TensorProto& proto) {
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
      return Pack<float>(proto.float_data());
    case TensorProto::DOUBLE:
      return Pack<double>(proto.double_data());
    case TensorProto::INT64:
      return Pack<int64_t>(proto.int64_data());
    case TensorProto::UINT64:
      return Pack<uint64_t>(proto.uint64_data());
    case TensorProto::UINT32:
      return Pack<uint32_t>(proto.uint64_data());
    case TensorProto::INT32:
      return Pack<int32_t>(proto.int32_data());
    case TensorProto::INT16:
    case TensorProto::UINT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return Pack<uint16_t>(proto.int32_data());
    default:
      return Pack<uint8_t>(proto.int32_data());
  }
}

}  // namespace

int ElementBytes(int32_t type) {
  switch (type) {
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::BOOL:
      return 1;
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 4;
    case TensorProto::DOUBLE:
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::COMPLEX64:
      return 8;
    case TensorProto::COMPLEX128:
      return 16;
    default:
      return 0;
  }
}

std::string TypeName(int32_t type) {
  if (!onnx::TensorProto_DataType_IsValid(type)) {
    return absl::StrCat("type ", type);
  }
  return onnx::TensorProto_DataType_Name(
      static_cast<onnx::TensorProto_DataType>(type));
}

std::string Describe(const Tensor& tensor) {
  return absl::StrCat(TypeName(tensor.type), "[",
                      absl::StrJoin(tensor.shape, ","), "]");
}

int64_t Elements(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dimension : shape) {
    if (dimension < 0 || __builtin_mul_overflow(count, dimension, &count)) {
      return -1;
    }
  }
  return count;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

absl::StatusOr<Tensor> ReadTensor(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  TensorProto proto;
  if (!proto.ParseFromString(*bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " does not hold a TensorProto"));
  }
  Tensor tensor;
  tensor.name = proto.name();
  tensor.type = proto.data_type();
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  const int64_t elements = Elements(tensor.shape);
  const int size = ElementBytes(tensor.type);
  if (size == 0 || elements < 0 ||
      proto.data_location() == TensorProto::EXTERNAL) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": a tensor ", Describe(tensor),
        " cannot be compared; it needs elements of fixed size in the file"));
  }
  tensor.bytes = proto.has_raw_data() ? proto.raw_data() : TypedBytes(proto);
  if (static_cast<int64_t>(tensor.bytes.size()) / size != elements ||
      tensor.bytes.size() % size != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", tensor.bytes.size(), " bytes of data, but ",
                     Describe(tensor), " has ", elements, " elements"));
  }
  return tensor;
}

absl::Status WriteTensor(const std::string& path, const Tensor& tensor) {
  TensorProto proto;
  proto.set_name(tensor.name);
  proto.set_data_type(tensor.type);
  for (const int64_t dimension : tensor.shape) proto.add_dims(dimension);
  proto.set_raw_data(tensor.bytes);
  std::ofstream file(path, std::ios::binary);
  proto.SerializeToOstream(&file);
  if (!file.flush()) {
    return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ListTensorFiles(
    const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".pb") files.push_back(entry.path());
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot read the folder ", folder, ": ", error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace heddle::comparer
