// SPDX-License-Identifier: Apache-2.0
//
// Random traffic of all clients against an array of bytes that is written and
// read in the order of the grants; the rules of the arbiter and clearing; and
// errors: bits that change in the banks behind everybody's back.

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "Vhd_sram.h"
#include "rtl/testbench/clocked.h"
#include "verilated_sym_props.h"
#include "verilated_syms.h"

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

// The arbiter's three rounds, one client after another; `banks`: the busy ones.
uint32_t Grants(const std::array<Request, kClients>& requests,
                uint32_t banks = 0) {
  uint32_t grants = 0;
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
    due_now_.clear();
    due_next_.clear();
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
    uint32_t parts = 0;
    corrected += dut->corrected_o;
    if (dut->failed_o) failed.push_back(dut->failed_addr_o);
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
        if (Masked(i) && r.strobe != 0xffff) parts |= 1u << r.address % kBanks;
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
    busy = parts;
    dut.Tick();
    return grants;
  }
  void Idle(int cycles = 12) {
    for (int i = 0; i < cycles; ++i) Cycle();
  }
  // One request by itself, to its end.
  void Read(uint32_t address, int client = 18) {
    requests[client] = {true,   false, false, static_cast<uint16_t>(address),
                        0xffff, Word{}};
    EXPECT_EQ(Cycle(), 1u << client);
  }
  void Write(uint32_t address, const Word& data, uint16_t strobe = 0xffff) {
    requests[17] = {true,   true, false, static_cast<uint16_t>(address),
                    strobe, data};
    EXPECT_EQ(Cycle(), 1u << 17);
  }
  // Bit 0 to 127 of a word, or of its check bits. False: of a netlist, which
  // has no such names.
  bool Flip(uint32_t address, int bit) {
    const std::string bank = "[" + std::to_string(address % kBanks) + "]";
    const uint32_t row = address / kBanks;
    for (const auto& [path, scope] :
         *Verilated::threadContextp()->scopeNameMap()) {
      const VerilatedVar* var = scope->varFind(bit < 128 ? "mem" : "code");
      if (var == nullptr || std::string(path).find(bank) == std::string::npos) {
        continue;
      }
      if (bit < 128) {
        static_cast<uint8_t*>(var->datap())[16 * row + bit / 8] ^=
            static_cast<uint8_t>(1 << bit % 8);
      } else {
        static_cast<uint16_t*>(var->datap())[row] ^=
            static_cast<uint16_t>(1 << (bit - 128));
      }
      return true;
    }
    return false;
  }

  Clocked<Vhd_sram> dut;
  std::vector<Word> memory;
  std::array<Request, kClients> requests;
  int compared = 0;
  // Banks that serve nobody in the next cycle, without errors.
  uint32_t busy = 0;
  int corrected = 0;
  std::vector<uint32_t> failed;

 private:
  struct Expected {
    int client;
    Word data;
  };
  std::vector<Expected> due_now_, due_next_;
};

Word RandomWord(std::mt19937* random) {
  Word word;
  for (uint8_t& b : word) b = static_cast<uint8_t>((*random)());
  return word;
}

constexpr int kBits = 137;

#define SKIP_NETLIST(bench)                                     \
  if (!(bench).Flip(0, 0)) GTEST_SKIP() << "bits of a netlist"; \
  (bench).Flip(0, 0)

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
    const uint32_t expected = Grants(bench.requests, bench.busy);
    ASSERT_EQ(bench.Cycle(), expected) << "cycle " << cycle;
    for (int i = 0; i < kClients; ++i) grants_of[i] += expected >> i & 1;
  }
  EXPECT_GT(bench.compared, 30000);
  for (int i = 0; i < kClients; ++i) EXPECT_GT(grants_of[i], 100) << i;
  EXPECT_EQ(bench.corrected, 0);
  EXPECT_TRUE(bench.failed.empty());
}

TEST(SramTest, EverySingleErrorIsCorrectedOnce) {
  Bench bench;
  SKIP_NETLIST(bench);
  std::mt19937 random(2);
  for (int bit = 0; bit < kBits; ++bit) {
    const uint32_t address = static_cast<uint32_t>(random()) % kWords;
    bench.Write(address, RandomWord(&random));
    bench.Idle(2);
    ASSERT_TRUE(bench.Flip(address, bit));
    bench.corrected = 0;
    bench.Read(address);
    bench.Idle();
    EXPECT_EQ(bench.corrected, 1) << bit;
    bench.Read(address);
    bench.Idle();
    EXPECT_EQ(bench.corrected, 1) << "it was repaired, " << bit;
  }
  EXPECT_TRUE(bench.failed.empty());
}

TEST(SramTest, PartsAreWrittenToCorrectedWords) {
  Bench bench;
  SKIP_NETLIST(bench);
  std::mt19937 random(3);
  for (int bit = 0; bit < kBits; ++bit) {
    const uint32_t address = static_cast<uint32_t>(random()) % kWords;
    bench.Write(address, RandomWord(&random));
    bench.Idle(2);
    ASSERT_TRUE(bench.Flip(address, bit));
    bench.corrected = 0;
    bench.Write(address, RandomWord(&random),
                static_cast<uint16_t>(random() % 0xffff));
    bench.Idle();
    EXPECT_EQ(bench.corrected, 1) << bit;
    bench.Read(address);
    bench.Idle();
    EXPECT_EQ(bench.corrected, 1) << bit;
  }
  EXPECT_TRUE(bench.failed.empty());
}

