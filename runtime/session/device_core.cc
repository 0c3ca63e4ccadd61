// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/device_core.h"

#include <errno.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <list>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/session/thread.h"

namespace heddle::session {
struct DeviceCore::State {
  struct Pending {
    uint64_t job;
    Finish finish;
    std::shared_ptr<JobTrace> trace;  // or null
  };
  State(std::shared_ptr<hal::Device> device_in,
        std::shared_ptr<hal::Context> context_in)
      : device(std::move(device_in)), context(std::move(context_in)) {}
  const std::shared_ptr<hal::Device> device;
  const std::shared_ptr<hal::Context> context;

  std::mutex
      submit_mutex;  // jobs enter `pending` in the order of their numbers

  std::mutex mutex;
  std::condition_variable changed;
  // Lists: what was prepared is added, and moves, without memory.
  std::list<Pending> pending;                   // oldest first
  std::list<std::function<void()>> on_removed;  // until the card goes
  std::list<std::function<void()>> calls;       // to be made now
  bool stopping = false;
  std::atomic<bool> gone{false};
  std::thread::id completer;

  void MarkGone() noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    if (gone.exchange(true)) return;
    calls.splice(calls.end(), on_removed);
    changed.notify_all();
  }
};

absl::StatusOr<std::shared_ptr<DeviceCore>> DeviceCore::Open(
    std::shared_ptr<hal::Device> device, DeviceDescription description,
    int priority) {
  const auto priorities = device->info().priorities;
  if (priority < 0 || static_cast<uint32_t>(priority) >= priorities) {
    return absl::InvalidArgumentError(
        absl::StrCat("priority ", priority, " is not 0 (highest) to ",
                     priorities > 0 ? priorities - 1 : 0));
  }
  auto made = device->CreateContext(static_cast<uint32_t>(priority));
  if (!made.ok()) return made.status();
  std::shared_ptr<hal::Context> context = *std::move(made);
  std::shared_ptr<DeviceCore> core(
      new DeviceCore(std::move(device), std::move(context),
                     std::move(description), static_cast<uint32_t>(priority)));
  if (absl::Status s = core->Start(); !s.ok()) return s;
  return core;
}

DeviceCore::DeviceCore(std::shared_ptr<hal::Device> device,
                       std::shared_ptr<hal::Context> context,
                       DeviceDescription description, uint32_t priority)
    : description_(std::move(description)),
      device_(std::move(device)),
      context_(std::move(context)),
      priority_(priority),
      state_(std::make_shared<State>(device_, context_)) {}

absl::Status DeviceCore::Start() {
  const std::shared_ptr<State> state = state_;
  {
    // The thread looks at `completer` only after it was given.
    std::lock_guard<std::mutex> lock(state->mutex);
    completer_ = StartThread([state] { Complete(state); });
    if (completer_ != nullptr) state->completer = completer_->get_id();
  }
  if (completer_ != nullptr) {
    listener_ = StartThread([state] { Listen(state); });
  }
  if (listener_ == nullptr) {
    return hal::Exhausted(hal::Resource::kSystemResources,
                          "opening the device: the system cannot create "
                          "another thread (ulimit -u)");
  }
  return absl::OkStatus();
}

