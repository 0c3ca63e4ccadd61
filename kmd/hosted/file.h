// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One client's open file of a card: its handles and its ioctls. Used by the
// card's thread only.
#ifndef HEDDLE_KMD_HOSTED_FILE_H_
#define HEDDLE_KMD_HOSTED_FILE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "kmd/hosted/accounts.h"
#include "kmd/hosted/call.h"
#include "kmd/hosted/device.h"
#include "kmd/hosted/object.h"
#include "kmd/hosted/protocol.h"
#include "kmd/hosted/stream_checker.h"

namespace heddle::hosted {

class File {
 public:
  struct Owner {
    uint64_t client;  // a number not 0 that no other file ever has
    // May use all priorities, exceed the run limit, see everybody's counters.
    bool privileged;
    std::shared_ptr<ClientPart> descriptors;
  };
  // `checker` delivers to the card's thread and outlives the file.
  File(std::shared_ptr<Device> device, StreamChecker* checker,
       const Owner& owner);
  // Cancels what has not started; what the card works on keeps its buffers
  // alive. No call may wait any more.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  // Carries out a call, or begins it. `*fd` came with the request; -1 when it
  // was taken over. Throws std::bad_alloc; the call has then failed and left
  // nothing behind.
  Outcome Ioctl(const std::shared_ptr<CallFrame>& frame, int* fd);
  // A descriptor that shows the buffer.
  Outcome Mmap(uint64_t offset);
  // A descriptor that shows the client's ResultsPage, once.
  Outcome Results();

  // An event of the device for this file.
  void Notify(uint32_t type, uint32_t context, uint64_t client,
              uint64_t value) noexcept;
  bool gone() const { return device_->gone(); }
  uint64_t client() const { return state_->id; }
  const ClientState& state() const { return *state_; }

 private:
  static constexpr size_t kEventsKept = 256;

  // What is left of calls that wait.
  class DeviceBo;
  class NewStream;
  class JobWait;
  class EventWait;
  class SyncobjsWait;

  Outcome Query(drm_heddle_query* args);
  Outcome ContextCreate(drm_heddle_context_create* args);
  Outcome ContextControl(drm_heddle_context_control* args);
  Outcome ContextDestroy(drm_heddle_context_destroy* args);
  Outcome BoCreate(drm_heddle_bo_create* args);
  Outcome BoInfo(drm_heddle_bo_info* args);
  Outcome StreamCreate(const std::shared_ptr<CallFrame>& frame);
  Outcome StreamDestroy(drm_heddle_stream_destroy* args);
  Outcome Submit(drm_heddle_submit* args);
  Outcome Wait(drm_heddle_wait* args);
  Outcome Events(drm_heddle_events* args);
  Outcome Version(struct drm_version* args);
  Outcome GemClose(struct drm_gem_close* args);
  Outcome PrimeExport(struct drm_prime_handle* args);
  Outcome PrimeImport(struct drm_prime_handle* args, int* fd);
  Outcome SyncobjCreate(struct drm_syncobj_create* args);
  Outcome SyncobjDestroy(struct drm_syncobj_destroy* args);
  Outcome SyncobjReset(struct drm_syncobj_array* args);
  Outcome SyncobjSignal(struct drm_syncobj_array* args);
  Outcome SyncobjWait(struct drm_syncobj_wait* args);
  Outcome TimelineWait(struct drm_syncobj_timeline_wait* args);
  Outcome TimelineSignal(struct drm_syncobj_timeline_array* args);
  Outcome TimelineQuery(struct drm_syncobj_timeline_array* args);

  // Most card cycles of a step.
  static uint64_t CyclesOf(const Step& step);
  // `run`: the step, in the same job, that this one may overlap, or null.
  int ResolveStep(const drm_heddle_step& in, const Step* run, Step* step) const;
  // Neither writes what the other touches.
  static int CheckOverlap(const Step& run, const Step& step);
  int ResolveRun(const drm_heddle_step& in, Step* step) const;
  std::shared_ptr<Bo> FindBo(uint32_t handle, uint32_t placement,
                             int* error) const;
  std::shared_ptr<Syncobj> FindSyncobj(uint32_t handle);
  void AddBo(const std::shared_ptr<Bo>& bo, uint32_t* handle);
  // As Device's, for one of this client's descriptors; `*fd` is taken over.
  int ShareHost(uint64_t bytes, int* fd, std::shared_ptr<HostMemory>* memory);
  // And for memory that counts as pinned.
  int PinHost(uint64_t bytes, int* fd, std::shared_ptr<HostMemory>* memory);
  void TakeEvents(drm_heddle_events* args);
  Outcome WaitFor(const uint32_t* handles, const uint64_t* points,
                  uint32_t count, int64_t timeout_ns, uint32_t flags,
                  uint32_t* first);

  std::shared_ptr<Device> device_;
  StreamChecker* const checker_;
  const std::shared_ptr<ClientState> state_;
  const bool privileged_;
  const std::shared_ptr<ClientPart> descriptors_;
  uint32_t next_id_ = 1;  // handles and ids are not reused soon
  std::map<uint32_t, std::shared_ptr<Bo>> bos_;
  std::map<uint32_t, std::shared_ptr<Stream>> streams_;
  std::map<uint32_t, std::shared_ptr<Context>> contexts_;
  std::map<uint32_t, std::shared_ptr<Syncobj>> syncobjs_;
  // Handles of HOST buffers by what identifies their memory.
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> by_node_;
  uint64_t used_here_ = 0;  // device memory of what has a handle
  std::deque<drm_heddle_event> events_;
  uint32_t events_lost_ = 0;
  WaitList event_waiters_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_FILE_H_
