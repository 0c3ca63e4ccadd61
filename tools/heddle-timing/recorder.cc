// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-timing/recorder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "tools/heddle-timing/stream_commands.h"

namespace heddle::timing {
namespace {

constexpr size_t kEngines = 4;
constexpr uint64_t kQuantum = 20000;  // cycles between two calls of progress

uint64_t PageUp(uint64_t bytes) {
  return (bytes + package::kPageBytes - 1) / package::kPageBytes *
         package::kPageBytes;
}

// Engines take and finish their commands in the order of the stream, so the
// n-th event of an engine is its n-th command's.
class Watcher : public rtl::CoreObserver {
 public:
  explicit Watcher(const rtl::CoreModel* core) : core_(core) {}

  void Expect(std::vector<StreamCommand> commands) {
    for (Queue& q : queues_) q = {};
    commands_ = std::move(commands);
    times_.assign(commands_.size(), {});
    for (size_t i = 0; i < commands_.size(); ++i) {
      times_[i].offset = commands_[i].offset;
      queues_[Index(commands_[i].engine)].commands.push_back(i);
    }
  }

  void OnAccept(isa::Engine engine) override {
    Queue& q = queues_[Index(engine)];
    if (q.taken < q.commands.size()) {
      times_[q.commands[q.taken]].begin = core_->cycles();
    }
    ++q.taken;
  }
  void OnDone(isa::Engine engine) override {
    Queue& q = queues_[Index(engine)];
    if (q.done < q.commands.size()) {
      times_[q.commands[q.done]].end = core_->cycles();
    }
    ++q.done;
  }
  void OnSramWrite(isa::Engine, uint32_t, const uint8_t*, uint32_t) override {}
  void OnMemoryWrite(uint64_t, uint32_t) override {}

  // The stream has ended, and its own cycles are the last `cycles`; those
  // before cleared SRAM and set regions.
  absl::StatusOr<RecordedStream> Finish(uint64_t cycles) {
    for (const Queue& q : queues_) {
      if (q.taken != q.commands.size() || q.done != q.commands.size()) {
        return absl::InternalError(absl::StrCat("an engine took ", q.taken,
                                                " commands and ended ", q.done,
                                                " of ", q.commands.size()));
      }
    }
    const uint64_t start = core_->cycles() - cycles;
    for (RecordedCommand& c : times_) {
      if (c.begin < start) {
        return absl::InternalError(absl::StrCat(
            "the command at offset ", c.offset, " began before its stream"));
      }
      c.begin -= start;
      c.end -= start;
    }
    MarkInexact();
    return RecordedStream{cycles, std::move(times_)};
  }

 private:
  struct Queue {
    std::vector<size_t> commands;  // indices
    size_t taken = 0, done = 0;
  };

  static size_t Index(isa::Engine engine) {
    return static_cast<size_t>(engine) - 1;
  }

  // From the first command on whose time depends on values, what is not over
  // may wait for it: for its signal, at the bus, at a bank of SRAM.
  void MarkInexact() {
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < times_.size(); ++i) {
      if (commands_[i].by_index) first = std::min(first, times_[i].begin);
    }
    for (RecordedCommand& c : times_) c.inexact = c.end >= first;
  }

  const rtl::CoreModel* core_;
  std::array<Queue, kEngines> queues_;
  std::vector<StreamCommand> commands_;
  std::vector<RecordedCommand> times_;
};

}  // namespace

absl::StatusOr<CoreRun> RunAndRecord(
    const package::Package& package,
    const std::vector<compiler::TensorData>& inputs, rtl::CoreModel* core,
    const RecordProgress& progress) {
  if (inputs.size() != package.inputs.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the package has ", package.inputs.size(), " inputs"));
  }
  const package::WeightPlan& plan = package.weight_plan;
  const uint64_t windows = PageUp(package.region0_bytes());
  const uint64_t scratch = windows + PageUp(plan.windows * plan.window_bytes);
  const uint64_t io = scratch + PageUp(package.scratch_bytes);
  const uint64_t code = io + PageUp(package.io_bytes);
  size_t longest = 0;
  for (const auto& words : package.streams) {
    longest = std::max(longest, words.size());
  }
  std::vector<uint8_t> memory(code + PageUp(longest * sizeof(uint32_t)));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const package::TensorInfo& info = package.inputs[i];
    if (inputs[i].bytes.size() != info.size || info.offset > package.io_bytes ||
        info.size > package.io_bytes - info.offset) {
      return absl::InvalidArgumentError(
          absl::StrCat("size of input '", info.name, "'"));
    }
    std::memcpy(&memory[io + info.offset], inputs[i].bytes.data(), info.size);
  }
  platform::CoreRequest request;
  request.stream_address = code;
  request.regions[0] = {0, package.region0_bytes(), false};
  request.regions[1] = {scratch, package.scratch_bytes, true};
  request.regions[2] = {io, package.io_bytes, true};

  Watcher watcher(core);
  if (!core->Observe(&watcher)) {
    return absl::InternalError("the RTL core cannot be looked into");
  }
  const auto end_of_watch =
      absl::MakeCleanup([core] { core->Observe(nullptr); });
  core->memory()->Attach(memory.data(), memory.size());
  CoreRun run;
  for (uint32_t s = 0; s < package.streams.size(); ++s) {
    const std::vector<uint32_t>& words = package.streams[s];
    ASSIGN_OR_RETURN(std::vector<StreamCommand> commands,
                     EngineCommands(words));
    watcher.Expect(std::move(commands));
    package.PrepareWeights(s, memory.data(), &memory[windows]);
    if (!plan.empty()) {
      request.regions[package::kWindowRegion] = {windows + plan.window_begin(s),
                                                 plan.window_bytes, false};
    }
    request.stream_bytes = words.size() * sizeof(uint32_t);
    std::memcpy(&memory[code], words.data(), request.stream_bytes);
    core->Start(request);
    for (uint64_t cycles = run.cycles; core->busy();) {
      cycles += core->Step(kQuantum);
      if (progress != nullptr) progress(s, cycles);
    }
    const platform::CoreResult& result = core->result();
    if (result.run.status != isa::Error::kOk) {
      return absl::InternalError(
          absl::StrCat("stream ", s, " ends with error ",
                       static_cast<int>(result.run.status), " at offset ",
                       result.run.fault_offset, ", node '",
                       package.NodeAt(s, result.run.fault_offset), "'"));
    }
    ASSIGN_OR_RETURN(RecordedStream stream, watcher.Finish(result.cycles));
    run.streams.push_back(std::move(stream));
    run.cycles += result.cycles;
    run.commands += result.run.commands;
    run.matrix_busy += result.matrix_busy;
    run.vector_busy += result.vector_busy;
    run.dma_busy += result.dma_busy;
  }
  return run;
}

}  // namespace heddle::timing
