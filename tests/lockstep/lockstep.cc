// SPDX-License-Identifier: Apache-2.0
#include "tests/lockstep/lockstep.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "simulator/model/read_set.h"

namespace heddle::lockstep {
namespace {

// Commands that can be in queues and engines together are fewer: four engines,
// isa::kQueueDepth in each queue, a few in each engine. The front end decodes
// at most one command per cycle, so a core that is kStep cycles further has not
// passed the model.
constexpr size_t kAhead = 192;
constexpr uint64_t kStep = 64;
// Without a command that gets done, the core hangs. A large vector command
// takes a few million cycles.
constexpr uint64_t kHangCycles = 100000000;

const char* NameOf(isa::Engine engine) {
  switch (engine) {
    case isa::Engine::kLoad:
      return "load";
    case isa::Engine::kStore:
      return "store";
    case isa::Engine::kMatrix:
      return "matrix";
    case isa::Engine::kVector:
      return "vector";
    default:
      return "control";
  }
}

// What must be equal. After a fault, commands of other engines may or may not
// have been executed.
std::string ToText(const model::RunResult& r, uint64_t sram_bytes) {
  if (r.status == isa::Error::kOk) {
    return absl::StrFormat(
        "status 0, %d commands, %d macs, %d bytes loaded, %d stored",
        r.commands, r.macs, r.bytes_loaded, r.bytes_stored);
  }
  std::string text =
      absl::StrFormat("status %d offset %d tag %d region %d engine %d",
                      static_cast<int>(r.status), r.fault_offset, r.fault_tag,
                      r.fault_region, static_cast<int>(r.fault_engine));
  // Which of the bytes beyond SRAM is the first is up to the engine, and where
  // a burst begins that leaves its region, too.
  if (r.status == isa::Error::kSramBounds) {
    const bool beyond = r.fault_address >= sram_bytes;
    absl::StrAppend(&text, beyond ? " beyond SRAM" : " inside SRAM");
  } else if (r.status != isa::Error::kRegionBounds) {
    absl::StrAppend(&text, " address ", r.fault_address);
  }
  return text;
}

// Zeros, of which only those that are written take memory.
class SparseBytes {
 public:
  explicit SparseBytes(uint64_t size) : size_(size) {
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED) data_ = static_cast<uint8_t*>(at);
  }
  ~SparseBytes() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  SparseBytes(const SparseBytes&) = delete;
  SparseBytes& operator=(const SparseBytes&) = delete;
  uint8_t* data() const { return data_; }
  uint64_t size() const { return size_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t size_;
};

}  // namespace

std::string Lockstep::Describe(const Pending& command) const {
  const std::string node =
      program_->node ? program_->node(command.offset) : std::string();
  const size_t at = command.offset / 4;
  const auto decoded = isa::DecodeAny(words_->data() + at, words_->size() - at);
  return absl::StrCat("command ", command.number, " at offset ", command.offset,
                      node.empty() ? "" : absl::StrCat(", node '", node, "'"),
                      ": ",
                      decoded.ok() ? isa::ToString(*decoded) : "undecodable");
}

void Lockstep::Diverge(const Pending* command, const std::string& what) {
  if (!divergence_.empty()) return;
  divergence_ = absl::StrCat("cycle ", core_->cycles(), ": ", what);
  if (command != nullptr)
    absl::StrAppend(&divergence_, "\n", Describe(*command));
}

void Lockstep::OnAccept(isa::Engine engine) {
  if (!divergence_.empty()) return;
  Queue& q = queues_[static_cast<size_t>(engine)];
  if (q.accepted == q.commands.size()) {
    if (faulted_) {
      q.beyond = true;
      return;
    }
    return Diverge(nullptr, absl::StrCat("the ", NameOf(engine),
                                         " engine takes a command that the "
                                         "model does not know"));
  }
  ++q.accepted;
  if (Busy* busy = BusyOf(engine); busy != nullptr && busy->commands++ == 0) {
    busy->since = core_->cycles();
  }
}

Lockstep::Busy* Lockstep::BusyOf(isa::Engine engine) {
  if (engine == isa::Engine::kMatrix) return nullptr;
  return engine == isa::Engine::kVector ? &vector_ : &dma_;
}

void Lockstep::OnSramRead(isa::Engine engine, uint32_t word) {
  if (!divergence_.empty()) return;
  Queue& q = queues_[static_cast<size_t>(engine)];
  bool known = q.beyond;
  for (size_t i = q.read; i < q.accepted; ++i) {
    known |= q.commands[i].sram_reads.MarkRead(word);
  }
  for (size_t i = 0; !known && i < q.accepted; ++i) {
    known = engine == isa::Engine::kMatrix &&
            q.commands[i].sram.Has(uint64_t{word} * isa::kWordBytes);
  }
  if (known) return;
  Diverge(
      q.accepted > 0 ? &q.commands[std::min(q.read, q.accepted - 1)] : nullptr,
      absl::StrFormat("the %s engine reads SRAM word 0x%x, of which none "
                      "of its commands before input_read (%d) needs a byte",
                      NameOf(engine), word, q.accepted - q.read));
}

void Lockstep::OnMemoryRead(uint64_t address) {
  // A burst, or the stream, may take beats that no command needs.
  Queue& q = queues_[static_cast<size_t>(isa::Engine::kLoad)];
  for (size_t i = q.read; i < q.accepted; ++i) {
    q.commands[i].memory_reads.MarkRead(address / isa::kWordBytes);
  }
}

bool Lockstep::CheckReads(const Pending& command) {
  for (const bool sram : {true, false}) {
    const model::ReadSet& reads =
        sram ? command.sram_reads : command.memory_reads;
    if (reads.missing() == 0) continue;
    Diverge(&command,
            absl::StrFormat("input_read before %d of %d %s were read, the "
                            "first at byte 0x%x",
                            reads.missing(), reads.size(),
                            sram ? "words of SRAM" : "beats of device memory",
                            reads.FirstMissing() * isa::kWordBytes));
    return false;
  }
  return true;
}

void Lockstep::OnInputRead(isa::Engine engine) {
  if (!divergence_.empty()) return;
  Queue& q = queues_[static_cast<size_t>(engine)];
  if (q.read == q.accepted) {
    if (q.beyond) return;
    return Diverge(nullptr,
                   absl::StrCat("the ", NameOf(engine),
                                " engine has read the operands of a command "
                                "it has not taken"));
  }
  if (CheckReads(q.commands[q.read])) ++q.read;
}

void Lockstep::Write(isa::Engine engine, bool sram, uint64_t first,
                     uint32_t strobe) {
  Queue& q = queues_[static_cast<size_t>(engine)];
  for (; strobe != 0; strobe &= strobe - 1) {
    const uint64_t address =
        first + static_cast<uint32_t>(__builtin_ctz(strobe));
    bool known = false;
    for (size_t i = 0; i < q.accepted; ++i) {
      Pending& p = q.commands[i];
      known |= (sram ? p.sram : p.memory).MarkWritten(address);
    }
    if (!known && !q.beyond) {
      return Diverge(
          q.accepted > 0 ? &q.commands.front() : nullptr,
          absl::StrFormat(
              "the %s engine writes %s byte 0x%x, which none of its commands "
              "under way (%d) may write",
              NameOf(engine), sram ? "SRAM" : "device memory", address,
              q.accepted));
    }
  }
}

void Lockstep::OnSramWrite(isa::Engine engine, uint32_t word,
                           const uint8_t* data, uint32_t strobe) {
  if (!divergence_.empty()) return;
  const uint64_t first = uint64_t{word} * isa::kWordBytes;
  if (first + isa::kWordBytes > sram_.size()) {
    return Diverge(nullptr, absl::StrFormat("the %s engine writes SRAM word %d",
                                            NameOf(engine), word));
  }
  for (uint32_t i = 0; i < isa::kWordBytes; ++i) {
    if (strobe >> i & 1) sram_[first + i] = data[i];
  }
  Write(engine, true, first, strobe);
}

void Lockstep::OnMemoryWrite(uint64_t address, uint32_t strobe) {
  if (!divergence_.empty()) return;
  Write(isa::Engine::kStore, false, address, strobe);
}

template <typename Compare>
bool Lockstep::CheckEffect(const Pending& command, const Queue& queue,
                           bool sram, const Compare& compare) {
  uint64_t bad = 0;
  std::string what;
  compare([&](uint64_t address, uint8_t want, uint8_t got, bool written) {
    for (size_t i = 1; i < queue.accepted && written; ++i) {
      const Pending& later = queue.commands[i];
      if ((sram ? later.sram : later.memory).Has(address)) return;
    }
    if (++bad > 1) return;
    what = absl::StrFormat("%s byte 0x%x: ", sram ? "SRAM" : "device memory",
                           address);
    absl::StrAppend(
        &what,
        written
            ? absl::StrFormat("expected 0x%02x, got 0x%02x", want, got)
            : absl::StrFormat("expected 0x%02x, but it was not written", want));
  });
  if (bad == 0) return true;
  Diverge(&command, absl::StrCat(what, " (", bad, " of ",
                                 (sram ? command.sram : command.memory).bytes(),
                                 " bytes of the command are wrong)"));
  return false;
}

void Lockstep::OnDone(isa::Engine engine) {
  if (!divergence_.empty()) return;
  Queue& q = queues_[static_cast<size_t>(engine)];
  if (q.accepted == 0 && q.beyond) return;
  if (q.accepted == 0) {
    return Diverge(nullptr, absl::StrCat("the ", NameOf(engine),
                                         " engine is done with a command it "
                                         "has not taken"));
  }
  const Pending& p = q.commands.front();
  // A later command that the model did not execute may write the same places.
  if (!q.beyond && (!CheckEffect(p, q, true, [&](auto f) {
        p.sram.Compare(sram_.data(), f);
      }) || !CheckEffect(p, q, false, [&](auto f) {
        p.memory.Compare(core_->memory()->data(), f);
      }))) {
    return;
  }
  if (q.read == 0) {
    return Diverge(&p, "output_visible before input_read");
  }
  if (Busy* busy = BusyOf(engine); busy != nullptr && --busy->commands == 0) {
    busy->cycles += core_->cycles() - busy->since;
  }
  q.commands.pop_front();
  --q.accepted;
  --q.read;
  --not_done_;
  ++done_;
}

void Lockstep::Advance(size_t most) {
  uint64_t last_done = done_, waited = 0;
  while (not_done_ >= most && divergence_.empty() && core_->busy()) {
    waited += core_->Step(kStep);
    if (done_ != last_done) waited = 0;
    last_done = done_;
    if (waited > kHangCycles) {
      const Pending* oldest = nullptr;
      for (const Queue& q : queues_) {
        if (!q.commands.empty() &&
            (oldest == nullptr || q.commands.front().number < oldest->number)) {
          oldest = &q.commands.front();
        }
      }
      Diverge(oldest, "the core hangs");
    }
    if (!core_->memory()->violation().empty()) {
      Diverge(nullptr, core_->memory()->violation());
    }
  }
}

// The next command of the model and the places it will write.
void Lockstep::FindFootprint(const model::Model&, const uint8_t* sram) {
  next_.reset();
  const auto decoded =
      isa::DecodeAny(words_->data() + at_, words_->size() - at_);
  if (!decoded.ok()) return;  // the model will say so
  next_ = *decoded;
  // Out of bounds: it will not be executed, and the indices cannot be read.
  const bool inside = model::StaysInSram(core_->config(), *next_);
  next_sram_ =
      inside ? SramPlacesOf(core_->config(), *next_, sram) : SramPlaces();
}

bool Lockstep::Retired(uint64_t number, model::Model* model,
                       NotingMemory* memory) {
  const isa::Engine engine =
      std::visit([](const auto& c) { return c.kEngine; }, *next_);
  next_sram_.writes.Take(model->sram());
  if (engine != isa::Engine::kControl) {
    queues_[static_cast<size_t>(engine)].commands.push_back(
        {number - 1, static_cast<uint32_t>(at_ * 4),
         std::move(next_sram_.writes), memory->TakeEffect(),
         std::move(next_sram_.reads), memory->TakeReads()});
    ++not_done_;
  }
  at_ += isa::WordsOf(*next_);
  if (at_ < words_->size()) FindFootprint(*model, model->sram());
  Advance(kAhead);
  return divergence_.empty();
}

void Lockstep::CompareEnd(const model::RunResult& want, model::Model* model,
                          const NotingMemory& memory) {
  const std::string want_text = ToText(want, sram_.size());
  const std::string got_text = ToText(core_->result().run, sram_.size());
  if (want_text != got_text) {
    // The command that faults, on the model if it does.
    const model::RunResult& got = core_->result().run;
    const bool expected = want.status != isa::Error::kOk;
    const bool fault = expected || got.status != isa::Error::kOk;
    const Pending last = {expected ? want.commands : got.commands,
                          expected ? want.fault_offset : got.fault_offset,
                          {},
                          {},
                          {},
                          {}};
    return Diverge(fault ? &last : nullptr,
                   absl::StrCat("the results differ\n  expected ", want_text,
                                "\n  got      ", got_text));
  }
  // What a faulting command and those after it wrote is undefined.
  if (want.status != isa::Error::kOk) return;
  if (not_done_ != 0) {
    for (const Queue& q : queues_) {
      if (!q.commands.empty()) {
        return Diverge(&q.commands.front(), "the stream ended before it");
      }
    }
  }
  const platform::CoreResult& got_result = core_->result();
  const struct {
    const char* name;
    uint64_t want, got;
  } busy[] = {{"matrix_busy", matrix_busy_, got_result.matrix_busy},
              {"vector_busy", vector_.cycles, got_result.vector_busy},
              {"dma_busy", dma_.cycles, got_result.dma_busy}};
  for (const auto& counter : busy) {
    if (counter.want == counter.got) continue;
    return Diverge(
        nullptr, absl::StrFormat("%s: expected %d cycles, got %d", counter.name,
                                 counter.want, counter.got));
  }
  std::vector<uint8_t> sram(sram_.size());
  if (core_->ReadSram(sram.data())) {
    for (size_t i = 0; i < sram.size(); ++i) {
      if (sram[i] != model->sram()[i]) {
        return Diverge(nullptr,
                       absl::StrFormat("at the end, SRAM byte 0x%x: expected "
                                       "0x%02x, got 0x%02x",
                                       i, model->sram()[i], sram[i]));
      }
    }
  }
  const uint8_t* got = core_->memory()->data() + program_->memory_at;
  for (size_t i = 0; i < memory.bytes().size(); ++i) {
    if (got[i] != memory.bytes()[i]) {
      return Diverge(
          nullptr,
          absl::StrFormat("at the end, device memory byte 0x%x: "
                          "expected 0x%02x, got 0x%02x",
                          program_->memory_at + i, memory.bytes()[i], got[i]));
    }
  }
}

void Lockstep::RunStream(uint64_t address, model::Model* model,
                         NotingMemory* memory) {
  for (Queue& q : queues_) q = Queue();
  not_done_ = 0;
  done_ = 0;
  faulted_ = false;
  dma_ = vector_ = Busy();
  matrix_busy_ = 0;
  const size_t bytes = words_->size() * sizeof(uint32_t);
  platform::CoreRequest request;
  request.stream_address = address;
  request.stream_bytes = bytes;
  std::copy(std::begin(program_->regions), std::end(program_->regions),
            request.regions);
  core_->Start(request);
  at_ = 0;
  FindFootprint(*model, model->sram());
  const model::RunResult want = model->Run(
      words_->data(), bytes, program_->regions,
      [&](uint64_t number) { return Retired(number, model, memory); });
  faulted_ = want.status != isa::Error::kOk;
  Advance(0);
  if (divergence_.empty()) CompareEnd(want, model, *memory);
}

Outcome Lockstep::Run(const Program& program) {
  program_ = &program;
  divergence_.clear();
  sram_.assign(core_->config().sram_bytes, 0);

  std::vector<const std::vector<uint32_t>*> streams = {&program.words};
  for (const auto& words : program.following) streams.push_back(&words);
  Outcome outcome;
  outcome.memory = program.memory;
  std::vector<uint64_t> code;
  for (const auto* words : streams) {
    const size_t at = (outcome.memory.size() + isa::kStreamAlign - 1) /
                      isa::kStreamAlign * isa::kStreamAlign;
    const size_t bytes = words->size() * sizeof(uint32_t);
    outcome.memory.resize(at + bytes);
    std::memcpy(&outcome.memory[at], words->data(), bytes);
    code.push_back(program.memory_at + at);
  }
  NotingMemory memory(outcome.memory, program.memory_at);
  model::Model model(core_->config(), &memory);

  SparseBytes device(program.memory_at + outcome.memory.size());
  if (device.data() == nullptr) {
    outcome.divergence = "no address space for device memory";
    return outcome;
  }
  std::memcpy(device.data() + program.memory_at, outcome.memory.data(),
              outcome.memory.size());
  core_->memory()->Attach(device.data(), device.size());
  core_->ClearSram();
  if (!core_->Observe(this)) {
    outcome.divergence = "this core cannot be observed";
    return outcome;
  }
  for (size_t i = 0; i < streams.size() && divergence_.empty(); ++i) {
    words_ = streams[i];
    RunStream(code[i], &model, &memory);
    if (!divergence_.empty() && i > 0) {
      divergence_ = absl::StrCat("stream ", i, ", ", divergence_);
    }
    outcome.cycles += core_->result().cycles;
    outcome.macs += core_->result().run.macs;
    if (core_->result().run.status != isa::Error::kOk) break;
  }
  core_->Observe(nullptr);
  if (core_->busy() || !divergence_.empty()) core_->Reset();
  outcome.divergence = divergence_;
  outcome.result = core_->result();
  std::memcpy(outcome.memory.data(), device.data() + program.memory_at,
              program.memory.size());
  outcome.memory.resize(program.memory.size());
  return outcome;
}

}  // namespace heddle::lockstep
