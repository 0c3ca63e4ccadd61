// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kmd/hosted/arena.h"
#include "rtl/spec/generated/registers.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {
namespace {

constexpr uint64_t kMs = 1000000;
constexpr uint64_t kSecond = 1000 * kMs;

// Largest HOST buffer: more than any card can take.
constexpr uint64_t kHostBytesMax = uint64_t{64} << 30;

// How long the card may take for what should be immediate.
constexpr uint64_t kAbortGraceNs = 500 * kMs;
constexpr uint64_t kResetGraceNs = 10 * kSecond;
constexpr uint64_t kCheckBusyNs = 50 * kMs;
constexpr uint64_t kCheckIdleNs = 250 * kMs;
constexpr uint64_t kCheckResetNs = 5 * kMs;

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

uint64_t NowNs() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return uint64_t(t.tv_sec) * kSecond + t.tv_nsec;
}

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
      mem_(std::make_shared<heddle_mem>()),
      allocations_(std::make_shared<
                   std::map<heddle_mem_node*, std::weak_ptr<Allocation>>>()) {}

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
  if (mem_->first == nullptr && mem_->total == 0) {
    heddle_mem_init(mem_.get(), total);
  } else {
    heddle_mem_resize(mem_.get(), total);
  }
  limits_.device_bytes = total;
  return true;
}

absl::Status Device::SetUp(const Options& options) {
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
    return absl::FailedPreconditionError(
        "the size of device memory is not possible");
  }
  heddle_limits_init(&limits_, mem_->total,
                     static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<uint64_t>(sysconf(_SC_PAGESIZE)),
                     timeout_ns_);

  link_->Write(HEDDLE_REG_RESET, HEDDLE_RESET_CARD_MASK);
  const uint64_t limit = NowNs() + kResetGraceNs;
  while (!(link_->Read(HEDDLE_REG_STATUS) & HEDDLE_STATUS_READY_MASK)) {
    if (LinkLost() || NowNs() > limit) return lost();
    usleep(1000);
  }

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
  heddle_sched_init(&sched_);

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

// ---- Objects
// -----------------------------------------------------------------------

int Device::Allocate(uint64_t bytes, std::shared_ptr<Allocation>* allocation) {
  if (gone()) return -ENODEV;
  // While objects move, their nodes must stay as they are.
  if (state_ == HEDDLE_DEVICE_COMPACTING) return -EINPROGRESS;
  auto a = std::make_shared<Allocation>();
  const int err = heddle_mem_insert(mem_.get(), &a->node, bytes);
  if (err == -EAGAIN) {
    u64 rounded = 0;
    heddle_mem_round(bytes, &rounded);
    wanted_ = std::max<uint64_t>(wanted_, rounded);
    return -EINPROGRESS;
  }
  if (err != 0) return err;
  a->release = [mem = mem_, all = allocations_](Allocation* me) {
    all->erase(&me->node);
    heddle_mem_remove(mem.get(), &me->node);
  };
  (*allocations_)[&a->node] = a;
  *allocation = std::move(a);
  return 0;
}

int Device::ShareHost(uint64_t bytes, int fd,
                      std::shared_ptr<HostMemory>* memory) {
  auto m = std::make_shared<HostMemory>();
  m->fd = fd;
  m->release = [](HostMemory* me) {
    if (me->fd >= 0) close(me->fd);
  };
  if (gone()) return -ENODEV;
  u64 rounded = 0;
  if (heddle_mem_round(bytes, &rounded) != 0 || rounded > kHostBytesMax)
    return -ENOMEM;
  m->size = rounded;
  if (m->fd < 0) {
    m->fd = memfd_create("heddle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m->fd < 0 || ftruncate(m->fd, m->size) != 0) return -ENOMEM;
    // Nobody who gets this descriptor can take the memory away from the card.
    if (fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) !=
        0)
      return -ENOMEM;
  }
  m->address = link_->Map(m->fd, m->size);
  if (m->address == 0) {
    if (!link_->up()) {
      Lose("the link broke");
      return -ENODEV;
    }
    return -ENOMEM;
  }
  m->release = [link = link_](HostMemory* me) {
    if (link->up()) link->Unmap(me->address, me->size);
    close(me->fd);
  };
  *memory = std::move(m);
  return 0;
}

void Device::AddContext(const std::shared_ptr<Context>& context) {
  context->entry.turn = sched_.turn;
  contexts_.push_back(context);
}

void Device::DestroyContext(const std::shared_ptr<Context>& context) {
  context->destroyed = true;
  while (!context->queue.empty()) {
    auto job = context->queue.front();
    Finish(job, HEDDLE_JOB_CANCEL, nullptr);
  }
}

void Device::Submit(const std::shared_ptr<Context>& context,
                    const std::shared_ptr<Job>& job) {
  context->queue.push_back(job);
  context->jobs[job->seqno] = job;
  context->unfinished++;
  Schedule();
}

