// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/data.h"

#include <errno.h>
#include <onnx/onnx_pb.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/tensor_proto.h"
#include "tools/cli/file.h"

namespace heddle::run {
namespace {

using compiler::DataType;

void Random(DataType type, std::mt19937_64* random, uint8_t* to) {
  const uint64_t bits = (*random)();
  const auto put = [to](auto value) { std::memcpy(to, &value, sizeof(value)); };
  // 24 bits: exact in every format that is at least as wide as float.
  const double unit = std::ldexp(static_cast<double>(bits >> 40), -23) - 1;
  switch (type) {
    case DataType::kFloat:
      return put(static_cast<float>(unit));
    case DataType::kDouble:
      return put(unit);
    case DataType::kFloat16:  // any sign and mantissa, exponents 2^-5 .. 2^-1
      return put(static_cast<uint16_t>((bits & 0x83ff) | (10 + (bits >> 32) % 5)
                                                             << 10));
    case DataType::kBfloat16: {
      const auto value = static_cast<float>(unit);
      uint32_t word;
      std::memcpy(&word, &value, sizeof(word));
      return put(static_cast<uint16_t>(word >> 16));
    }
    case DataType::kBool:
      return put(static_cast<uint8_t>(bits & 1));
    case DataType::kInt8:
    case DataType::kUint8:
      return put(static_cast<uint8_t>(bits));
    case DataType::kInt16:
    case DataType::kUint16:
      return put(static_cast<uint16_t>(bits & 15));
    case DataType::kInt32:
    case DataType::kUint32:
      return put(static_cast<uint32_t>(bits & 15));
    case DataType::kInt64:
    case DataType::kUint64:
      return put(bits & 15);
    default:
      return;
  }
}

// Names are the model's: nothing of them may lead out of the folder. The number
// keeps different names different.
std::string TapFile(size_t i, std::string name) {
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return absl::StrCat(i, "_", name.substr(0, 100));
}

}  // namespace

absl::StatusOr<std::vector<NamedTensor>> ReadDataSet(const std::string& folder,
                                                     const std::string& kind) {
  struct stat info = {};
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return absl::NotFoundError(
        absl::StrCat("'", folder, "' is not a folder with a test data set"));
  }
  std::vector<NamedTensor> tensors;
  for (size_t i = 0;; ++i) {
    const std::string path = absl::StrCat(folder, "/", kind, "_", i, ".pb");
    if (stat(path.c_str(), &info) != 0) return tensors;
    const auto bytes = cli::ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    onnx::TensorProto proto;
    if (!proto.ParseFromString(*bytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path, "' is not an onnx.TensorProto"));
    }
    compiler::TensorSource source("");
    auto data =
        compiler::FromTensorProto(proto, absl::StrCat("'", path, "'"), &source);
    if (compiler::RejectionOf(data.status()) ==
        compiler::Rejection::kUnsupportedDatatype) {
      return data.status();  // no model that takes it would be supported
    }
    if (!data.ok()) return absl::InvalidArgumentError(data.status().message());
    tensors.push_back({proto.name(), *std::move(data)});
  }
}

absl::Status NoInputs(const std::string& folder) {
  const std::string nested =
      absl::StrCat(absl::StripSuffix(folder, "/"), "/test_data_set_0");
  struct stat info = {};
  const bool meant = stat((nested + "/input_0.pb").c_str(), &info) == 0;
  return absl::NotFoundError(
      absl::StrCat("no input_0.pb in '", folder, "'",
                   meant ? absl::StrCat("; did you mean ", nested, "?") : ""));
}

absl::StatusOr<std::vector<compiler::TensorData>> Assign(
    const std::vector<package::TensorInfo>& wanted,
    std::vector<NamedTensor> tensors, const std::string& what) {
  if (tensors.size() != wanted.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the model has ", wanted.size(), " ", what,
                     wanted.size() == 1 ? "" : "s", ", the data set has ",
                     tensors.size(), " (", what, "_0.pb and so on)"));
  }
  std::vector<std::optional<compiler::TensorData>> slots(wanted.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    size_t slot = i;
    for (size_t w = 0; w < wanted.size(); ++w) {
      if (!tensors[i].name.empty() && wanted[w].name == tensors[i].name) {
        slot = w;
      }
    }
    const package::TensorInfo& info = wanted[slot];
    const compiler::TensorData& data = tensors[i].data;
    if (slots[slot].has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, " '", info.name, "' is given twice"));
    }
    if (data.type != info.type || data.shape != info.shape) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, " '", info.name, "' is ", compiler::DataTypeName(info.type),
          compiler::ShapeToString(info.shape), ", the data are ",
          compiler::DataTypeName(data.type),
          compiler::ShapeToString(data.shape)));
    }
    slots[slot] = std::move(tensors[i].data);
  }
  std::vector<compiler::TensorData> assigned;
  for (auto& slot : slots) assigned.push_back(*std::move(slot));
  return assigned;
}

compiler::TensorData RandomTensor(const package::TensorInfo& info,
                                  uint64_t seed, const ValueRange* range) {
  compiler::TensorData data =
      compiler::TensorData::Zeros(info.type, info.shape);
  std::mt19937_64 random(seed);
  const size_t each = compiler::ElementBytes(info.type);
  for (int64_t i = 0; i < data.count(); ++i) {
    uint8_t* to = data.bytes.data() + i * each;
    if (range == nullptr) {
      Random(info.type, &random, to);
    } else {
      PutValue(info.type, *range,
               std::ldexp(static_cast<double>(random() >> 11), -53), to);
    }
  }
  return data;
}

absl::Status WriteTensor(const std::string& path, const std::string& name,
                         const compiler::TensorData& data) {
  onnx::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(static_cast<int32_t>(data.type));
  for (int64_t dimension : data.shape) proto.add_dims(dimension);
  proto.set_raw_data(data.bytes.data(), data.bytes.size());
  return cli::WriteFile(path, proto.SerializeAsString());
}

absl::Status WriteTensors(const std::string& folder,
                          const std::vector<package::TensorInfo>& infos,
                          const std::vector<compiler::TensorData>& tensors,
                          bool outputs) {
  if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    return absl::NotFoundError(absl::StrCat("cannot make the folder '", folder,
                                            "': ", std::strerror(errno)));
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    absl::Status status =
        WriteTensor(absl::StrCat(folder, "/",
                                 outputs ? absl::StrCat("output_", i)
                                         : TapFile(i, infos[i].name),
                                 ".pb"),
                    infos[i].name, tensors[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace heddle::run
