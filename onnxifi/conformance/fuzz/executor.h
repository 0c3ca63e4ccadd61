// SPDX-License-Identifier: Apache-2.0
// Makes the calls of sequences on a library, each on its thread, and compares
// what they return with what the state machine allows.
#ifndef ONNXIFI_CONFORMANCE_FUZZ_EXECUTOR_H_
#define ONNXIFI_CONFORMANCE_FUZZ_EXECUTOR_H_

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "onnxifi/conformance/context.h"
#include "onnxifi/conformance/fuzz/expectation.h"

namespace heddle::conformance {

class Executor {
 public:
  // Fails (t.Fail) if the library does not do the simplest things.
  explicit Executor(Context* t);
  ~Executor();

  // Findings go to the context. Everything is released at the end. Does not
  // return if a call does not.
  void Run(const Sequence& sequence);

 private:
  struct Memory;
  // A call's view of the objects that its handles name, when it begins.
  struct Named {
    void* handle = nullptr;
    Object* object = nullptr;
  };

  void Work(int thread);
  // Whether the threads that have calls left are all in one that waits.
  bool BlockedLocked() const {
    return releasing_ > 0 && releasing_ + waiting_ == working_;
  }
  void Do(const Step& step);
  void DoId(const Step& step);
  void DoBackend(const Step& step);
  void DoEvent(const Step& step);
  void DoGraph(const Step& step);
  void DoIo(const Step& step);
  void DoRun(const Step& step);
  void Signal(const Named& event);
  void Release(const Named& object);
  // Signals what the runs of a graph wait for: its release waits for them.
  void SignalInputs(Object* graph);
  // Signals all events that no thread may have left to signal.
  void Unblock();
  void ReleaseAll();
  void Calibrate();

  Named Find(ObjectType type, const HandleChoice& choice);
  Object* Add(ObjectType type, void* handle, Object* backend, int slot);
  void Check(const Expectation& expectation, Function function, int kind,
             onnxStatus status, const std::set<onnxStatus>& success);
  // Model bytes of a kind: NULL and a size, too.
  std::pair<const void*, size_t> ModelOf(int kind) const;

  Context& t_;
  Library& lib_;
  onnxBackendID id_ = nullptr;
  std::vector<std::string> models_;
  // What each model gave when nothing else went on.
  std::vector<onnxStatus> compatibility_, init_;
  std::vector<float> right_;  // the result

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;
  // Threads begin when their number changes, each on its own condition: one
  // without calls in a sequence sleeps on.
  uint64_t rounds_[kFuzzThreads] = {};
  std::condition_variable begin_[kFuzzThreads];
  std::vector<std::thread> threads_;

  // Of one sequence, under mutex_.
  const Sequence* sequence_ = nullptr;
  int working_ = 0;     // threads that have calls left
  int releasing_ = 0;   // of them in onnxReleaseGraph, which waits for runs
  int waiting_ = 0;     // of them in onnxWaitEvent
  uint64_t calls_ = 0;  // that have returned
  std::deque<Object> objects_;
  std::vector<Object*> slots_[3][kFuzzSlots];
  std::deque<std::unique_ptr<Memory>> memory_;
};

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_FUZZ_EXECUTOR_H_