// ---- Scheduling
// ----------------------------------------------------------------------

void Device::Schedule() {
  if (!heddle_device_accepts_jobs(state_)) return;
  if (wanted_ > 0) {
    if (in_flight_.empty()) StartCompaction();
    return;  // the jobs with the card end first
  }
  for (;;) {
    std::vector<std::shared_ptr<Context>> contexts;
    std::vector<heddle_sched_entry> entries;
    for (auto it = contexts_.begin(); it != contexts_.end();) {
      auto context = it->lock();
      if (context == nullptr) {
        it = contexts_.erase(it);
        continue;
      }
      ++it;
      heddle_sched_entry entry = context->entry;
      entry.ready = false;
      if (!context->queue.empty()) {
        const Job& job = *context->queue.front();
        entry.ready = !job.preparing &&
                      std::all_of(job.in_fences.begin(), job.in_fences.end(),
                                  [](const auto& f) { return f->signalled(); });
      }
      contexts.push_back(std::move(context));
      entries.push_back(entry);
    }
    uint32_t chosen = 0;
    if (heddle_sched_pick(&sched_, entries.data(), entries.size(), &chosen) !=
        0)
      return;
    if (!StartUserJob(contexts[chosen].get())) return;
    if (gone()) return;
  }
}

// Objects of the job that are not ready to be used yet go to `prepare`.
bool Device::NeedsPreparation(const std::shared_ptr<Job>& job,
                              Job* prepare) const {
  auto add = [&](const std::shared_ptr<Allocation>& a) {
    if (a == nullptr || a->prepared ||
        prepare->prepares.size() >= HEDDLE_STEPS_MAX)
      return false;
    for (const auto& p : prepare->prepares) {
      if (p == a) return false;
    }
    prepare->prepares.push_back(a);
    return true;
  };
  for (const Step& step : job->steps) {
    if (step.src != nullptr) add(step.src->device);
    if (step.dst != nullptr) add(step.dst->device);
    for (const BoundRegion& r : step.regions) {
      if (r.bo != nullptr) add(r.bo->device);
    }
    if (step.stream != nullptr && add(step.stream->device)) {
      prepare->uploads.push_back(step.stream);
    }
  }
  return !prepare->prepares.empty();
}

bool Device::StartUserJob(Context* context) {
  std::shared_ptr<Job> job = context->queue.front();
  auto prepare = std::make_shared<Job>();
  if (NeedsPreparation(job, prepare.get())) {
    prepare->kind = Job::Kind::kPrepare;
    prepare->client = job->client;
    prepare->priority = job->priority;
    prepare->beneficiary = job;
    prepare->timeout_ns = 0;
    job->preparing = true;
    heddle_sched_entry entry = context->entry;  // the turn stays the job's
    Launch(prepare, &entry);
    return true;
  }
  context->queue.pop_front();
  Launch(job, &context->entry);
  return true;
}

void Device::StartCompaction() {
  auto job = std::make_shared<Job>();
  job->kind = Job::Kind::kCompact;
  job->moves.resize(HEDDLE_STEPS_MAX);
  const int n =
      heddle_mem_plan(mem_.get(), wanted_, job->moves.data(), HEDDLE_STEPS_MAX);
  if (n <= 0) {  // done, or no longer possible: who asked will see
    wanted_ = 0;
    pinned_.clear();
    if (state_ == HEDDLE_DEVICE_COMPACTING)
      heddle_device_step(&state_, HEDDLE_DEVICE_COMPACTED);
    return;
  }
  job->moves.resize(n);
  if (state_ != HEDDLE_DEVICE_COMPACTING) {
    if (heddle_device_step(&state_, HEDDLE_DEVICE_COMPACT) != 0) return;
    counters_.compactions++;
    for (const auto& [node, weak] : *allocations_) {
      if (auto a = weak.lock()) pinned_.push_back(std::move(a));
    }
  }
  heddle_sched_entry entry = {};
  Launch(job, &entry);
}

// ---- Descriptors
// -----------------------------------------------------------------------

