// SPDX-License-Identifier: Apache-2.0
// Outputs of data-dependent size (VARIABLE_SIZE_OUTPUTS). The session requires
// room for the largest possible size; the program provides room for as much as
// it accepts, which may be less.
#ifndef HEDDLE_ONNXIFI_VARIABLE_OUTPUTS_H_
#define HEDDLE_ONNXIFI_VARIABLE_OUTPUTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "onnxifi/engine.h"
#include "runtime/session/session.h"

namespace heddle::onnxifi {

class VariableOutputs {
 public:
  // `shapes`: those of all outputs, in their order; must live until Settle.
  VariableOutputs(const std::vector<EngineBuffer>& outputs,
                  std::vector<compiler::Shape>* shapes);
  VariableOutputs(const VariableOutputs&) = delete;
  VariableOutputs& operator=(const VariableOutputs&) = delete;

  bool any() const { return !variable_.empty(); }
  // Of all outputs, for the session.
  const std::vector<session::TensorBuffer>& buffers() const { return buffers_; }

  // Of a run that has ended well: puts what there is where it belongs, dense
  // from the beginning of the program's buffer, and sets the shapes.
  // INTERNAL_ERROR: one has another size than it may have; then nothing of it
  // is put.
  absl::Status Settle(const session::Run& run);

 private:
  struct Variable {
    size_t index;
    EngineBuffer given;
    std::vector<uint8_t> room;  // empty: the program's own suffices
  };
  std::vector<Variable> variable_;
  std::vector<session::TensorBuffer> buffers_;
  std::vector<compiler::Shape>* const shapes_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_VARIABLE_OUTPUTS_H_
