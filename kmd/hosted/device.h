// SPDX-License-Identifier: GPL-2.0-only OR MIT
// One attached card, from plug to unplug: rings, memory, jobs, reset. Decisions
// come from kmd/core; this class moves the bytes. Used by one thread; nothing
// in it blocks longer than one register access.
//
// A card that comes back is a new Device; files of the old one stay dead.
#ifndef HEDDLE_KMD_HOSTED_DEVICE_H_
#define HEDDLE_KMD_HOSTED_DEVICE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kmd/hosted/clock.h"
#include "kmd/hosted/link.h"
#include "kmd/hosted/object.h"
#include "kmd/hosted/turns.h"

namespace heddle::hosted {

class Rivals;

class Device {
 public:
  struct Options {
    uint64_t timeout_ns = 0;  // of a job without progress; 0 = by kind of core
    uint64_t run_cycles = 0;  // most of a job; 0 = kmd/core's default
    uint32_t index = 0;       // the card's number in messages
  };
  // Something all files should know (enum drm_heddle_event_type). `client` is
  // the one whose job is meant by `value`, 0 = none.
  using EventSink = std::function<void(uint32_t type, uint32_t context,
                                       uint64_t client, uint64_t value)>;

  // Largest HOST buffer: more than any card can take.
  static constexpr uint64_t kHostBytesMax = uint64_t{64} << 30;

  static absl::StatusOr<std::shared_ptr<Device>> Attach(
      std::unique_ptr<Link> link, const Options& options, EventSink sink);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  bool gone() const { return heddle_device_gone(state_); }
  const drm_heddle_device_info& info() const { return info_; }
  const heddle_config* config() const { return config_; }
  uint64_t memory_total() const { return memory_->total; }
  uint64_t memory_used() const { return memory_->used; }
  uint64_t memory_available() const {
    return heddle_mem_available(memory_.get());
  }
  uint64_t memory_generation() const { return memory_generation_; }
  const drm_heddle_limits& limits() const { return limits_; }
  drm_heddle_counters counters() const;
  drm_heddle_counters counters(const ClientState& client) const;

  // A new client, known to the device as long as anybody holds it.
  std::shared_ptr<ClientState> AddClient(uint64_t id);

  // ---- Objects: 0 or a negative errno
  // ----------------------------------------

  // -EINPROGRESS: objects must move first; ask again when AwaitMemory fires.
  int Allocate(uint64_t bytes, const std::shared_ptr<ClientState>& payer,
               std::shared_ptr<Allocation>* allocation);
  void AwaitMemory(WaitLink* link) { memory_waiters_.Add(link); }
  // Takes over `fd` (a sealed memfd of at least `bytes`), or makes one with -1.
  int ShareHost(uint64_t bytes, int fd, std::shared_ptr<HostMemory>* memory);
  void AddContext(const std::shared_ptr<Context>& context);
  // Cancels what has not started, aborts what runs.
  void DestroyContext(const std::shared_ptr<Context>& context);
  // Appends a job whose objects have been checked.
  void Submit(const std::shared_ptr<Context>& context,
              const std::shared_ptr<Job>& job);
  // Gives the card, if it has nothing to do, the next job at once; Poll() would
  // do it later.
  void Start() noexcept;
  // Whether the card has become idle since this was asked last: whoever had a
  // result may have the next job for it.
  bool TakeIdle() {
    return std::exchange(became_idle_, false) && in_flight_.empty();
  }

  // ---- Events
  // ----------------------------------------------------------------

  // Eventfds to watch, the socket (hang-up only), and when to call Poll at the
  // latest.
  const std::vector<int>& vectors() const { return link_->vectors(); }
  int socket() const { return link_->socket(); }
  void OnInterrupt(size_t vector);
  void OnHangUp();
  // Does whatever is due; returns nanoseconds until it wants to be called
  // again.
  uint64_t Poll();
  // Takes the bus from the card, before anybody believes that their memory is
  // their own.
  void Quiet();

