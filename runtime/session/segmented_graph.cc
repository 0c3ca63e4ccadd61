// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/segmented_graph.h"

#include <errno.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "compiler/host/host_function.h"
#include "compiler/ir/block_pool.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/hal/status.h"
#include "runtime/session/buffers.h"
#include "runtime/session/control_segment.h"
#include "runtime/session/graph.h"
#include "runtime/session/host_buffer.h"
#include "runtime/session/resident_values.h"
#include "runtime/session/run.h"
#include "runtime/session/turn_line.h"
#include "runtime/session/value.h"

namespace heddle::session {
namespace {

// Without a number of the caller's.
constexpr size_t kDefaultThreads = 4;

absl::Status Gone(const package::Package& package) {
  return hal::FromErrno(absl::StrCat("running ", Name(package)), ENODEV);
}

absl::Status CannotTrace(const package::Package& package) {
  return absl::FailedPreconditionError(
      absl::StrCat(Name(package),
                   " runs partly on the host; only models that run wholly on "
                   "the card can be traced: compile it with --no-host"));
}

size_t ThreadsOf(const LoadOptions& options) {
  if (options.host_threads > 0) {
    return std::min<size_t>(options.host_threads, kMaxHostThreads);
  }
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 1,
                            kDefaultThreads);
}

// Of a kind each.
struct Segment {
  std::shared_ptr<LoadedGraph> card;
  std::optional<compiler::HostFunction> host;
  std::unique_ptr<ControlSegment> control;

  // A thread of the host has it.
  bool on_host() const { return host.has_value() || control != nullptr; }
  uint64_t working_bytes() const {
    return control != nullptr ? control->working_bytes()
                              : host->working_bytes();
  }
};

// The parts of a run, which wait for who writes what they read.
std::vector<SegmentPart> PartsOf(const package::Package& package) {
  constexpr size_t kNobody = SIZE_MAX;
  std::vector<size_t> writer(package.values.size(), kNobody);
  std::vector<SegmentPart> parts;
  for (size_t s = 0; s < package.segments.size(); ++s) {
    const package::Segment& segment = package.segments[s];
    SegmentPart part;
    part.host = segment.card == nullptr;
    for (uint32_t v : segment.inputs) {
      if (writer[v] != kNobody) part.before.push_back(writer[v]);
    }
    std::sort(part.before.begin(), part.before.end());
    part.before.erase(std::unique(part.before.begin(), part.before.end()),
                      part.before.end());
    for (uint32_t v : segment.outputs) writer[v] = s;
    parts.push_back(std::move(part));
  }
  return parts;
}

// The most bytes that host segments work with which may be computed at once: of
// one, and of as many of those that neither it nor they wait for as there are
// other threads.
uint64_t WorkingBytes(const std::vector<Segment>& segments,
                      const std::vector<SegmentPart>& parts, size_t threads) {
  // Of more segments than that nobody looks who waits for whom.
  constexpr size_t kMostOrdered = 1024;
  const size_t count = segments.size();
  const bool ordered = count <= kMostOrdered;
  std::vector<std::vector<bool>> after(ordered ? count : 0);
  for (size_t s = 0; s < after.size(); ++s) {
    after[s].resize(count);
    for (size_t before : parts[s].before) {
      after[s][before] = true;
      for (size_t b = 0; b < before; ++b) {
        if (after[before][b]) after[s][b] = true;
      }
    }
  }
  uint64_t most = 0;
  std::vector<uint64_t> beside;
  for (size_t s = 0; s < count; ++s) {
    if (!segments[s].on_host()) continue;
    beside.clear();
    for (size_t o = 0; o < count; ++o) {
      if (o == s || !segments[o].on_host()) continue;
      if (ordered && (after[s][o] || after[o][s])) continue;
      beside.push_back(segments[o].working_bytes());
    }
    std::sort(beside.rbegin(), beside.rend());
    if (beside.size() >= threads) beside.resize(threads - 1);
    uint64_t sum = segments[s].working_bytes();
    for (uint64_t bytes : beside) {
      if (__builtin_add_overflow(sum, bytes, &sum)) return UINT64_MAX;
    }
    most = std::max(most, sum);
    if (!ordered) break;  // the others give no more than all of them
  }
  return most;
}

// For nodes of the host that work with `working` bytes at once, and `allowed`
// ones at most. Blocks do not fit all tensors, and operators have copies of
// their own (HostFunction::working_bytes).
std::shared_ptr<compiler::BlockPool> MakePool(uint64_t working,
                                              uint64_t allowed) {
  constexpr uint64_t kLeast = uint64_t{32} << 20;
  const uint64_t most = working > allowed / 2
                            ? allowed
                            : std::min(allowed, std::max(2 * working, kLeast));
  return std::make_shared<compiler::BlockPool>(most, compiler::kMostKeptBytes);
}

}  // namespace

