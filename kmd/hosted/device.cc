// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/device.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kmd/hosted/arena.h"
#include "kmd/hosted/log.h"
#include "kmd/hosted/rivals.h"
#include "kmd/hosted/shared_memory.h"
#include "rtl/spec/generated/registers.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kSecond = 1000 * kMs;

// How long the card may take for what should be immediate.
constexpr uint64_t kResetGraceNs = 10 * kSecond;

uint64_t DefaultTimeout(uint32_t core_kind) {
  switch (core_kind) {
    case HEDDLE_CORE_KIND_SILICON:
      return 2 * kSecond;
    case HEDDLE_CORE_KIND_RTL:
      return 120 * kSecond;  // one command of a verilated core can take long
    default:
      return 30 * kSecond;
  }
}

// Status codes of drivers of other cards, DMA faults and so on, as a bounded
// value.
uint32_t Bounded(uint32_t value, uint32_t max) { return std::min(value, max); }

}  // namespace

absl::StatusOr<std::shared_ptr<Device>> Device::Attach(
    std::unique_ptr<Link> link, const Options& options, EventSink sink) {
  std::shared_ptr<Device> device(new Device(std::move(link), std::move(sink)));
  absl::Status status = device->SetUp(options);
  if (!status.ok()) return status;
  return device;
}

Device::Device(std::unique_ptr<Link> link, EventSink sink)
    : link_(std::move(link)),
      sink_(std::move(sink)),
      memory_(std::make_shared<heddle_mem>()) {}

Device::~Device() {
  if (arena_data_ != nullptr) munmap(arena_data_, kArenaBytes);
  link_->Drop();
}

bool Device::LinkLost() {
  return !link_->up() || link_->Read(HEDDLE_REG_ID) != reg::kIdReset;
}

bool Device::ReadMemorySize() {
  const uint64_t bytes = link_->Read64(HEDDLE_REG_DRAM_LO, HEDDLE_REG_DRAM_HI);
  u64 total = 0;
  if (heddle_mem_total(bytes, &total) != 0) return false;
  memory_->total = total;
  limits_.device_bytes = total;
  return true;
}

