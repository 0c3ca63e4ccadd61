// SPDX-License-Identifier: Apache-2.0
// A deterministic engine: devices that tests plug and unplug, failures at any
// call, runs that wait for the test.
//
// A "program" computes, byte by byte and whatever the types, for every output
//   out[i] = 1 + sum over run-time inputs of in[i mod size]
//              + sum over weights of w[i mod size]
// Shapes of outputs are the declared ones with symbolic dimensions bound by
// name. A graph takes the model's size in device memory, in pages.
#ifndef HEDDLE_ONNXIFI_TESTING_FAKE_ENGINE_H_
#define HEDDLE_ONNXIFI_TESTING_FAKE_ENGINE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "onnxifi/engine.h"

namespace heddle::onnxifi {

// Where the engine is called.
enum class Point { kList, kAnalyse, kOpen, kLoad, kStart, kRun };

class FakeDevice;

// What all fake engines of the process see.
class FakeWorld {
 public:
  static FakeWorld& Get();

  // One device "card0" with 1 MiB, no failures, no delays.
  void Reset();
  void Plug(const std::string& name, uint64_t memory_bytes = 1 << 20);
  void Unplug(const std::string& name);

  // The call at `point` after `skip` more of them fails with `status` (kRun:
  // the run itself).
  void FailAt(Point point, absl::Status status, int skip = 0);
  // Called at each point, before it is carried out, without locks.
  void SetHook(std::function<void(Point)> hook);
  // Runs take this long.
  void SetRunTime(int milliseconds);
  // Runs begin but do not end until Open. Unplugging ends them.
  void CloseGate();
  void OpenGate();
  // What Analyse and Load say of every model from now on.
  void SetEmulated(bool emulated);
  void SetRejection(absl::Status refusal);

  int live_graphs();
  int live_devices();
  int starts();             // runs begun since Reset
  uint64_t optimization();  // of the last model that was loaded
  uint64_t memory_used(const std::string& name);

 private:
  friend class FakeDevice;
  friend class FakeGraph;
  friend class FakeEngine;

  struct Card {
    DeviceInfo info;
    bool present = false;
    int generation = 0;  // plugged for the n-th time
    uint64_t used = 0;
  };
  struct Failure {
    int skip = 0;
    absl::Status status;
  };

  // Runs the hook, then says whether the call is to fail.
  absl::Status Pass(Point point);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Card> cards_;
  std::map<Point, Failure> failures_;
  std::function<void(Point)> hook_;
  std::set<FakeDevice*> devices_;
  int run_time_ms_ = 0;
  bool gate_open_ = true;
  bool emulated_ = false;
  absl::Status refusal_;
  int live_graphs_ = 0;
  int starts_ = 0;
  uint64_t optimization_ = 0;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_TESTING_FAKE_ENGINE_H_