struct SegmentedGraph::Loaded {
  std::shared_ptr<DeviceCore> core;
  package::Package package;
  std::vector<Segment> segments;
  // What the pool has, without the last: the job at the end of a run with
  // resident tensors.
  std::vector<SegmentPart> parts;
  std::vector<uint32_t> readers;  // of each value: segments, and the end
  std::vector<compiler::AxisSet> bounded;  // of each value
  uint64_t device_bytes = 0;
  absl::Duration host_time;
  // What nodes of the host compute, for the next run.
  std::shared_ptr<compiler::BlockPool> memory;
  const std::shared_ptr<SpareHostBuffers> spare =
      std::make_shared<SpareHostBuffers>();
};

class SegmentedGraph::Task : public SegmentTask {
 public:
  Task(std::shared_ptr<const Loaded> loaded, const RunOptions& options)
      : SegmentTask(options.deadline, loaded->host_time),
        loaded_(std::move(loaded)),
        values_(loaded_->package.values.size()),
        hosts_(loaded_->package.values.size()),
        shapes_(loaded_->package.values.size()),
        readers_(loaded_->readers),
        cards_(loaded_->segments.size()),
        run_(std::make_shared<RunState>()),
        driven_(loaded_->segments.size() + 1) {
    Spare(1);
  }

  const std::shared_ptr<RunState>& run() const { return run_; }
  // Before the tensors are given. `come`: lets the parts begin that are held.
  void SetResidents(std::unique_ptr<ResidentValues> residents,
                    std::function<void()> come) {
    residents_ = std::move(residents);
    Spare(residents_->HasLastJob() ? 0 : 1);
    turn_ = std::make_unique<TurnLine::Turn>(
        TurnLine::Kind::kRun, residents_->Uses(), std::move(come));
    for (uint32_t v = 0; v < values_.size(); ++v) {
      uint8_t* const place = residents_->in_host(v);
      if (place == nullptr) continue;
      values_[v].Borrow(place);
      hosts_[v] = residents_->host();
    }
  }
  // Null without resident tensors.
  TurnLine::Turn* turn() const { return turn_.get(); }
  void HoldForTurn() { Hold(residents_->Held()); }

