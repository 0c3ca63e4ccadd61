// SPDX-License-Identifier: Apache-2.0
// Checks a caller's buffers for a run against the tensors of the package.
#ifndef HEDDLE_RUNTIME_SESSION_BUFFERS_H_
#define HEDDLE_RUNTIME_SESSION_BUFFERS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "compiler/package/package.h"
#include "runtime/session/session.h"

namespace heddle::session {

// "model 'x'", for messages.
std::string Name(const package::Package& package);

// The tensor of that name, or null.
const package::TensorInfo* Find(const std::vector<package::TensorInfo>& tensors,
                                const std::string& name);

// The tensor of each buffer; InvalidArgument if one is unknown, given twice or
// of the wrong size, or if an input is missing. Outputs are those that the
// caller wants; with `taps` also the package's taps.
absl::Status MatchInputs(const package::Package& package,
                         const std::vector<TensorBuffer>& inputs,
                         std::vector<const package::TensorInfo*>* tensors);
absl::Status MatchOutputs(const package::Package& package, bool taps,
                          const std::vector<TensorBuffer>& outputs,
                          std::vector<const package::TensorInfo*>* tensors);

// The card holds int64 tensors as int32: a value that does not fit, or whose
// sums or products may not, must not come in.
absl::Status CheckInt64Range(const package::TensorInfo& tensor,
                             const TensorBuffer& buffer);

// DeadlineExceeded if it has passed before the run begins.
absl::Status CheckDeadline(const RunOptions& options);

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_BUFFERS_H_
