// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Objects that a client owns on a card and that jobs keep alive: buffers,
// streams, jobs, contexts. Plain data, used by the card's thread only.
#ifndef HEDDLE_KMD_HOSTED_OBJECT_H_
#define HEDDLE_KMD_HOSTED_OBJECT_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "kmd/hosted/accounts.h"
#include "kmd/hosted/client_state.h"
#include "kmd/hosted/core.h"
#include "kmd/hosted/fence.h"
#include "kmd/hosted/link.h"
#include "kmd/hosted/turns.h"
#include "kmd/include/uapi/drm/heddle_drm.h"

namespace heddle::hosted {

// A piece of device memory. Gives itself back when nobody uses it any more,
// also while a compaction moves it.
struct Allocation {
  heddle_mem_node node = {};  // size 0: not placed
  bool prepared = false;      // zeroed, or holds its stream
  Charge charge;
  std::shared_ptr<heddle_mem> from;
  Allocation() = default;
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation() {
    if (from == nullptr) return;
    heddle_mem_remove(from.get(), &node);
  }
};

// Shared host memory that the card can reach.
struct HostMemory {
  int fd = -1;
  uint64_t size = 0;              // page-rounded
  uint64_t address = 0;           // as the card sees it; 0 = it cannot
  uint64_t device = 0, node = 0;  // what identifies it, however it came here
  ClientPart::Share share;        // the descriptor, of its client's part
  Charge charge;                  // its bytes, if a client shares them
  std::shared_ptr<Link> link;     // of the card
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  ~HostMemory();
};

struct Bo {
  uint32_t placement = DRM_HEDDLE_HOST;
  uint64_t size = 0;  // page-rounded
  std::shared_ptr<Allocation> device;
  std::shared_ptr<HostMemory> host;
  Charge charge;
};

struct Stream {
  std::shared_ptr<Allocation> device;
  std::shared_ptr<HostMemory> staging;  // until it is in device memory
  uint64_t bytes = 0;
  heddle_validate_result facts = {};
  Charge charge;
};

struct BoundRegion {
  std::shared_ptr<Bo> bo;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool writable = false;
};

struct Step {
  uint32_t type = 0, flags = 0;
  std::shared_ptr<Bo> src, dst;
  uint64_t src_offset = 0, dst_offset = 0, length = 0;
  uint32_t fill_value = 0;
  std::shared_ptr<Stream> stream;
  BoundRegion regions[HEDDLE_REGIONS];
};

struct Context;

struct Job {
  enum class Kind { kUser, kPrepare, kCompact };
  Kind kind = Kind::kUser;
  std::shared_ptr<ClientState> owner;  // null: the driver
  Charge charge;
  uint32_t priority = 0;
  uint64_t seqno = 0;
  std::weak_ptr<Context> context;  // kUser
  std::vector<Step> steps;         // kUser
  std::vector<std::shared_ptr<Fence>> in_fences;
  std::shared_ptr<Fence> fence = std::make_shared<Fence>();
  uint64_t timeout_ns = 0;
  uint64_t run_cycles = 0;  // most; 0 = no limit
  bool cancelled = false;   // is to be aborted as soon as it runs
  bool counted = false;     // among its owner's unfinished jobs
  uint64_t held_ns = 0;     // how long it kept the card from others
  heddle_job_state state = HEDDLE_JOB_QUEUED;
  drm_heddle_result result = {};

  // What the card says of its commands; null: nobody asked. The client sees
  // copies only.
  std::shared_ptr<HostMemory> trace;
  uint32_t trace_entries = 0;
  uint32_t trace_count = 0;  // with those for which there was no room

  bool preparing = false;  // a kPrepare job works for it

  // kPrepare: what it makes ready, and for whom. kCompact: what it moves.
  std::vector<std::shared_ptr<Allocation>> prepares;
  std::vector<std::shared_ptr<Stream>> uploads;
  std::weak_ptr<Job> beneficiary;
  std::vector<heddle_mem_move> moves;

  // While the card has it.
  uint64_t hw_fence = 0;
  uint32_t slot = 0;
};

struct Context {
  // Results kept for WAIT, and jobs that may be queued at a time.
  static constexpr size_t kResultsKept = 1024;
  static constexpr size_t kQueuedMax = 256;

  uint32_t id = 0;
  std::shared_ptr<ClientState> owner;
  Charge charge;
  uint64_t run_cycles = 0;  // most of a job
  uint32_t hangs = 0;
  Turn turn;
  uint64_t next_seqno = 1;
  std::deque<std::shared_ptr<Job>> queue;  // not started, in order
  std::map<uint64_t, std::shared_ptr<Job>>
      jobs;  // by seqno, with their results
  size_t unfinished = 0;
  bool destroyed = false;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_OBJECT_H_