  // A tensor that the caller gives: read where it is, if it is in memory of his
  // that the run may keep, or copied now.
  void SetInput(uint32_t v, const TensorBuffer& buffer) {
    if (buffer.resident != nullptr) return;
    if (values_[v].data() != nullptr) {
      // Becomes resident.
      std::memcpy(values_[v].data(), buffer.data, buffer.size);
      sum_.bytes_by_host += buffer.size;
      return;
    }
    // An int64 value may be checked, and must not change then.
    if (loaded_->package.values[v].type != compiler::DataType::kInt64 &&
        Borrow(v, buffer)) {
      return;
    }
    values_[v].Allocate(buffer.size);
    if (buffer.size == 0) return;
    std::memcpy(values_[v].data(), buffer.data, buffer.size);
    sum_.bytes_by_host += buffer.size;
  }
  // What it is in this run; after the end.
  const compiler::Shape& shape(uint32_t v) const { return ShapeOf(v); }
  void SetOutputs(std::vector<TensorBuffer> buffers,
                  std::vector<uint32_t> values,
                  std::function<void(const absl::Status&)> done) {
    outputs_ = std::move(buffers);
    output_values_ = std::move(values);
    done_ = std::move(done);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const uint32_t v = output_values_[i];
      if (values_[v].data() == nullptr && !IsOnCard(v)) Borrow(v, outputs_[i]);
    }
  }

 protected:
  absl::Status Alive() override {
    return loaded_->core->available() ? absl::OkStatus()
                                      : Gone(loaded_->package);
  }

  absl::Status Compute(size_t part,
                       const std::function<absl::Status()>& stop) override {
    const package::Segment& segment = loaded_->package.segments[part];
    Allocate(segment);
    if (residents_ != nullptr) {
      const absl::Status fetched =
          residents_->Fetch(segment.inputs, stop, &driven_[part]);
      if (!fetched.ok()) return fetched;
    }
    std::vector<const uint8_t*> from;
    std::vector<uint8_t*> to;
    for (uint32_t v : segment.inputs) from.push_back(values_[v].data());
    for (uint32_t v : segment.outputs) to.push_back(values_[v].data());
    const Segment& own = loaded_->segments[part];
    const compiler::BlockPoolScope memory(loaded_->memory);
    if (own.control != nullptr) {
      return own.control->Run(from, to, stop, &driven_[part]);
    }
    const compiler::HostFunction& host = *own.host;
    if (!host.bounded().any()) return host.Run(from, to, stop);
    std::vector<compiler::Shape> inputs, outputs;
    for (uint32_t v : segment.inputs) inputs.push_back(ShapeOf(v));
    const absl::Status status =
        host.Run(from, to, stop, compiler::kPaceInterval, &inputs, &outputs);
    for (size_t i = 0; status.ok() && i < outputs.size(); ++i) {
      const uint32_t v = segment.outputs[i];
      if (loaded_->bounded[v] == 0) continue;
      shapes_[v] = std::move(outputs[i]);
    }
    return status;
  }

  absl::StatusOr<bool> Begin(
      size_t part, std::function<void(const absl::Status&)> ended) override {
    if (part == loaded_->segments.size()) return BeginLastJob(std::move(ended));
    const package::Segment& segment = loaded_->package.segments[part];
    Allocate(segment);
    LoadedGraph& card = *loaded_->segments[part].card;
    // Without steps for them in a job, it copies them as it does others.
    const bool bound =
        segment.inputs.size() + segment.outputs.size() <= card.MostBound();
    auto run = card.Start(Buffers(segment.inputs, bound),
                          Buffers(segment.outputs, bound), std::move(ended),
                          RunOptions());
    if (HasNoRoom(run.status())) return false;
    if (!run.ok()) return run.status();
    cards_[part] = *std::move(run);
    return true;
  }

  void Over(size_t part) noexcept override {
    if (part == loaded_->segments.size()) return;
    const package::Segment& segment = loaded_->package.segments[part];
    for (uint32_t v : segment.inputs) {
      if (--readers_[v] == 0) values_[v].Free();
    }
    for (uint32_t v : segment.outputs) {
      if (readers_[v] == 0) values_[v].Free();
    }
  }

  void Finish(const absl::Status& status) noexcept override {
    for (size_t i = 0; status.ok() && i < outputs_.size(); ++i) {
      const uint32_t v = output_values_[i];
      const uint64_t size = std::min<uint64_t>(outputs_[i].size, BytesOf(v));
      if (size == 0 || outputs_[i].resident != nullptr ||
          values_[v].data() == outputs_[i].data) {
        continue;
      }
      std::memcpy(outputs_[i].data, values_[v].data(), size);
      sum_.bytes_by_host += size;
    }
    // Who waits for the tensors may have them, before anybody is told.
    if (turn_ != nullptr) loaded_->core->turns().Leave(turn_.get());
    residents_.reset();
    outputs_.clear();
    for (std::shared_ptr<HostBuffer>& host : hosts_) host.reset();
    for (Value& value : values_) value.Free();
    for (std::shared_ptr<session::Run>& card : cards_) {
      if (card != nullptr) AddTo(card->statistics(), &sum_);
      card.reset();
    }
    for (const RunStatistics& part : driven_) AddTo(part, &sum_);
  }

  void Tell(const absl::Status& status) noexcept override {
    run_->Finish(status, sum_);
    if (done_ != nullptr) done_(status);
    done_ = nullptr;
  }

 private:
  // A job of the card is not accepted now: it waits for its turn as those
  // before it do.
  static bool HasNoRoom(const absl::Status& status) {
    return absl::IsResourceExhausted(status) &&
           hal::ExhaustedResource(status) == hal::Resource::kDeviceResources;
  }
  absl::StatusOr<bool> BeginLastJob(
      std::function<void(const absl::Status&)> ended) {
    RunStatistics copies;
    const std::vector<hal::Step> steps =
        residents_->LastJob([this](uint32_t v) { return BytesOf(v); }, &copies);
    if (steps.empty()) {
      ended(absl::OkStatus());
      return true;
    }
    const absl::Status status = loaded_->core->Submit(
        steps,
        [ended = std::move(ended)](int error, const drm_heddle_result& result) {
          ended(error != 0 ? hal::FromErrno("waiting for a job", error)
                           : hal::FromResult(result, ""));
        });
    if (HasNoRoom(status)) return false;
    if (!status.ok()) return status;
    driven_.back() = copies;
    return true;
  }
  bool IsOnCard(uint32_t v) const {
    return residents_ != nullptr && residents_->on_card(v) != nullptr;
  }
  const compiler::Shape& ShapeOf(uint32_t v) const {
    return loaded_->bounded[v] != 0 ? shapes_[v]
                                    : loaded_->package.values[v].shape;
  }
  uint64_t BytesOf(uint32_t v) const {
    return static_cast<uint64_t>(compiler::ElementCount(ShapeOf(v))) *
           compiler::ElementBytes(loaded_->package.values[v].type);
  }
  // Computes with the caller's memory. False: it is not the card's to reach,
  // not aligned, or other tensors of the run are there.
  bool Borrow(uint32_t v, const TensorBuffer& buffer) {
    const package::TensorInfo& value = loaded_->package.values[v];
    const auto begin = reinterpret_cast<uintptr_t>(buffer.data);
    if (buffer.host == nullptr || buffer.size == 0 ||
        begin % compiler::ElementBytes(value.type) != 0) {
      return false;
    }
    for (const auto& [other, size] : borrowed_) {
      if (begin < other + size && other < begin + buffer.size) return false;
    }
    borrowed_.push_back({begin, buffer.size});
    values_[v].Borrow(buffer.data);
    hosts_[v] = buffer.host;
    return true;
  }
  void Allocate(const package::Segment& segment) {
    for (uint32_t v : segment.outputs) {
      // A part of the card that is begun again has them.
      if (values_[v].data() != nullptr || IsOnCard(v)) continue;
      values_[v].Allocate(loaded_->package.values[v].size);
    }
  }
  std::vector<TensorBuffer> Buffers(const std::vector<uint32_t>& values,
                                    bool bound) {
    std::vector<TensorBuffer> list;
    for (uint32_t v : values) {
      const package::TensorInfo& info = loaded_->package.values[v];
      if (IsOnCard(v)) {
        list.push_back(
            {info.name, nullptr, info.size, residents_->on_card(v), nullptr});
        continue;
      }
      list.push_back({info.name, values_[v].data(), info.size});
      if (bound) list.back().host = hosts_[v];
    }
    return list;
  }

  const std::shared_ptr<const Loaded> loaded_;
  std::vector<Value> values_;
  std::vector<std::shared_ptr<HostBuffer>> hosts_;        // of what is borrowed
  std::vector<std::pair<uintptr_t, uint64_t>> borrowed_;  // where; bytes
  std::vector<compiler::Shape> shapes_;  // of values that are bounded
  std::vector<uint32_t> readers_;        // that are left; with the pool's lock
  std::vector<std::shared_ptr<session::Run>> cards_;
  const std::shared_ptr<RunState> run_;
  std::unique_ptr<ResidentValues> residents_;  // null: there are none
  std::unique_ptr<TurnLine::Turn> turn_;
  std::vector<TensorBuffer> outputs_;
  std::vector<uint32_t> output_values_;
  std::function<void(const absl::Status&)> done_;
  std::vector<RunStatistics> driven_;  // what the card did for control flow
  RunStatistics sum_;
};

