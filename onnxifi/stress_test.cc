// SPDX-License-Identifier: Apache-2.0
// Eight threads call random functions with random handles, good, stale and of
// the wrong type, while the device comes and goes. Every status must be one
// that its function may return. For ThreadSanitizer above all.
//
// Seed and calls per thread: HEDDLE_STRESS_SEED, HEDDLE_STRESS_CALLS.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

// Handles of one type that the threads share, by chance.
class Pool {
 public:
  void* Any(std::mt19937* random) {
    std::lock_guard<std::mutex> lock(mutex_);
    return handles_[(*random)() % handles_.size()];
  }
  // Puts a handle in the place of another one, which is returned.
  void* Put(void* handle, std::mt19937* random) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::swap(handle, handles_[(*random)() % handles_.size()]);
    return handle;
  }
  std::array<void*, 12> handles_{};

 private:
  std::mutex mutex_;
};

long FromEnvironment(const char* name, long fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::atol(text);
}

class StressClient {
 public:
  explicit StressClient(onnxBackendID id) : id_(id), model_(Serialize({})) {}

  void Work(unsigned seed, long calls) {
    std::mt19937 random(seed);
    for (long i = 0; i < calls; ++i) Step(&random);
  }

  void Drain() {
    for (void* event : events_.handles_) onnxReleaseEvent(event);
    for (void* graph : graphs_.handles_) onnxReleaseGraph(graph);
    for (void* backend : backends_.handles_) onnxReleaseBackend(backend);
  }

 private:
  void Check(Function function, onnxStatus status) {
    EXPECT_TRUE(MayReturn(function, status))
        << FunctionName(function) << " returned " << StatusName(status);
    EXPECT_NE(status, ONNXIFI_STATUS_INTERNAL_ERROR) << FunctionName(function);
  }

  void* Handle(Pool* pool, std::mt19937* random) {
    switch ((*random)() % 32) {
      case 0:
        return nullptr;
      case 1:
        return reinterpret_cast<void*>((uint64_t{(*random)()} << 32) |
                                       (*random)());
      case 2:
        return events_.Any(random);
      case 3:
        return graphs_.Any(random);
      default:
        return pool->Any(random);
    }
  }

  void* Output() {
    std::lock_guard<std::mutex> lock(outputs_mutex_);
    outputs_.emplace_back();
    return outputs_.back().data();
  }

  void Step(std::mt19937* random) {
    void* made = nullptr;
    switch ((*random)() % 12) {
      case 0:
        Check(Function::kInitBackend, onnxInitBackend(id_, nullptr, &made));
        if (made == nullptr) break;
        if (void* old = backends_.Put(made, random)) {
          Check(Function::kReleaseBackend, onnxReleaseBackend(old));
        }
        break;
      case 1: {
        const onnxStatus status =
            onnxInitGraph(Handle(&backends_, random), nullptr, model_.size(),
                          model_.data(), 0, nullptr, &made, 0, nullptr);
        Check(Function::kInitGraph, status);
        if (made == nullptr) break;
        if (void* old = graphs_.Put(made, random)) {
          Check(Function::kReleaseGraph, onnxReleaseGraph(old));
        }
        break;
      }
      case 2:
      case 3:
        Check(Function::kInitEvent,
              onnxInitEvent(Handle(&backends_, random), &made));
        if (made == nullptr) break;
        if (void* old = events_.Put(made, random)) {
          Check(Function::kReleaseEvent, onnxReleaseEvent(old));
        }
        break;
      case 4:
      case 5:
        Check(Function::kSignalEvent,
              onnxSignalEvent(Handle(&events_, random)));
        break;
      case 6: {
        onnxEventState state;
        Check(Function::kGetEventState,
              onnxGetEventState(Handle(&events_, random), &state));
        break;
      }
      case 7: {
        const TestDescriptor in("x", {4}, x_), out("y", {4}, Output());
        Check(Function::kSetGraphIO, onnxSetGraphIO(Handle(&graphs_, random), 1,
                                                    &in.value, 1, &out.value));
        break;
      }
      case 8:
      case 9: {
        const onnxMemoryFenceV1 in = EventFence(Handle(&events_, random));
        onnxMemoryFenceV1 out = EventFence();
        Check(Function::kRunGraph,
              onnxRunGraph(Handle(&graphs_, random), &in, &out));
        if (out.event == nullptr) break;
        if ((*random)() % 2 == 0) {
          Check(Function::kReleaseEvent, onnxReleaseEvent(out.event));
        } else if (void* old = events_.Put(out.event, random)) {
          Check(Function::kReleaseEvent, onnxReleaseEvent(old));
        }
        break;
      }
      case 10: {
        onnxBackendID ids[4];
        size_t count = 4;
        const onnxStatus status = onnxGetBackendIDs(ids, &count);
        Check(Function::kGetBackendIDs, status);
        if (status == ONNXIFI_STATUS_SUCCESS && count > 0) {
          Check(Function::kReleaseBackendID, onnxReleaseBackendID(ids[0]));
        }
        break;
      }
      case 11: {
        size_t size = 0;
        Check(Function::kGetBackendInfo,
              onnxGetBackendInfo(id_, (*random)() % 50, nullptr, &size));
        if ((*random)() % 16 == 0) {
          FakeWorld::Get().Unplug("card0");
          FakeWorld::Get().Plug("card0", 1 << 26);
        }
        break;
      }
    }
  }

  const onnxBackendID id_;
  const std::string model_;
  Pool backends_, graphs_, events_;
  const uint8_t x_read_only_[4] = {1, 2, 3, 4};
  void* x_ = const_cast<uint8_t*>(x_read_only_);
  // Graphs must not share outputs, so each location is used once.
  std::deque<std::array<uint8_t, 4>> outputs_;
  std::mutex outputs_mutex_;
};

using StressTest = OnnxifiTest;

TEST_F(StressTest, RandomCalls) {
  world().Plug("card0", 1 << 26);
  const long calls = FromEnvironment("HEDDLE_STRESS_CALLS", 3000);
  const long seed = FromEnvironment("HEDDLE_STRESS_SEED", 1);
  StressClient client(id_);
  std::atomic<int> busy{8};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      client.Work(static_cast<unsigned>(seed * 8 + t), calls);
      --busy;
    });
  }
  // A thread may wait in onnxReleaseGraph for a run whose input nobody signals
  // any more; the card's removal frees it.
  while (busy > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    world().Unplug("card0");
    world().Plug("card0", 1 << 26);
  }
  for (auto& thread : threads) thread.join();
  client.Drain();
}

}  // namespace
}  // namespace heddle::onnxifi
