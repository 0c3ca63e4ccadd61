// SPDX-License-Identifier: Apache-2.0
// Four masters with random requests on one memory: every read gives the bytes
// of its address, every write arrives, answers and errors reach who asked, and
// the port does not idle.
#include <array>
#include <deque>
#include <random>
#include <vector>

#include "Vhd_mem_arbiter.h"
#include "gtest/gtest.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {
namespace {

using testbench::MemoryModel;
using testbench::MemoryPort;
using testbench::MemoryTiming;

constexpr uint64_t kBytes = 1 << 20;
constexpr uint64_t kPart = kBytes / 8;  // 0..3 are read, 4..7 written by 0..3
constexpr uint64_t kBad = 3 * kPart;    // this part answers with errors

struct Burst {
  uint64_t address = 0;
  uint32_t beats = 0;
  uint32_t done = 0;
};

// What one master asks for, and what it still expects.
struct Master {
  bool reads = true, writes = true;
  uint32_t beats_max = 64;
  uint32_t pause = 0;  // percent of cycles in which it asks for nothing
  bool asking = false, write = false;
  Burst next;
  std::deque<Burst> reading, sending, answering;
  uint64_t requests = 0, beats = 0;
};

class Bench {
 public:
  Bench(const MemoryTiming& timing, uint64_t seed, uint32_t stall)
      : memory(kBytes, timing, seed), random_(seed), stall_(stall) {
    for (uint64_t i = 0; i < kBytes; ++i) memory.data()[i] = random_();
    start_.assign(memory.data(), memory.data() + kBytes);
    expected_ = start_;
    Vhd_mem_arbiter* d = &*dut;
    port = {&d->req_valid_o, &d->req_ready_i, &d->req_write_o, &d->req_addr_o,
            &d->req_beats_o};
    port.w_valid = &d->w_valid_o;
    port.w_ready = &d->w_ready_i;
    port.w_data = &d->w_data_o[0];
    port.w_strb = &d->w_strb_o;
    port.r_valid = &d->r_valid_i;
    port.r_ready = &d->r_ready_o;
    port.r_data = &d->r_data_i[0];
    port.r_error = &d->r_error_i;
    port.b_valid = &d->b_valid_i;
    port.b_error = &d->b_error_i;
  }

  uint32_t Below(uint32_t n) { return (random_() >> 20) % n; }
  bool Often() { return stall_ == 0 || Below(100) >= stall_; }

  void NewRequest(int m) {
    Master& a = masters[m];
    a.asking = true;
    a.write = a.writes && (!a.reads || Below(2) != 0);
    a.next.beats = 1 + Below(a.beats_max);
    const uint64_t part =
        a.write ? 4 + m : (m == 0 && Below(4) == 0 ? 3 : Below(3));
    uint64_t at = part * kPart + 16 * Below(kPart / 16);
    a.next.beats = std::min<uint64_t>(a.next.beats, (4096 - at % 4096) / 16);
    a.next.address = at;
    a.next.done = 0;
  }

  void Cycle(bool ask) {
    Vhd_mem_arbiter* d = &*dut;
    memory.Drive(&port);
    uint32_t valid = 0, write = 0, w_valid = 0, r_ready = 0;
    uint64_t beats = 0;
    std::array<uint64_t, 4> address = {};
    for (int m = 0; m < 4; ++m) {
      Master& a = masters[m];
      if (!a.asking && ask && Below(100) >= a.pause && (a.reads || a.writes)) {
        NewRequest(m);
      }
      valid |= uint32_t{a.asking} << m;
      write |= uint32_t{a.write} << m;
      beats |= uint64_t{a.next.beats} << 7 * m;
      address[m] = a.next.address;
      if (Often()) r_ready |= 1u << m;
      if (!a.sending.empty()) {
        w_valid |= 1u << m;
        for (int i = 0; i < 4; ++i) {
          d->m_w_data_i[4 * m + i] = Pattern(a.sending.front(), m, i);
        }
      }
    }
    d->m_req_valid_i = valid;
    d->m_req_write_i = write;
    d->m_req_beats_i = beats;
    for (int i = 0; i < 5; ++i) {
      uint32_t word = 0;
      for (int b = 0; b < 32; ++b) {
        const int bit = 32 * i + b;
        word |= uint32_t(address[bit / 40] >> bit % 40 & 1) << b;
      }
      d->m_req_addr_i[i] = word;
    }
    d->m_w_valid_i = w_valid;
    d->m_w_strb_i = 0x0fff'f0ff'ff0f'fff0ull;
    d->m_r_ready_i = r_ready;
    dut.Settle();
    memory.Sample(port);
    // Data only of requests that memory has taken before.
    if (d->w_valid_o) {
      EXPECT_GT(owed_, 0u);
      owed_ -= d->w_ready_i != 0;
    }
    if (d->req_valid_o && d->req_ready_i && d->req_write_o) {
      owed_ += d->req_beats_o;
    }
    // Master m's strobes leave out the four bytes of its word m.
    for (int m = 0; m < 4; ++m) {
      Master& a = masters[m];
      if (a.asking && (d->m_req_ready_o >> m & 1)) {
        (a.write ? a.sending : a.reading).push_back(a.next);
        if (a.write) a.answering.push_back(a.next);
        a.asking = false;
        ++a.requests;
      } else if (d->m_req_ready_o >> m & 1) {
        ADD_FAILURE() << "a request that was not made is taken";
      }
      if ((d->m_r_valid_o >> m & 1) && (r_ready >> m & 1)) {
        ASSERT_FALSE(a.reading.empty()) << "data for " << m;
        Burst& b = a.reading.front();
        const uint64_t at = b.address + 16 * b.done;
        if (at >= kBad && at < kBad + kPart) {
          EXPECT_TRUE(d->m_r_error_o);
        } else {
          EXPECT_FALSE(d->m_r_error_o);
          EXPECT_EQ(std::memcmp(&d->m_r_data_o[0], &start_[at], 16), 0)
              << "master " << m;
        }
        ++a.beats;
        if (++b.done == b.beats) a.reading.pop_front();
      }
      if ((w_valid & d->m_w_ready_o) >> m & 1) {
        Burst& b = a.sending.front();
        for (int i = 0; i < 16; ++i) {
          const uint32_t word = Pattern(b, m, i / 4);
          if (i / 4 != m) {
            expected_[b.address + 16 * b.done + i] = word >> 8 * (i % 4);
          }
        }
        ++a.beats;
        if (++b.done == b.beats) a.sending.pop_front();
      }
      if (d->m_b_valid_o >> m & 1) {
        ASSERT_FALSE(a.answering.empty()) << "an answer for " << m;
        EXPECT_TRUE(a.sending.size() < a.answering.size());
        a.answering.pop_front();
      }
    }
    dut.Tick();
    quiet_ = d->quiet_o;
    for (int m = 0; m < 4; ++m) {
      const Master& a = masters[m];
      EXPECT_EQ(quiet_ >> m & 1, a.reading.empty() && a.answering.empty());
    }
  }

