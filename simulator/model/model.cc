// SPDX-License-Identifier: Apache-2.0
#include "simulator/model/model.h"

#include <algorithm>
#include <cstring>

#include "simulator/model/access.h"
#include "simulator/model/core.h"
#include "simulator/model/engines.h"
#include "simulator/model/fast.h"
#include "simulator/model/legal.h"
#include "simulator/model/numerics.h"
#include "simulator/model/race.h"
#include "simulator/model/sram_errors.h"

namespace heddle::model {
namespace {

constexpr size_t kHeaderWords = isa::Header::kWords;

// The header of any command.
const isa::Header& HeaderOf(const isa::Command& command) {
  return std::visit(
      [](const auto& c) -> const isa::Header& { return c.header; }, command);
}

// sram_bounds if the command can leave SRAM.
Fault CheckSram(const Core& core, const isa::Command& command) {
  Fault fault;
  ForEachAccess(core.config, command, nullptr, [&](const Access& a) {
    if (a.space != Space::kSram || a.empty || !fault.ok()) return;
    if (a.Lowest() < 0) {
      fault = {isa::Error::kSramBounds, 0, static_cast<uint64_t>(a.Lowest())};
    } else if (a.Highest() >= int64_t{core.config.sram_bytes}) {
      fault = {isa::Error::kSramBounds, 0, static_cast<uint64_t>(a.Highest())};
    }
  });
  return fault;
}

struct Executor {
  Core* core;
  bool fast;

  // Commands of the front end and sync commands do nothing more.
  template <typename T>
  Fault operator()(const T&) const {
    static_assert(T::kWords == isa::Header::kWords, "a command not executed");
    return {};
  }
  Fault operator()(const isa::Load& c) const {
    return fast ? FastLoad(c, core) : RunLoad(c, core);
  }
  Fault operator()(const isa::Fill& c) const {
    return fast ? FastFill(c, core) : RunFill(c, core);
  }
  Fault operator()(const isa::LoadGather& c) const {
    return RunLoadGather(c, core);
  }
  Fault operator()(const isa::Store& c) const {
    return fast ? FastStore(c, core) : RunStore(c, core);
  }
  Fault operator()(const isa::StoreScatter& c) const {
    return RunStoreScatter(c, core);
  }
  Fault operator()(const isa::Conv& c) const {
    return fast ? FastConv(c, BestKernels(), core) : RunConv(c, core);
  }
  Fault operator()(const isa::Vrun& c) const {
    return fast ? FastVrun(c, core) : RunVrun(c, core);
  }
  Fault operator()(const isa::Vmac& c) const {
    return fast ? FastVmac(c, BestKernels(), core) : RunVmac(c, core);
  }
};

}  // namespace

bool FlatMemory::Read(uint64_t address, void* to, size_t bytes) {
  if (address > size_ || bytes > size_ - address) return false;
  std::memcpy(to, data_ + address, bytes);
  return true;
}

bool FlatMemory::Write(uint64_t address, const void* from, size_t bytes) {
  if (address > size_ || bytes > size_ - address) return false;
  std::memcpy(data_ + address, from, bytes);
  return true;
}

class Model::Impl {
 public:
  Impl(const isa::Config& config, Memory* memory, const Options& options)
      : core(config, memory, options),
        fast_(options.implementation == Implementation::kFast) {
    if (options.detect_races) {
      races_ = std::make_unique<RaceDetector>(config);
    }
  }

  RunResult Run(const uint32_t* stream, size_t bytes,
                const RegionTable& regions,
                const std::function<bool(uint64_t)>& progress) {
    const ScopedFpEnvironment environment;
    core.result = {};
    std::copy(std::begin(regions), std::end(regions), core.regions);
    std::fill(std::begin(semaphores_), std::end(semaphores_), 0);
    if (races_ != nullptr) races_->Start();
    ended_ = false;
    uint32_t last_offset = 0, last_tag = 0;  // of what retired last
    const size_t words = bytes / sizeof(uint32_t);
    for (size_t at = 0;;) {
      size_t next = at;
      const Fault fault = Step(stream, words, at, &next);
      if (!fault.ok()) {
        core.result.status = fault.status;
        core.result.fault_region = fault.region;
        core.result.fault_address = fault.address;
        if (fault.status == isa::Error::kSramUncorrectable) {
          core.result.fault_offset = last_offset;
          core.result.fault_tag = last_tag;
          core.result.fault_engine = isa::Engine::kControl;
        }
        break;
      }
      ++core.result.commands;
      last_offset = static_cast<uint32_t>(at * 4);
      last_tag = stream[at + 3];
      if (progress && !progress(core.result.commands)) {
        core.result.status = isa::Error::kAborted;
        core.result.fault_offset = static_cast<uint32_t>(at * 4);
        core.result.fault_tag = stream[at + 3];
        break;
      }
      if (ended_) break;
      at = next;
    }
    return core.result;
  }

