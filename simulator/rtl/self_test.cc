// SPDX-License-Identifier: Apache-2.0
#include "simulator/rtl/self_test.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "simulator/platform/test_stream.h"

namespace heddle::rtl {
namespace {

using platform::TestStream;

constexpr uint64_t kMemory = SelfTestTarget::kMemory;
constexpr uint64_t kData = 1 << 20, kOut = 4 << 20;
constexpr uint64_t kMiB = 1 << 20;
// No stream here takes that long.
constexpr uint64_t kLimit = 1000000;

// Bytes between region 0 at `offset` and SRAM 0, as a box of rows of 4 KiB.
template <typename Command>
Command Box(uint64_t offset, uint64_t bytes) {
  Command c;
  c.region = 0;
  c.elem_log2 = 4;
  c.dram_offset = static_cast<uint32_t>(offset);
  c.n0 = 256;
  c.s0 = c.t0 = 16;
  c.n1 = static_cast<uint32_t>(bytes / 4096);
  c.s1 = c.t1 = 4096;
  return c;
}

class Tester {
 public:
  Tester(SelfTestTarget* target, std::string* report)
      : target_(target), report_(report) {
    for (uint64_t i = kData; i < kMemory; ++i) {
      memory()[i] = static_cast<uint8_t>(i * 13 + (i >> 10));
    }
  }

  // Runs a stream over region 0 = [kData, end of memory).
  bool Run(const char* what, TestStream stream) {
    const std::vector<uint8_t> bytes = stream.Bytes();
    std::memcpy(memory(), bytes.data(), bytes.size());
    const SelfTestTarget::Outcome outcome =
        target_->Run(bytes.size(), kData, kLimit);
    if (!outcome.ended) return Line(false, what, "it does not end");
    if (outcome.status != isa::Error::kOk) {
      return Line(false, what,
                  absl::StrFormat("status %d at offset %d",
                                  static_cast<int>(outcome.status),
                                  outcome.fault_offset));
    }
    cycles_ = outcome.cycles;
    return outcome.violation.empty() ? Line(true, what, "")
                                     : Line(false, what, outcome.violation);
  }
  // Of the last stream; beyond those of an empty one once that is known.
  bool Cycles(const char* what, uint64_t least, uint64_t most) {
    const uint64_t c = cycles_ - empty_;
    return Line(
        least <= c && c <= most, what,
        absl::StrFormat("%d cycles, expected %d to %d", c, least, most));
  }
  void EmptyStream() { empty_ = cycles_; }
  bool Equal(const char* what, uint64_t a, uint64_t b, uint64_t n) {
    return Line(std::equal(memory() + a, memory() + a + n, memory() + b), what,
                "bytes");
  }
  uint8_t* memory() { return target_->memory(); }

 private:
  bool Line(bool good, const char* what, const std::string& detail) {
    absl::StrAppendFormat(report_, "%-4s %s%s%s\n", good ? "ok" : "FAIL", what,
                          detail.empty() ? "" : ": ", detail);
    return good;
  }

  SelfTestTarget* target_;
  std::string* report_;
  uint64_t cycles_ = 0, empty_ = 0;
};

}  // namespace

bool SelfTest(SelfTestTarget* target, std::string* report) {
  const isa::Config& config = target->config();
  const uint64_t latency = config.dram_latency_cycles;
  const uint64_t beats = kMiB / config.dram_bytes_per_cycle;
  Tester t(target, report);
  bool good = true;
  const auto check = [&good](bool b) { good = b && good; };
  // SRAM is cleared before the first one.
  check(t.Run("first stream", TestStream()));
  // What every stream costs: its own fetch, and what a job costs.
  check(t.Run("empty stream", TestStream()));
  check(t.Cycles("its fetch takes the latency", latency, 50 * latency));
  t.EmptyStream();
  check(t.Run("load of 16 bytes", TestStream().Load(0, 0, 0, 16)));
  check(t.Cycles("it takes the latency", latency, 10 * latency));
  const uint64_t half = kMiB / 2;
  check(t.Run("load of a MiB", TestStream()
                                   .Add(Box<isa::Load>(0, half))
                                   .Add(Box<isa::Load>(half, half))));
  check(t.Cycles("one beat per cycle", beats, beats + beats / 8));
  check(t.Run("copy of 512 KiB through SRAM",
              TestStream()
                  .Add(Box<isa::Load>(0, half))
                  .Barrier()
                  .Add(Box<isa::Store>(kOut - kData, half))));
  check(t.Equal("its bytes", kData, kOut, half));
  check(t.Cycles("one beat per cycle, read and written", beats,
                 beats + beats / 8));
  // int32 a + b, 64 elements.
  isa::MicroInstruction add;
  add.op = isa::MicroOp::kIadd;
  add.d = isa::Destination::kOut;
  add.a = isa::Operand::kStreamA;
  add.b = isa::Operand::kStreamB;
  const std::vector<uint8_t> program = platform::Program({add});
  std::memcpy(t.memory() + kData, program.data(), program.size());
  isa::Vrun run;
  run.body = 1;
  run.lanes = 64;
  run.store = isa::StoreMode::kBody;
  run.enable_a = run.enable_b = true;
  isa::Stream stream;
  stream.type = isa::ElementType::kS32;
  stream.lane_stride = 4;
  stream.base = 16;
  run.SetA(stream);
  stream.base = 272;
  run.SetB(stream);
  stream.base = 4096;
  run.SetD(stream);
  const uint64_t want = kOut + 4096;
  for (uint64_t i = 0; i < 64; ++i) {
    uint32_t a, b;
    std::memcpy(&a, &t.memory()[kData + 16 + 4 * i], 4);
    std::memcpy(&b, &t.memory()[kData + 272 + 4 * i], 4);
    a += b;
    std::memcpy(&t.memory()[want + 4 * i], &a, 4);
  }
  TestStream sum;
  sum.Load(0, 0, 0, 16 + 512).Barrier().Add(run).Barrier();
  sum.Store(0, static_cast<uint32_t>(kOut - kData), 4096, 256);
  check(t.Run("vector sum", sum));
  check(t.Equal("its bytes", kOut, want, 256));
  return good;
}

}  // namespace heddle::rtl
