// SPDX-License-Identifier: Apache-2.0
// The small state machine of the fuzzer: what is known of each object while
// other threads use it, too, and which statuses a call may return.
//
// States only go forward (a handle is released once, an event signalled once),
// and what a call may meet lies between what was over when it began and what
// had begun when it ended. Its legal statuses are those of every state in
// between: with one thread exactly one, and never one that no order of the
// calls explains.
#ifndef ONNXIFI_CONFORMANCE_FUZZ_EXPECTATION_H_
#define ONNXIFI_CONFORMANCE_FUZZ_EXPECTATION_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "onnxifi/conformance/fuzz/sequence.h"

namespace heddle::conformance {

enum class ObjectType { kBackend, kGraph, kEvent };

struct Object {
  ObjectType type = ObjectType::kBackend;
  void* handle = nullptr;
  Object* backend = nullptr;  // of graphs and events

  int releases_begun = 0;
  bool released = false;  // a release has returned
  int releases = 0;       // that succeeded; one may

  // Events.
  int signals_begun = 0;
  bool signalled = false;   // somebody was told so
  int signals = 0;          // that succeeded; one may
  bool of_run = false;      // an output event: the run signals it, too
  Object* input = nullptr;  // what that run waits for
  // Released before it was surely signalled: runs that wait for it end with
  // INTERNAL_ERROR.
  bool may_be_lost = false;

  // Graphs: where onnxSetGraphIO calls overlap, nobody knows what came last.
  enum Io { kNone, kSet, kUnknown } io = kNone;
  int io_calls = 0;             // that have not returned
  uint64_t io_version = 0;      // counts their beginnings
  std::vector<Object*> inputs;  // events that its runs wait for
  size_t memory = 0;            // which tensors it has

  // Whether the event is signalled at some time, if nobody does anything more.
  bool WillBeSignalled() const;
  // Whether its run may end with an error.
  bool MayFail() const;
};

// The legal statuses of one call, collected on both sides of it.
class Expectation {
 public:
  // When the call begins: `object` is what its handle names, null if nothing.
  void Begin(const Object* object, onnxStatus invalid);
  // When it has ended; `own`: it is itself a release.
  void End(const Object* object, onnxStatus invalid, bool own = false);
  // A fault that is there in any case.
  void Fault(onnxStatus status) {
    allowed_.insert(status);
    certain_ = true;
  }
  // One that may be there.
  void Perhaps(onnxStatus status) { allowed_.insert(status); }

  // `success`: what comes without a fault.
  bool Allows(onnxStatus status, const std::set<onnxStatus>& success) const;
  std::string Text(const std::set<onnxStatus>& success) const;

 private:
  std::set<onnxStatus> allowed_;
  bool certain_ = false;
};

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_FUZZ_EXPECTATION_H_