absl::Status Device::SetUp(const Options& options) {
  index_ = options.index;
  auto lost = [] {
    return absl::UnavailableError("the card stopped answering");
  };
  if (LinkLost()) return lost();
  const uint32_t version = link_->Read(HEDDLE_REG_VERSION);
  const uint32_t major =
      (version & HEDDLE_VERSION_MAJOR_MASK) >> HEDDLE_VERSION_MAJOR_SHIFT;
  const uint32_t ours = (reg::kVersionReset & HEDDLE_VERSION_MAJOR_MASK) >>
                        HEDDLE_VERSION_MAJOR_SHIFT;
  if (major != ours) {
    return absl::FailedPreconditionError(
        absl::StrCat("hardware version ", major, ".x; this driver knows ", ours,
                     ".x: update it"));
  }
  const uint32_t id = link_->Read(HEDDLE_REG_CONFIG);
  config_ = heddle_find_config(id);
  if (config_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "configuration ", id, " is not known to this driver: update it"));
  }
  info_.config = id;
  info_.hw_version = version;
  info_.core_kind =
      (link_->Read(HEDDLE_REG_CORE_KIND) & HEDDLE_CORE_KIND_KIND_MASK) >>
      HEDDLE_CORE_KIND_KIND_SHIFT;
  info_.priorities = HEDDLE_RINGS;
  info_.unique = link_->Read64(HEDDLE_REG_UNIQUE_LO, HEDDLE_REG_UNIQUE_HI);
  info_.max_stream_bytes = HEDDLE_STREAM_BYTES_MAX;
  info_.max_steps = HEDDLE_STEPS_MAX;
  info_.pci_vendor = HEDDLE_PCI_VENDOR_ID;
  info_.pci_device = HEDDLE_PCI_DEVICE_ID;
  timeout_ns_ =
      options.timeout_ns ? options.timeout_ns : DefaultTimeout(info_.core_kind);
  if (!ReadMemorySize()) {
    return absl::FailedPreconditionError("impossible size of device memory");
  }
  heddle_limits_init(&limits_, memory_total(),
                     static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
                     timeout_ns_);
  if (options.run_cycles != 0) limits_.run_cycles = options.run_cycles;

  link_->Write(HEDDLE_REG_RESET, HEDDLE_RESET_CARD_MASK);
  const uint64_t limit = NowNs() + kResetGraceNs;
  while (!(link_->Read(HEDDLE_REG_STATUS) & HEDDLE_STATUS_READY_MASK)) {
    if (LinkLost() || NowNs() > limit) return lost();
    usleep(1000);
  }
  link_->GiveBus();  // not to one that is still at something

  int err = ShareHost(kArenaBytes, -1, &arena_);
  if (err != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory for rings: ", strerror(-err)));
  }
  void* p = mmap(nullptr, kArenaBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                 arena_->fd, 0);
  if (p == MAP_FAILED)
    return absl::ResourceExhaustedError("mapping the rings failed");
  arena_data_ = static_cast<uint8_t*>(p);

  const uint64_t completion = arena_->address + kCompletionAt;
  link_->Write(HEDDLE_REG_COMPLETION_BASE_LO,
               static_cast<uint32_t>(completion));
  link_->Write(HEDDLE_REG_COMPLETION_BASE_HI, completion >> 32);
  link_->Write(HEDDLE_REG_COMPLETION_SIZE, kCompletionEntries);
  heddle_completion_init(&completions_, kCompletionEntries);
  for (uint32_t i = 0; i < HEDDLE_RINGS; ++i) {
    const uint64_t base = arena_->address + kRingsAt + i * kRingBytes;
    link_->Write(HEDDLE_REG_RING_BASE_LO(i), static_cast<uint32_t>(base));
    link_->Write(HEDDLE_REG_RING_BASE_HI(i), base >> 32);
    link_->Write(HEDDLE_REG_RING_SIZE(i), kRingEntries);
    heddle_ring_init(&rings_[i], kRingEntries);
  }
  free_slots_ = (1u << kSlots) - 1;

  // Whether the card reads and writes what we think: access and interrupt test.
  link_->Write(HEDDLE_REG_SCRATCH, 0x5a5aa5a5);
  if (link_->Read(HEDDLE_REG_SCRATCH) != 0x5a5aa5a5) return lost();
  link_->Write(HEDDLE_REG_INT_STATUS, HEDDLE_INT_ENABLE_MASK_MASK);
  link_->Write(HEDDLE_REG_INT_ENABLE, HEDDLE_INT_ENABLE_MASK_MASK);
  if (LinkLost()) return lost();
  heddle_device_step(&state_, HEDDLE_DEVICE_PROBED);
  return absl::OkStatus();
}

drm_heddle_counters Device::counters() const {
  drm_heddle_counters c = counters_;
  c.queued = in_flight_.size();
  for (const auto& weak : contexts_) {
    if (auto context = weak.lock()) c.queued += context->queue.size();
  }
  return c;
}

drm_heddle_counters Device::counters(const ClientState& client) const {
  drm_heddle_counters c = client.counters;
  c.queued = client.fair.unfinished;
  return c;
}

// ---- Objects
// -----------------------------------------------------------------------

std::shared_ptr<ClientState> Device::AddClient(uint64_t id) {
  auto client = std::make_shared<ClientState>();
  client->id = id;
  heddle_fair_open(&fair_, &client->fair, NowNs());
  clients_.push_back(client);
  return client;
}

int Device::Allocate(uint64_t bytes, const std::shared_ptr<ClientState>& payer,
                     std::shared_ptr<Allocation>* allocation) {
  if (gone()) return -ENODEV;
  u64 rounded = 0;
  int err = heddle_mem_round(bytes, &rounded);
  if (err != 0) return err;
  auto a = std::make_shared<Allocation>();
  err = a->charge.Take(payer, limits_, HEDDLE_DEVICE_BYTES, rounded);
  // More than there is is no matter of quotas.
  if (rounded > memory_available()) err = -ENOSPC;
  if (err != 0) return err;
  err = heddle_mem_insert(memory_.get(), &a->node, bytes);
  if (err == -EAGAIN) {
    wanted_ = std::max<uint64_t>(wanted_, rounded);
    return -EINPROGRESS;
  }
  if (err != 0) return err;
  a->from = memory_;
  *allocation = std::move(a);
  return 0;
}

HostMemory::~HostMemory() {
  if (address != 0 && link->up()) link->Unmap(address, size);
  if (fd >= 0) close(fd);
}

