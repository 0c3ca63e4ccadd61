// SPDX-License-Identifier: Apache-2.0
//
// Random traffic of all clients against an array of bytes that is written and
// read in the order of the grants; then the rules of the arbiter and clearing.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "Vhd_sram.h"
#include "rtl/testbench/clocked.h"

namespace heddle::rtl {
namespace {

constexpr int kClients = 19;
constexpr int kBanks = 16;
constexpr int kWords = 16 * 2048;
// hd_pkg: output writer, vector engine and load DMA write; the last two parts
// of words; all but the output writer read.
bool Writes(int i) { return i < 2 || (i >= 13 && i <= 17); }
bool Reads(int i) { return i >= 2; }
bool Masked(int i) { return i >= 13 && i <= 17; }
bool SecondOfPair(int i) { return i == 1 || (i >= 3 && i <= 11 && i % 2 == 1); }
bool Row(int i) { return i >= 2 && i <= 9; }

using Word = std::array<uint8_t, 16>;

struct Request {
  bool active = false;
  bool write = false;
  bool urgent = false;
  uint16_t address = 0;
  uint16_t strobe = 0xffff;
  Word data;
};

// The arbiter's three rounds, one client after another.
uint32_t Grants(const std::array<Request, kClients>& requests) {
  uint32_t grants = 0, banks = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kClients; ++i) {
      const Request& r = requests[i];
      const uint32_t bank = 1u << (r.address % kBanks);
      const bool waits =
          SecondOfPair(i) && requests[i - 1].active && !(grants >> (i - 1) & 1);
      const bool now = round == 2 || (round == 1 ? Row(i) : r.urgent);
      if (!r.active || !now || waits || (banks & bank)) continue;
      if (grants >> i & 1) continue;
      grants |= 1u << i;
      banks |= bank;
    }
  }
  return grants;
}

class Bench {
 public:
  Bench() : memory(kWords, Word{}) {
    dut->clear_i = 0;
    Drive();
    Clear();
  }
  void Clear() {
    dut->clear_i = 1;
    dut.Tick();
    dut->clear_i = 0;
    int cycles = 0;
    for (; dut->clear_busy_o; ++cycles) dut.Tick();
    EXPECT_EQ(cycles, 2048);
    std::fill(memory.begin(), memory.end(), Word{});
  }
  void Drive() {
    uint32_t req = 0, urgent = 0, we = 0;
    uint16_t address[kClients + 1] = {};
    uint16_t strobe[kClients + 1] = {};
    for (int i = 0; i < kClients; ++i) {
      req |= uint32_t{requests[i].active} << i;
      urgent |= uint32_t{requests[i].urgent} << i;
      we |= uint32_t{requests[i].write} << i;
      address[i] = requests[i].address;
      strobe[i] = requests[i].strobe;
      std::memcpy(&dut->wdata_i[4 * i], requests[i].data.data(), 16);
    }
    dut->req_i = req;
    dut->urgent_i = urgent;
    dut->we_i = we;
    std::memcpy(&dut->addr_i, address, sizeof(address));
    std::memcpy(&dut->wstrb_i, strobe, sizeof(strobe));
  }
  // One cycle; returns the grants, after comparing the data that was due.
  uint32_t Cycle() {
    Drive();
    dut.Settle();
    const uint32_t grants = dut->gnt_o;
    for (const Expected& e : due_now_) {
      Word got;
      std::memcpy(got.data(), &dut->rdata_o[4 * e.client], 16);
      EXPECT_EQ(got, e.data) << "client " << e.client;
      ++compared;
    }
    std::vector<Expected> due;
    for (int i = 0; i < kClients; ++i) {
      if (!(grants >> i & 1)) continue;
      Request& r = requests[i];
      Word& word = memory[r.address];
      if (r.write) {
        for (int b = 0; b < 16; ++b) {
          if (!Masked(i) || (r.strobe >> b & 1)) word[b] = r.data[b];
        }
      } else {
        due.push_back({i, word});
      }
      r.active = false;
    }
    due_now_ = std::move(due_next_);
    due_next_ = std::move(due);
    dut.Tick();
    return grants;
  }

  Clocked<Vhd_sram> dut;
  std::vector<Word> memory;
  std::array<Request, kClients> requests;
  int compared = 0;

 private:
  struct Expected {
    int client;
    Word data;
  };
  std::vector<Expected> due_now_, due_next_;
};

TEST(SramTest, RandomTraffic) {
  Bench bench;
  std::mt19937 random(1);
  std::array<int, kClients> grants_of{};
  for (int cycle = 0; cycle < 20000; ++cycle) {
    for (int i = 0; i < kClients; ++i) {
      Request& r = bench.requests[i];
      if (r.active || random() % 3 != 0) continue;
      r.active = true;
      r.write = Writes(i) && (!Reads(i) || random() % 2 == 0);
      r.urgent = random() % 4 == 0;
      r.address = random() % 64;
      r.strobe = random() % 3 == 0 ? 0xffff : random();
      for (uint8_t& b : r.data) b = random();
    }
    const uint32_t expected = Grants(bench.requests);
    ASSERT_EQ(bench.Cycle(), expected) << "cycle " << cycle;
    for (int i = 0; i < kClients; ++i) grants_of[i] += expected >> i & 1;
  }
  EXPECT_GT(bench.compared, 30000);
  for (int i = 0; i < kClients; ++i) EXPECT_GT(grants_of[i], 100) << i;
}

TEST(SramTest, UrgentGoesFirst) {
  Bench bench;
  bench.requests[0] = {true, true, false, 5, 0xffff, Word{}};
  bench.requests[18] = {true, false, true, 5, 0xffff, Word{}};
  EXPECT_EQ(bench.Cycle(), 1u << 18);
  EXPECT_EQ(bench.Cycle(), 1u << 0);
}

TEST(SramTest, RowPortsBeforeOthers) {
  Bench bench;
  bench.requests[10] = {true, false, false, 3, 0xffff, Word{}};
  bench.requests[4] = {true, false, false, 3, 0xffff, Word{}};
  EXPECT_EQ(bench.Cycle(), 1u << 4);
}

TEST(SramTest, ClearsEveryWord) {
  Bench bench;
  for (uint32_t a = 0; a < kWords; ++a) {
    bench.requests[17] = {true,   true,
                          false,  static_cast<uint16_t>(a),
                          0xffff, Word{0xff, 1, 2, 3}};
    bench.Cycle();
  }
  bench.Clear();
  for (uint32_t a = 0; a < kWords; ++a) {
    bench.requests[18] = {true,   false, false, static_cast<uint16_t>(a),
                          0xffff, Word{}};
    bench.Cycle();
  }
  bench.Cycle();
  bench.Cycle();
  EXPECT_EQ(bench.compared, kWords);
}

}  // namespace
}  // namespace heddle::rtl
