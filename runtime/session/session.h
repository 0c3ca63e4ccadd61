// SPDX-License-Identifier: Apache-2.0
// Runs packages on devices: the native API, and the base of ONNXIFI and
// heddle-run.
//
//   auto devices = ListDevices();                      // device_spec.h
//   auto device = OpenDevice(devices[0].id);
//   auto graph = LoadGraph(*device, package_bytes, {});
//   auto run = (*graph)->Start(inputs, outputs, nullptr);
//   status = (*run)->Wait(absl::InfiniteFuture());
//
// Status codes that callers may rely on (each with a sentence):
//   Unavailable        the card is gone            (BACKEND_UNAVAILABLE)
//   ResourceExhausted  device memory               (NO_DEVICE_MEMORY), or what
//                      ExhaustedResource() says
//   InvalidArgument, FailedPrecondition            bad package or arguments
//   DeadlineExceeded, Cancelled, Internal, DataLoss  how a job failed
// Out of memory, calls throw std::bad_alloc. A call that fails or throws leaves
// no run, job, descriptor or thread behind. All functions are thread-safe.
#ifndef HEDDLE_RUNTIME_SESSION_SESSION_H_
#define HEDDLE_RUNTIME_SESSION_SESSION_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "compiler/package/package.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::session {

// Identity of a device. `id` is stable for the life of the process and across a
// re-plug of the same card.
struct DeviceDescription {
  // "drm:serial=7", "hosted:/run/heddle/hosted.sock#0", "sim:config=h256#0"
  std::string id;
  std::string transport;      // "hosted", "drm", "null"
  std::string config;         // "h256"
  std::string core;           // "silicon", "rtl", "functional", "null"
  uint64_t unique = 0;        // serial number
  uint64_t memory_bytes = 0;  // device memory that can be allocated
  uint32_t pci_vendor = 0, pci_device = 0, pci_bdf = 0;
  bool simulated = false;
};

// All devices present now, chosen by HEDDLE_DEVICE (device_spec.h).
// Starts the private simulated card if nothing else is there. Never touches a
// device at library load. That card has `simulated_config` ("" = the default
// configuration).
absl::StatusOr<std::vector<DeviceDescription>> ListDevices(
    const std::string& simulated_config = "");

enum class ExhaustedKind {
  kSystemMemory,
  kSystemResources,
  kDeviceMemory,
  kDeviceResources
};
// Which resource a ResourceExhausted status is about.
ExhaustedKind ExhaustedResource(const absl::Status& status);

// An open device: one driver context. Destroying it while graphs are alive is
// allowed; they keep what they need.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceDescription& description() const = 0;
  // False as soon as the card is known to be gone; never true again.
  virtual bool available() = 0;
  // Called once from a runtime thread when the card goes.
  virtual void OnRemoved(std::function<void()> callback) = 0;
  struct Memory {
    uint64_t total = 0, used = 0;
  };
  virtual absl::StatusOr<Memory> memory() = 0;
};

struct OpenOptions {
  int priority = 2;  // 0 highest; 0 and 1 need CAP_SYS_NICE
};
absl::StatusOr<std::shared_ptr<Device>> OpenDevice(
    const std::string& id, const OpenOptions& options = {});

// A card that is looked at and not used: a descriptor, no thread.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual const DeviceDescription& description() const = 0;
  // Asks the driver. False once the card is gone; never true again.
  virtual bool present() noexcept = 0;
};
absl::StatusOr<std::shared_ptr<Watch>> WatchDevice(const std::string& id);

// Bytes in the card's memory that runs read and write in the place of a buffer
// of the host: the state of a recurrent network, a KV cache. Zeros at first.
// Destroying it while runs that name it are in flight is allowed.
class Resident {
 public:
  virtual ~Resident() = default;
  virtual uint64_t size() const = 0;
  // Behind the runs of the device that were started before, before those that
  // are started later. `size` is all of it. Both wait for the card: not from a
  // callback.
  virtual absl::Status Write(const void* data, uint64_t size) = 0;
  virtual absl::Status Read(void* data, uint64_t size) = 0;
};
// FailedPrecondition: the driver is too old.
absl::StatusOr<std::shared_ptr<Resident>> MakeResident(
    std::shared_ptr<Device> device, uint64_t bytes);

