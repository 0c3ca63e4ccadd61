// SPDX-License-Identifier: Apache-2.0
#include "compiler/testing/onnx_files.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/tensor_proto.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot open ", path));
  return std::string(std::istreambuf_iterator<char>(file),
                     std::istreambuf_iterator<char>());
}

absl::StatusOr<NamedTensor> ReadTensorFile(const std::string& path) {
  ASSIGN_OR_RETURN(auto bytes, ReadFile(path));
  onnx::TensorProto proto;
  if (!proto.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is no TensorProto"));
  }
  TensorSource source("");
  ASSIGN_OR_RETURN(auto data, FromTensorProto(proto, path, &source));
  return NamedTensor{proto.name(), std::move(data)};
}

absl::StatusOr<std::vector<NamedTensor>> ReadTensorFiles(
    const std::string& folder, const std::string& prefix) {
  std::map<int, std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) == 0) {
      paths[std::atoi(name.c_str() + prefix.size())] = entry.path().string();
    }
  }
  if (error) return absl::NotFoundError(absl::StrCat("cannot list ", folder));
  std::vector<NamedTensor> tensors;
  for (const auto& [number, path] : paths) {
    ASSIGN_OR_RETURN(auto tensor, ReadTensorFile(path));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

namespace {

double LoadReal(const TensorData& data, int64_t i) {
  if (data.type == DataType::kFloat) return data.as<float>()[i];
  if (data.type == DataType::kDouble) return data.as<double>()[i];
  if (data.type == DataType::kFloat16) {
    return model::F16ToF32(data.as<uint16_t>()[i]);
  }
  return model::Bf16ToF32(data.as<uint16_t>()[i]);
}

}  // namespace

double Range(const TensorData& data) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int64_t i = 0; i < data.count(); ++i) {
    const double value = LoadReal(data, i);
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > low ? high - low : 0;
}

std::string Difference(const TensorData& actual, const TensorData& expected,
                       double rtol, double atol) {
  if (actual.type != expected.type || actual.shape != expected.shape) {
    return absl::StrCat("is ", DataTypeName(actual.type),
                        ShapeToString(actual.shape), ", expected ",
                        DataTypeName(expected.type),
                        ShapeToString(expected.shape));
  }
  const bool real =
      actual.type == DataType::kFloat || actual.type == DataType::kFloat16 ||
      actual.type == DataType::kBfloat16 || actual.type == DataType::kDouble;
  const size_t element = ElementBytes(actual.type);
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < actual.count(); ++i) {
    bool good = false;
    if (real) {
      const double a = LoadReal(actual, i), e = LoadReal(expected, i);
      good = (std::isnan(a) && std::isnan(e)) || a == e ||
             std::abs(a - e) <= rtol * std::abs(e) + atol;
    } else {
      good = std::memcmp(&actual.bytes[i * element],
                         &expected.bytes[i * element], element) == 0;
    }
    if (good) continue;
    ++wrong;
    if (first < 0) first = i;
  }
  if (wrong == 0) return "";
  std::string text = absl::StrCat(wrong, " of ", actual.count(),
                                  " elements differ, first at ", first);
  if (real) {
    absl::StrAppend(&text, ": ", LoadReal(actual, first), ", expected ",
                    LoadReal(expected, first));
  } else if (element == 1) {
    absl::StrAppend(&text, ": ", static_cast<int>(actual.bytes[first]),
                    ", expected ", static_cast<int>(expected.bytes[first]));
  }
  return text;
}

}  // namespace heddle::compiler