int Device::ShareHost(uint64_t bytes, int fd,
                      std::shared_ptr<HostMemory>* memory) {
  std::shared_ptr<HostMemory> m;
  try {
    m = std::make_shared<HostMemory>();
  } catch (const std::bad_alloc&) {
    if (fd >= 0) close(fd);
    throw;
  }
  m->fd = fd;
  if (gone()) return -ENODEV;
  u64 rounded = 0;
  if (heddle_mem_round(bytes, &rounded) != 0 || rounded > kHostBytesMax)
    return -ENOMEM;
  m->size = rounded;
  if (m->fd < 0) {
    m->fd = NewSharedMemory(rounded);
    if (m->fd < 0) return -ENOMEM;
  }
  struct stat st = {};
  if (fstat(m->fd, &st) != 0) return -ENOMEM;
  m->device = st.st_dev;
  m->node = st.st_ino;
  m->link = link_;
  m->address = link_->Map(m->fd, m->size);
  if (m->address == 0) {
    if (!link_->up()) {
      Lose("the link broke");
      return -ENODEV;
    }
    return -ENOMEM;
  }
  *memory = std::move(m);
  return 0;
}

void Device::AddContext(const std::shared_ptr<Context>& context) {
  context->turn.last = turns_.now();
  context->run_cycles = limits_.run_cycles;
  contexts_.push_back(context);
}

void Device::DestroyContext(const std::shared_ptr<Context>& context) {
  context->destroyed = true;
  CancelQueued(context.get());
  for (const auto& job : in_flight_) {
    if (job->kind != Job::Kind::kUser || job->context.lock() != context)
      continue;
    job->cancelled = true;
    next_check_ns_ = 0;  // to abort it as soon as it runs
  }
}

void Device::CancelQueued(Context* context) {
  while (!context->queue.empty()) {
    const auto job = context->queue.front();
    Finish(job, HEDDLE_JOB_CANCEL, nullptr);
  }
}

void Device::Submit(const std::shared_ptr<Context>& context,
                    const std::shared_ptr<Job>& job) {
  context->queue.push_back(job);
  try {
    context->jobs[job->seqno] = job;
  } catch (const std::bad_alloc&) {
    context->queue.pop_back();
    throw;
  }
  context->unfinished++;
  job->counted = true;
  heddle_fair_queue(&job->owner->fair);
}

void Device::Start() noexcept {
  if (gone() || !in_flight_.empty()) return;
  try {
    Schedule();
  } catch (const std::bad_alloc&) {
    // Poll() does it.
  }
}

// ---- Completion
// -----------------------------------------------------------------------

void Device::Reap() {
  while (!gone()) {
    const uint8_t* entry =
        arena_data_ + kCompletionAt +
        heddle_completion_index(&completions_) * HEDDLE_COMPLETION_BYTES;
    const auto* sequence = reinterpret_cast<const uint32_t*>(
        entry + offsetof(heddle_completion, sequence));
    if (!heddle_completion_ready(&completions_,
                                 __atomic_load_n(sequence, __ATOMIC_ACQUIRE))) {
      return;
    }
    heddle_completion record;
    std::memcpy(&record, entry, sizeof(record));
    heddle_completion_advance(&completions_);
    auto it = std::find_if(
        in_flight_.begin(), in_flight_.end(),
        [&](const auto& job) { return job->hw_fence == record.fence; });
    if (it == in_flight_.end()) {
      Log(spdlog::level::warn,
          "card {}: completion record for unknown fence {}", index_,
          record.fence);
      continue;
    }
    std::shared_ptr<Job> job = *it;
    const bool ended = job == guilty_ && record.status == HEDDLE_ERROR_ABORTED;
    Finish(job, ended ? guilty_event_ : HEDDLE_JOB_COMPLETE, &record);
  }
}

// The card no longer has the job.
void Device::Retire(const std::shared_ptr<Job>& job) {
  in_flight_.remove(job);
  free_slots_ |= 1u << job->slot;
  heddle_ring_retire(&rings_[job->priority]);
  turns_.End();
  if (in_flight_.empty()) {
    heddle_watch_idle(&watch_);
    became_idle_ = true;
  }
  const uint64_t now = NowNs();
  job->held_ns += now - held_since_ns_;
  held_since_ns_ = now;  // the next one's time begins
}

