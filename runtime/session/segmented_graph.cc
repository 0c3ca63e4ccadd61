// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/segmented_graph.h"

#include <errno.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <list>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "compiler/host/host_function.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/status.h"
#include "runtime/session/buffers.h"
#include "runtime/session/graph.h"
#include "runtime/session/run.h"
#include "runtime/session/thread.h"

namespace heddle::session {
namespace {

// While other graphs of the device have all the runs that it takes.
constexpr absl::Duration kRetry = absl::Milliseconds(1);

absl::Status Gone(const package::Package& package) {
  return hal::FromErrno(absl::StrCat("running ", Name(package)), ENODEV);
}

struct Segment {
  std::shared_ptr<LoadedGraph> card;
  std::optional<compiler::HostFunction> host;
};

void Add(const RunStatistics& part, drm_heddle_result* sum) {
  sum->cycles += part.cycles;
  sum->macs += part.macs;
  sum->commands += part.commands;
  sum->bytes_loaded += part.bytes_loaded;
  sum->bytes_stored += part.bytes_stored;
  sum->matrix_busy += part.matrix_busy;
  sum->vector_busy += part.vector_busy;
  sum->dma_busy += part.dma_busy;
}

}  // namespace

struct SegmentedGraph::Job {
  std::vector<uint8_t> values;
  std::vector<TensorBuffer> outputs;
  std::vector<const package::TensorInfo*> plan;  // of the outputs
  std::shared_ptr<RunState> run;
  std::function<void(const absl::Status&)> done;
  drm_heddle_result result = {};
};

struct SegmentedGraph::State {
  std::shared_ptr<DeviceCore> core;
  package::Package package;
  std::vector<Segment> segments;
  uint64_t device_bytes = 0;

  std::mutex mutex;
  std::condition_variable changed;
  std::list<Job> queue;  // oldest first; the job of the thread is not in it
  size_t running = 0;    // that one included
  bool stopping = false;
  std::thread::id worker;

  // Whether a thread must not wait for a run, because the run needs it.
  bool IsNeeded() {
    if (core->OnCompletionThread()) return true;
    std::lock_guard<std::mutex> lock(mutex);
    return std::this_thread::get_id() == worker;
  }
};

namespace {
absl::Status CannotTrace(const package::Package& package) {
  return absl::FailedPreconditionError(
      absl::StrCat(Name(package),
                   " runs partly on the host; what runs wholly on the card can "
                   "be traced: compile it with --no-host"));
}
}  // namespace

class SegmentedGraph::Handle : public Run {
 public:
  Handle(std::shared_ptr<State> graph, std::shared_ptr<RunState> run)
      : graph_(std::move(graph)), run_(std::move(run)) {}
  ~Handle() override {
    if (graph_->core->forked()) {
      hal::Abandon(std::move(run_));
      hal::Abandon(std::move(graph_));
      return;
    }
    if (!graph_->IsNeeded()) run_->Wait(absl::InfiniteFuture()).IgnoreError();
  }
  absl::Status Wait(absl::Time deadline) override {
    if (graph_->core->forked()) {
      return hal::FromErrno("waiting for an inference", ECHILD);
    }
    if (graph_->IsNeeded() && !run_->ended()) {
      return absl::FailedPreconditionError(
          "a callback of the runtime cannot wait for another inference of the "
          "same device");
    }
    return run_->Wait(deadline);
  }
  RunStatistics statistics() const override {
    return graph_->core->forked() ? RunStatistics() : run_->statistics();
  }
  absl::StatusOr<RunTrace> trace() const override {
    return CannotTrace(graph_->package);
  }

