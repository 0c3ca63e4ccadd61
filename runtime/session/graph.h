// SPDX-License-Identifier: Apache-2.0
// A package on a device: buffers of regions 0 to 2, its streams, and a pool of
// staging buffers, one per inference in flight.
//
// An inference is one job: copy in the inputs, run each stream, copy out the
// requested outputs. Copies go through the staging buffer, unless the tensors
// are in memory that the card reaches (host_buffer.h). Resident tensors
// (resident.h) are copied on the card, after the inputs and before the outputs.
// Weights that a plan keeps in host memory (compiler/package/weight_plan.h) are
// in a HOST buffer and are copied into a window before their stream, by steps
// of the same job. If the plan has two windows, these steps may execute in
// parallel with the previous stream, if the driver supports that
// (Device::overlaps_copies).
#ifndef HEDDLE_RUNTIME_SESSION_GRAPH_H_
#define HEDDLE_RUNTIME_SESSION_GRAPH_H_

#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/hal/device.h"
#include "runtime/session/device_core.h"
#include "runtime/session/session.h"
#include "runtime/session/trace.h"
#include "runtime/session/transfer.h"

namespace heddle::session {

// Page-rounded bytes of device memory that the package takes. OutOfRange if no
// 64-bit number holds them.
absl::StatusOr<uint64_t> DeviceBytesOf(const package::Package& package);

// Whether the card is what the package is compiled for.
absl::Status CheckFitsCard(const hal::Device& device,
                           const package::Package& package);

// What runs keep alive until they end.
class LoadedGraph : public std::enable_shared_from_this<LoadedGraph> {
 public:
  static absl::StatusOr<std::shared_ptr<LoadedGraph>> Load(
      std::shared_ptr<DeviceCore> core, package::Package package,
      const LoadOptions& options);
  ~LoadedGraph();

  const package::Package& package() const { return package_; }
  uint64_t device_bytes() const { return device_bytes_; }
  DeviceCore& core() { return *core_; }

  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done, const RunOptions& options);

  // Tensors of a run that may be resident or in host buffers: as many steps as
  // a job has besides the others.
  size_t MostBound() const;

  // Waits until no run is in flight; not on the completion thread.
  void WaitIdle();

 private:
  struct Idle;
  // A tensor of a run, and what is in its place: in the card's memory, or in
  // that of the host, from `offset` on. Null: the staging buffer has it.
  struct Binding {
    const package::TensorInfo* tensor;
    const hal::Buffer* buffer = nullptr;
    uint64_t offset = 0;
  };
  struct Bindings {
    std::vector<Binding> inputs, outputs;
    size_t bound = 0;   // those with a buffer: each has a step
    size_t staged = 0;  // the others
  };

  LoadedGraph(std::shared_ptr<DeviceCore> core, package::Package package,
              const LoadOptions& options);
  absl::Status Check(const LoadOptions& options) const;
  absl::Status Allocate();
  absl::Status UploadWeights();
  absl::StatusOr<std::shared_ptr<hal::Buffer>> TakeStaging();
  void GiveStaging(std::shared_ptr<hal::Buffer> staging) noexcept;
  absl::Status FillInputs(const std::vector<TensorBuffer>& inputs,
                          const Bindings& bindings, uint8_t* staging) const;
  // OK, or why a run has no steps or order for what is bound.
  absl::Status CheckBound(const Bindings& bindings, bool residents,
                          bool traced) const;
  absl::StatusOr<Bindings> Bind(const std::vector<TensorBuffer>& inputs,
                                const std::vector<TensorBuffer>& outputs) const;
  absl::Status BindTo(const std::vector<TensorBuffer>& buffers,
                      const std::vector<const package::TensorInfo*>& tensors,
                      bool inputs, Bindings* bindings) const;
  // Steps of a run, and the index of that which runs each stream.
  std::vector<hal::Step> MakeSteps(const hal::Buffer* staging,
                                   const Bindings& bindings,
                                   std::vector<uint32_t>* runs) const;
  // The bytes of them.
  static RunStatistics CopiesOf(const Bindings& bindings,
                                const std::vector<hal::Step>& steps);
  // How a job ended: an errno of waiting for it, or its result. Without memory
  // the sentence is missing.
  absl::Status JobStatus(int error, const drm_heddle_result& result,
                         const std::vector<uint32_t>& runs) const noexcept;

  const std::shared_ptr<DeviceCore> core_;
  package::Package package_;
  const bool taps_;
  std::shared_ptr<const TraceSource> trace_source_;  // if runs may be traced
  uint64_t device_bytes_ = 0;
  std::unique_ptr<hal::Buffer> regions_[3];  // null where the size is 0
  std::vector<std::unique_ptr<hal::Buffer>> windows_;  // of the plan
  Range host_range_;                                   // of the weights
  std::unique_ptr<hal::Buffer> host_weights_;  // those; null if there are none
  std::vector<std::unique_ptr<hal::Stream>> streams_;

  std::shared_ptr<Idle> idle_;
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_GRAPH_H_