void Device::Finish(const std::shared_ptr<Job>& job, heddle_job_event event,
                    const heddle_completion* record, uint32_t cause) {
  const bool was_running = job->state == HEDDLE_JOB_RUNNING;
  if (heddle_job_step(&job->state, event) != 0) return;
  if (was_running) Retire(job);
  const bool lost = event == HEDDLE_JOB_LOST;
  drm_heddle_result& r = job->result;
  r.status = heddle_job_status(job->state,
                               record != nullptr ? record->status : 0, lost);
  if (cause != HEDDLE_ERROR_OK) r.status = cause;
  r.error = heddle_job_errno(r.status);
  if (record != nullptr) {
    r.fault_step = Bounded(record->fault_step, HEDDLE_STEPS_MAX - 1);
    r.fault_offset = Bounded(record->fault_offset, HEDDLE_STREAM_BYTES_MAX);
    r.fault_tag = record->fault_tag;
    r.fault_region = Bounded(record->fault_region, HEDDLE_REGIONS - 1);
    r.fault_address = record->fault_address;
    r.cycles = record->cycles;
    r.macs = record->macs;
    r.commands = record->commands;
    r.bytes_loaded = record->bytes_loaded;
    r.bytes_stored = record->bytes_stored;
    r.matrix_busy = record->matrix_busy;
    r.vector_busy = record->vector_busy;
    r.dma_busy = record->dma_busy;
    if (job->trace != nullptr) job->trace_count = record->trace_count;
    Count(job->owner.get(), [&](drm_heddle_counters* c) {
      c->cycles += record->cycles;
      c->macs += record->macs;
      c->bytes_copied += record->bytes_copied;
    });
  }
  if (job->kind != Job::Kind::kUser) {
    FinishOwn(job, event == HEDDLE_JOB_COMPLETE && r.status == HEDDLE_ERROR_OK);
    return;
  }
  if (was_running && !lost) {
    Count(job->owner.get(), [&](drm_heddle_counters* c) {
      c->jobs++;
      if (r.status != HEDDLE_ERROR_OK) c->faults++;
    });
  }
  AccountFor(job.get(), was_running);
  if (auto context = job->context.lock()) {
    auto& queue = context->queue;
    queue.erase(std::remove(queue.begin(), queue.end(), job), queue.end());
    context->unfinished--;
    const auto& board = job->owner->board;
    if (board != nullptr && !lost && !context->destroyed)
      board->Publish(context->id, job->seqno, r);
    while (context->jobs.size() > Context::kResultsKept &&
           heddle_job_ended(context->jobs.begin()->second->state)) {
      context->jobs.erase(context->jobs.begin());
    }
  }
  // What the job used is free from here on; only its result is kept.
  job->steps.clear();
  job->in_fences.clear();
  job->fence->Signal();
  if (event == HEDDLE_JOB_HANG) TakeNoteOfHang(*job);
}

void Device::AccountFor(Job* job, bool was_running) {
  job->charge.Release();
  if (!job->counted) return;
  job->counted = false;
  const uint64_t now = NowNs();
  Rivals rivals(now);
  MeetClients(&rivals);
  const heddle_fair_rivals mine = rivals.Of(*job->owner);
  job->owner->held_ns += job->held_ns;
  heddle_fair_end(&fair_, &job->owner->fair, &mine, was_running, job->held_ns,
                  now);
}

// A client whose jobs hang again and again gets no more of the card.
void Device::TakeNoteOfHang(const Job& job) {
  if (auto context = job.context.lock()) context->hangs++;
  if (!heddle_usage_hang(&job.owner->usage, &limits_)) return;
  Log(spdlog::level::warn, "card {}: banned client {}: {} of its jobs hung",
      index_, job.owner->id, job.owner->usage.hangs);
  for (const auto& weak : contexts_) {
    auto context = weak.lock();
    if (context != nullptr && context->owner == job.owner)
      CancelQueued(context.get());
  }
}

