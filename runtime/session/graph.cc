// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/graph.h"

#include <errno.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "rtl/spec/version.h"
#include "runtime/hal/fork_guard.h"
#include "runtime/session/buffers.h"
#include "runtime/session/host_buffer.h"
#include "runtime/session/resident.h"
#include "runtime/session/run.h"

namespace heddle::session {
namespace {

// Weights travel through a host buffer of this size.
constexpr uint64_t kUploadBytes = uint64_t{8} << 20;
// Staging buffers that wait for the next inference.
constexpr size_t kStagingKept = 8;
constexpr uint32_t kWeights = 0, kScratch = 1, kIo = 2;
constexpr const char* kRegionNames[] = {"weights", "scratch",
                                        "inputs and outputs"};

uint64_t SizeOf(const package::Package& package, uint32_t region) {
  switch (region) {
    case kWeights:
      return package.region0_bytes();
    case kScratch:
      return package.scratch_bytes;
    default:
      return package.io_bytes;
  }
}

// Of the weights, those that stay in host memory: from the first byte that a
// run copies to the last.
Range HostWeights(const package::WeightPlan& plan) {
  if (plan.copies.empty()) return {};
  uint64_t begin = UINT64_MAX, end = 0;
  for (const package::WeightCopy& c : plan.copies) {
    begin = std::min(begin, c.from);
    end = std::max(end, c.from + c.size);
  }
  return {begin, end - begin};
}

}  // namespace

absl::StatusOr<uint64_t> DeviceBytesOf(const package::Package& package) {
  uint64_t sum = 0;
  bool overflow = false;
  const auto add = [&](uint64_t bytes) {
    uint64_t rounded = 0;
    overflow |=
        __builtin_add_overflow(bytes, package::kPageBytes - 1, &rounded);
    rounded = rounded / package::kPageBytes * package::kPageBytes;
    overflow |= __builtin_add_overflow(sum, rounded, &sum);
  };
  for (uint32_t region : {kWeights, kScratch, kIo}) {
    add(SizeOf(package, region));
  }
  for (uint32_t w = 0; w < package.weight_plan.windows; ++w) {
    add(package.weight_plan.window_bytes);
  }
  for (const auto& stream : package.streams) {
    add(stream.size() * sizeof(uint32_t));
  }
  if (overflow) {
    return absl::OutOfRangeError(absl::StrCat(
        Name(package), ": the sizes in the package are impossible"));
  }
  return sum;
}

absl::Status CheckFitsCard(const hal::Device& device,
                           const package::Package& package) {
  if (package.config != device.config().name) {
    return absl::FailedPreconditionError(
        absl::StrCat(Name(package), " is compiled for configuration ",
                     package.config, ", the card is ", device.config().name,
                     "; compile it for that configuration"));
  }
  const uint32_t card = device.info().hw_version;
  if (!reg::Provides(card, package.hw_version)) {
    return absl::FailedPreconditionError(
        absl::StrCat(Name(package), " needs hardware version ",
                     reg::VersionText(package.hw_version), ", the card has ",
                     reg::VersionText(card),
                     "; use a newer card, or compile the model with the "
                     "release for this one"));
  }
  return absl::OkStatus();
}

// Shared with runs, which may end after the graph was destroyed.
struct LoadedGraph::Idle {
  Idle() { staging.reserve(kStagingKept); }  // giving back needs no memory
  // False: a traced run would not be alone.
  bool Begun(bool traced_run) noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    if (traced || (traced_run && running > 0)) return false;
    ++running;
    traced = traced_run;
    return true;
  }
  void Ended() noexcept {
    std::lock_guard<std::mutex> lock(mutex);
    --running;
    traced = false;
    changed.notify_all();
  }
  std::mutex mutex;
  std::condition_variable changed;
  size_t running = 0;
  bool traced = false;  // the one that is running
  std::vector<std::shared_ptr<hal::Buffer>> staging;
};

