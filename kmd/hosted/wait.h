// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Lists of waiters, used by one thread. Linking, waking and leaving take
// constant time and allocate nothing, so that waiters can always be told that a
// job has ended.
#ifndef HEDDLE_KMD_HOSTED_WAIT_H_
#define HEDDLE_KMD_HOSTED_WAIT_H_

#include <cstdint>

namespace heddle::hosted {

// An element of a ring of elements; alone at first and after Unlink().
class Chained {
 public:
  Chained() : prev_(this), next_(this) {}
  ~Chained() { Unlink(); }
  Chained(const Chained&) = delete;
  Chained& operator=(const Chained&) = delete;

  bool linked() const { return next_ != this; }
  Chained* next() const { return next_; }
  void Unlink() {
    prev_->next_ = next_;
    next_->prev_ = prev_;
    prev_ = next_ = this;
  }
  void InsertBefore(Chained* other) {
    Unlink();
    prev_ = other->prev_;
    next_ = other;
    prev_->next_ = this;
    other->prev_ = this;
  }

 private:
  Chained* prev_;
  Chained* next_;
};

class WaitLink;

// Somebody who can wait for several things at a time.
class Waiter {
 public:
  // A link whose event has happened, each once; nullptr: no more.
  WaitLink* TakeFired();

 protected:
  ~Waiter() = default;
  // One of its links has fired. Called from the middle of what happened: only
  // takes note.
  virtual void OnFired() = 0;

 private:
  friend class WaitList;
  Chained fired_;
};

// One waiter's place in one list; `tag` is the waiter's own.
class WaitLink : private Chained {
 public:
  explicit WaitLink(Waiter* waiter = nullptr, uint32_t tag = 0)
      : waiter_(waiter), tag_(tag) {}
  uint32_t tag() const { return tag_; }
  // Waits no more, and has not fired.
  void Leave() { Unlink(); }

 private:
  friend class WaitList;
  friend class Waiter;
  Waiter* waiter_;
  uint32_t tag_;
};

// Those who wait for one event, in the order in which they came.
class WaitList {
 public:
  void Add(WaitLink* link) { link->InsertBefore(&head_); }
  bool empty() const { return !head_.linked(); }
  // The event has happened: every link fires.
  void Notify() {
    while (head_.linked()) {
      auto* link = static_cast<WaitLink*>(head_.next());
      Waiter* waiter = link->waiter_;
      link->InsertBefore(&waiter->fired_);
      waiter->OnFired();
    }
  }

 private:
  Chained head_;
};

inline WaitLink* Waiter::TakeFired() {
  if (!fired_.linked()) return nullptr;
  auto* link = static_cast<WaitLink*>(fired_.next());
  link->Leave();
  return link;
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_WAIT_H_