  void Finish() {
    for (int i = 0; i < 30000 && (!memory.quiet() || AnyAsks()); ++i) {
      Cycle(false);
    }
    for (int i = 0; i < 5; ++i) Cycle(false);
    for (const Master& a : masters) {
      EXPECT_TRUE(a.reading.empty() && a.sending.empty() &&
                  a.answering.empty());
    }
    for (const std::string& v : memory.violations()) ADD_FAILURE() << v;
    for (uint64_t i = 0; i < kBytes; ++i) {
      if (memory.data()[i] != expected_[i]) {
        ADD_FAILURE() << "byte " << i;
        break;
      }
    }
  }
  bool AnyAsks() const {
    for (const Master& a : masters) {
      if (a.asking || !a.reading.empty() || !a.answering.empty()) return true;
    }
    return false;
  }

  Clocked<Vhd_mem_arbiter> dut;
  MemoryModel memory;
  MemoryPort port;
  std::array<Master, 4> masters;

 private:
  static uint32_t Pattern(const Burst& b, int m, int i) {
    return static_cast<uint32_t>((b.address + 16 * b.done) * 2654435761u) ^
           (m * 4 + i) * 0x01234567u;
  }

  std::mt19937_64 random_;
  uint32_t stall_;
  uint64_t owed_ = 0;
  std::vector<uint8_t> start_, expected_;
  uint32_t quiet_ = 15;
};

TEST(HdMemArbiter, RandomTraffic) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Bench bench(seed % 2 ? MemoryTiming{100, 0, 0} : MemoryTiming{1, 40, 30},
                seed, seed % 2 ? 0 : 20);
    bench.memory.set_error_range(kBad, kBad + kPart);
    for (Master& a : bench.masters) {
      a.beats_max = seed % 4 < 2 ? 64 : 3;
      a.pause = bench.Below(90);
    }
    for (int i = 0; i < 6000; ++i) bench.Cycle(true);
    bench.Finish();
    for (const Master& a : bench.masters) EXPECT_GT(a.requests, 5u);
    if (HasFailure()) return;
  }
}

// Everybody wants everything: the port is never idle, nobody starves.
TEST(HdMemArbiter, NoBubblesAndFair) {
  Bench bench({100, 0, 0}, 1, 0);
  bench.masters[0].reads = bench.masters[0].writes = false;
  bench.masters[1].writes = false;
  bench.masters[1].beats_max = 4;
  bench.masters[1].pause = 95;
  bench.masters[2].writes = false;
  bench.masters[3].reads = false;
  for (int i = 0; i < 500; ++i) bench.Cycle(true);
  const uint64_t before =
      bench.memory.beats_read() + bench.memory.beats_written();
  for (int i = 0; i < 10000; ++i) bench.Cycle(true);
  const uint64_t beats =
      bench.memory.beats_read() + bench.memory.beats_written() - before;
  EXPECT_GE(beats, 9900u);
  EXPECT_GT(bench.masters[1].requests, 120u);
  EXPECT_GT(bench.masters[2].beats, 3000u);
  EXPECT_GT(bench.masters[3].beats, 3000u);
  bench.Finish();
}

// A single master with single-beat bursts: one per cycle.
TEST(HdMemArbiter, OneBeatBursts) {
  Bench bench({100, 0, 0}, 1, 0);
  for (Master& a : bench.masters) a.reads = a.writes = false;
  bench.masters[2].reads = true;
  bench.masters[2].beats_max = 1;
  for (int i = 0; i < 500; ++i) bench.Cycle(true);
  const uint64_t before = bench.memory.beats_read();
  for (int i = 0; i < 2000; ++i) bench.Cycle(true);
  EXPECT_GE(bench.memory.beats_read() - before, 1990u);
  bench.Finish();
}

}  // namespace
}  // namespace heddle::rtl
