// SPDX-License-Identifier: GPL-2.0-only OR MIT
// A blocked call of a client: what remains to be done. Used by the card's
// thread only.
#ifndef HEDDLE_KMD_HOSTED_CALL_H_
#define HEDDLE_KMD_HOSTED_CALL_H_

#include <cstdint>
#include <memory>

#include "kmd/hosted/wait.h"

namespace heddle::hosted {

struct HostMemory;
class WaitingCall;

// How a call stands.
struct Outcome {
  int result = 0;  // 0 or a negative errno
  // The call goes on when this fires, or at `deadline_ns`, whichever is first.
  // Null: it has ended.
  std::unique_ptr<WaitingCall> rest;
  uint64_t deadline_ns = ~uint64_t{0};
  std::shared_ptr<HostMemory> shows;  // its descriptor goes to the client
};

// Calls that can go on.
class ReadyCalls {
 public:
  void Add(Chained* call) {
    if (!call->linked()) call->InsertBefore(&head_);
  }
  bool empty() const { return !head_.linked(); }
  // nullptr: none.
  WaitingCall* Take();

 private:
  Chained head_;
};

// Its links fire when it is worth while to go on.
class WaitingCall : public Waiter, private Chained {
 public:
  virtual ~WaitingCall() = default;

  // Goes on from where it stopped. False: it still waits. True: it has ended,
  // with `*outcome`.
  virtual bool Resume(Outcome* outcome) = 0;
  // Bytes that it holds beside the request.
  virtual uint64_t held() const { return 0; }

  // Where it says that it can go on, which may be so already; `owner` is the
  // queue's to know.
  void Attach(ReadyCalls* ready, void* owner) {
    ready_ = ready;
    owner_ = owner;
    if (fired_early_) ready_->Add(this);
  }
  void* owner() const { return owner_; }
  // Has it looked at, whatever it waits for.
  void Poke() { OnFired(); }

 private:
  friend class ReadyCalls;
  void OnFired() override {
    if (ready_ != nullptr) {
      ready_->Add(this);
    } else {
      fired_early_ = true;
    }
  }

  ReadyCalls* ready_ = nullptr;
  void* owner_ = nullptr;
  bool fired_early_ = false;
};

inline WaitingCall* ReadyCalls::Take() {
  if (!head_.linked()) return nullptr;
  auto* call = static_cast<WaitingCall*>(head_.next());
  call->Unlink();
  return call;
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_CALL_H_
