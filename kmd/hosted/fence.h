// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fences and synchronisation objects, with the meaning of the kernel's
// dma-fence and drm_syncobj. All are used by one thread, that of their card.
#ifndef HEDDLE_KMD_HOSTED_FENCE_H_
#define HEDDLE_KMD_HOSTED_FENCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "kmd/hosted/wait.h"

namespace heddle::hosted {

// Signalled once, when the job has ended, whether well or not: who waits for it
// goes on.
class Fence {
 public:
  static std::shared_ptr<Fence> Signalled() {
    auto f = std::make_shared<Fence>();
    f->Signal();
    return f;
  }
  void Signal() {
    signalled_ = true;
    waiters_.Notify();
  }
  bool signalled() const { return signalled_; }
  void Await(WaitLink* link) { waiters_.Add(link); }

 private:
  bool signalled_ = false;
  WaitList waiters_;
};

// A binary object holds one fence; a timeline a fence per point, where a point
// is signalled when its fence and those of all lower points are.
class Syncobj {
 public:
  void Replace(std::shared_ptr<Fence> fence);  // binary
  void Reset();
  // Adds a point. Points at or below the last one take effect as the last one.
  void Add(uint64_t point, std::shared_ptr<Fence> fence);

  // Point 0 means the binary fence. Whether something was submitted for the
  // point, and whether it is done.
  bool Submitted(uint64_t point) const;
  bool Done(uint64_t point);
  // The fences that a job which waits for the (submitted) point must wait for.
  void Collect(uint64_t point, std::vector<std::shared_ptr<Fence>>* fences);
  // Largest point such that it and all before are signalled.
  uint64_t Value();
  // Fires when something is submitted.
  void AwaitSubmission(WaitLink* link) { submissions_.Add(link); }

 private:
  void Advance();

  std::shared_ptr<Fence> fence_;
  std::map<uint64_t, std::shared_ptr<Fence>> points_;  // not yet passed
  uint64_t value_ = 0;
  uint64_t last_ = 0;
  WaitList submissions_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_FENCE_H_
