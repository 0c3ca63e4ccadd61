// SPDX-License-Identifier: Apache-2.0
// An If or Loop of a package (compiler/package/segments.h) on a device. The
// host drives it on the caller's thread: it runs the segments of a body one
// after another, those of the card as jobs that it waits for, and nested
// control flow in the same way. Nothing in a body overlaps.
//
// A run can be ended between segments and inside host computations; a card job
// is waited for.
#ifndef HEDDLE_RUNTIME_SESSION_CONTROL_SEGMENT_H_
#define HEDDLE_RUNTIME_SESSION_CONTROL_SEGMENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "runtime/session/device_core.h"
#include "runtime/session/session.h"

namespace heddle::session {

void AddTo(const RunStatistics& part, RunStatistics* sum);

class ControlSegment {
 public:
  // Checks what the host evaluates; nothing is on the card. `segment` is one of
  // `whole`; both may go. InvalidArgument: a node that the host does not take.
  static absl::StatusOr<std::unique_ptr<ControlSegment>> Make(
      const package::Segment& segment, const package::Package& whole);
  ~ControlSegment();

  // Puts what bodies have for the card there, once. The bodies of `segment`
  // become those without what the card has now.
  absl::Status LoadCards(const std::shared_ptr<DeviceCore>& core,
                         const LoadOptions& options, package::Segment* segment);

  uint64_t device_bytes() const { return device_bytes_; }
  // The most bytes of tensors that a run needs besides its own. Saturates.
  uint64_t working_bytes() const { return working_bytes_; }

  // `from` and `to`: the segment's inputs and outputs, dense, aligned to
  // package::kValueAlign. `stop` is asked before each segment of a body; its
  // error ends the run. Adds what the card did to `statistics`.
  absl::Status Run(const std::vector<const uint8_t*>& from,
                   const std::vector<uint8_t*>& to,
                   const std::function<absl::Status()>& stop,
                   RunStatistics* statistics) const;

 private:
  class Body;
  ControlSegment() = default;

  compiler::ControlFlow control_;
  std::vector<compiler::ValueType> inputs_, outputs_;
  std::vector<std::unique_ptr<Body>> bodies_;
  uint64_t working_bytes_ = 0, device_bytes_ = 0;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_CONTROL_SEGMENT_H_
