// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/device_core.h"

#include <errno.h>
#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::session {
namespace {

// Jobs of one core in flight; the driver allows more.
constexpr size_t kMaxInFlight = 64;

// Starts a thread that gets no signals: they are the application's. Null if the
// system has no more threads.
template <typename F>
std::unique_ptr<std::thread> StartThread(F run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::unique_ptr<std::thread> thread;
  try {
    thread = std::make_unique<std::thread>(std::move(run));
  } catch (const std::system_error&) {
    // null
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// A thread that is destroyed by itself cannot wait for itself.
void EndThread(std::unique_ptr<std::thread> thread) {
  if (thread == nullptr) return;
  if (thread->get_id() == std::this_thread::get_id()) {
    thread->detach();
  } else {
    thread->join();
  }
}

}  // namespace

struct DeviceCore::State {
  struct Pending {
    uint64_t job;
    Finish finish;
  };
  std::shared_ptr<hal::Device> device;
  std::shared_ptr<hal::Context> context;

  std::mutex
      submit_mutex;  // jobs enter `pending` in the order of their numbers

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Pending> pending;                    // oldest first
  std::vector<std::function<void()>> on_removed;  // until the card goes
  std::deque<std::function<void()>> calls;        // to be made now
  bool stopping = false;
  std::atomic<bool> gone{false};
  std::thread::id completer;

  void MarkGone() {
    std::lock_guard<std::mutex> lock(mutex);
    if (gone.exchange(true)) return;
    for (auto& callback : on_removed) calls.push_back(std::move(callback));
    on_removed.clear();
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
  auto context = device->CreateContext(static_cast<uint32_t>(priority));
  if (!context.ok()) return context.status();

  std::shared_ptr<DeviceCore> core(new DeviceCore);
  core->description_ = std::move(description);
  core->device_ = std::move(device);
  core->context_ = *std::move(context);
  auto state = std::make_shared<State>();
  state->device = core->device_;
  state->context = core->context_;
  core->state_ = state;
  {
    // The thread looks at `completer` only after it was given.
    std::lock_guard<std::mutex> lock(state->mutex);
    core->completer_ = StartThread([state] { Complete(state); });
    if (core->completer_ != nullptr) {
      state->completer = core->completer_->get_id();
    }
  }
  core->listener_ = StartThread([state] { Listen(state); });
  if (core->completer_ == nullptr || core->listener_ == nullptr) {
    return hal::FromErrno("starting a thread for the device", EAGAIN);
  }
  return core;
}

DeviceCore::~DeviceCore() {
  if (forked()) {
    // Neither the threads nor the owners of the locks exist here.
    completer_.release();
    listener_.release();
    new std::shared_ptr<State>(std::move(state_));
    return;
  }
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  // Nothing waits for jobs any more; the listener waits for events.
  if (listener_ != nullptr) {
    context_.reset();
    state_->device->Shutdown();
  }
  EndThread(std::move(listener_));
  EndThread(std::move(completer_));
}

bool DeviceCore::available() const { return !forked() && !state_->gone.load(); }

bool DeviceCore::OnCompletionThread() const {
  return std::this_thread::get_id() == state_->completer;
}

void DeviceCore::OnRemoved(std::function<void()> callback) {
  if (forked() || callback == nullptr) return;
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->gone.load()) {
    state_->calls.push_back(std::move(callback));
    state_->changed.notify_all();
  } else {
    state_->on_removed.push_back(std::move(callback));
  }
}

absl::Status DeviceCore::Submit(const std::vector<hal::Step>& steps,
                                Finish finish) {
  if (forked()) return hal::FromErrno("queueing a job", ECHILD);
  if (!OnCompletionThread()) {
    std::unique_lock<std::mutex> lock(state_->mutex);
    state_->changed.wait(
        lock, [this] { return state_->pending.size() < kMaxInFlight; });
  }
  std::lock_guard<std::mutex> order(state_->submit_mutex);
  const absl::StatusOr<uint64_t> job = context_->Submit(steps);
  if (!job.ok()) {
    if (absl::IsUnavailable(job.status())) state_->MarkGone();
    return job.status();
  }
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->pending.push_back({*job, std::move(finish)});
  state_->changed.notify_all();
  return absl::OkStatus();
}

void DeviceCore::Complete(const std::shared_ptr<State>& state) {
  std::unique_lock<std::mutex> lock(state->mutex);
  for (;;) {
    state->changed.wait(lock, [&state] {
      return !state->pending.empty() || !state->calls.empty() ||
             state->stopping;
    });
    while (!state->calls.empty()) {
      std::function<void()> call = std::move(state->calls.front());
      state->calls.pop_front();
      lock.unlock();
      call();
      call = nullptr;  // what it holds goes without the lock
      lock.lock();
    }
    if (state->pending.empty()) {
      if (state->stopping && state->calls.empty()) return;
      continue;
    }
    const uint64_t job = state->pending.front().job;
    lock.unlock();
    const auto result = state->context->Wait(job, absl::InfiniteFuture());
    if (absl::IsUnavailable(result.status())) state->MarkGone();
    lock.lock();
    Finish finish = std::move(state->pending.front().finish);
    state->pending.pop_front();
    state->changed.notify_all();
    lock.unlock();
    finish(result.status(), result.ok() ? *result : drm_heddle_result{});
    finish = nullptr;
    lock.lock();
  }
}

void DeviceCore::Listen(const std::shared_ptr<State>& state) {
  for (;;) {
    const auto events = state->device->Events(absl::InfiniteFuture());
    if (!events.ok()) {
      // Shutdown by the destructor looks the same, but nobody is left to see
      // it.
      if (absl::IsUnavailable(events.status())) state->MarkGone();
      return;
    }
    for (const drm_heddle_event& event : *events) {
      if (event.type == DRM_HEDDLE_EVENT_REMOVED) {
        state->MarkGone();
        return;
      }
    }
  }
}

}  // namespace heddle::session