LoadedGraph::LoadedGraph(std::shared_ptr<DeviceCore> core,
                         package::Package package, const LoadOptions& options)
    : core_(std::move(core)),
      package_(std::move(package)),
      taps_(options.taps),
      idle_(std::make_shared<Idle>()) {}

LoadedGraph::~LoadedGraph() {
  // A child of fork() may find the condition variable in use: leave it.
  if (core_->forked()) hal::Abandon(std::move(idle_));
}

absl::StatusOr<std::shared_ptr<LoadedGraph>> LoadedGraph::Load(
    std::shared_ptr<DeviceCore> core, package::Package package,
    const LoadOptions& options) {
  if (core->forked()) return hal::FromErrno("loading a model", ECHILD);
  std::shared_ptr<LoadedGraph> graph(
      new LoadedGraph(std::move(core), std::move(package), options));
  if (absl::Status status = graph->Check(options); !status.ok()) return status;
  if (absl::Status status = graph->Allocate(); !status.ok()) return status;
  if (absl::Status status = graph->UploadWeights(); !status.ok()) return status;
  if (options.trace) {
    graph->trace_source_ = TraceSource::Of(graph->package_);
  }
  // The card has them now, or a buffer that it reaches.
  graph->package_.weights = {};
  std::vector<std::vector<uint32_t>>(graph->package_.streams.size())
      .swap(graph->package_.streams);
  return graph;
}

