// SPDX-License-Identifier: Apache-2.0
// A package of segments (compiler/package/segments.h) on a device: its card
// segments are graphs of their own, its host segments are evaluated by a thread
// of this graph, which takes one run after another and one segment after
// another. Values of a run lie in host memory.
//
// A run ends with one status, whichever segment it is in: Unavailable if the
// card goes, also while the host computes. Between two nodes of a host segment
// the thread looks; a node that has begun is finished.
#ifndef HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_
#define HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/session/device_core.h"
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
  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done,
      const RunOptions& options) override;

 private:
  struct State;
  struct Job;
  class Handle;

  SegmentedGraph(std::shared_ptr<State> state,
                 std::unique_ptr<std::thread> thread);
  // What the thread runs.
  static void Work(const std::shared_ptr<State>& state) noexcept;
  static absl::Status Execute(State* state, Job* job);

  std::shared_ptr<State> state_;
  std::unique_ptr<std::thread> thread_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_SEGMENTED_GRAPH_H_