// Host memory that the card reaches. A run transfers a tensor that is there
// from its place or to it, where it copies another by way of memory of its own:
// into that in Start, out of it at the end.
class HostBuffer {
 public:
  virtual ~HostBuffer() = default;
  virtual uint8_t* data() const = 0;  // zeros at first; for the object's life
  virtual uint64_t size() const = 0;
};
absl::StatusOr<std::shared_ptr<HostBuffer>> MakeHostBuffer(
    std::shared_ptr<Device> device, uint64_t bytes);

struct TensorBuffer {
  std::string name;
  void* data = nullptr;
  uint64_t size = 0;  // bytes; must equal the package's size of that tensor
  // Instead of `data`, of the device that the graph was loaded with: an input
  // is copied from it on the card, an output to it. Runs are queued without the
  // host between them: one reads what the one before it wrote, and may write
  // what it reads. For types other than int64, whose values the host must see,
  // and not in a traced run.
  // A graph that is partly on the host transfers what its host segments read or
  // write of it, by way of a host buffer. Runs of such graphs with the same
  // tensor follow each other, in the order of Start, where one of them writes
  // it; that of a graph wholly on the card is not started before:
  // ResourceExhausted (kDeviceResources). A run that fails may have written
  // some of its tensors.
  std::shared_ptr<Resident> resident = nullptr;
  // Of the device that the graph was loaded with, and `data` lies within it;
  // the run keeps it alive. It reads an input until it ends, so what is there
  // must not change before; it writes an output at any time, and partly if it
  // fails. Runs of graphs that are wholly on the card may be queued behind each
  // other with an output of one as the input of the next; only int64 inputs,
  // whose values the host must see, are read before Start returns.
  std::shared_ptr<HostBuffer> host = nullptr;
};

struct RunStatistics {
  uint64_t cycles = 0, macs = 0, commands = 0;
  uint64_t bytes_loaded = 0, bytes_stored = 0;
  uint64_t matrix_busy = 0, vector_busy = 0, dma_busy = 0;
  // Of what the caller gave and got, and of weights that stay in host memory:
  // transferred to the card and from it; copied on it; copied by the host, to
  // and from where it is transferred or computed with.
  uint64_t bytes_in = 0, bytes_out = 0, bytes_on_card = 0, bytes_by_host = 0;
};

// What an engine waited for while it executed a command.
struct Stall {
  const char* reason = "";  // "weights", "activations", "output",
                            // "device memory", "SRAM"
  uint64_t cycles = 0;
};

// A command of a traced run, as the card wrote it down.
struct TracedCommand {
  uint32_t stream = 0;  // of the package
  uint32_t offset = 0;  // bytes, in the stream
  // Of the command: the package's layer, unless it has no such.
  uint32_t tag = 0;
  std::string node;  // the ONNX node that it belongs to, or ""
  isa::Engine engine = isa::Engine::kControl;
  // Cycles from the start of the job: its engine took it, maybe while it
  // executed another; what it wrote could be read.
  uint64_t begin = 0, end = 0;
  // What its engine can wait for, in the order of the contract.
  std::vector<Stall> stalls;
};

struct RunTrace {
  // In the order in which they were retired. Barriers and the ends of streams
  // are not among them, nor copies.
  std::vector<TracedCommand> commands;
  // Times are no measurement: the card's core has no timing. Where all of them
  // are 0, too, it tells none.
  bool estimated = false;
  // Commands that ran, and of which nothing is known: there was no room for
  // more, or the card could not keep up with writing.
  uint64_t lost_for_room = 0, lost_by_card = 0;

  bool has_times() const;
};

// Runs of one device that may be in flight.
inline constexpr size_t kMaxRunsInFlight = 64;

