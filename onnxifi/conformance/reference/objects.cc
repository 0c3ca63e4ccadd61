// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/reference/objects.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <utility>

namespace onnxifi_reference {
namespace {

// How often those who wait look whether the device is still there.
constexpr std::chrono::milliseconds kLook(20);

// Waits for `done`, or until `gone`.
template <typename Done, typename Gone>
void WaitUntil(std::condition_variable* changed,
               std::unique_lock<std::mutex>* lock, bool can_go, Done done,
               Gone gone) {
  if (!can_go) {
    changed->wait(*lock, done);
    return;
  }
  while (!changed->wait_for(*lock, kLook, done) && !gone()) {
  }
}

}  // namespace

Device::Device() {
  const char* file = std::getenv("ONNXIFI_REFERENCE_UNPLUGGED");
  if (file != nullptr) file_ = file;
  const char* memory = std::getenv("ONNXIFI_REFERENCE_MEMORY");
  if (memory != nullptr) memory_bytes_ = std::strtoull(memory, nullptr, 10);
}

std::pair<bool, uint64_t> Device::Look() {
  if (file_.empty()) return {true, 0};
  std::lock_guard<std::mutex> lock(look_);
  const bool present = access(file_.c_str(), F_OK) != 0;
  if (present_ && !present) ++generation_;
  present_ = present;
  return {present_, generation_};
}

void Event::Finish(std::unique_lock<std::mutex> lock, onnxStatus end) {
  std::vector<std::function<void(onnxStatus)>> then;
  then.swap(then_);
  changed_.notify_all();
  lock.unlock();
  for (const auto& call : then) call(end);
}

onnxStatus Event::Signal(onnxStatus end) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (signalled_) return ONNXIFI_STATUS_INVALID_STATE;
  signalled_ = true;
  end_ = end;
  Finish(std::move(lock), end);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus Event::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntil(
      &changed_, &lock, device_->hot_pluggable(),
      [this] { return signalled_ || released_; }, [this] { return gone(); });
  if (gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  return signalled_ ? end_ : ONNXIFI_STATUS_INVALID_EVENT;
}

onnxStatus Event::WaitFor(uint32_t milliseconds, bool* signalled,
                          onnxStatus* end) {
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(milliseconds);
  std::unique_lock<std::mutex> lock(mutex_);
  WaitUntil(
      &changed_, &lock, device_->hot_pluggable() || milliseconds > 0,
      [this] { return signalled_ || released_; },
      [&] {
        return gone() ||
               (milliseconds > 0 && std::chrono::steady_clock::now() >= until);
      });
  if (gone()) return ONNXIFI_STATUS_BACKEND_UNAVAILABLE;
  if (released_ && !signalled_) return ONNXIFI_STATUS_INVALID_EVENT;
  *signalled = signalled_;
  *end = end_;
  return ONNXIFI_STATUS_SUCCESS;
}

bool Event::signalled() {
  std::lock_guard<std::mutex> lock(mutex_);
  return signalled_;
}

void Event::Release() {
  std::unique_lock<std::mutex> lock(mutex_);
  released_ = true;
  Finish(std::move(lock), ONNXIFI_STATUS_INTERNAL_ERROR);
}

void Event::Then(std::function<void(onnxStatus)> then) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!signalled_ && !released_) {
    then_.push_back(std::move(then));
    return;
  }
  const onnxStatus end = signalled_ ? end_ : ONNXIFI_STATUS_INTERNAL_ERROR;
  lock.unlock();
  then(end);
}

Backend::Backend(Device* device)
    : device(device),
      generation(device->generation()),
      queue_(std::make_shared<Queue>()) {
  thread_ = std::thread([queue = queue_] {
    std::unique_lock<std::mutex> lock(queue->mutex);
    for (;;) {
      queue->changed.wait(lock,
                          [&] { return queue->stop || !queue->work.empty(); });
      if (queue->work.empty()) return;
      {
        const std::function<void()> work = std::move(queue->work.front());
        queue->work.pop_front();
        lock.unlock();
        work();
      }  // what it held may be released here, without the lock
      lock.lock();
    }
  });
}

Backend::~Backend() {
  {
    std::lock_guard<std::mutex> lock(queue_->mutex);
    queue_->stop = true;
    queue_->changed.notify_all();
  }
  // The last run may have held the last reference.
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

void Backend::Post(std::function<void()> work) {
  std::lock_guard<std::mutex> lock(queue_->mutex);
  queue_->work.push_back(std::move(work));
  queue_->changed.notify_all();
}

Graph::Graph(std::shared_ptr<Backend> backend) : backend(std::move(backend)) {}

void Graph::GiveBack() {
  Device* const device = backend->device;
  std::lock_guard<std::mutex> lock(device->mutex);
  if (!reserved) return;
  reserved = false;
  device->used_bytes -= reserved_bytes;
  --device->graphs;
}

void Graph::Close() {
  std::unique_lock<std::mutex> lock(mutex);
  closed = true;
  WaitUntil(
      &idle, &lock, backend->device->hot_pluggable(),
      [this] { return running == 0; }, [this] { return backend->gone(); });
}

onnxStatus Graph::Reserve(uint64_t bytes) {
  Device* const device = backend->device;
  std::lock_guard<std::mutex> lock(device->mutex);
  if (device->graphs >= Device::kGraphs) {
    return ONNXIFI_STATUS_NO_DEVICE_RESOURCES;
  }
  if (bytes > device->memory_bytes() - device->used_bytes) {
    return ONNXIFI_STATUS_NO_DEVICE_MEMORY;
  }
  device->used_bytes += bytes;
  ++device->graphs;
  reserved_bytes = bytes;
  reserved = true;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus Start(const std::shared_ptr<Graph>& graph,
                 std::shared_ptr<const Locations> locations, Event* input,
                 std::shared_ptr<Event> output, Timing timing) {
  const auto end = [graph, output](onnxStatus status) {
    // An event that the caller signalled stays as it is.
    (void)output->Signal(status);
    std::lock_guard<std::mutex> lock(graph->mutex);
    --graph->running;
    graph->idle.notify_all();
  };
  std::function<void(onnxStatus)> then = [graph, locations, end,
                                          timing](onnxStatus status) {
    if (status != ONNXIFI_STATUS_SUCCESS) {
      end(status);
      return;
    }
    // Whoever waits is told that there was no memory, too.
    try {
      graph->backend->Post([graph, locations, end, timing] {
        bool fits = false;
        if (timing != nullptr) timing(true);
        try {
          fits = graph->program.Run(locations->shapes, locations->inputs,
                                    locations->outputs, locations->most);
        } catch (const std::bad_alloc&) {
        }
        if (timing != nullptr) timing(false);
        end(fits ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INTERNAL_ERROR);
      });
    } catch (const std::bad_alloc&) {
      end(ONNXIFI_STATUS_INTERNAL_ERROR);
    }
  };
  {
    // Who has found the graph may come here when it was released.
    std::lock_guard<std::mutex> lock(graph->mutex);
    if (graph->closed) return ONNXIFI_STATUS_INVALID_GRAPH;
    ++graph->running;
  }
  try {
    input->Then(std::move(then));
  } catch (...) {
    std::lock_guard<std::mutex> lock(graph->mutex);
    --graph->running;
    throw;
  }
  return ONNXIFI_STATUS_SUCCESS;
}

}  // namespace onnxifi_reference