class SegmentedGraph::Handle : public Run {
 public:
  Handle(std::shared_ptr<const Loaded> loaded,
         std::shared_ptr<SegmentPool> pool, std::shared_ptr<Task> task)
      : loaded_(std::move(loaded)),
        pool_(std::move(pool)),
        task_(std::move(task)),
        run_(task_->run()) {}
  ~Handle() override {
    if (loaded_->core->forked()) {
      pool_->Abandon();
      hal::Abandon(std::move(run_));
      hal::Abandon(std::move(task_));
      hal::Abandon(std::move(pool_));
      hal::Abandon(std::move(loaded_));
      return;
    }
    if (!IsNeeded()) run_->Wait(absl::InfiniteFuture()).IgnoreError();
  }
  absl::Status Wait(absl::Time deadline) override {
    if (loaded_->core->forked()) {
      return hal::FromErrno("waiting for an inference", ECHILD);
    }
    if (IsNeeded() && !run_->ended()) {
      return absl::FailedPreconditionError(
          "a callback of the runtime cannot wait for another inference of the "
          "same device");
    }
    return run_->Wait(deadline);
  }
  void Cancel() override {
    if (!loaded_->core->forked()) pool_->Cancel(task_.get());
  }
  RunStatistics statistics() const override {
    return loaded_->core->forked() ? RunStatistics() : run_->statistics();
  }
  absl::StatusOr<RunTrace> trace() const override {
    return CannotTrace(loaded_->package);
  }
  std::optional<compiler::Shape> OutputShape(
      const std::string& name) const override {
    const package::Package& package = loaded_->package;
    const auto* value = Find(package.values, name);
    if (value == nullptr || Find(package.outputs, name) == nullptr) {
      return std::nullopt;
    }
    const auto v = static_cast<uint32_t>(value - package.values.data());
    if (loaded_->bounded[v] == 0) return std::nullopt;
    return task_->shape(v);
  }