 private:
  std::shared_ptr<State> graph_;
  std::shared_ptr<RunState> run_;
};

absl::StatusOr<std::shared_ptr<Graph>> SegmentedGraph::Load(
    std::shared_ptr<DeviceCore> core, package::Package package,
    const LoadOptions& options) {
  if (core->forked()) return hal::FromErrno("loading a model", ECHILD);
  if (absl::Status s = CheckFitsCard(core->device(), package); !s.ok()) {
    return s;
  }
  if (options.trace) return CannotTrace(package);
  auto state = std::make_shared<State>();
  state->core = core;
  uint64_t working = 0;
  for (package::Segment& segment : package.segments) {
    Segment loaded;
    if (segment.card == nullptr) {
      auto host = compiler::HostFunction::Make(segment.host);
      if (!host.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat(Name(package), ", host: ", host.status().message()));
      }
      working = std::max(working, host->working_bytes());
      loaded.host = *std::move(host);
    }
    state->segments.push_back(std::move(loaded));
  }
  if (package.io_bytes > options.host_memory_bytes ||
      working > options.host_memory_bytes - package.io_bytes) {
    return hal::Exhausted(
        hal::Resource::kSystemMemory,
        absl::StrCat(Name(package), " takes ", package.io_bytes, " and ",
                     working, " bytes of host memory for each run, ",
                     options.host_memory_bytes,
                     " are allowed (LoadOptions.host_memory_bytes)"));
  }
  for (size_t i = 0; i < package.segments.size(); ++i) {
    package::Segment& segment = package.segments[i];
    if (segment.card == nullptr) continue;
    auto card = LoadedGraph::Load(core, *segment.card, options);
    if (!card.ok()) return card.status();
    state->device_bytes += (*card)->device_bytes();
    // Without what the card has now.
    segment.card = std::make_shared<const package::Package>((*card)->package());
    state->segments[i].card = *std::move(card);
  }
  state->package = std::move(package);
  std::unique_ptr<std::thread> thread;
  {
    std::lock_guard<std::mutex> lock(state->mutex);
    thread = StartThread([state] { Work(state); });
    if (thread != nullptr) state->worker = thread->get_id();
  }
  if (thread == nullptr) {
    return hal::Exhausted(hal::Resource::kSystemResources,
                          "loading a model: the system refuses another thread "
                          "(ulimit -u)");
  }
  return std::shared_ptr<Graph>(
      new SegmentedGraph(std::move(state), std::move(thread)));
}

SegmentedGraph::SegmentedGraph(std::shared_ptr<State> state,
                               std::unique_ptr<std::thread> thread)
    : state_(std::move(state)), thread_(std::move(thread)) {}

SegmentedGraph::~SegmentedGraph() {
  if (state_->core->forked()) {
    // Neither the thread nor the owner of the lock exists here.
    thread_.release();
    hal::Abandon(std::move(state_));
    return;
  }
  const bool needed = state_->IsNeeded();
  {
    std::unique_lock<std::mutex> lock(state_->mutex);
    if (!needed) {
      state_->changed.wait(lock, [this] { return state_->running == 0; });
    }
    // What is queued is still done.
    state_->stopping = true;
    state_->changed.notify_all();
  }
  if (needed) {
    thread_->detach();
  } else {
    EndThread(std::move(thread_));
  }
}

const package::Package& SegmentedGraph::package() const {
  return state_->package;
}

uint64_t SegmentedGraph::device_bytes() const { return state_->device_bytes; }

absl::StatusOr<std::shared_ptr<Run>> SegmentedGraph::Start(
    const std::vector<TensorBuffer>& inputs,
    const std::vector<TensorBuffer>& outputs,
    std::function<void(const absl::Status&)> done, const RunOptions& options) {
  State& state = *state_;
  if (state.core->forked()) {
    return hal::FromErrno("starting an inference", ECHILD);
  }
  if (options.trace) return CannotTrace(state.package);
  if (!state.core->available()) return Gone(state.package);
  std::list<Job> added(1);
  Job& job = added.front();
  std::vector<const package::TensorInfo*> tensors;
  absl::Status status = MatchInputs(state.package, inputs, &tensors);
  if (status.ok()) {
    status = MatchOutputs(state.package, false, outputs, &job.plan);
  }
  if (!status.ok()) return status;
  for (const TensorBuffer& buffer : inputs) {
    for (const package::Segment& segment : state.package.segments) {
      if (segment.card == nullptr) continue;
      const auto* tensor = Find(segment.card->inputs, buffer.name);
      if (tensor == nullptr) continue;
      if (auto s = CheckInt64Range(*tensor, buffer); !s.ok()) return s;
    }
  }
  // All that may fail comes before the job is queued.
  job.values.resize(state.package.io_bytes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size == 0) continue;
    std::memcpy(job.values.data() + tensors[i]->offset, inputs[i].data,
                inputs[i].size);
  }
  job.outputs = outputs;
  job.run = std::make_shared<RunState>();
  job.done = std::move(done);
  auto handle = std::make_shared<Handle>(state_, job.run);
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.running >= kMaxRunsInFlight) {
    return hal::Exhausted(
        hal::Resource::kDeviceResources,
        absl::StrCat("queueing an inference: ", kMaxRunsInFlight,
                     " of this model are in flight; wait for one of them"));
  }
  job.run->Begin();
  ++state.running;
  state.queue.splice(state.queue.end(), added);
  state.changed.notify_all();
  return std::shared_ptr<Run>(std::move(handle));
}

