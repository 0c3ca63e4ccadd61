// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/fake_core.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "simulator/model/access.h"

namespace heddle::rtl {
namespace {

// Executions of a microprogram that nobody waits for.
constexpr uint64_t kForever = uint64_t{1} << 32;

template <typename C>
uint64_t Executions(const C& c) {
  uint64_t n = 1;
  for (uint32_t k : {c.n_r1, c.n_r2, c.n_r3, c.n_o1, c.n_o2, c.n_o3}) {
    n = std::min(n * std::max(k, 1u), kForever);
  }
  return n;
}

bool IsForever(const isa::Command& command) {
  if (const auto* run = std::get_if<isa::Vrun>(&command)) {
    return Executions(*run) >= kForever;
  }
  if (const auto* mac = std::get_if<isa::Vmac>(&command)) {
    return Executions(*mac) >= kForever;
  }
  return false;
}

}  // namespace

// Device memory as the model runs ahead of time: writes stay here until they
// are played.
class FakeCore::Overlay : public model::Memory {
 public:
  explicit Overlay(DeviceMemory* memory) : memory_(memory) {}

  bool Read(uint64_t address, void* to, size_t bytes) override {
    if (!memory_->ReadNow(address, to, bytes)) return false;
    for (uint64_t beat = address / kBeatBytes;
         beat * kBeatBytes < address + bytes; ++beat) {
      beats_read_.insert(beat);
    }
    auto* out = static_cast<uint8_t*>(to);
    for (auto it = bytes_.lower_bound(address);
         it != bytes_.end() && it->first < address + bytes; ++it) {
      out[it->first - address] = it->second;
    }
    return true;
  }
  bool Write(uint64_t address, const void* from, size_t bytes) override {
    uint8_t byte;
    for (size_t i = 0; i < bytes; ++i) {
      if (!memory_->ReadNow(address + i, &byte, 1)) return false;
    }
    const auto* data = static_cast<const uint8_t*>(from);
    for (size_t i = 0; i < bytes; ++i) {
      bytes_[address + i] = data[i];
      fresh_[address + i] = data[i];
    }
    return true;
  }
  void Forget() {
    bytes_.clear();
    fresh_.clear();
    beats_read_.clear();
  }
  // What was written since the last call.
  std::map<uint64_t, uint8_t> Fresh() { return std::exchange(fresh_, {}); }
  // And which beats were read.
  std::set<uint64_t> Read() { return std::exchange(beats_read_, {}); }

