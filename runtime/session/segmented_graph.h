// SPDX-License-Identifier: Apache-2.0
// A package of segments (compiler/package/segments.h) on a device: its card
// segments are graphs of their own, its host segments are evaluated by threads
// of this graph (segment_pool.h), as soon as the values are there that they
// read. Values of a run lie in host memory, each from when it is written to
// when it is read for the last time.
//
// A run ends with one status, whichever segments it is in: Unavailable if the
// card goes, also while the host computes. What the host computes is ended in
// the middle of a node.
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

  SegmentedGraph(std::shared_ptr<const Loaded> loaded,
                 std::shared_ptr<SegmentPool> pool);

  std::shared_ptr<const Loaded> loaded_;
  std::shared_ptr<SegmentPool> pool_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_