DeviceCore::~DeviceCore() {
  if (forked()) {
    // Neither the threads nor the owners of the locks exist here.
    completer_.release();
    listener_.release();
    hal::Abandon(std::move(state_));
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  // Nothing waits for jobs any more; the listener waits for events.
  if (listener_ != nullptr) state_->device->Shutdown();
  EndThread(std::move(listener_));
  EndThread(std::move(completer_));
}

bool DeviceCore::available() const { return !forked() && !state_->gone.load(); }

bool DeviceCore::OnCompletionThread() const {
  return std::this_thread::get_id() == state_->completer;
}

void DeviceCore::OnRemoved(std::function<void()> callback) {
  if (forked() || callback == nullptr) return;
  std::list<std::function<void()>> added;
  added.push_back(std::move(callback));
  std::lock_guard<std::mutex> lock(state_->mutex);
  auto& list = state_->gone.load() ? state_->calls : state_->on_removed;
  list.splice(list.end(), added);
  state_->changed.notify_all();
}

absl::StatusOr<std::shared_ptr<JobTrace>> DeviceCore::MakeTrace(
    uint64_t commands) {
  if (forked()) return hal::FromErrno("tracing a job", ECHILD);
  auto context = device_->CreateContext(priority_);
  if (!context.ok()) return context.status();
  auto trace = std::make_shared<JobTrace>();
  trace->context = *std::move(context);
  trace->entries.resize(
      std::clamp<uint64_t>(commands, 1, DRM_HEDDLE_TRACE_ENTRIES_MAX));
  return trace;
}

absl::Status DeviceCore::Submit(const std::vector<hal::Step>& steps,
                                Finish finish,
                                std::shared_ptr<JobTrace> trace) {
  if (forked()) return hal::FromErrno("queueing a job", ECHILD);
  // All that may fail comes before the job is queued.
  hal::Context& queue = trace != nullptr ? *trace->context : *context_;
  hal::Context::SubmitOptions options;
  if (trace != nullptr) {
    options.trace_entries = static_cast<uint32_t>(trace->entries.size());
  }
  std::list<State::Pending> added;
  added.push_back({0, std::move(finish), std::move(trace)});
  std::lock_guard<std::mutex> order(state_->submit_mutex);
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    if (state_->pending.size() >= kMaxInFlight) {
      return hal::Exhausted(
          hal::Resource::kDeviceResources,
          absl::StrCat("queueing a job: ", kMaxInFlight,
                       " are in flight on this device; wait for one of them"));
    }
  }
  const absl::StatusOr<uint64_t> job = queue.Submit(steps, options);
  if (!job.ok()) {
    if (absl::IsUnavailable(job.status())) state_->MarkGone();
    return job.status();
  }
  std::lock_guard<std::mutex> lock(state_->mutex);
  added.front().job = *job;
  state_->pending.splice(state_->pending.end(), added);
  state_->changed.notify_all();
  return absl::OkStatus();
}

void DeviceCore::Complete(const std::shared_ptr<State>& state) noexcept {
  std::unique_lock<std::mutex> lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&state] {
      return !state->pending.empty() || !state->calls.empty() ||
             state->stopping;
    });
    while (!state->calls.empty()) {
      std::list<std::function<void()>> call;
      call.splice(call.end(), state->calls, state->calls.begin());
      lock.unlock();
      call.front()();
      call.clear();  // what it holds goes without the lock
      lock.lock();
    }
    if (state->pending.empty()) {
      if (state->stopping && state->calls.empty()) return;
      continue;
    }
    const State::Pending& first = state->pending.front();  // stays there
    lock.unlock();
    JobTrace* trace = first.trace.get();
    hal::Context& queue = trace != nullptr ? *trace->context : *state->context;
    drm_heddle_result result;
    const int error = queue.WaitFor(first.job, absl::InfiniteFuture(), &result);
    if (hal::MeansGone(error)) state->MarkGone();
    if (trace != nullptr) {
      trace->error = queue.ReadTrace(first.job, absl::MakeSpan(trace->entries),
                                     &trace->commands);
      trace->context.reset();
    }
    lock.lock();
    std::list<State::Pending> ended;
    ended.splice(ended.end(), state->pending, state->pending.begin());
    lock.unlock();
    ended.front().finish(error, result);
    ended.clear();
    lock.lock();
  }
}

void DeviceCore::Listen(const std::shared_ptr<State>& state) noexcept {
  drm_heddle_event events[16];
  for (;;) {
    const int count = state->device->WaitForEvents(absl::InfiniteFuture(),
                                                   absl::MakeSpan(events));
    if (count < 0) {
      // Shutdown by the destructor looks the same, but nobody is left to see
      // it.
      if (hal::MeansGone(count)) state->MarkGone();
      return;
    }
    for (int i = 0; i < count; ++i) {
      if (events[i].type == DRM_HEDDLE_EVENT_REMOVED) {
        state->MarkGone();
        return;
      }
    }
  }
}

}  // namespace heddle::session