  Core core;
  SramErrors errors;
  const std::vector<Finding>& findings() const {
    static const std::vector<Finding>* const none = new std::vector<Finding>();
    return races_ != nullptr ? races_->findings() : *none;
  }

 private:
  // Runs the command at word `at`; *next is the word after it.
  Fault Step(const uint32_t* stream, size_t words, size_t at, size_t* next) {
    core.result.fault_offset = static_cast<uint32_t>(at * 4);
    core.result.fault_tag = 0;
    core.result.fault_engine = isa::Engine::kControl;
    const Fault overrun = {isa::Error::kStreamOverrun, 0, 0};
    const Fault illegal = {isa::Error::kIllegalCommand, 0, 0};
    if (words - at < kHeaderWords) return overrun;
    core.result.fault_tag = stream[at + 3];
    const isa::CommandInfo* info = isa::FindCommand(isa::OpcodeOf(stream[at]));
    if (info == nullptr) return illegal;
    if (words - at < info->words) return overrun;
    const absl::StatusOr<isa::Command> command =
        isa::DecodeAny(stream + at, words - at);
    if (!command.ok() || BrokenRule(core.config, *command) != nullptr) {
      return illegal;
    }
    *next = at + info->words;
    ended_ = info->opcode == isa::Opcode::kEnd;
    if (ended_ && *next != words) return illegal;
    const isa::Header& header = HeaderOf(*command);
    if (!TakeWaits(header)) return illegal;
    core.result.fault_engine = info->engine;
    Fault fault = CheckSram(core, *command);
    if (fault.ok() && races_ != nullptr) {
      races_->Add(*command, static_cast<uint32_t>(at * 4), core);
    }
    if (fault.ok() && !errors.none()) {
      fault = errors.Meet(core, *command, &core.result.sram_corrected);
    }
    if (fault.ok()) fault = std::visit(Executor{&core, fast_}, *command);
    if (fault.ok()) fault = GiveSignals(header);
    if (fault.ok()) {
      core.result.fault_offset = 0;
      core.result.fault_tag = 0;
      core.result.fault_engine = isa::Engine::kControl;
    }
    return fault;
  }

  bool TakeWaits(const isa::Header& h) {
    if (h.wait0_enable && semaphores_[h.wait0_sem] < h.wait0_count) {
      return false;
    }
    if (h.wait1_enable && semaphores_[h.wait1_sem] < h.wait1_count) {
      return false;
    }
    if (h.wait0_enable) semaphores_[h.wait0_sem] -= h.wait0_count;
    if (h.wait1_enable) semaphores_[h.wait1_sem] -= h.wait1_count;
    return true;
  }

  Fault GiveSignals(const isa::Header& h) {
    const struct {
      bool enable;
      uint32_t sem, count;
    } signals[2] = {{h.signal0_enable, h.signal0_sem, h.signal0_count},
                    {h.signal1_enable, h.signal1_sem, h.signal1_count}};
    for (const auto& s : signals) {
      if (!s.enable) continue;
      semaphores_[s.sem] += s.count;
      if (semaphores_[s.sem] > isa::kSemaphoreMax) {
        return {isa::Error::kSemaphoreOverflow, 0, s.sem};
      }
    }
    return {};
  }

  bool fast_;
  std::unique_ptr<RaceDetector> races_;  // nullptr: not asked for
  uint32_t semaphores_[isa::kSemaphores] = {};
  bool ended_ = false;  // the command was `end`
};

Model::Model(const isa::Config& config, Memory* memory, const Options& options)
    : impl_(std::make_unique<Impl>(config, memory, options)) {}
Model::~Model() = default;

void Model::ClearSram() {
  std::fill(impl_->core.sram.begin(), impl_->core.sram.end(), 0);
  std::fill(impl_->core.acc.begin(), impl_->core.acc.end(), 0);
  impl_->errors.Clear();
}

void Model::FlipSram(uint64_t byte, uint32_t bit) {
  if (sram_bytes() > 0) impl_->errors.Flip(byte % sram_bytes(), bit % 8);
}
void Model::CorruptNextRead(uint32_t bits) {
  impl_->errors.CorruptNextRead(bits);
}
uint32_t Model::corruption_waiting() const { return impl_->errors.waiting(); }

RunResult Model::Run(const uint32_t* stream, size_t bytes,
                     const RegionTable& regions,
                     const std::function<bool(uint64_t)>& progress) {
  return impl_->Run(stream, bytes, regions, progress);
}

const std::vector<Finding>& Model::findings() const {
  return impl_->findings();
}
uint8_t* Model::sram() { return impl_->core.sram.data(); }
size_t Model::sram_bytes() const { return impl_->core.sram.size(); }
int32_t* Model::accumulators() { return impl_->core.acc.data(); }

}  // namespace heddle::model