void Device::Launch(const std::shared_ptr<Job>& job,
                    heddle_sched_entry* entry) {
  uint32_t index = 0;
  heddle_ring* ring = &rings_[job->priority];
  if (heddle_ring_push(ring, &index) != 0 || free_slots_ == 0) {
    // Depth is limited far below this; only a card that loses records gets
    // here.
    Lose("completion records are missing");
    return;
  }
  job->slot = __builtin_ctz(free_slots_);
  free_slots_ &= ~(1u << job->slot);
  job->hw_fence = next_fence_++;

  bool uses_sram = false;
  for (const Step& step : job->steps) uses_sram |= step.type == DRM_HEDDLE_RUN;
  const bool clear = heddle_sched_start(&sched_, entry, job->client, uses_sram);

  heddle_job_descriptor d = {};
  d.fence = job->hw_fence;
  d.steps_iova =
      arena_->address + kSlotsAt + job->slot * kSlotBytes + kSlotSteps;
  d.step_count = job->kind == Job::Kind::kUser ? WriteUserSteps(*job, job->slot)
                                               : WriteOwnSteps(*job, job->slot);
  d.flags = HEDDLE_JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK |
            (clear ? HEDDLE_JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK : 0);
  d.context_id = static_cast<uint32_t>(job->client);
  std::memcpy(
      arena_data_ + kRingsAt + job->priority * kRingBytes + index * sizeof(d),
      &d, sizeof(d));
  heddle_job_step(&job->state, HEDDLE_JOB_START);
  in_flight_.push_back(job);
  // The doorbell is a message to another process: everything before it is
  // visible there.
  link_->Write(HEDDLE_REG_RING_HEAD(job->priority), ring->head);
  if (!link_->up()) Lose("the link broke");
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
      spdlog::warn("card {:x}: completion record for unknown fence {}",
                   info_.unique, record.fence);
      continue;
    }
    std::shared_ptr<Job> job = *it;
    const bool hung = job == guilty_ && record.status == HEDDLE_ERROR_ABORTED;
    Finish(job, hung ? HEDDLE_JOB_HANG : HEDDLE_JOB_COMPLETE, &record);
  }
}

// The card no longer has the job.
void Device::Retire(const std::shared_ptr<Job>& job) {
  in_flight_.remove(job);
  free_slots_ |= 1u << job->slot;
  uint32_t count = 0;
  heddle_ring_retire(&rings_[job->priority], rings_[job->priority].tail + 1,
                     &count);
  heddle_sched_end(&sched_);
  if (in_flight_.empty()) heddle_watch_idle(&watch_);
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
    counters_.cycles += record->cycles;
    counters_.macs += record->macs;
    counters_.bytes_copied += record->bytes_copied;
  }
  if (job->kind != Job::Kind::kUser) {
    FinishOwn(job, event == HEDDLE_JOB_COMPLETE && r.status == HEDDLE_ERROR_OK);
    return;
  }
  if (was_running && !lost) {
    counters_.jobs++;
    if (r.status != HEDDLE_ERROR_OK) counters_.faults++;
  }
  if (auto context = job->context.lock()) {
    auto& queue = context->queue;
    queue.erase(std::remove(queue.begin(), queue.end(), job), queue.end());
    context->unfinished--;
    while (context->jobs.size() > Context::kResultsKept &&
           heddle_job_ended(context->jobs.begin()->second->state)) {
      context->jobs.erase(context->jobs.begin());
    }
  }
  // What the job used is free from here on; only its result is kept.
  job->steps.clear();
  job->in_fences.clear();
  job->fence->Signal();
}