 private:
  DeviceMemory* memory_;
  std::map<uint64_t, uint8_t> bytes_, fresh_;
  std::set<uint64_t> beats_read_;
};

FakeCore::FakeCore(const isa::Config& config, const MemoryOptions& options)
    : CoreModel(config, options),
      overlay_(std::make_unique<Overlay>(&memory_)),
      model_(std::make_unique<model::Model>(config_, overlay_.get())) {}
FakeCore::~FakeCore() = default;

void FakeCore::Start(const platform::CoreRequest& request) {
  busy_ = true;
  hung_ = std::exchange(hang_, false);
  abort_ = false;
  events_.clear();
  next_ = 0;
  at_ = 0;
  command_ = retired_ = 0;
  start_cycle_ = cycle_;
  totals_ = model::RunResult();
  matrix_ = vector_ = dma_ = Busy();
  overlay_->Forget();
  std::copy(std::begin(request.regions), std::end(request.regions), regions_);
  stream_.resize(request.stream_bytes / sizeof(uint32_t));
  if (!memory_.ReadNow(request.stream_address, stream_.data(),
                       request.stream_bytes)) {
    model::RunResult run;
    run.status = isa::Error::kBusError;
    run.fault_address = request.stream_address;
    RecordEnd(run);
  } else {
    Record();
  }
  wait_ = events_.front().cycles;
}

void FakeCore::RecordEnd(const model::RunResult& run) {
  run_ = run;
  run_.commands = totals_.commands;
  run_.macs = totals_.macs;
  run_.bytes_loaded = totals_.bytes_loaded;
  run_.bytes_stored = totals_.bytes_stored;
  Event end = {};
  end.kind = Event::Kind::kEnd;
  end.cycles = 10;
  events_.push_back(end);
}

void FakeCore::Record() {
  const size_t first_event = events_.size();
  auto command = isa::DecodeAny(stream_.data() + at_, stream_.size() - at_);
  const bool is_end =
      command.ok() && std::holds_alternative<isa::End>(*command);
  // The command alone; what is not a command fails in the model as it stands.
  std::vector<uint32_t> alone(stream_.begin() + at_, stream_.end());
  Event event = {};
  event.cycles = 2;
  event.offset = static_cast<uint32_t>(at_ * 4);
  if (at_ + isa::Header::kWords <= stream_.size()) event.tag = stream_[at_ + 3];
  std::vector<uint8_t> before;
  if (command.ok()) {
    event.engine =
        std::visit([](const auto& c) { return c.kEngine; }, *command);
    event.kind =
        IsForever(*command) ? Event::Kind::kForever : Event::Kind::kAccept;
    if (event.engine != isa::Engine::kControl) events_.push_back(event);
    if (event.kind == Event::Kind::kForever) return;
    before.assign(model_->sram(), model_->sram() + model_->sram_bytes());
    const size_t words = isa::WordsOf(*command);
    if (!is_end) {
      std::visit(
          [](auto& c) {
            c.header.wait0_enable = c.header.wait1_enable = false;
            c.header.signal0_enable = c.header.signal1_enable = false;
          },
          *command);
      alone.clear();
      isa::Append(*command, &alone);
      isa::Append(isa::Command(isa::End()), &alone);
    }
    at_ += words;
  }
  model::RunResult run = model_->Run(alone.data(), alone.size() * 4, regions_);
  totals_.macs += run.macs;
  totals_.bytes_loaded += run.bytes_loaded;
  totals_.bytes_stored += run.bytes_stored;
  if (run.status != isa::Error::kOk) {
    run.fault_offset += event.offset;
    run.fault_tag = event.tag;
    RecordEnd(run);
    return;
  }
  ++totals_.commands;
  if (event.engine != isa::Engine::kControl) {
    RecordReads(*command, event.engine, before.data());
  }
  RecordWrites(*command, event.engine, before.data());
  event.kind = Event::Kind::kDone;
  event.cycles = 4;
  events_.push_back(event);
  if (fault_.kind != InjectedFault::Kind::kNone && fault_.command == command_) {
    InjectInto(first_event);
  }
  ++command_;
  if (is_end) RecordEnd(run);
}

// done | accept read ... write ...  ->  accept read ... write | done ...
void FakeCore::OverlapNext() {
  using Kind = Event::Kind;
  const size_t done = events_.size() - 1;
  if (events_[done].kind != Kind::kDone ||
      events_[done].engine == isa::Engine::kControl) {
    return;
  }
  Record();
  if (done + 1 == events_.size() || events_[done + 1].kind != Kind::kAccept ||
      events_[done + 1].engine != events_[done].engine) {
    return;
  }
  size_t write = done + 2;
  while (write < events_.size() && IsRead(events_[write].kind)) ++write;
  if (write < events_.size() && (events_[write].kind == Kind::kSramWrite ||
                                 events_[write].kind == Kind::kMemoryWrite)) {
    std::rotate(events_.begin() + done, events_.begin() + done + 1,
                events_.begin() + write + 1);
  }
}

// Everything that the command needs, in no time, and the read point.
void FakeCore::RecordReads(const isa::Command& command, isa::Engine engine,
                           const uint8_t* before) {
  Event e = {};
  e.engine = engine;
  if (observer_ != nullptr) {
    std::set<uint64_t> words;
    model::ForEachAccess(config_, command, before, [&](const model::Access& a) {
      if (a.write || a.empty || a.space != model::Space::kSram) return;
      a.ForEachRun([&](int64_t first, uint64_t n) {
        const uint64_t end = static_cast<uint64_t>(first) + n;
        for (uint64_t w = static_cast<uint64_t>(first) / kBeatBytes;
             w * kBeatBytes < end; ++w) {
          words.insert(w);
        }
      });
    });
    e.kind = Event::Kind::kSramRead;
    for (uint64_t word : words) {
      e.address = word * kBeatBytes;
      events_.push_back(e);
    }
    e.kind = Event::Kind::kMemoryRead;
    for (uint64_t beat : overlay_->Read()) {
      e.address = beat * kBeatBytes;
      events_.push_back(e);
    }
  }
  e.kind = Event::Kind::kInputRead;
  events_.push_back(e);
}

void FakeCore::RecordWrites(const isa::Command& command, isa::Engine engine,
                            const uint8_t* before) {
  // Word by word, so that a byte is written once.
  std::map<uint64_t, uint32_t> words;
  model::ForEachAccess(config_, command, before, [&](const model::Access& a) {
    if (!a.write || a.empty || a.space != model::Space::kSram) return;
    a.ForEachRun([&](int64_t first, uint64_t n) {
      for (uint64_t b = static_cast<uint64_t>(first);
           b < static_cast<uint64_t>(first) + n; ++b) {
        words[b / kBeatBytes] |= 1u << (b % kBeatBytes);
      }
    });
  });
  for (const auto& [word, strobe] : words) {
    Event e = {Event::Kind::kSramWrite,
               engine,
               word * kBeatBytes,
               strobe,
               {},
               1,
               0,
               0};
    std::memcpy(e.data, model_->sram() + e.address, kBeatBytes);
    events_.push_back(e);
  }
  for (const auto& [address, byte] : overlay_->Fresh()) {
    const uint64_t beat = address / kBeatBytes * kBeatBytes;
    if (events_.empty() || events_.back().kind != Event::Kind::kMemoryWrite ||
        events_.back().address != beat) {
      events_.push_back(
          {Event::Kind::kMemoryWrite, engine, beat, 0, {}, 1, 0, 0});
    }
    events_.back().strobe |= 1u << (address - beat);
    events_.back().data[address - beat] = byte;
  }
}

void FakeCore::InjectInto(size_t first) {
  using Kind = Event::Kind;
  const auto is_write = [](const Event& e) {
    return e.kind == Kind::kSramWrite || e.kind == Kind::kMemoryWrite;
  };
  const auto write =
      std::find_if(events_.begin() + first, events_.end(), is_write);
  const auto point =
      std::find_if(events_.begin() + first, events_.end(),
                   [](const Event& e) { return e.kind == Kind::kInputRead; });
  const bool reads = point != events_.end() && IsRead((point - 1)->kind);
  const size_t last = events_.size() - 2;  // before done
  switch (fault_.kind) {
    case InjectedFault::Kind::kWrongByte:
      if (write == events_.end()) break;
      write->data[__builtin_ctz(write->strobe)] ^= 0x10;
      break;
    case InjectedFault::Kind::kLostWrite:
      if (write != events_.end()) events_.erase(events_.begin() + last);
      break;
    case InjectedFault::Kind::kStrayWrite: {
      if (write == events_.end()) break;
      Event stray = *write;
      stray.address =
          write->kind == Kind::kSramWrite
              ? (stray.address + config_.sram_bytes / 2) % config_.sram_bytes
              : memory_.size() - kBeatBytes;
      stray.strobe = 1;
      events_.insert(events_.end() - 1, stray);
      break;
    }
    case InjectedFault::Kind::kEarlyDone:
      if (write != events_.end()) std::swap(events_[last], events_[last + 1]);
      break;
    case InjectedFault::Kind::kLostRead:
      if (reads) events_.erase(point - 1);
      break;
    case InjectedFault::Kind::kStrayRead: {
      // Behind everything that is used, or before, and not in its line.
      if (point == events_.end()) break;
      constexpr uint64_t kLine = 4 * kBeatBytes;
      uint64_t lowest = config_.sram_bytes, highest = 0;
      for (auto e = events_.begin() + first; e != events_.end(); ++e) {
        if (e->kind != Kind::kSramRead && e->kind != Kind::kSramWrite) continue;
        lowest = std::min(lowest, e->address);
        highest = std::max(highest, e->address);
      }
      Event stray = *point;
      stray.kind = Kind::kSramRead;
      if (highest + 2 * kLine < config_.sram_bytes) {
        stray.address = highest + kLine;
      } else if (lowest >= 2 * kLine) {
        stray.address = lowest - 2 * kLine;
      } else {
        break;
      }
      events_.insert(point, stray);
      break;
    }
    case InjectedFault::Kind::kEarlyRead:
      if (reads) std::iter_swap(point - 1, point);
      break;
    default:
      break;
  }
}

void FakeCore::Play(const Event& e) {
  switch (e.kind) {
    case Event::Kind::kAccept:
      if (observer_ != nullptr) observer_->OnAccept(e.engine);
      if (e.engine == isa::Engine::kMatrix) {
        ++matrix_.cycles;
        if (observer_ != nullptr) observer_->OnMatrixStep();
      } else if (Busy& b = e.engine == isa::Engine::kVector ? vector_ : dma_;
                 b.commands++ == 0) {
        b.since = cycle_;
      }
      break;
    case Event::Kind::kSramRead:
      if (observer_ != nullptr) {
        observer_->OnSramRead(e.engine,
                              static_cast<uint32_t>(e.address / kBeatBytes));
      }
      break;
    case Event::Kind::kMemoryRead:
      if (observer_ != nullptr) observer_->OnMemoryRead(e.address);
      break;
    case Event::Kind::kInputRead:
      if (observer_ != nullptr) observer_->OnInputRead(e.engine);
      break;
    case Event::Kind::kSramWrite:
      if (observer_ != nullptr) {
        observer_->OnSramWrite(e.engine,
                               static_cast<uint32_t>(e.address / kBeatBytes),
                               e.data, e.strobe);
      }
      break;
    case Event::Kind::kMemoryWrite:
      for (uint32_t i = 0; i < kBeatBytes; ++i) {
        if (e.strobe >> i & 1) memory_.data()[e.address + i] = e.data[i];
      }
      if (observer_ != nullptr) observer_->OnMemoryWrite(e.address, e.strobe);
      break;
    case Event::Kind::kDone:
      ++progress_;
      ++retired_;
      if (observer_ != nullptr && e.engine != isa::Engine::kControl) {
        observer_->OnDone(e.engine);
      }
      if (e.engine != isa::Engine::kControl &&
          e.engine != isa::Engine::kMatrix) {
        Busy& b = e.engine == isa::Engine::kVector ? vector_ : dma_;
        if (--b.commands == 0) b.cycles += cycle_ - b.since;
      }
      if (abort_) {
        model::RunResult run;
        run.status = isa::Error::kAborted;
        run.fault_offset = e.offset;
        run.fault_tag = e.tag;
        run.commands = retired_;
        Finish(run);
      }
      break;
    case Event::Kind::kForever:
      hung_ = true;
      break;
    case Event::Kind::kEnd: {
      model::RunResult run = run_;
      if (fault_.kind == InjectedFault::Kind::kMoreMacs) ++run.macs;
      if (fault_.kind == InjectedFault::Kind::kWrongStatus) {
        run.status = isa::Error::kSramBounds;
      }
      Finish(run);
    }
  }
}

void FakeCore::Finish(const model::RunResult& run) {
  result_ = platform::CoreResult();
  result_.run = run;
  result_.cycles = cycle_ - start_cycle_;
  using Kind = InjectedFault::Kind;
  result_.matrix_busy =
      matrix_.cycles + (fault_.kind == Kind::kMatrixBusy ? 1 : 0);
  result_.vector_busy =
      vector_.cycles + (fault_.kind == Kind::kVectorBusy ? 1 : 0);
  result_.dma_busy = dma_.cycles + (fault_.kind == Kind::kDmaBusy ? 1 : 0);
  busy_ = false;
}

uint64_t FakeCore::Step(uint64_t cycles) {
  uint64_t n = 0;
  while (busy_ && n < cycles) {
    if (hung_) {
      cycle_ += cycles - n;
      return cycles;
    }
    const uint64_t step = std::min(wait_, cycles - n);
    n += step;
    cycle_ += step;
    wait_ -= step;
    while (busy_ && !hung_ && wait_ == 0) {
      Play(events_[next_]);
      if (!busy_ || hung_) break;
      if (++next_ == events_.size()) {
        events_.clear();
        next_ = 0;
        overlay_->Forget();
        Record();
        if (overlap_) OverlapNext();
      }
      wait_ = events_[next_].cycles;
    }
  }
  return n;
}

void FakeCore::Reset() {
  busy_ = hung_ = hang_ = abort_ = false;
  model_->ClearSram();
  memory_.Reset();
  memory_.ForgetFlip();
}

bool FakeCore::ReadSram(uint8_t* to) {
  std::memcpy(to, model_->sram(), model_->sram_bytes());
  return true;
}

bool FakeCore::FlipSram(uint64_t byte, uint32_t bit) {
  model_->FlipSram(byte, bit);
  return true;
}

}  // namespace heddle::rtl