void Device::FinishOwn(const std::shared_ptr<Job>& job, bool ok) {
  if (job->kind == Job::Kind::kPrepare) {
    // Its time is that of the job which it was for.
    if (job->owner->fair.with_card > 0) job->owner->fair.with_card--;
    if (auto user = job->beneficiary.lock()) user->held_ns += job->held_ns;
    if (ok) {
      for (const auto& a : job->prepares) a->prepared = true;
      for (const auto& s : job->uploads) s->staging = nullptr;
    }
    if (auto user = job->beneficiary.lock()) {
      user->preparing = false;
      if (!ok && user->state == HEDDLE_JOB_QUEUED && !gone()) {
        // The job cannot run; it ends with what ended its preparation.
        Finish(user, HEDDLE_JOB_CANCEL, nullptr, job->result.status);
      }
    }
    return;
  }
  if (!ok) heddle_mem_settle(memory_.get());  // the moves go with the job
  if (gone()) return;
  if (!ok) {
    Lose("compaction failed; the contents of device memory are unknown");
    return;
  }
  heddle_mem_apply(memory_.get());  // Poll() goes on
}

// ---- Interrupts, hangs, removal
// --------------------------------------------------------

void Device::OnInterrupt(size_t vector) {
  uint64_t count;
  if (vector >= link_->vectors().size()) return;
  (void)!read(link_->vectors()[vector], &count, sizeof(count));
  if (gone()) return;
  // With the single-message fallback the register says which ones are meant.
  uint32_t bits = 1u << vector;
  const bool one_for_all = link_->vectors().size() == 1;
  if (one_for_all) bits = link_->Read(HEDDLE_REG_INT_STATUS);
  if (bits == ~0u) {
    if (LinkLost()) Lose("it does not answer");
    return;
  }
  // Before looking, so that nothing is missed. Jobs with vectors of their own
  // need none of it: each end of a job sends a message, and the memory tells.
  constexpr uint32_t kJobs =
      HEDDLE_INT_STATUS_COMPLETION_MASK | HEDDLE_INT_STATUS_FAULT_MASK;
  if (one_for_all || (bits & ~kJobs)) link_->Write(HEDDLE_REG_INT_STATUS, bits);
  if (bits & HEDDLE_INT_STATUS_MEMORY_MASK) {
    const uint64_t before = memory_total();
    if (!ReadMemorySize()) {
      Lose("impossible size of device memory");
      return;
    }
    if (memory_total() != before) {
      memory_generation_++;
      sink_(DRM_HEDDLE_EVENT_MEMORY, 0, 0, memory_total());
    }
  }
  if (bits & HEDDLE_INT_STATUS_ERROR_MASK) {
    const uint32_t error = link_->Read(HEDDLE_REG_DEVICE_ERROR);
    link_->Write(HEDDLE_REG_DEVICE_ERROR, ~0u);
    Log(spdlog::level::warn, "card {}: device error {}", index_, error);
    if (error == HEDDLE_ERROR_SRAM_CORRECTED) {
      sink_(DRM_HEDDLE_EVENT_CORRECTED, 0, 0,
            link_->Read(HEDDLE_REG_COUNTER_SRAM_CORRECTED));
    }
  }
  Reap();
}

void Device::OnHangUp() { Lose("its connection was closed"); }

void Device::Quiet() {
  if (link_->TakeBus()) return;
  // Its mappings go with the connection.
  Log(spdlog::level::critical,
      "card {} does not release the bus: disconnecting it", index_);
  link_->Drop();
}

void Device::Lose(const char* why) {
  if (heddle_device_step(&state_, HEDDLE_DEVICE_LOST) != 0) return;
  Log(spdlog::level::warn, "card {} is gone: {}", index_, why);
  Quiet();
  link_->Drop();
  for (const auto& weak : clients_) {
    const auto client = weak.lock();
    if (client != nullptr && client->board != nullptr)
      client->board->Withdraw();
  }
  wanted_ = 0;
  guilty_ = nullptr;
  while (!in_flight_.empty()) {
    const std::shared_ptr<Job> job = in_flight_.front();
    Finish(job, HEDDLE_JOB_LOST, nullptr);
  }
  for (const auto& weak : contexts_) {
    auto context = weak.lock();
    if (context == nullptr) continue;
    while (!context->queue.empty()) {
      auto job = context->queue.front();
      Finish(job, HEDDLE_JOB_LOST, nullptr);
    }
  }
  memory_waiters_.Notify();
  sink_(DRM_HEDDLE_EVENT_REMOVED, 0, 0, 0);
}

}  // namespace heddle::hosted