void Device::FinishOwn(const std::shared_ptr<Job>& job, bool ok) {
  if (job->kind == Job::Kind::kPrepare) {
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
  if (!ok) heddle_mem_settle(mem_.get());  // the moves go with the job
  if (gone()) return;
  if (!ok) {
    Lose("compaction failed; the contents of device memory are unknown");
    return;
  }
  heddle_mem_apply(mem_.get());
  StartCompaction();  // the rest, or the end
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
  if (link_->vectors().size() == 1) bits = link_->Read(HEDDLE_REG_INT_STATUS);
  if (bits == ~0u) {
    if (LinkLost()) Lose("it does not answer");
    return;
  }
  link_->Write(HEDDLE_REG_INT_STATUS,
               bits);  // before looking, so that nothing is missed
  if (bits & HEDDLE_INT_STATUS_MEMORY_MASK) {
    const uint64_t before = mem_->total;
    if (!ReadMemorySize()) {
      Lose("the size of device memory is not possible");
      return;
    }
    if (mem_->total != before) {
      memory_generation_++;
      sink_(DRM_HEDDLE_EVENT_MEMORY, 0, 0, mem_->total);
    }
  }
  if (bits & HEDDLE_INT_STATUS_ERROR_MASK) {
    const uint32_t error = link_->Read(HEDDLE_REG_DEVICE_ERROR);
    link_->Write(HEDDLE_REG_DEVICE_ERROR, ~0u);
    spdlog::warn("card {:x}: device error {}", info_.unique, error);
  }
  Reap();
}

void Device::OnHangUp() { Lose("its connection was closed"); }

void Device::Lose(const char* why) {
  if (heddle_device_step(&state_, HEDDLE_DEVICE_LOST) != 0) return;
  spdlog::warn("card {:x} is gone: {}", info_.unique, why);
  link_->Drop();
  wanted_ = 0;
  guilty_ = nullptr;
  auto running = in_flight_;
  for (const auto& job : running) Finish(job, HEDDLE_JOB_LOST, nullptr);
  for (const auto& weak : contexts_) {
    auto context = weak.lock();
    if (context == nullptr) continue;
    while (!context->queue.empty()) {
      auto job = context->queue.front();
      Finish(job, HEDDLE_JOB_LOST, nullptr);
    }
  }
  pinned_.clear();
  sink_(DRM_HEDDLE_EVENT_REMOVED, 0, 0, 0);
}

void Device::StartReset() {
  heddle_device_step(&state_, HEDDLE_DEVICE_STUCK);
  ready_seen_ = false;
  deadline_ns_ = NowNs() + kResetGraceNs;
  counters_.resets++;
  link_->Write(HEDDLE_REG_RESET, HEDDLE_RESET_ENGINE_MASK);
}

// Looks for a stuck job, and drives abort and reset.
void Device::Watch(uint64_t now) {
  if (state_ == HEDDLE_DEVICE_ABORTING) {
    const bool ended = heddle_job_ended(guilty_->state);
    const bool halted =
        link_->Read(HEDDLE_REG_STATUS) & HEDDLE_STATUS_HALTED_MASK;
    if (ended && !halted) {
      heddle_device_step(&state_, HEDDLE_DEVICE_ABORTED);
      guilty_ = nullptr;
    } else if (halted || now >= deadline_ns_) {
      StartReset();
    }
  }
  if (state_ == HEDDLE_DEVICE_RESETTING) {
    ready_seen_ |=
        (link_->Read(HEDDLE_REG_STATUS) & HEDDLE_STATUS_READY_MASK) != 0;
    Reap();
    if (state_ != HEDDLE_DEVICE_RESETTING) return;  // Reap found the card gone
    if (ready_seen_ && heddle_job_ended(guilty_->state)) {
      heddle_sched_reset(&sched_);
      heddle_watch_idle(&watch_);
      heddle_device_step(&state_, HEDDLE_DEVICE_RESET_DONE);
      auto context = guilty_->context.lock();
      sink_(DRM_HEDDLE_EVENT_RESET, context != nullptr ? context->id : 0,
            guilty_->client, guilty_->seqno);
      guilty_ = nullptr;
    } else if (now >= deadline_ns_) {
      Lose("its engine cannot be reset");
    }
  }
  if (in_flight_.empty() || gone()) return;
  if (state_ != HEDDLE_DEVICE_READY && state_ != HEDDLE_DEVICE_COMPACTING)
    return;
  const uint64_t fence =
      link_->Read64(HEDDLE_REG_RUNNING_LO, HEDDLE_REG_RUNNING_HI);
  const uint32_t progress = link_->Read(HEDDLE_REG_PROGRESS);
  std::shared_ptr<Job> suspect = in_flight_.front();
  for (const auto& job : in_flight_) {
    if (job->hw_fence == fence) suspect = job;
  }
  if (!heddle_watch_stuck(&watch_, suspect->hw_fence, progress, now,
                          TimeoutOf(*suspect)))
    return;
  if (state_ == HEDDLE_DEVICE_COMPACTING) {
    Lose(
        "compaction makes no progress; the contents of device memory are "
        "unknown");
    return;
  }
  spdlog::warn("card {:x}: job {} of client {} makes no progress: aborting",
               info_.unique, suspect->seqno, suspect->client);
  guilty_ = suspect;
  heddle_device_step(&state_, HEDDLE_DEVICE_HANG);
  deadline_ns_ = now + kAbortGraceNs;
  link_->Write(HEDDLE_REG_ABORT, static_cast<uint32_t>(suspect->hw_fence));
}

uint64_t Device::Poll() {
  if (gone()) return UINT64_MAX;
  if (!link_->up()) {
    Lose("the link broke");
    return UINT64_MAX;
  }
  Reap();  // an interrupt may have been lost
  const uint64_t now = NowNs();
  const bool ending =
      state_ == HEDDLE_DEVICE_ABORTING || state_ == HEDDLE_DEVICE_RESETTING;
  if (now >= next_check_ns_ || ending) {
    if (LinkLost()) {
      Lose("it does not answer");
      return UINT64_MAX;
    }
    Watch(now);
    next_check_ns_ = now + (in_flight_.empty() ? kCheckIdleNs : kCheckBusyNs);
  }
  if (!gone()) Schedule();
  if (gone()) return UINT64_MAX;
  if (state_ == HEDDLE_DEVICE_ABORTING || state_ == HEDDLE_DEVICE_RESETTING)
    return kCheckResetNs;
  const uint64_t limit =
      now + (in_flight_.empty() ? kCheckIdleNs : kCheckBusyNs);
  next_check_ns_ = std::min(next_check_ns_, limit);
  return next_check_ns_ > now ? next_check_ns_ - now : 0;
}

}  // namespace heddle::hosted