// A double error is told by every access to what is not written as a whole, and
// nothing of it changes.
TEST(SramTest, DoubleErrorsAreTold) {
  Bench bench;
  SKIP_NETLIST(bench);
  std::mt19937 random(4);
  for (int i = 0; i < 200; ++i) {
    const uint32_t address = static_cast<uint32_t>(random()) % kWords;
    const int one = static_cast<int>(random() % kBits);
    const int two =
        (one + 1 + static_cast<int>(random() % (kBits - 1))) % kBits;
    const Word word = RandomWord(&random);
    bench.Write(address, word);
    bench.Idle(3);
    ASSERT_TRUE(bench.Flip(address, one) && bench.Flip(address, two));
    Word& wrong = bench.memory[address];
    for (int bit : {one, two}) {
      if (bit < 128) wrong[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    }
    const Word kept = wrong;
    bench.Read(address);
    bench.Idle();
    bench.Write(address, RandomWord(&random), 0x7ffe);
    wrong = kept;
    bench.Idle();
    bench.Read(address);
    bench.Idle();
    ASSERT_EQ(bench.failed, (std::vector<uint32_t>{address, address, address}));
    bench.failed.clear();
    bench.Write(address, word);
    bench.Read(address);
    bench.Idle();
    ASSERT_TRUE(bench.failed.empty());
  }
  EXPECT_EQ(bench.corrected, 0);
}

// Two banks at once: the lower one is told.
TEST(SramTest, DoubleErrorsOfOneCycle) {
  Bench bench;
  SKIP_NETLIST(bench);
  for (uint32_t address : {21u, 38u}) {
    for (int bit : {3, 4}) {
      ASSERT_TRUE(bench.Flip(address, bit));
      bench.memory[address][0] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  bench.requests[12] = {true, false, false, 38, 0xffff, Word{}};
  bench.requests[18] = {true, false, false, 21, 0xffff, Word{}};
  bench.Cycle();
  bench.Idle();
  EXPECT_EQ(bench.failed, (std::vector<uint32_t>{21}));
}

// Readers that follow each other closely: right words for all of them, one
// repair per word.
TEST(SramTest, WrongWordsOneAfterAnother) {
  for (int gap = 0; gap < 6; ++gap) {
    Bench bench;
    SKIP_NETLIST(bench);
    std::mt19937 random(5);
    for (uint32_t address : {7u, 23u}) {
      bench.Write(address, RandomWord(&random));
      bench.Idle();
      ASSERT_TRUE(bench.Flip(address, 77));
    }
    // The words of one bank, the first of them twice.
    bench.Read(7);
    for (uint32_t address : {23u, 7u, 23u}) {
      bench.Idle(gap);
      bench.requests[18] = {
          true, false, false, static_cast<uint16_t>(address), 0xffff, Word{}};
      for (int i = 0; i < 20 && bench.requests[18].active; ++i) bench.Cycle();
      EXPECT_FALSE(bench.requests[18].active);
    }
    bench.Idle();
    EXPECT_EQ(bench.corrected, 2) << gap;
    EXPECT_TRUE(bench.failed.empty());
  }
}

// What is found while the word before it is being written back comes next.
TEST(SramTest, AWordIsFoundDuringARepair) {
  Bench bench;
  SKIP_NETLIST(bench);
  std::mt19937 random(7);
  for (uint32_t address : {7u, 23u}) {
    bench.Write(address, RandomWord(&random));
    bench.Idle();
    ASSERT_TRUE(bench.Flip(address, 77));
  }
  bench.Read(7);
  bench.Read(23);
  bench.Idle();
  EXPECT_EQ(bench.corrected, 2);
}

// All at once: nobody notices that some words have a wrong bit.
TEST(SramTest, TrafficOverErrors) {
  Bench bench;
  SKIP_NETLIST(bench);
  std::mt19937 random(6);
  int flips = 0;
  for (uint32_t address = 0; address < 64; ++address) {
    bench.Write(address, RandomWord(&random));
  }
  bench.Idle();
  for (int round = 0; round < 100; ++round) {
    std::set<uint32_t> words;
    while (words.size() < 4) words.insert(random() % 64);
    for (uint32_t address : words) {
      bench.Flip(address, static_cast<int>(random() % kBits));
      ++flips;
    }
    for (int cycle = 0; cycle < 300; ++cycle) {
      for (int i = 0; i < kClients; ++i) {
        Request& r = bench.requests[i];
        if (r.active || random() % 3 != 0) continue;
        r.active = true;
        r.write = Writes(i) && (!Reads(i) || random() % 2 == 0);
        r.urgent = random() % 4 == 0;
        r.address = random() % 64;
        r.strobe = random() % 3 == 0 ? 0xffff : random();
        r.data = RandomWord(&random);
      }
      bench.Cycle();
    }
    bench.Idle(100);
    // All of them: no word gets a second wrong bit in the next round.
    for (uint32_t address = 0; address < 64; ++address) {
      bench.Read(address);
      bench.Idle();
    }
  }
  EXPECT_TRUE(bench.failed.empty());
  // Some were overwritten before they were read.
  EXPECT_GT(bench.corrected, flips / 2);
  EXPECT_LE(bench.corrected, flips);
}

// A repair that is under way writes nothing after the clearing has begun.
TEST(SramTest, ClearsWhatIsBeingRepaired) {
  for (int wait = 0; wait < 10; ++wait) {
    Bench bench;
    SKIP_NETLIST(bench);
    const uint32_t kAddress = 5;  // of row 0, which is cleared first
    bench.Write(kAddress, Word{1, 2, 3});
    bench.Idle();
    ASSERT_TRUE(bench.Flip(kAddress, 9));
    bench.Read(kAddress);
    bench.Idle(wait);
    bench.Clear();
    const int before = bench.corrected;
    bench.Read(kAddress);
    bench.Idle();
    EXPECT_EQ(bench.corrected, before);
    EXPECT_TRUE(bench.failed.empty());
  }
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
  bench.Idle(2);
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