 private:
  // Whether this thread must not wait for the run, because the run needs it.
  bool IsNeeded() const {
    return loaded_->core->OnCompletionThread() || pool_->OnThread();
  }

  std::shared_ptr<const Loaded> loaded_;
  std::shared_ptr<SegmentPool> pool_;
  std::shared_ptr<Task> task_;
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
  auto loaded = std::make_shared<Loaded>();
  loaded->core = core;
  loaded->host_time = options.host_time;
  const auto not_taken = [&package](const absl::Status& why) {
    return absl::InvalidArgumentError(
        absl::StrCat(Name(package), ", host: ", why.message()));
  };
  loaded->bounded.resize(package.values.size());
  compiler::BoundedTensors open;  // the same and sizes, by value
  for (package::Segment& segment : package.segments) {
    Segment part;
    const package::SegmentKind kind = segment.kind();
    for (uint32_t v : segment.inputs) {
      if (kind == package::SegmentKind::kHost || loaded->bounded[v] == 0) {
        continue;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          Name(package), ": ",
          kind == package::SegmentKind::kControl ? "an If or Loop" : "the card",
          " reads '", package.values[v].name,
          "', whose size is known only after the host has computed it"));
    }
    if (kind == package::SegmentKind::kHost) {
      compiler::BoundedTensors inputs;
      for (size_t i = 0; i < segment.inputs.size(); ++i) {
        inputs.Copy(open, static_cast<compiler::TensorId>(segment.inputs[i]),
                    segment.host.inputs[i]);
      }
      auto host = compiler::HostFunction::Make(segment.host, std::move(inputs));
      if (!host.ok()) return not_taken(host.status());
      part.host = *std::move(host);
      for (size_t i = 0; i < segment.outputs.size(); ++i) {
        loaded->bounded[segment.outputs[i]] =
            part.host->bounded().of(segment.host.outputs[i]);
        open.Copy(part.host->bounded(), segment.host.outputs[i],
                  static_cast<compiler::TensorId>(segment.outputs[i]));
      }
    } else if (kind == package::SegmentKind::kControl) {
      auto control = ControlSegment::Make(segment, package);
      if (!control.ok()) return not_taken(control.status());
      part.control = *std::move(control);
    }
    loaded->segments.push_back(std::move(part));
  }
  std::vector<SegmentPart> parts = PartsOf(package);
  const size_t threads = ThreadsOf(options);
  const uint64_t working = WorkingBytes(loaded->segments, parts, threads);
  if (package.io_bytes > options.host_memory_bytes ||
      working > options.host_memory_bytes - package.io_bytes) {
    return hal::Exhausted(
        hal::Resource::kSystemMemory,
        absl::StrCat(Name(package), " takes ", package.io_bytes, " and ",
                     working, " bytes of host memory for each run, ",
                     options.host_memory_bytes,
                     " are allowed (LoadOptions.host_memory_bytes)"));
  }
  loaded->memory =
      MakePool(working, options.host_memory_bytes - package.io_bytes);
  loaded->readers.resize(package.values.size());
  for (size_t i = 0; i < package.segments.size(); ++i) {
    package::Segment& segment = package.segments[i];
    for (uint32_t v : segment.inputs) ++loaded->readers[v];
    if (ControlSegment* control = loaded->segments[i].control.get()) {
      if (auto s = control->LoadCards(core, options, &segment); !s.ok()) {
        return s;
      }
      loaded->device_bytes += control->device_bytes();
    }
    if (segment.card == nullptr) continue;
    auto card = LoadedGraph::Load(core, *segment.card, options);
    if (!card.ok()) return card.status();
    loaded->device_bytes += (*card)->device_bytes();
    // Without what the card has now.
    segment.card = std::make_shared<const package::Package>((*card)->package());
    loaded->segments[i].card = *std::move(card);
  }
  for (size_t v = 0; v < package.values.size(); ++v) {
    if (Find(package.outputs, package.values[v].name) != nullptr) {
      ++loaded->readers[v];
    }
  }
  loaded->package = std::move(package);
  loaded->parts = parts;
  SegmentPart last;
  last.host = false;
  for (size_t s = 0; s < parts.size(); ++s) last.before.push_back(s);
  parts.push_back(std::move(last));
  auto pool = SegmentPool::Start(std::move(parts), threads);
  if (!pool.ok()) return pool.status();
  return std::shared_ptr<Graph>(
      new SegmentedGraph(std::move(loaded), *std::move(pool)));
}

