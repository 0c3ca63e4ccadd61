// SPDX-License-Identifier: Apache-2.0
//
// Random steps against a model of both memories that moves piece by piece:
// every byte of both is compared, so what must not be touched is as well. Then
// the same with a failing access or a stop at any time, and the rates.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "Vhd_copy_engine.h"
#include "rtl/spec/generated/descriptors.h"
#include "rtl/spec/generated/isa.h"
#include "rtl/testbench/clocked.h"
#include "rtl/testbench/memory_model.h"

namespace heddle::rtl {
namespace {

using isa::Error;
using isa::StepType;

constexpr uint64_t kHost = 0xfedcba9800000000;
constexpr uint64_t kHostBytes = 1 << 20;
constexpr uint64_t kDeviceBytes = 1 << 19;
// The scatter list lies in the upper half of host memory.
constexpr uint64_t kList = kHost + kHostBytes / 2;

uint32_t Code(Error error) { return static_cast<uint32_t>(error); }

struct Outcome {
  bool ended = false;
  uint32_t status = 0;
  uint64_t fault = 0, copied = 0, pieces = 0, cycles = 0;
};

class Bench {
 public:
  explicit Bench(uint64_t seed, testbench::MemoryTiming host = {80, 40, 20},
                 testbench::MemoryTiming device = {100, 0, 5})
      : host(kHostBytes, host, seed), device(kDeviceBytes, device, seed) {
    host_port = {&dut->host_req_valid_o,
                 &dut->host_req_ready_i,
                 &dut->host_req_write_o,
                 &host_addr,
                 &dut->host_req_beats_o,
                 &dut->host_w_valid_o,
                 &dut->host_w_ready_i,
                 &dut->host_w_data_o[0],
                 &dut->host_w_strb_o,
                 &dut->host_r_valid_i,
                 &ready,
                 &dut->host_r_data_i[0],
                 &dut->host_r_error_i,
                 &dut->host_b_valid_i,
                 &dut->host_b_error_i};
    device_port = {&dut->mem_req_valid_o,
                   &dut->mem_req_ready_i,
                   &dut->mem_req_write_o,
                   &dut->mem_req_addr_o,
                   &dut->mem_req_beats_o,
                   &dut->mem_w_valid_o,
                   &dut->mem_w_ready_i,
                   &dut->mem_w_data_o[0],
                   &dut->mem_w_strb_o,
                   &dut->mem_r_valid_i,
                   &ready,
                   &dut->mem_r_data_i[0],
                   &dut->mem_r_error_i,
                   &dut->mem_b_valid_i,
                   &dut->mem_b_error_i};
    dut->dram_bytes_i = kDeviceBytes;
    dut.Reset();
    std::mt19937_64 random(seed);
    for (uint64_t i = 0; i < kHostBytes; ++i)
      this->host.data()[i] = static_cast<uint8_t>(random());
    for (uint64_t i = 0; i < kDeviceBytes; ++i)
      this->device.data()[i] = static_cast<uint8_t>(random());
  }
  ~Bench() {
    EXPECT_EQ(host.violations(), std::vector<std::string>());
    EXPECT_EQ(device.violations(), std::vector<std::string>());
  }

  // Runs the step; stop_i rises after `stop` cycles.
  Outcome Run(const desc::Step& step, uint64_t stop = ~uint64_t{0}) {
    std::memcpy(&dut->step_i[0], &step, sizeof(step));
    Outcome o;
    dut->start_i = 1;
    for (; o.cycles < 3000000 && !o.ended; ++o.cycles) {
      dut->stop_i = o.cycles >= stop;
      dut->clk_i = 0;
      host.Drive(&host_port);
      device.Drive(&device_port);
      if (dut->host_r_valid_i || dut->host_b_valid_i) Fail();
      dut->eval();
      const uint64_t at = dut->host_req_addr_o - kHost;
      host_addr = at < kHostBytes ? at : kHostBytes;
      if (dut->host_req_valid_o && dut->host_req_ready_i) {
        if (accesses == after) then();
        (dut->host_req_write_o ? writes : reads)
            .push_back({++accesses, dut->host_req_beats_o});
      }
      host.Sample(host_port);
      device.Sample(device_port);
      o.pieces += dut->piece_o;
      if (dut->done_o) {
        o.ended = true;
        o.status = dut->status_o;
        o.fault = dut->fault_addr_o;
        o.copied = dut->bytes_copied_o;
      }
      dut->clk_i = 1;
      dut->eval();
      dut->start_i = 0;
    }
    dut->stop_i = 0;
    EXPECT_TRUE(o.ended);
    EXPECT_TRUE(host.quiet() && device.quiet()) << "something is under way";
    return o;
  }

