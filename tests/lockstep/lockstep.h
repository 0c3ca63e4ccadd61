// SPDX-License-Identifier: Apache-2.0
// Runs a stream on a core with cycles and on the functional model at once and
// compares them command by command.
//
// The model is ahead by a number of commands, because it tells what the engines
// may write. An engine may take its next commands before one is done, so a
// write belongs to those of its commands that are accepted and not done:
// - a byte that none of them writes is a stray write;
// - when a command is done, it must have written every byte of its effect, and
//   they must hold what the model says, unless a later accepted command of the
//   same engine writes them, too;
// - a read of a word of SRAM that none of those before input_read needs is a
//   stray read, unless it comes along with one that is needed (read_set.h) or
//   the matrix engine pools what it wrote itself;
// - when a command reaches input_read, it must have read everything that it
//   needs of SRAM and device memory, and this comes before it is done.
// The counters of the completion are compared with the model's commands, MACs
// and bytes, and its busy cycles with what is seen: the vector engine and the
// DMA engines are busy while they have a command, the matrix engine while its
// sequencer works on one or waits for it.
// At the end, the results, and all of SRAM and device memory must be equal. So
// the stream must be race-free; it starts with SRAM and accumulators zero, and
// further streams with what the one before left.
#ifndef HEDDLE_TESTS_LOCKSTEP_LOCKSTEP_H_
#define HEDDLE_TESTS_LOCKSTEP_LOCKSTEP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulator/model/model.h"
#include "simulator/rtl/core_model.h"
#include "tests/lockstep/effect.h"

namespace heddle::lockstep {

struct Program {
  std::vector<uint32_t> words;
  // Streams that run behind it, without clearing.
  std::vector<std::vector<uint32_t>> following;
  model::RegionTable regions = {};
  // Device memory from address memory_at on, without the streams; below it are
  // zeros.
  std::vector<uint8_t> memory;
  uint64_t memory_at = 0;
  // The ONNX node of the command at a stream offset; may be empty.
  std::function<std::string(uint32_t)> node;
};

struct Outcome {
  // Empty: they agree. Otherwise the first divergence, with the command.
  std::string divergence;
  // Of the core, its last stream.
  platform::CoreResult result;
  uint64_t cycles = 0, macs = 0;  // of all streams
  std::vector<uint8_t> memory;    // of the program, afterwards
};

class Lockstep : public rtl::CoreObserver {
 public:
  // `core` must outlive it.
  explicit Lockstep(rtl::CoreModel* core) : core_(core) {}

  Outcome Run(const Program& program);

 private:
  static constexpr size_t kEngines = isa::kNumEngineValues;
  struct Pending {
    uint64_t number;  // in the stream
    uint32_t offset;
    Effect sram, memory;
    model::ReadSet sram_reads, memory_reads;
  };
  // Commands of an engine, oldest first; `accepted` of them are in it, of which
  // `read` have reached input_read.
  struct Queue {
    std::deque<Pending> commands;
    size_t accepted = 0, read = 0;
    // It has taken a command behind the one in which the model faulted.
    bool beyond = false;
  };

  void OnAccept(isa::Engine engine) override;
  void OnDone(isa::Engine engine) override;
  void OnSramWrite(isa::Engine engine, uint32_t word, const uint8_t* data,
                   uint32_t strobe) override;
  void OnSramRead(isa::Engine engine, uint32_t word) override;
  void OnInputRead(isa::Engine engine) override;
  void OnMatrixStep() override { ++matrix_busy_; }
  void OnMatrixWait(uint32_t reasons) override { matrix_busy_ += reasons != 0; }
  void OnMemoryRead(uint64_t address) override;
  void OnMemoryWrite(uint64_t address, uint32_t strobe) override;

  // Runs the stream at words_, whose copy is at `address` in device memory.
  void RunStream(uint64_t address, model::Model* model, NotingMemory* memory);
  // The model has retired the next command.
  bool Retired(uint64_t number, model::Model* model, NotingMemory* memory);
  void FindFootprint(const model::Model& model, const uint8_t* sram);
  // Advances the core until fewer than `most` commands are not done.
  void Advance(size_t most);
  void CompareEnd(const model::RunResult& want, model::Model* model,
                  const NotingMemory& memory);
  void Write(isa::Engine engine, bool sram, uint64_t first, uint32_t strobe);
  template <typename Compare>
  bool CheckEffect(const Pending& command, const Queue& queue, bool sram,
                   const Compare& compare);
  bool CheckReads(const Pending& command);
  void Diverge(const Pending* command, const std::string& what);
  std::string Describe(const Pending& command) const;

  rtl::CoreModel* core_;
  const Program* program_ = nullptr;
  const std::vector<uint32_t>* words_ = nullptr;  // the present stream
  std::string divergence_;
  Queue queues_[kEngines];
  size_t not_done_ = 0;
  uint64_t done_ = 0;
  bool faulted_ = false;       // the model ended with a fault
  std::vector<uint8_t> sram_;  // of the core, by its writes
  // Cycles in which an engine, or one of several, has a command.
  struct Busy {
    uint64_t cycles = 0, since = 0;
    size_t commands = 0;
  };
  Busy* BusyOf(isa::Engine engine);
  Busy dma_, vector_;
  uint64_t matrix_busy_ = 0;
  // The command that the model executes next.
  size_t at_ = 0;
  std::optional<isa::Command> next_;
  SramPlaces next_sram_;
};

}  // namespace heddle::lockstep

#endif  // HEDDLE_TESTS_LOCKSTEP_LOCKSTEP_H_
