// SPDX-License-Identifier: Apache-2.0
//
// The functional model in place of the RTL, for tests of what surrounds a
// cycle-accurate core: it takes time (invented, but the same in every run),
// reports each command's reads and writes to an observer, hangs in commands
// that would run for hours, and, to test lockstep, makes errors on request.
// Commands run one after another; waits and signals are ignored.
#ifndef HEDDLE_SIMULATOR_RTL_FAKE_CORE_H_
#define HEDDLE_SIMULATOR_RTL_FAKE_CORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simulator/model/model.h"
#include "simulator/rtl/core_model.h"

namespace heddle::rtl {

// A fault in one command, counted from 0 over the stream.
struct InjectedFault {
  enum class Kind {
    kNone,
    kWrongByte,   // one byte of its first write has a bit changed
    kLostWrite,   // its last write does not happen
    kStrayWrite,  // one more write, to a place it must not touch
    kEarlyDone,   // done before its last write
    kLostRead,    // its last read of an operand does not happen
    kStrayRead,   // one more read of SRAM, of a word that nobody needs
    kEarlyRead,   // input_read before its last read of an operand
    kMoreMacs,    // the counter of the stream is off by one
    kMatrixBusy,  // so is another
    kVectorBusy,
    kDmaBusy,
    kWrongStatus,  // the stream ends with a fault that it has not
  };
  Kind kind = Kind::kNone;
  uint64_t command = 0;
};

class FakeCore : public CoreModel {
 public:
  FakeCore(const isa::Config& config, const MemoryOptions& options);
  ~FakeCore() override;

  void Start(const platform::CoreRequest& request) override;
  uint64_t Step(uint64_t cycles) override;
  bool busy() const override { return busy_; }
  void Abort() override { abort_ = true; }
  void Reset() override;
  void ClearSram() override { model_->ClearSram(); }
  void HangNext() override { hang_ = true; }
  uint32_t progress() const override { return progress_; }
  uint64_t cycles() const override { return cycle_; }
  bool Observe(CoreObserver* observer) override {
    observer_ = observer;
    return true;
  }
  bool ReadSram(uint8_t* to) override;
  bool FlipSram(uint64_t byte, uint32_t bit) override;

  void Inject(const InjectedFault& fault) { fault_ = fault; }
  // Commands of one engine that follow each other overlap, as in engines that
  // take the next command before the last write of one is visible.
  void Overlap(bool on) { overlap_ = on; }

 private:
  class Overlay;
  struct Event {
    enum class Kind {
      kAccept,
      kSramRead,
      kMemoryRead,
      kInputRead,
      kSramWrite,
      kMemoryWrite,
      kDone,
      kForever,
      kEnd
    };
    Kind kind;
    isa::Engine engine;
    uint64_t address;  // byte
    uint32_t strobe;
    uint8_t data[kBeatBytes];
    uint32_t cycles;  // before it
    uint32_t offset;  // kDone: of its command in the stream
    uint32_t tag;
  };
  // Of an operand, or the point behind all of them.
  static bool IsRead(Event::Kind kind) {
    return kind == Event::Kind::kSramRead || kind == Event::Kind::kMemoryRead ||
           kind == Event::Kind::kInputRead;
  }

  // Makes the events of the next command.
  void Record();
  // And of the one after it, if the two overlap.
  void OverlapNext();
  // The stream ends here with what `run` says.
  void RecordEnd(const model::RunResult& run);
  void RecordReads(const isa::Command& command, isa::Engine engine,
                   const uint8_t* before);
  void RecordWrites(const isa::Command& command, isa::Engine engine,
                    const uint8_t* before);
  void InjectInto(size_t first_event);
  void Play(const Event& event);
  void Finish(const model::RunResult& run);

  std::unique_ptr<Overlay> overlay_;
  std::unique_ptr<model::Model> model_;
  CoreObserver* observer_ = nullptr;
  InjectedFault fault_;
  bool overlap_ = false;
  bool hang_ = false, hung_ = false, abort_ = false, busy_ = false;
  model::RegionTable regions_;
  std::vector<uint32_t> stream_;
  size_t at_ = 0;         // word of the next command
  uint64_t command_ = 0;  // its number
  std::vector<Event> events_;
  size_t next_ = 0;
  uint64_t wait_ = 0;  // cycles until the next event
  model::RunResult totals_, run_;
  uint64_t retired_ = 0;  // commands of this stream, as played
  uint64_t start_cycle_ = 0;
  // While an engine, or one of several, has a command; the matrix engine's is
  // one cycle per command.
  struct Busy {
    uint64_t cycles = 0, since = 0;
    uint32_t commands = 0;
  };
  Busy matrix_, vector_, dma_;
  uint64_t cycle_ = 0;
  uint32_t progress_ = 0;
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_FAKE_CORE_H_
