// SPDX-License-Identifier: Apache-2.0
// Events, backends and graphs behind their handles.
#ifndef ONNXIFI_CONFORMANCE_REFERENCE_OBJECTS_H_
#define ONNXIFI_CONFORMANCE_REFERENCE_OBJECTS_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "onnxifi/conformance/reference/program.h"

namespace onnxifi_reference {

// The device, its memory and places for graphs. It is there unless there is a
// file of the name in ONNXIFI_REFERENCE_UNPLUGGED: so that its removal can be
// tried out. Without the variable it cannot go. Its memory has the bytes of
// ONNXIFI_REFERENCE_MEMORY, or a mebibyte.
class Device {
 public:
  static constexpr uint64_t kGraphs = 32;

  Device();
  bool hot_pluggable() const { return !file_.empty(); }
  bool present() { return Look().first; }
  // Changes when the device goes: what was made before stays unavailable.
  uint64_t generation() { return Look().second; }

  uint64_t memory_bytes() const { return memory_bytes_; }

  std::mutex mutex;
  uint64_t used_bytes = 0;
  uint64_t graphs = 0;

 private:
  std::pair<bool, uint64_t> Look();

  std::string file_;
  uint64_t memory_bytes_ = uint64_t{1} << 20;
  std::mutex look_;
  bool present_ = true;
  uint64_t generation_ = 0;
};

// Whether what was made of `device` in a generation has lost it.
inline bool Gone(Device* device, uint64_t generation) {
  return device->hot_pluggable() &&
         (!device->present() || device->generation() != generation);
}

// A single-shot flag.
class Event {
 public:
  Event(Device* device, uint64_t generation)
      : device_(device), generation_(generation) {}
  bool gone() const { return Gone(device_, generation_); }

  // INVALID_STATE if it was signalled before. `end` is what waiters are told.
  onnxStatus Signal(onnxStatus end = ONNXIFI_STATUS_SUCCESS);
  // Until the signal, or the release: INVALID_EVENT then; BACKEND_UNAVAILABLE
  // when the device has gone.
  onnxStatus Wait();
  // The same for at most so many milliseconds (0: for ever); SUCCESS also if it
  // is not signalled then. *end: what waiters are told.
  onnxStatus WaitFor(uint32_t milliseconds, bool* signalled, onnxStatus* end);
  bool signalled();
  void Release();
  // Calls `then` with how it ended when that is known, here or on the thread
  // that signals. A release ends it with INTERNAL_ERROR.
  void Then(std::function<void(onnxStatus)> then);

 private:
  void Finish(std::unique_lock<std::mutex> lock, onnxStatus end);

  Device* const device_;
  const uint64_t generation_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool signalled_ = false;
  bool released_ = false;
  onnxStatus end_ = ONNXIFI_STATUS_SUCCESS;
  std::vector<std::function<void(onnxStatus)>> then_;
};

// A thread that does what is ready, in that order.
class Backend {
 public:
  explicit Backend(Device* device);
  ~Backend();
  bool gone() const { return Gone(device, generation); }
  void Post(std::function<void()> work);
  int log_level = ONNXIFI_LOG_LEVEL_WARNING;
  Device* const device;
  const uint64_t generation;

 private:
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    bool stop = false;
  };
  std::shared_ptr<Queue> queue_;
  std::thread thread_;
};

// Where onnxSetGraphIO says that tensors are.
struct Locations {
  std::map<std::string, Shape> shapes;  // of all tensors
  std::map<std::string, const void*> inputs;
  std::map<std::string, void*> outputs;
  std::map<std::string, Shape> most;  // of outputs that are bounded
};

struct Graph {
  explicit Graph(std::shared_ptr<Backend> backend);
  ~Graph() { GiveBack(); }
  // NO_DEVICE_MEMORY, NO_DEVICE_RESOURCES.
  onnxStatus Reserve(uint64_t bytes);
  void GiveBack();
  // From now on there are no more runs. Waits until none is left, or the device
  // has gone.
  void Close();

  const std::shared_ptr<Backend> backend;
  uint64_t reserved_bytes = 0;
  bool reserved = false;
  Program program;
  uint32_t max_sequence = 0;

  std::mutex mutex;
  std::condition_variable idle;
  int running = 0;
  bool closed = false;
  std::shared_ptr<const Locations> locations;
};

// Is told when the computing of a run begins and ends, before its output event
// is signalled.
using Timing = std::function<void(bool begins)>;

// Starts a run of `graph` when `input` is signalled; its end signals `output`.
// INVALID_GRAPH: the graph was closed meanwhile. Throws if there is no run.
onnxStatus Start(const std::shared_ptr<Graph>& graph,
                 std::shared_ptr<const Locations> locations, Event* input,
                 std::shared_ptr<Event> output, Timing timing = nullptr);

}  // namespace onnxifi_reference

#endif  // ONNXIFI_CONFORMANCE_REFERENCE_OBJECTS_H_
