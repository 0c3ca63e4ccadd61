// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/variable_outputs.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

absl::Status CheckSize(const EngineBuffer& output,
                       const compiler::Shape& actual) {
  for (size_t i = 0; i < actual.size(); ++i) {
    const bool exact = (output.exact >> i & 1) != 0;
    if (exact ? actual[i] == output.most[i] : actual[i] <= output.most[i]) {
      continue;
    }
    return Fail(
        ONNXIFI_STATUS_INTERNAL_ERROR,
        absl::StrCat(
            "output '", output.name, "' is ", compiler::ShapeToString(actual),
            " for these values, ", exact ? "not the " : "more than the ",
            compiler::ShapeToString(output.most),
            exact ? " that the model declares" : " of its descriptor"));
  }
  return absl::OkStatus();
}

}  // namespace

VariableOutputs::VariableOutputs(const std::vector<EngineBuffer>& outputs,
                                 std::vector<compiler::Shape>* shapes)
    : shapes_(shapes) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const EngineBuffer& given = outputs[i];
    if (given.bounded == 0) {
      buffers_.push_back({given.name, given.data, given.bytes});
      continue;
    }
    Variable variable = {i, given, {}};
    void* data = given.data;
    if (given.bytes < given.whole_bytes) {
      variable.room.resize(given.whole_bytes);
      data = variable.room.data();
    }
    variable_.push_back(std::move(variable));
    buffers_.push_back({given.name, data, given.whole_bytes});
  }
}

absl::Status VariableOutputs::Settle(const session::Run& run) {
  for (const Variable& variable : variable_) {
    const EngineBuffer& given = variable.given;
    std::optional<compiler::Shape> actual = run.OutputShape(given.name);
    if (!actual.has_value() || actual->size() != given.most.size()) {
      return absl::InternalError(
          absl::StrCat("unknown size of output '", given.name, "' is"));
    }
    if (absl::Status s = CheckSize(given, *actual); !s.ok()) return s;
    if (!variable.room.empty()) {
      // Within `most` in each dimension, so within what was given.
      const auto bytes =
          static_cast<uint64_t>(compiler::ElementCount(*actual)) *
          given.element_bytes;
      if (bytes > 0) std::memcpy(given.data, variable.room.data(), bytes);
    }
    (*shapes_)[variable.index] = *std::move(actual);
  }
  return absl::OkStatus();
}

}  // namespace heddle::onnxifi