 private:
  Device(std::unique_ptr<Link> link, EventSink sink);
  absl::Status SetUp(const Options& options);
  bool ReadMemorySize();
  void Schedule();
  void MeetClients(Rivals* rivals);
  bool StartUserJob(Context* context);
  bool NeedsPreparation(const std::shared_ptr<Job>& job, Job* prepare) const;
  void StartCompaction();
  // Writes down the only job of `given` for the card and rings the doorbell.
  void Launch(std::list<std::shared_ptr<Job>>* given, Turn* turn);
  uint32_t WriteUserSteps(const Job& job, uint32_t slot);
  uint32_t WriteOwnSteps(const Job& job, uint32_t slot);
  void Reap();
  void Finish(const std::shared_ptr<Job>& job, heddle_job_event event,
              const heddle_completion* record,
              uint32_t cause = HEDDLE_ERROR_OK);
  void FinishOwn(const std::shared_ptr<Job>& job, bool ok);
  void Retire(const std::shared_ptr<Job>& job);
  void CancelQueued(Context* context);
  // Of a job of a client's that has ended.
  void AccountFor(Job* job, bool was_running);
  void TakeNoteOfHang(const Job& job);
  template <typename Add>
  void Count(ClientState* client, const Add& add) {
    add(&counters_);
    if (client != nullptr) add(&client->counters);
  }
  void Watch(uint32_t status, uint64_t now);
  void WatchEnding(uint32_t status, uint64_t now);
  bool RunsTooLong(const Job& job);
  void StartReset();
  void Lose(const char* why);
  bool LinkLost();
  uint64_t TimeoutOf(const Job& job) const {
    return heddle_job_timeout(job.timeout_ns, timeout_ns_);
  }

  std::shared_ptr<Link> link_;  // also held by mapped host memory
  EventSink sink_;
  heddle_device_state state_ = HEDDLE_DEVICE_PROBING;
  drm_heddle_device_info info_ = {};
  const heddle_config* config_ = nullptr;
  uint64_t timeout_ns_ = 0;
  uint32_t index_ = 0;
  drm_heddle_limits limits_ = {};

  std::shared_ptr<heddle_mem> memory_;  // also held by what is in it
  WaitList memory_waiters_;             // for a compaction
  uint64_t memory_generation_ = 1;
  uint64_t wanted_ = 0;           // a gap of this size is asked for
  uint64_t wanted_since_ns_ = 0;  // no job starts, for its sake; 0: they do

  // Host memory of the driver: completion ring, job rings, one area per slot.
  std::shared_ptr<HostMemory> arena_;
  uint8_t* arena_data_ = nullptr;
  heddle_ring rings_[HEDDLE_RINGS] = {};
  heddle_completion_ring completions_ = {};
  uint32_t free_slots_ = 0;  // bitmap
  uint64_t next_fence_ = 1;

  Turns turns_;
  u64 sram_owner_ = 0;
  heddle_watch watch_ = {};
  uint64_t watched_fence_ = 0, watched_cycles_ = 0;  // of the job that runs
  heddle_fair fair_ = {};
  std::list<std::weak_ptr<ClientState>> clients_;
  uint64_t held_since_ns_ = 0;  // since when the first in flight runs
  uint64_t next_start_ns_ = ~uint64_t{0};  // when a client's rest may be over
  std::list<std::weak_ptr<Context>> contexts_;
  std::list<std::shared_ptr<Job>> in_flight_;  // in the order given
  bool became_idle_ = false;

  // While a job is being ended, and what that is for the job.
  std::shared_ptr<Job> guilty_;
  heddle_job_event guilty_event_ = HEDDLE_JOB_HANG;
  uint64_t deadline_ns_ = 0;
  bool ready_seen_ = false;
  uint64_t next_check_ns_ = 0;

  drm_heddle_counters counters_ = {};
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_DEVICE_H_
