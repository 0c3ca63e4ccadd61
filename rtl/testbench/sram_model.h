// SPDX-License-Identifier: Apache-2.0
// The unified SRAM as its clients see it, for unit tests: single-port banks
// interleaved by word address, a combinational grant, read data in the second
// cycle after the grant cycle, held until the client's next read data.
//
// A cycle of the test bench:
//   clk = 0; set rdata inputs from ReadData(client);
//   dut.eval();
//   for every client with a request, in the order of priority:
//     gnt = sram.Grant(client, request);   // does the access at once
//   dut.eval(); clk = 1; dut.eval(); sram.EndCycle();
//
// At most one access per bank is granted per cycle; beyond that a grant is
// refused at random (`stall_percent`), unless the request is urgent.
#ifndef HEDDLE_RTL_TESTBENCH_SRAM_MODEL_H_
#define HEDDLE_RTL_TESTBENCH_SRAM_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace heddle::testbench {

struct SramRequest {
  uint32_t addr = 0;  // word
  bool write = false;
  const uint32_t* wdata = nullptr;  // 4 words
  uint16_t wstrb = 0xffff;
  bool urgent = false;
};

class SramModel {
 public:
  SramModel(uint64_t bytes, uint32_t banks, uint32_t clients,
            uint32_t stall_percent = 0, uint64_t seed = 1)
      : data_(bytes),
        taken_(banks, false),
        read_(clients),
        stall_percent_(stall_percent),
        random_(seed) {}

  uint8_t* data() { return data_.data(); }
  uint64_t size() const { return data_.size(); }
  void set_stall_percent(uint32_t percent) { stall_percent_ = percent; }
  const std::vector<std::string>& violations() const { return violations_; }
  uint64_t grants() const { return grants_; }

  bool Grant(uint32_t client, const SramRequest& request) {
    const uint32_t bank = request.addr % taken_.size();
    if (taken_[bank]) return false;
    if (!request.urgent && stall_percent_ != 0 &&
        random_() % 100 < stall_percent_) {
      return false;
    }
    taken_[bank] = true;
    ++grants_;
    const uint64_t at = uint64_t{request.addr} * 16;
    if (at + 16 > data_.size()) {
      if (violations_.size() < 20) {
        violations_.push_back("access beyond the SRAM: word " +
                              std::to_string(request.addr));
      }
      return true;
    }
    if (request.write) {
      uint8_t word[16];
      std::memcpy(word, request.wdata, 16);
      for (int i = 0; i < 16; ++i) {
        if (request.wstrb >> i & 1) data_[at + i] = word[i];
      }
    } else {
      Read& r = read_[client];
      r.stage[0] = true;
      std::memcpy(r.word[0], &data_[at], 16);
    }
    return true;
  }

  void EndCycle() {
    std::fill(taken_.begin(), taken_.end(), false);
    for (Read& r : read_) {
      if (r.stage[1]) std::memcpy(r.out, r.word[1], 16);
      r.stage[1] = r.stage[0];
      if (r.stage[0]) std::memcpy(r.word[1], r.word[0], 16);
      r.stage[0] = false;
    }
  }

  // rdata of the client in this cycle, 4 words.
  const uint32_t* ReadData(uint32_t client) const { return read_[client].out; }

 private:
  struct Read {
    bool stage[2] = {};
    uint32_t word[2][4] = {};
    uint32_t out[4] = {};
  };

  std::vector<uint8_t> data_;
  std::vector<bool> taken_;
  std::vector<Read> read_;
  uint32_t stall_percent_;
  std::mt19937_64 random_;
  uint64_t grants_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace heddle::testbench

#endif  // HEDDLE_RTL_TESTBENCH_SRAM_MODEL_H_
