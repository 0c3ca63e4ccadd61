// SPDX-License-Identifier: Apache-2.0
// A package of segments (compiler/package/segments.h) on a device: its card
// segments are graphs of their own; threads of this graph evaluate its host
// segments (segment_pool.h) as soon as their inputs are available. A run's
// values live in host memory, each from its write to its last read, or are
// resident (resident_values.h). Runs that share resident tensors follow each
// other (turn_line.h) where they touch them.
//
// A run ends with one status, whichever segment fails: Unavailable if the card
// disappears, also while the host computes. Host computations are ended in the
// middle of a node.
#ifndef HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_
#define HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/session/device_core.h"
#include "runtime/session/segment_pool.h"
#include "runtime/session/session.h"

namespace heddle::session {

class ResidentValues;

class SegmentedGraph : public Graph {
 public:
  using Graph::Start;
  // Checks the host segments before anything is on the card. The bytes of the
  // package may go when this returns.
  static absl::StatusOr<std::shared_ptr<Graph>> Load(
      std::shared_ptr<DeviceCore> core, package::Package package,
      const LoadOptions& options);
  ~SegmentedGraph() override;

  const package::Package& package() const override;
  uint64_t device_bytes() const override;
  uint64_t BoundedAxes(const std::string& output) const override;
  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done,
      const RunOptions& options) override;

 private:
  struct Loaded;  // what runs keep alive until they end
  class Task;
  class Handle;

  // Whether the jobs of the card's segments have steps for them.
  static absl::Status CheckBound(const Loaded& loaded,
                                 const ResidentValues& residents);
  SegmentedGraph(std::shared_ptr<const Loaded> loaded,
                 std::shared_ptr<SegmentPool> pool);

  std::shared_ptr<const Loaded> loaded_;
  std::shared_ptr<SegmentPool> pool_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_