  // Called before the host access of number `after` + 1 (from 1).
  uint64_t after = ~uint64_t{0};
  std::function<void()> then;
  // The host access of this number (from 1) fails.
  uint64_t failing = 0;
  uint64_t accesses = 0;
  Clocked<Vhd_copy_engine> dut;
  testbench::MemoryModel host, device;

 private:
  struct Burst {
    uint64_t number;
    uint32_t beats;
  };
  void Fail() {
    if (dut->host_r_valid_i) {
      if (reads.front().number == failing) dut->host_r_error_i = 1;
      if (--reads.front().beats == 0) reads.pop_front();
    }
    if (dut->host_b_valid_i) {
      if (writes.front().number == failing) dut->host_b_error_i = 1;
      writes.pop_front();
    }
  }
  testbench::MemoryPort host_port, device_port;
  uint64_t host_addr = 0;
  uint8_t ready = 1;
  std::deque<Burst> reads, writes;
};

// Both memories, and the step in pieces.
struct Model {
  struct Piece {
    uint64_t from, to, bytes;
  };
  explicit Model(Bench* b)
      : host(b->host.data(), b->host.data() + kHostBytes),
        device(b->device.data(), b->device.data() + kDeviceBytes) {}

  void Cut(const desc::Step& step, const std::vector<desc::SgEntry>& list) {
    const auto type = static_cast<StepType>(step.type);
    uint64_t at = step.device_address;
    if (type == StepType::kCopyIn || type == StepType::kCopyOut) {
      for (const desc::SgEntry& e : list) {
        for (uint64_t done = 0; done < e.length;) {
          const uint64_t iova = e.iova + done;
          const uint64_t n = std::min(e.length - done, 4096 - iova % 4096);
          if (type == StepType::kCopyIn) {
            pieces.push_back({iova, at, n});
          } else {
            pieces.push_back({at, iova, n});
          }
          at += n;
          done += n;
        }
      }
    } else {
      const bool down =
          type == StepType::kCopy && step.destination > step.device_address;
      for (uint64_t done = 0; done < step.length;) {
        const uint64_t n = std::min<uint64_t>(4096, step.length - done);
        const uint64_t off = down ? step.length - done - n : done;
        pieces.push_back({step.device_address + off,
                          type == StepType::kFill ? step.device_address + off
                                                  : step.destination + off,
                          n});
        done += n;
      }
    }
  }
  uint8_t* Byte(uint64_t a) {
    return a >= kHost ? &host[a - kHost] : &device[a];
  }
  // The first n pieces.
  void Move(const desc::Step& step, uint64_t n) {
    std::vector<uint8_t> bytes;
    for (uint64_t i = 0; i < n; ++i) {
      const Piece& p = pieces[i];
      bytes.assign(Byte(p.from), Byte(p.from) + p.bytes);
      for (uint64_t k = 0; k < p.bytes; ++k) {
        *(Byte(p.to) + k) =
            static_cast<StepType>(step.type) == StepType::kFill
                ? static_cast<uint8_t>(
                      step.fill_value >>
                      ((p.to - step.device_address + k) % 4 * 8))
                : bytes[k];
      }
    }
  }
  uint64_t Bytes(const desc::Step& step, uint64_t n) const {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; ++i) sum += pieces[i].bytes;
    const auto type = static_cast<StepType>(step.type);
    return type == StepType::kCopy || type == StepType::kFill ? 0 : sum;
  }
  bool Same(Bench* b) const {
    return std::memcmp(host.data(), b->host.data(), kHostBytes) == 0 &&
           std::memcmp(device.data(), b->device.data(), kDeviceBytes) == 0;
  }
  std::vector<uint8_t> host, device;
  std::vector<Piece> pieces;
};

struct Case {
  desc::Step step;
  std::vector<desc::SgEntry> list;
};

Case RandomCase(std::mt19937_64* r, Bench* b, uint64_t most) {
  auto below = [&](uint64_t n) { return (*r)() % n; };
  Case c;
  c.step.type = static_cast<uint32_t>(
      std::array<StepType, 4>{StepType::kCopyIn, StepType::kCopyOut,
                              StepType::kCopy, StepType::kFill}[below(4)]);
  const auto type = static_cast<StepType>(c.step.type);
  uint64_t length = 1 + below(uint64_t{1} << below(18));
  length = std::min(length, most);
  if (type == StepType::kFill) length = (length + 3) / 4 * 4;
  c.step.fill_value = static_cast<uint32_t>((*r)());
  if (type == StepType::kCopyIn || type == StepType::kCopyOut) {
    const uint64_t longest = 1 + below(2 * length);
    for (uint64_t left = length; left > 0;) {
      desc::SgEntry e;
      e.length = std::min(left, 1 + below(longest));
      if (c.list.size() == 2000) e.length = left;
      e.iova = kHost + below(kHostBytes / 2 - e.length);
      if (below(2)) e.iova = e.iova / 4096 * 4096;
      left -= e.length;
      c.list.push_back(e);
    }
    c.step.table_iova = kList + below(100) * 16;
    c.step.sg_count = static_cast<uint32_t>(c.list.size());
    std::memcpy(b->host.data() + (c.step.table_iova - kHost), c.list.data(),
                c.list.size() * sizeof(desc::SgEntry));
  }
  c.step.length = length;
  c.step.device_address = below(kDeviceBytes - length + 1);
  c.step.destination = below(kDeviceBytes - length + 1);
  if (below(2)) {  // overlapping, mostly
    const uint64_t d = below(std::min<uint64_t>(length + 20, 9000));
    c.step.destination = c.step.device_address > d && below(2)
                             ? c.step.device_address - d
                             : c.step.device_address + d;
    c.step.destination = std::min(c.step.destination, kDeviceBytes - length);
  }
  return c;
}

TEST(CopyEngineTest, RandomSteps) {
  std::mt19937_64 random(5);
  for (int bench = 0; bench < 4; ++bench) {
    const testbench::MemoryTiming quick = {1, 0, 0};
    Bench b(bench, bench == 3 ? quick : testbench::MemoryTiming{80, 40, 20},
            bench >= 2 ? quick : testbench::MemoryTiming{100, 30, 20});
    for (int i = 0; i < 120; ++i) {
      const Case c = RandomCase(&random, &b, 100000);
      Model m(&b);
      m.Cut(c.step, c.list);
      m.Move(c.step, m.pieces.size());
      const Outcome o = b.Run(c.step);
      ASSERT_EQ(o.status, 0u);
      ASSERT_EQ(o.fault, 0u);
      ASSERT_EQ(o.pieces, m.pieces.size());
      ASSERT_EQ(o.copied, m.Bytes(c.step, m.pieces.size()));
      ASSERT_TRUE(m.Same(&b)) << bench << " " << i << " type " << c.step.type;
    }
  }
}

// A stop leaves whole pieces, and as many as it says.
TEST(CopyEngineTest, StopAtAnyTime) {
  std::mt19937_64 random(6);
  Bench b(9);
  int stopped = 0;
  for (int i = 0; i < 200; ++i) {
    const Case c = RandomCase(&random, &b, 60000);
    Model m(&b);
    m.Cut(c.step, c.list);
    const Outcome o = b.Run(c.step, random() % 2500);
    m.Move(c.step, o.pieces);
    ASSERT_TRUE(m.Same(&b)) << i;
    ASSERT_EQ(o.copied, m.Bytes(c.step, o.pieces));
    if (o.status == 0) {
      ASSERT_EQ(o.pieces, m.pieces.size());
    } else {
      ASSERT_EQ(o.status, Code(Error::kAborted));
      ++stopped;
    }
  }
  EXPECT_GT(stopped, 30);
  EXPECT_LT(stopped, 190);
}

// A stop while the list has no fetch under way: it has 64 entries, and more
// are left in host memory.
TEST(CopyEngineTest, StopWhileTheListWaits) {
  for (const uint64_t stop : {1500u, 1503u, 1601u, 2000u, 2501u}) {
    Bench b(stop);
    Case c;
    for (int i = 0; i < 120; ++i) {
      desc::SgEntry e;
      e.iova = kHost + 1000 * i;
      e.length = 1000;
      c.list.push_back(e);
    }
    c.step.type = static_cast<uint32_t>(StepType::kCopyIn);
    c.step.length = 120 * 1000;
    c.step.table_iova = kList;
    c.step.sg_count = 120;
    std::memcpy(b.host.data() + (kList - kHost), c.list.data(),
                c.list.size() * sizeof(desc::SgEntry));
    Model m(&b);
    m.Cut(c.step, c.list);
    const Outcome o = b.Run(c.step, stop);
    EXPECT_EQ(o.status, Code(Error::kAborted));
    EXPECT_GT(o.pieces, 0u);
    EXPECT_LT(o.pieces, m.pieces.size());
    m.Move(c.step, o.pieces);
    EXPECT_TRUE(m.Same(&b));
  }
}

// A step beyond device memory moves nothing. When memory becomes smaller while
// a step runs, what fails is the step's bounds, not the bus.
TEST(CopyEngineTest, DeviceMemoryEnds) {
  Bench b(12);
  Case c;
  c.step.type = static_cast<uint32_t>(StepType::kFill);
  c.step.length = 2 * 4096;
  c.step.device_address = kDeviceBytes - 4096;
  Model m(&b);
  Outcome o = b.Run(c.step);
  EXPECT_EQ(o.status, Code(Error::kCopyBounds));
  EXPECT_EQ(o.pieces, 0u);
  EXPECT_TRUE(m.Same(&b));

  c.step.type = static_cast<uint32_t>(StepType::kCopyIn);
  c.step.length = 20 * 4096;
  c.step.device_address = kDeviceBytes - c.step.length;
  c.step.table_iova = kList;
  c.step.sg_count = 1;
  desc::SgEntry e;
  e.iova = kHost;
  e.length = c.step.length;
  std::memcpy(b.host.data() + (kList - kHost), &e, sizeof(e));
  b.after = b.accesses + 4;
  b.then = [&b] {
    b.dut->dram_bytes_i = kDeviceBytes - 4096;
    b.device.set_error_range(kDeviceBytes - 4096, kDeviceBytes);
  };
  o = b.Run(c.step);
  EXPECT_EQ(o.status, Code(Error::kCopyBounds));
  EXPECT_EQ(o.fault, kDeviceBytes - 4096);
  EXPECT_EQ(o.pieces, 19u);
}

TEST(CopyEngineTest, HostAccessFails) {
  std::mt19937_64 random(7);
  Bench b(10);
  int failed = 0;
  for (int i = 0; i < 300; ++i) {
    const Case c = RandomCase(&random, &b, 30000);
    Model m(&b);
    m.Cut(c.step, c.list);
    b.failing = b.accesses + 1 + random() % 20;
    const Outcome o = b.Run(c.step);
    const bool hit = b.accesses >= b.failing;
    ASSERT_EQ(o.status, hit ? Code(Error::kHostDma) : 0u) << i;
    ASSERT_EQ(o.copied, m.Bytes(c.step, o.pieces));
    if (!hit) {
      m.Move(c.step, m.pieces.size());
      ASSERT_TRUE(m.Same(&b));
      continue;
    }
    ++failed;
    const bool in = static_cast<StepType>(c.step.type) == StepType::kCopyIn;
    if ((o.fault - c.step.table_iova) % 4096 == 0 &&
        o.fault - c.step.table_iova < c.list.size() * 16) {
      // The list, by chunk.
    } else {
      ASSERT_LT(o.pieces, m.pieces.size());
      const Model::Piece& p = m.pieces[o.pieces];
      ASSERT_EQ(o.fault, in ? p.from : p.to);
    }
    m.Move(c.step, o.pieces);
    if (in) {
      ASSERT_TRUE(m.Same(&b)) << "nothing of what could not be read";
    } else {
      // What came after may be written in part; device memory is not touched.
      ASSERT_EQ(std::memcmp(m.device.data(), b.device.data(), kDeviceBytes), 0);
    }
  }
  EXPECT_GT(failed, 50);
}

TEST(CopyEngineTest, ListIsChecked) {
  std::mt19937_64 random(8);
  Bench b(11);
  for (int i = 0; i < 100; ++i) {
    Case c;
    do {
      c = RandomCase(&random, &b, 20000);
    } while (c.list.size() < 2);
    Model m(&b);
    auto* list = reinterpret_cast<desc::SgEntry*>(m.host.data() +
                                                  (c.step.table_iova - kHost));
    const size_t which = random() % c.list.size();
    uint64_t want = c.step.table_iova + which * 16;
    switch (random() % 4) {
      case 0:
        list[which].length = 0;
        break;
      case 1:  // too long by this entry
        list[which].length = c.step.length + 1;
        break;
      case 2:
        list[which].length = ~uint64_t{0} - random() % 5;
        break;
      default:
        c.step.length += 1;
        if (c.step.device_address + c.step.length > kDeviceBytes) continue;
        want = c.step.table_iova;
    }
    std::memcpy(b.host.data(), m.host.data(), kHostBytes);
    const Outcome o = b.Run(c.step);
    ASSERT_EQ(o.status, Code(Error::kIllegalDescriptor)) << i;
    ASSERT_EQ(o.fault, want) << i;
    ASSERT_EQ(o.pieces, 0u);
    ASSERT_TRUE(m.Same(&b));
  }
}

// A list that changes after it was checked cannot lead out of the range.
TEST(CopyEngineTest, ListChangesMeanwhile) {
  for (int kind = 0; kind < 3; ++kind) {
    Bench b(12, {100, 0, 0});
    std::vector<desc::SgEntry> list(600, {kHost + 5000, 10});
    desc::Step step;
    step.type = static_cast<uint32_t>(StepType::kCopyIn);
    step.device_address = 1000;
    step.length = 6000;
    step.table_iova = kList;
    step.sg_count = 600;
    std::memcpy(b.host.data() + (kList - kHost), list.data(), 600 * 16);
    Model m(&b);
    const uint64_t other = kind == 0 ? 5000 : kind == 1 ? ~uint64_t{0} : 0;
    const desc::SgEntry changed = {kHost, other};
    // The list is read in 10 bursts (9600 bytes); the data comes after them.
    b.after = b.accesses + 10;
    b.then = [&] {
      std::memcpy(b.host.data() + (kList - kHost) + 100 * 16, &changed, 16);
    };
    const Outcome o = b.Run(step);
    EXPECT_EQ(o.status, 0u);
    std::memcpy(m.host.data(), b.host.data(), kHostBytes);
    // Outside the range nothing has changed.
    EXPECT_EQ(std::memcmp(m.device.data(), b.device.data(), 1000), 0);
    EXPECT_EQ(std::memcmp(m.device.data() + 7000, b.device.data() + 7000,
                          kDeviceBytes - 7000),
              0);
    EXPECT_EQ(o.copied, kind == 2 ? 5990u : 6000u);
  }
}

TEST(CopyEngineTest, Rates) {
  constexpr uint64_t kBytes = 200000;
  for (uint64_t shift : {0, 5}) {
    for (StepType type : {StepType::kCopyIn, StepType::kCopyOut,
                          StepType::kCopy, StepType::kFill}) {
      Bench b(13, {200, 0, 0}, {100, 0, 0});
      std::vector<desc::SgEntry> list;
      for (uint64_t at = 0; at < kBytes; at += 4096)
        list.push_back({kHost + at, std::min<uint64_t>(4096, kBytes - at)});
      std::memcpy(b.host.data() + (kList - kHost), list.data(),
                  list.size() * 16);
      desc::Step step;
      step.type = static_cast<uint32_t>(type);
      step.device_address = shift;
      step.destination = kDeviceBytes / 2;
      step.length = kBytes;
      step.table_iova = kList;
      step.sg_count = static_cast<uint32_t>(list.size());
      const Outcome o = b.Run(step);
      ASSERT_EQ(o.status, 0u);
      const uint64_t words = kBytes / 16 * (type == StepType::kCopy ? 2 : 1);
      // Two readings of the list and the latency of the first and last piece.
      EXPECT_LT(o.cycles, words * 103 / 100 + 2000)
          << step.type << " shifted by " << shift;
    }
  }
}

}  // namespace
}  // namespace heddle::rtl
