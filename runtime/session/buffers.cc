// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/buffers.h"

#include <cstdint>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace heddle::session {
namespace {

std::string Names(const std::vector<package::TensorInfo>& tensors) {
  std::string names;
  for (const package::TensorInfo& tensor : tensors) {
    absl::StrAppend(&names, names.empty() ? "'" : ", '", tensor.name, "'");
  }
  return names.empty() ? "none" : names;
}

absl::Status CheckBuffer(const char* kind, const package::TensorInfo& tensor,
                         const TensorBuffer& buffer) {
  if (buffer.size != tensor.size) {
    return absl::InvalidArgumentError(
        absl::StrCat(kind, " '", tensor.name, "' has ", tensor.size, " bytes (",
                     compiler::DataTypeName(tensor.type), " ",
                     compiler::ShapeToString(tensor.shape),
                     "); the buffer has ", buffer.size));
  }
  if (buffer.resident != nullptr) {
    if (buffer.data != nullptr || buffer.host != nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(kind, " '", tensor.name,
                       "' is given as a buffer and as a resident tensor"));
    }
    if (tensor.type == compiler::DataType::kInt64) {
      return absl::InvalidArgumentError(
          absl::StrCat(kind, " '", tensor.name,
                       "' is int64 and cannot be resident: the card keeps only "
                       "the low 32 bits, and the host must check the range in "
                       "each run"));
    }
    return absl::OkStatus();
  }
  if (buffer.data == nullptr && buffer.size > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the buffer of ", kind, " '", tensor.name, "' is null"));
  }
  return absl::OkStatus();
}

}  // namespace

std::string Name(const package::Package& package) {
  return absl::StrCat("model '", package.model_name, "'");
}

const package::TensorInfo* Find(const std::vector<package::TensorInfo>& tensors,
                                const std::string& name) {
  for (const package::TensorInfo& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

absl::Status MatchInputs(const package::Package& package,
                         const std::vector<TensorBuffer>& inputs,
                         std::vector<const package::TensorInfo*>* tensors) {
  std::set<std::string> given;
  for (const TensorBuffer& buffer : inputs) {
    const package::TensorInfo* tensor = Find(package.inputs, buffer.name);
    if (tensor == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(Name(package), " has no input '", buffer.name,
                       "'; its inputs are ", Names(package.inputs)));
    }
    if (!given.insert(buffer.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", buffer.name, "' is given twice"));
    }
    absl::Status status = CheckBuffer("input", *tensor, buffer);
    if (!status.ok()) return status;
    tensors->push_back(tensor);
  }
  for (const package::TensorInfo& tensor : package.inputs) {
    if (given.count(tensor.name) == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "input '", tensor.name, "' of ", Name(package), " is missing"));
    }
  }
  return absl::OkStatus();
}

absl::Status MatchOutputs(const package::Package& package, bool taps,
                          const std::vector<TensorBuffer>& outputs,
                          std::vector<const package::TensorInfo*>* tensors) {
  std::set<std::string> given;
  for (const TensorBuffer& buffer : outputs) {
    const package::TensorInfo* tensor = Find(package.outputs, buffer.name);
    if (tensor == nullptr && taps) tensor = Find(package.taps, buffer.name);
    if (tensor == nullptr) {
      const bool tap = Find(package.taps, buffer.name) != nullptr;
      return absl::InvalidArgumentError(absl::StrCat(
          Name(package), " has no output '", buffer.name, "'",
          tap ? "; it is a tap: load the package with LoadOptions.taps"
              : absl::StrCat("; its outputs are ", Names(package.outputs))));
    }
    if (!given.insert(buffer.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("output '", buffer.name, "' is given twice"));
    }
    absl::Status status = CheckBuffer("output", *tensor, buffer);
    if (!status.ok()) return status;
    tensors->push_back(tensor);
  }
  return absl::OkStatus();
}

absl::Status CheckInt64Range(const package::TensorInfo& tensor,
                             const TensorBuffer& buffer) {
  if (tensor.type != compiler::DataType::kInt64) return absl::OkStatus();
  const auto* bytes = static_cast<const uint8_t*>(buffer.data);
  for (uint64_t i = 0; i < buffer.size / sizeof(int64_t); ++i) {
    int64_t value = 0;
    std::memcpy(&value, bytes + i * sizeof(value), sizeof(value));
    if (value >= tensor.minimum && value <= tensor.maximum) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "element ", i, " of input '", tensor.name, "' is ", value,
        "; this model takes int64 values from ", tensor.minimum, " to ",
        tensor.maximum, ", because the card computes with 32 bits"));
  }
  return absl::OkStatus();
}

absl::Status CheckDeadline(const RunOptions& options) {
  if (options.deadline == absl::InfiniteFuture() ||
      absl::Now() < options.deadline) {
    return absl::OkStatus();
  }
  return absl::DeadlineExceededError(
      "the deadline of the inference (RunOptions.deadline) passed before it "
      "began");
}

}  // namespace heddle::session
