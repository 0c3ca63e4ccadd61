// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One client's open file of a card: its handles and its ioctls. Used by the
// card's thread only.
#ifndef HEDDLE_KMD_HOSTED_FILE_H_
#define HEDDLE_KMD_HOSTED_FILE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "kmd/hosted/device.h"
#include "kmd/hosted/object.h"
#include "kmd/hosted/protocol.h"

namespace heddle::hosted {

class File {
 public:
  // `client` is a number not 0 that no other file ever has; `privileged`: may
  // use the highest priority.
  File(std::shared_ptr<Device> device, uint64_t client, bool privileged);
  // Cancels what has not started; what the card works on keeps its buffers
  // alive.
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  struct Outcome {
    int result = 0;        // 0 or a negative errno
    bool pending = false;  // call again after the next event, at the latest at:
    uint64_t deadline_ns = ~uint64_t{0};
    int fd = -1;  // goes to the client; owned by the outcome's holder
    bool progressed = false;  // the device may have something to do
  };
  // `fd` came with the request; taken over by File.
  Outcome Ioctl(CallFrame* frame, int fd);
  // A descriptor that shows the buffer.
  Outcome Mmap(uint64_t offset);

  // An event of the device for this file.
  void Notify(uint32_t type, uint32_t context, uint64_t client, uint64_t value);
  bool gone() const { return device_->gone(); }
  uint64_t client() const { return client_; }

 private:
  static constexpr size_t kEventsKept = 256;

  Outcome Query(drm_heddle_query* args);
  Outcome ContextCreate(drm_heddle_context_create* args);
  Outcome ContextDestroy(drm_heddle_context_destroy* args);
  Outcome BoCreate(drm_heddle_bo_create* args);
  Outcome BoInfo(drm_heddle_bo_info* args);
  Outcome StreamCreate(drm_heddle_stream_create* args);
  Outcome StreamDestroy(drm_heddle_stream_destroy* args);
  Outcome Submit(drm_heddle_submit* args);
  Outcome Wait(drm_heddle_wait* args);
  Outcome Events(drm_heddle_events* args);
  Outcome Version(struct drm_version* args);
  Outcome GemClose(struct drm_gem_close* args);
  Outcome PrimeExport(struct drm_prime_handle* args);
  Outcome PrimeImport(struct drm_prime_handle* args, int fd);
  Outcome SyncobjCreate(struct drm_syncobj_create* args);
  Outcome SyncobjDestroy(struct drm_syncobj_destroy* args);
  Outcome SyncobjReset(struct drm_syncobj_array* args);
  Outcome SyncobjSignal(struct drm_syncobj_array* args);
  Outcome SyncobjWait(struct drm_syncobj_wait* args);
  Outcome TimelineWait(struct drm_syncobj_timeline_wait* args);
  Outcome TimelineSignal(struct drm_syncobj_timeline_array* args);
  Outcome TimelineQuery(struct drm_syncobj_timeline_array* args);

  // A stream that is being created, over as many looks as it takes.
  struct StreamInCreation {
    std::shared_ptr<Stream> stream;
    heddle_validation validation = {};
  };

  // Goes on with the validation. -EAGAIN: it is not at its end.
  int Validate(const drm_heddle_stream_create* args,
               StreamInCreation* creation);
  // With an accepted stream: memory for it. -EINPROGRESS: not yet.
  int Place(const drm_heddle_stream_create* args, Stream* stream);

  int ResolveStep(const drm_heddle_step& in, Step* step) const;
  int ResolveRun(const drm_heddle_step& in, Step* step) const;
  std::shared_ptr<Bo> FindBo(uint32_t handle, uint32_t placement,
                             int* error) const;
  Syncobj* FindSyncobj(uint32_t handle);
  Outcome WaitFor(const uint32_t* handles, const uint64_t* points,
                  uint32_t count, int64_t timeout_ns, uint32_t flags,
                  uint32_t* first);

  std::shared_ptr<Device> device_;
  const uint64_t client_;
  const bool privileged_;
  uint32_t next_id_ = 1;  // handles and ids are not reused soon
  std::map<uint32_t, std::shared_ptr<Bo>> bos_;
  std::map<uint32_t, std::shared_ptr<Stream>> streams_;
  // By the arguments of the call, which stay where they are until it ends.
  std::map<const drm_heddle_stream_create*, StreamInCreation> creations_;
  std::map<uint32_t, std::shared_ptr<Context>> contexts_;
  std::map<uint32_t, std::unique_ptr<Syncobj>> syncobjs_;
  std::deque<drm_heddle_event> events_;
  uint32_t events_lost_ = 0;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_FILE_H_
