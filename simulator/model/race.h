// SPDX-License-Identifier: Apache-2.0
// The detector of races and uninitialised SRAM: follows a stream in program
// order and checks for every access that the ordering rule of ISA.md orders it
// after the conflicting accesses before it.
//
// Happens-before as vector clocks over the four engines. For each engine: the
// last command of every other engine whose writes are visible to the commands
// that it starts from now on, and the last one whose reads are complete. A unit
// of a semaphore carries the clocks of the command that gave it.
#ifndef HEDDLE_SIMULATOR_MODEL_RACE_H_
#define HEDDLE_SIMULATOR_MODEL_RACE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "simulator/model/access.h"
#include "simulator/model/core.h"

namespace heddle::model {

class RaceDetector {
 public:
  explicit RaceDetector(const isa::Config& config) : config_(config) {}

  // A new stream starts: nothing is written, semaphores are zero.
  void Start();
  // The next command, legal and within bounds, before it is executed: `core`
  // holds the SRAM it will find.
  void Add(const isa::Command& command, uint32_t offset, const Core& core);

  const std::vector<Finding>& findings() const { return findings_; }

 private:
  static constexpr size_t kEngines = isa::kNumEngineValues;

  // Per engine: number of a command, counted from 1; 0 = none.
  using Clock = std::array<uint32_t, kEngines>;
  struct Knowledge {
    Clock visible = {};  // writes that are seen
    Clock read = {};     // reads that are over
  };
  struct Issued {
    uint32_t offset;
    uint32_t engine;
    uint32_t number;  // on its engine
    const char* name;
  };
  // Who touched a byte, accumulator entry or range last: indices into issued_,
  // 0 = nobody.
  struct Cell {
    uint32_t writer = 0;
    std::array<uint32_t, kEngines> readers = {};
    bool undefined = false;  // written, but with no defined value

    bool operator==(const Cell& o) const {
      return writer == o.writer && readers == o.readers &&
             undefined == o.undefined;
    }
  };
  struct Unit {
    uint32_t count;
    uint32_t giver;  // index into issued_
    isa::SignalPoint point;
    Knowledge knowledge;  // of the giver when it started
  };
  struct Semaphore {
    std::deque<Unit> units;
    // Since the last barrier; -1 = nobody.
    int giving_engine = -1, giving_point = -1, waiting_engine = -1;
    // Units given and taken since the start; what was taken, and by which
    // command, for the overflow check.
    uint64_t given = 0;
    struct Taken {
      uint32_t engine, number;
      uint64_t total;
    };
    std::vector<Taken> taken;
  };

  void Wait(uint32_t sem, uint32_t count, uint32_t me);
  void Signal(uint32_t sem, uint32_t count, isa::SignalPoint point,
              uint32_t me);
  void Barrier();
  void Check(const Access& access, bool undefined, const Core& core,
             uint32_t me);
  // One cell; `where` builds the text of the place.
  template <typename F>
  void Touch(Cell* cell, const Access& access, bool undefined, uint32_t me,
             const F& where);
  // Splits the ranges of device memory at an address.
  void SplitAt(uint64_t address);
  void Report(uint32_t me, uint32_t other, const std::string& what);

  isa::Config config_;
  std::vector<Issued> issued_;
  Clock last_ = {};
  std::array<Knowledge, kEngines> engines_;
  std::array<Semaphore, isa::kSemaphores> semaphores_;
  std::vector<Cell> sram_, accumulators_;
  // Device memory: a cell holds from its key to the next key.
  std::map<uint64_t, Cell> dram_;
  std::vector<Finding> findings_;
  std::set<std::pair<uint32_t, std::pair<uint32_t, char>>> reported_;
};

}  // namespace heddle::model

#endif  // HEDDLE_SIMULATOR_MODEL_RACE_H_