SegmentedGraph::SegmentedGraph(std::shared_ptr<const Loaded> loaded,
                               std::shared_ptr<SegmentPool> pool)
    : loaded_(std::move(loaded)), pool_(std::move(pool)) {}

SegmentedGraph::~SegmentedGraph() {
  if (loaded_->core->forked()) {
    pool_->Abandon();
    hal::Abandon(std::move(pool_));
    hal::Abandon(std::move(loaded_));
    return;
  }
  pool_->Close(loaded_->core->OnCompletionThread());
}

const package::Package& SegmentedGraph::package() const {
  return loaded_->package;
}

uint64_t SegmentedGraph::device_bytes() const { return loaded_->device_bytes; }

uint64_t SegmentedGraph::BoundedAxes(const std::string& output) const {
  const package::Package& package = loaded_->package;
  const auto* value = Find(package.values, output);
  if (value == nullptr || Find(package.outputs, output) == nullptr) return 0;
  return loaded_->bounded[value - package.values.data()];
}

absl::Status SegmentedGraph::CheckBound(const Loaded& loaded,
                                        const ResidentValues& residents) {
  for (size_t s = 0; s < loaded.segments.size(); ++s) {
    const LoadedGraph* const card = loaded.segments[s].card.get();
    if (card == nullptr) continue;
    const package::Segment& segment = loaded.package.segments[s];
    size_t bound = 0;
    std::string last;
    for (const auto* list : {&segment.inputs, &segment.outputs}) {
      for (uint32_t v : *list) {
        if (residents.on_card(v) == nullptr) continue;
        if (++bound > card->MostBound()) last = loaded.package.values[v].name;
      }
    }
    if (bound <= card->MostBound()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", last, "' of ", Name(loaded.package),
        " cannot also be resident: segment ", s, " would have ", bound,
        " resident tensors, and the limit is ", card->MostBound()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<Run>> SegmentedGraph::Start(
    const std::vector<TensorBuffer>& inputs,
    const std::vector<TensorBuffer>& outputs,
    std::function<void(const absl::Status&)> done, const RunOptions& options) {
  const Loaded& loaded = *loaded_;
  const package::Package& package = loaded.package;
  if (loaded.core->forked()) {
    return hal::FromErrno("starting an inference", ECHILD);
  }
  if (options.trace) return CannotTrace(package);
  if (!loaded.core->available()) return Gone(package);
  if (absl::Status s = CheckDeadline(options); !s.ok()) return s;
  std::vector<const package::TensorInfo*> in, out;
  absl::Status status = MatchInputs(package, inputs, &in);
  if (status.ok()) status = MatchOutputs(package, false, outputs, &out);
  if (!status.ok()) return status;
  for (const auto* list : {&inputs, &outputs}) {
    for (const TensorBuffer& buffer : *list) {
      if (buffer.host == nullptr) continue;
      if (auto place = HostPlaceOf(buffer, *loaded.core); !place.ok()) {
        return place.status();
      }
    }
  }
  for (const TensorBuffer& buffer : inputs) {
    for (const package::Segment& segment : package.segments) {
      if (segment.card == nullptr) continue;
      const auto* tensor = Find(segment.card->inputs, buffer.name);
      if (tensor == nullptr) continue;
      if (auto s = CheckInt64Range(*tensor, buffer); !s.ok()) return s;
    }
  }
  // All that may fail comes before the task is queued.
  auto task = std::make_shared<Task>(loaded_, options);
  const auto value_of = [&package](const package::TensorInfo& tensor) {
    return static_cast<uint32_t>(Find(package.values, tensor.name) -
                                 package.values.data());
  };
  std::vector<ResidentValues::Given> given_inputs, given_outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    given_inputs.push_back({&inputs[i], value_of(*in[i])});
  }
  std::vector<uint32_t> output_values;
  for (size_t i = 0; i < outputs.size(); ++i) {
    output_values.push_back(value_of(*out[i]));
    given_outputs.push_back({&outputs[i], output_values.back()});
  }
  auto residents =
      ResidentValues::Make(loaded.core, package, loaded.parts, given_inputs,
                           given_outputs, loaded.spare);
  if (!residents.ok()) return residents.status();
  if (*residents != nullptr) {
    if (auto s = CheckBound(loaded, **residents); !s.ok()) return s;
    task->SetResidents(
        *std::move(residents),
        [pool = pool_, task = task.get()] { pool->Release(task); });
  }
  for (const ResidentValues::Given& input : given_inputs) {
    task->SetInput(input.value, *input.buffer);
  }
  task->SetOutputs(outputs, std::move(output_values), std::move(done));
  auto handle = std::make_shared<Handle>(loaded_, pool_, task);
  task->run()->Begin();
  // Unless it is queued the handle must not wait for it.
  absl::Cleanup end = [&task] {
    task->run()->Finish(absl::OkStatus(), RunStatistics());
  };
  const auto add = [&](bool has_come) {
    if (!has_come) task->HoldForTurn();
    return pool_->Add(task, kMaxRunsInFlight);
  };
  if (!(task->turn() == nullptr
            ? add(true)
            : loaded.core->turns().Join(task->turn(), add))) {
    return hal::Exhausted(
        hal::Resource::kDeviceResources,
        absl::StrCat("queueing an inference: ", kMaxRunsInFlight,
                     " of this model are in flight; wait for one of them"));
  }
  std::move(end).Cancel();
  return std::shared_ptr<Run>(std::move(handle));
}

}  // namespace heddle::session