// One inference in flight.
class Run {
 public:
  virtual ~Run() = default;  // waits for the end
  // The outputs are written when this returns OK. The deadline is that of
  // waiting: DeadlineExceeded does not end the run.
  virtual absl::Status Wait(absl::Time deadline) = 0;
  // The run ends soon, with Cancelled unless it ends before: what the host
  // computes is given up in the middle, what is queued on the card is finished.
  // A run that is wholly on the card is not cancelled.
  virtual void Cancel() = 0;
  virtual RunStatistics statistics() const = 0;  // after Wait
  // After Wait, of an output whose size the run's values decide (NonZero and
  // the like): the shape that it has. The package's is the most that it can
  // have; the elements are the first of its buffer. Nothing of other outputs.
  virtual std::optional<compiler::Shape> OutputShape(
      const std::string& name) const {
    (void)name;
    return std::nullopt;
  }
  // After Wait, of a run that was started with RunOptions.trace.
  virtual absl::StatusOr<RunTrace> trace() const = 0;
};

inline constexpr uint32_t kMaxHostThreads = 64;

struct LoadOptions {
  bool taps = false;  // allocate for the taps of the package and return them
  // Runs may be traced. FailedPrecondition: driver or card has no trace.
  bool trace = false;
  // Of a package with host segments: what a run may take of host memory, for
  // the tensors between segments and inside those of the host. The memory of
  // the latter is kept for the next run, within this limit and no more than
  // 256 MiB (of each shape of a package that has several).
  uint64_t host_memory_bytes = uint64_t{4} << 30;
  // How many threads compute host segments of this graph, of all its runs; 0:
  // one per processor, at most 4. One more is there for the card. More than
  // kMaxHostThreads are kMaxHostThreads.
  uint32_t host_threads = 0;
  // How long the host may compute for one run, summed over its segments, before
  // the run ends with DeadlineExceeded: for models whose host nodes nobody has
  // looked at. A node is ended some milliseconds behind it. Of a Loop or If
  // that the host drives all of the time counts, also that in which the card
  // works for it: a Loop may be endless, and ends by this, a deadline, or
  // Cancel().
  absl::Duration host_time = absl::InfiniteDuration();
};

struct RunOptions {
  // The card writes down when each command ran; no cycle of a command changes
  // for that. Such a run is the only one of its graph in flight:
  // ResourceExhausted (kDeviceResources) if there are others, as for others
  // while there is this one.
  bool trace = false;
  // When the run ends with DeadlineExceeded if it has not ended: as if it were
  // cancelled then. One that has passed: it does not begin.
  absl::Time deadline = absl::InfiniteFuture();
};

// A package on a device. Parts of it may run on the host: then its runs are
// in flight from one segment to the next, each as one run of this graph;
// segments that need nothing of each other, and several runs, are executed at
// the same time.
class Graph {
 public:
  // Cancels its runs (see Run::Cancel) and waits for their ends.
  virtual ~Graph() = default;
  // The package without the contents of weights and streams: the card has them.
  virtual const package::Package& package() const = 0;
  // Bytes of device memory that it takes, page-rounded.
  virtual uint64_t device_bytes() const = 0;
  // Of an output: the axes whose size the values of a run decide (bit i: axis
  // i); see Run::OutputShape.
  virtual uint64_t BoundedAxes(const std::string& output) const {
    (void)output;
    return 0;
  }
  // Queues an inference. Inputs are read before the call returns, but for those
  // in a HostBuffer; outputs are written before the run is done. `done`, if
  // given, is called once from a runtime thread with the run's status, after
  // the outputs are written; it must not throw. Never waits: ResourceExhausted
  // (kDeviceResources) while kMaxRunsInFlight runs of the device are in flight.
  // Runs of one graph begin in order, and end in order if it is wholly on the
  // card; each has its own input and output storage. `outputs` may name outputs
  // and taps in any order.
  virtual absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done,
      const RunOptions& options) = 0;
  absl::StatusOr<std::shared_ptr<Run>> Start(
      const std::vector<TensorBuffer>& inputs,
      const std::vector<TensorBuffer>& outputs,
      std::function<void(const absl::Status&)> done) {
    return Start(inputs, outputs, std::move(done), RunOptions());
  }
};

absl::StatusOr<std::shared_ptr<Graph>> LoadGraph(
    std::shared_ptr<Device> device, absl::string_view package_bytes,
    const LoadOptions& options = {});

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_SESSION_H_