absl::Status SegmentedGraph::Execute(State* state, Job* job) {
  const package::Package& package = state->package;
  const auto place = [&](uint32_t value) {
    return job->values.data() + package.values[value].offset;
  };
  const auto buffers = [&](const std::vector<uint32_t>& values) {
    std::vector<TensorBuffer> list;
    for (uint32_t v : values) {
      list.push_back(
          {package.values[v].name, place(v), package.values[v].size});
    }
    return list;
  };
  const auto present = [&] {
    return state->core->available() ? absl::OkStatus() : Gone(package);
  };
  for (size_t i = 0; i < package.segments.size(); ++i) {
    if (absl::Status s = present(); !s.ok()) return s;
    const package::Segment& segment = package.segments[i];
    if (state->segments[i].host.has_value()) {
      std::vector<const uint8_t*> from;
      std::vector<uint8_t*> to;
      for (uint32_t v : segment.inputs) from.push_back(place(v));
      for (uint32_t v : segment.outputs) to.push_back(place(v));
      absl::Status s = state->segments[i].host->Run(from, to, present);
      if (!s.ok()) return s;
      continue;
    }
    const auto inputs = buffers(segment.inputs);
    const auto outputs = buffers(segment.outputs);
    LoadedGraph& card = *state->segments[i].card;
    auto run = card.Start(inputs, outputs, nullptr, RunOptions());
    // The run is accepted: it waits for its turn as those before it do.
    while (absl::IsResourceExhausted(run.status()) &&
           hal::ExhaustedResource(run.status()) ==
               hal::Resource::kDeviceResources) {
      absl::SleepFor(kRetry);
      if (absl::Status s = present(); !s.ok()) return s;
      run = card.Start(inputs, outputs, nullptr, RunOptions());
    }
    if (!run.ok()) return run.status();
    const absl::Status status = (*run)->Wait(absl::InfiniteFuture());
    if (!status.ok()) return status;
    Add((*run)->statistics(), &job->result);
  }
  // A card that went while the host computed the last segment counts as well.
  return present();
}

void SegmentedGraph::Work(const std::shared_ptr<State>& state) noexcept {
  std::unique_lock<std::mutex> lock(state->mutex);
  for (;;) {
    state->changed.wait(
        lock, [&] { return !state->queue.empty() || state->stopping; });
    if (state->queue.empty()) return;
    std::list<Job> taken;
    taken.splice(taken.end(), state->queue, state->queue.begin());
    lock.unlock();
    Job& job = taken.front();
    absl::Status status;
    try {
      status = Execute(state.get(), &job);
    } catch (const std::bad_alloc&) {
      status = hal::Exhausted(hal::Resource::kSystemMemory, "");
    }
    if (status.ok()) {
      for (size_t i = 0; i < job.plan.size(); ++i) {
        if (job.plan[i]->size == 0) continue;
        std::memcpy(job.outputs[i].data,
                    job.values.data() + job.plan[i]->offset, job.plan[i]->size);
      }
    }
    std::vector<uint8_t>().swap(job.values);
    lock.lock();
    --state->running;
    state->changed.notify_all();
    lock.unlock();
    job.run->Finish(status, job.result);
    if (job.done != nullptr) job.done(status);
    taken.clear();  // what it holds goes without the lock
    lock.lock();
  }
}

}  // namespace heddle::session
