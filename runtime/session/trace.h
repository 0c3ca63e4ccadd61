// SPDX-License-Identifier: Apache-2.0
// Maps the driver's entries of a traced job to the commands of a package.
#ifndef HEDDLE_RUNTIME_SESSION_TRACE_H_
#define HEDDLE_RUNTIME_SESSION_TRACE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "runtime/session/device_core.h"
#include "runtime/session/session.h"

namespace heddle::session {

// What is to be known of a package whose runs may be traced: it outlives the
// graph, and the package has its streams only until they are on the card.
class TraceSource {
 public:
  static std::shared_ptr<const TraceSource> Of(const package::Package& package);
  // Commands that a run can tell of.
  uint64_t room() const { return room_; }
  // The ONNX node of a command, or "".
  std::string NodeAt(uint32_t stream, uint32_t offset) const {
    return names_.NodeAt(stream, offset);
  }

 private:
  package::Package names_;  // nodes and where they are; nothing else
  uint64_t room_ = 0;
};

class TraceReader {
 public:
  // `runs`: the step of the job that runs each stream.
  TraceReader(std::shared_ptr<const TraceSource> source,
              std::shared_ptr<const JobTrace> job, std::vector<uint32_t> runs)
      : source_(std::move(source)),
        job_(std::move(job)),
        runs_(std::move(runs)) {}
  // Of a job that has ended.
  absl::StatusOr<RunTrace> Read() const;

 private:
  const std::shared_ptr<const TraceSource> source_;
  const std::shared_ptr<const JobTrace> job_;
  const std::vector<uint32_t> runs_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_TRACE_H_