absl::Status LoadedGraph::Check(const LoadOptions& options) const {
  const hal::Device& device = core_->device();
  if (options.trace) {
    if (absl::Status s = device.CanTrace(); !s.ok()) return s;
  }
  if (absl::Status s = CheckFitsCard(device, package_); !s.ok()) return s;
  // One step at least for each direction.
  const uint64_t most = std::max<uint64_t>(device.info().max_steps, 2) - 2;
  const uint64_t copies = package_.weight_plan.copies.size();
  if (package_.streams.empty() || package_.streams.size() + copies > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        Name(package_), " has ", package_.streams.size(), " command streams",
        copies > 0 ? absl::StrCat(" and ", copies, " copies of weights") : "",
        "; the card takes 1 to ", most, " per inference"));
  }
  std::set<std::string> names;
  for (const auto* list : {&package_.inputs, &package_.outputs}) {
    names.clear();
    for (const package::TensorInfo& tensor : *list) {
      uint64_t end = 0;
      if (!names.insert(tensor.name).second) {
        return absl::InvalidArgumentError(absl::StrCat(
            Name(package_), " has two tensors named '", tensor.name, "'"));
      }
      if (__builtin_add_overflow(tensor.offset, tensor.size, &end) ||
          end > package_.io_bytes) {
        return absl::InvalidArgumentError(
            absl::StrCat(Name(package_), ": tensor '", tensor.name,
                         "' ends outside region 2"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status LoadedGraph::Allocate() {
  const auto bytes = DeviceBytesOf(package_);
  if (!bytes.ok()) return bytes.status();
  device_bytes_ = *bytes;
  hal::Device& device = core_->device();
  const auto memory = device.Memory();
  if (!memory.ok()) return memory.status();
  const uint64_t available =
      memory->total > memory->used ? memory->total - memory->used : 0;
  if (device_bytes_ > available) {
    return hal::NoDeviceMemory(
        Name(package_), device_bytes_, available,
        absl::StrCat(", compile the model for less (heddle-compile "
                     "--device-memory ",
                     available, ": weights stay in host memory)"));
  }
  host_range_ = HostWeights(package_.weight_plan);
  if (host_range_.size > 0) {
    auto buffer = device.CreateBuffer(
        host_range_.size, hal::Placement::kHost,
        absl::StrCat("the weights of ", Name(package_), " in host memory"));
    if (!buffer.ok()) return buffer.status();
    host_weights_ = *std::move(buffer);
  }
  for (uint32_t region : {kWeights, kScratch, kIo}) {
    const uint64_t size = SizeOf(package_, region);
    if (size == 0) continue;
    auto buffer = device.CreateBuffer(
        size, hal::Placement::kDevice,
        absl::StrCat("the ", kRegionNames[region], " of ", Name(package_)));
    if (!buffer.ok()) return buffer.status();
    regions_[region] = *std::move(buffer);
  }
  for (uint32_t w = 0; w < package_.weight_plan.windows; ++w) {
    auto buffer = device.CreateBuffer(
        package_.weight_plan.window_bytes, hal::Placement::kDevice,
        absl::StrCat("window ", w, " for weights of ", Name(package_)));
    if (!buffer.ok()) return buffer.status();
    windows_.push_back(*std::move(buffer));
  }
  for (size_t i = 0; i < package_.streams.size(); ++i) {
    auto stream = device.CreateStream(
        package_.streams[i],
        absl::StrCat("command stream ", i, " of ", Name(package_)));
    if (!stream.ok()) return stream.status();
    streams_.push_back(*std::move(stream));
  }
  return absl::OkStatus();
}

absl::Status LoadedGraph::UploadWeights() {
  const compiler::TensorBytes& weights = package_.weights;
  if (weights.size() == 0) return absl::OkStatus();
  if (host_weights_ != nullptr) {
    std::memcpy(host_weights_->data(), weights.data() + host_range_.offset,
                host_range_.size);
  }
  std::vector<package::WeightCopy> copies = package_.weight_plan.resident;
  if (package_.weight_plan.empty()) copies = {{0, 0, 0, weights.size()}};
  uint64_t largest = 0;
  for (const package::WeightCopy& c : copies) {
    largest = std::max(largest, c.size);
  }
  if (largest == 0) return absl::OkStatus();
  auto staging = core_->device().CreateBuffer(
      std::min(largest, kUploadBytes), hal::Placement::kHost,
      absl::StrCat("the transfer of ", Name(package_)));
  if (!staging.ok()) return staging.status();
  for (const package::WeightCopy& c : copies) {
    for (uint64_t at = 0; at < c.size; at += kUploadBytes) {
      const uint64_t length = std::min(kUploadBytes, c.size - at);
      std::memcpy((*staging)->data(), weights.data() + c.from + at, length);
      absl::Status status = core_->context().Execute({hal::Step::CopyIn(
          **staging, 0, *regions_[kWeights], c.to + at, length)});
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<hal::Buffer>> LoadedGraph::TakeStaging() {
  if (package_.io_bytes == 0) return std::shared_ptr<hal::Buffer>();
  {
    std::lock_guard<std::mutex> lock(idle_->mutex);
    if (!idle_->staging.empty()) {
      std::shared_ptr<hal::Buffer> staging = std::move(idle_->staging.back());
      idle_->staging.pop_back();
      return staging;
    }
  }
  auto made = core_->device().CreateBuffer(
      package_.io_bytes, hal::Placement::kHost,
      absl::StrCat("an inference of ", Name(package_)));
  if (!made.ok()) return made.status();
  return std::shared_ptr<hal::Buffer>(*std::move(made));
}

void LoadedGraph::GiveStaging(std::shared_ptr<hal::Buffer> staging) noexcept {
  std::lock_guard<std::mutex> lock(idle_->mutex);
  if (staging != nullptr && idle_->staging.size() < kStagingKept) {
    idle_->staging.push_back(std::move(staging));
  }
}

// Check() has seen that there are two steps more.
size_t LoadedGraph::MostBound() const {
  return core_->device().info().max_steps - 2 - streams_.size() -
         package_.weight_plan.copies.size();
}

absl::StatusOr<LoadedGraph::Bindings> LoadedGraph::Bind(
    const std::vector<TensorBuffer>& inputs,
    const std::vector<TensorBuffer>& outputs) const {
  std::vector<const package::TensorInfo*> in, out;
  absl::Status status = MatchOutputs(package_, taps_, outputs, &out);
  if (status.ok()) status = MatchInputs(package_, inputs, &in);
  Bindings bindings;
  if (status.ok()) status = BindTo(inputs, in, true, &bindings);
  if (status.ok()) status = BindTo(outputs, out, false, &bindings);
  if (!status.ok()) return status;
  return bindings;
}

absl::Status LoadedGraph::BindTo(
    const std::vector<TensorBuffer>& buffers,
    const std::vector<const package::TensorInfo*>& tensors, bool inputs,
    Bindings* bindings) const {
  for (size_t i = 0; i < buffers.size(); ++i) {
    Binding binding = {tensors[i]};
    if (buffers[i].resident != nullptr) {
      auto resident = ResidentOf(buffers[i], *core_);
      if (!resident.ok()) return resident.status();
      binding.buffer = &(*resident)->buffer();
    } else if (buffers[i].host != nullptr) {
      auto place = HostPlaceOf(buffers[i], *core_);
      if (!place.ok()) return place.status();
      // Values that are checked must not change behind that; and no step has
      // no bytes.
      const bool checked =
          inputs && tensors[i]->type == compiler::DataType::kInt64;
      if (!checked && buffers[i].size > 0) {
        binding.buffer = place->buffer;
        binding.offset = place->offset;
      }
    }
    (binding.buffer != nullptr ? bindings->bound : bindings->staged) += 1;
    (inputs ? bindings->inputs : bindings->outputs).push_back(binding);
  }
  return absl::OkStatus();
}

absl::Status LoadedGraph::CheckBound(const Bindings& bindings, bool residents,
                                     bool traced) const {
  if (bindings.bound > MostBound()) {
    return absl::InvalidArgumentError(
        absl::StrCat(bindings.bound, " tensors of ", Name(package_),
                     " are resident or in host buffers; the card takes ",
                     MostBound(), " per inference"));
  }
  // Two contexts have no order.
  if (residents && traced) {
    return absl::InvalidArgumentError(
        absl::StrCat("a traced inference of ", Name(package_),
                     " cannot use resident tensors: pass host buffers"));
  }
  return absl::OkStatus();
}

absl::Status LoadedGraph::FillInputs(const std::vector<TensorBuffer>& inputs,
                                     const Bindings& bindings,
                                     uint8_t* staging) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Binding& binding = bindings.inputs[i];
    if (binding.buffer != nullptr) continue;
    const absl::Status status = CheckInt64Range(*binding.tensor, inputs[i]);
    if (!status.ok()) return status;
    if (inputs[i].size == 0) continue;
    std::memcpy(staging + binding.tensor->offset, inputs[i].data,
                inputs[i].size);
  }
  return absl::OkStatus();
}

std::vector<hal::Step> LoadedGraph::MakeSteps(
    const hal::Buffer* staging, const Bindings& bindings,
    std::vector<uint32_t>* runs) const {
  const hal::Buffer* io = regions_[kIo].get();
  const std::vector<package::WeightCopy>& copies = package_.weight_plan.copies;
  const size_t spare = MostBound() + 2 - bindings.bound;
  const auto staged = [](const std::vector<Binding>& list) {
    std::vector<Range> ranges;
    for (const Binding& b : list) {
      if (b.buffer != nullptr) continue;
      ranges.push_back({b.tensor->offset, b.tensor->size});
    }
    return ranges;
  };
  const auto on_card = [](const Binding& b) {
    return b.buffer->placement() == hal::Placement::kDevice;
  };
  std::vector<hal::Step> steps;
  for (const Range& range : Merge(staged(bindings.inputs), spare / 2)) {
    steps.push_back(hal::Step::CopyIn(*staging, range.offset, *io, range.offset,
                                      range.size));
  }
  // Behind those, whose ranges may have others between them.
  for (const Binding& b : bindings.inputs) {
    if (b.buffer == nullptr) continue;
    steps.push_back(
        on_card(b) ? hal::Step::CopyOnCard(*b.buffer, 0, *io, b.tensor->offset,
                                           b.tensor->size)
                   : hal::Step::CopyIn(*b.buffer, b.offset, *io,
                                       b.tensor->offset, b.tensor->size));
  }
  const bool overlap = windows_.size() > 1 && core_->device().overlaps_copies();
  auto copy = copies.begin();  // in the order of the streams
  for (size_t s = 0; s < streams_.size(); ++s) {
    const hal::Buffer* window =
        windows_.empty() ? nullptr : windows_[s % windows_.size()].get();
    for (; copy != copies.end() && copy->stream == s; ++copy) {
      steps.push_back(hal::Step::CopyIn(*host_weights_,
                                        copy->from - host_range_.offset,
                                        *window, copy->to, copy->size));
      // The stream before it reads another window.
      if (overlap && s > 0) steps.back().Overlap();
    }
    runs->push_back(static_cast<uint32_t>(steps.size()));
    steps.push_back(hal::Step::Run(*streams_[s]));
    for (uint32_t region : {kWeights, kScratch, kIo}) {
      if (regions_[region] == nullptr) continue;
      steps.back().Bind(region, *regions_[region], regions_[region]->size(),
                        region != kWeights);
    }
    if (window != nullptr) {
      steps.back().Bind(package::kWindowRegion, *window, window->size(), false);
    }
  }
  for (const Binding& b : bindings.outputs) {
    if (b.buffer == nullptr) continue;
    steps.push_back(on_card(b)
                        ? hal::Step::CopyOnCard(*io, b.tensor->offset,
                                                *b.buffer, 0, b.tensor->size)
                        : hal::Step::CopyOut(*io, b.tensor->offset, *b.buffer,
                                             b.offset, b.tensor->size));
  }
  for (const Range& range : Merge(staged(bindings.outputs), spare / 2)) {
    steps.push_back(hal::Step::CopyOut(*io, range.offset, *staging,
                                       range.offset, range.size));
  }
  return steps;
}

RunStatistics LoadedGraph::CopiesOf(const Bindings& bindings,
                                    const std::vector<hal::Step>& steps) {
  RunStatistics copies;
  for (const hal::Step& step : steps) {
    const uint64_t length = step.step.length;
    if (step.step.type == DRM_HEDDLE_COPY_IN) copies.bytes_in += length;
    if (step.step.type == DRM_HEDDLE_COPY_OUT) copies.bytes_out += length;
    if (step.step.type == DRM_HEDDLE_STEP_COPY) copies.bytes_on_card += length;
  }
  for (const auto* list : {&bindings.inputs, &bindings.outputs}) {
    for (const Binding& b : *list) {
      if (b.buffer == nullptr) copies.bytes_by_host += b.tensor->size;
    }
  }
  return copies;
}

absl::Status LoadedGraph::JobStatus(
    int error, const drm_heddle_result& result,
    const std::vector<uint32_t>& runs) const noexcept {
  try {
    if (error != 0) return hal::FromErrno("waiting for a job", error);
    std::string node;
    const isa::ErrorInfo* info = isa::FindError(result.status);
    const bool by_command =
        info != nullptr && (info->scope == isa::ErrorScope::kCommand ||
                            info->code == isa::Error::kTimeout);
    const auto run = std::find(runs.begin(), runs.end(), result.fault_step);
    if (by_command && run != runs.end()) {
      node = package_.NodeAt(static_cast<uint32_t>(run - runs.begin()),
                             result.fault_offset);
    }
    return hal::FromResult(result, node);
  } catch (const std::bad_alloc&) {
    return absl::Status(hal::MeansGone(error) ? absl::StatusCode::kUnavailable
                                              : absl::StatusCode::kInternal,
                        "");
  }
}

absl::StatusOr<std::shared_ptr<Run>> LoadedGraph::Start(
    const std::vector<TensorBuffer>& inputs,
    const std::vector<TensorBuffer>& outputs,
    std::function<void(const absl::Status&)> done, const RunOptions& options) {
  if (core_->forked()) return hal::FromErrno("starting an inference", ECHILD);
  if (absl::Status s = CheckDeadline(options); !s.ok()) return s;
  auto bound = Bind(inputs, outputs);
  if (!bound.ok()) return bound.status();
  Bindings bindings = *std::move(bound);
  std::vector<std::shared_ptr<const void>> held;
  bool residents = false;
  for (const auto* list : {&inputs, &outputs}) {
    for (const TensorBuffer& buffer : *list) {
      residents |= buffer.resident != nullptr;
      if (buffer.resident != nullptr) held.push_back(buffer.resident);
      if (buffer.host != nullptr) held.push_back(buffer.host);
    }
  }
  if (absl::Status s = CheckBound(bindings, residents, options.trace);
      !s.ok()) {
    return s;
  }
  std::shared_ptr<hal::Buffer> staging;
  if (bindings.staged > 0) {
    auto taken = TakeStaging();
    if (!taken.ok()) return taken.status();
    staging = *std::move(taken);
  }
  // Kept for the next inference, whether or not this one begins.
  absl::Cleanup give_back = [this, &staging] {
    GiveStaging(std::move(staging));
  };
  if (absl::Status s = FillInputs(
          inputs, bindings, staging != nullptr ? staging->data() : nullptr);
      !s.ok()) {
    return s;
  }

  std::vector<uint32_t> runs;
  const std::vector<hal::Step> steps =
      MakeSteps(staging.get(), bindings, &runs);
  const RunStatistics copies = CopiesOf(bindings, steps);
  auto run = std::make_shared<RunState>();
  // Made first: once the job is queued nothing may fail.
  std::shared_ptr<JobTrace> trace;
  std::unique_ptr<const TraceReader> reader;
  if (options.trace) {
    if (trace_source_ == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat(
          Name(package_),
          " was not loaded for traces: load it with LoadOptions.trace"));
    }
    auto made = core_->MakeTrace(trace_source_->room());
    if (!made.ok()) return made.status();
    trace = *std::move(made);
    reader = std::make_unique<TraceReader>(trace_source_, trace, runs);
  }
  auto handle = std::make_shared<RunHandle>(core_, run, std::move(reader));
  DeviceCore::Finish finish =
      [self = shared_from_this(), staging, run, copies,
       plan = std::move(bindings.outputs),
       outputs = std::vector<TensorBuffer>(outputs), held = std::move(held),
       runs = std::move(runs), done = std::move(done),
       idle = idle_](int error, const drm_heddle_result& result) mutable {
        const absl::Status status = self->JobStatus(error, result, runs);
        if (status.ok()) {
          for (size_t i = 0; i < plan.size(); ++i) {
            const package::TensorInfo& tensor = *plan[i].tensor;
            if (tensor.size == 0 || plan[i].buffer != nullptr) continue;
            std::memcpy(outputs[i].data, staging->data() + tensor.offset,
                        tensor.size);
          }
        }
        // Destroyed here, on this thread, before anybody is told: a graph that
        // its owner releases next is then really gone.
        self->GiveStaging(std::move(staging));
        outputs.clear();
        held.clear();
        self.reset();
        idle->Ended();
        run->Finish(status, result, copies);
        if (done != nullptr) done(status);
      };
  if (!idle_->Begun(options.trace)) {
    return hal::Exhausted(
        hal::Resource::kDeviceResources,
        absl::StrCat(
            "a traced inference of ", Name(package_),
            " must run alone: wait for the previous run of this graph"));
  }
  run->Begin();
  absl::Cleanup end = [this, &run] {
    run->Finish(absl::OkStatus(), RunStatistics());
    idle_->Ended();
  };
  if (absl::Status s = core_->Submit(steps, std::move(finish), trace);
      !s.ok()) {
    return s;
  }
  std::move(end).Cancel();
  std::move(give_back).Cancel();
  return std::shared_ptr<Run>(std::move(handle));
}

void LoadedGraph::WaitIdle() {
  if (core_->forked() || core_->OnCompletionThread()) return;
  std::unique_lock<std::mutex> lock(idle_->mutex);
  idle_->changed.wait(lock, [this] { return idle_->running == 0; });
}

}  // namespace heddle::session
