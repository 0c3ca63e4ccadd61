// SPDX-License-Identifier: Apache-2.0
// Device memory behind a memory port of the accelerator, for unit tests.
//
// The port: requests (valid/ready, read or write, 16-byte aligned address, 1 to
// 64 beats of 16 bytes, never across 4 KiB), write data in request order, read
// data in request order, one answer per write request. The model checks these
// rules (violations() says what was broken) and serves at most one beat per
// cycle, reads and writes together.
//
// A cycle of the test bench:
//   clk = 0; memory.Drive(&port);          // inputs of this cycle
//   dut.eval(); (answer combinational requests such as SRAM grants);
//   dut.eval(); memory.Sample(port);                   // what was transferred
//   clk = 1; dut.eval();
#ifndef HEDDLE_RTL_TESTBENCH_MEMORY_MODEL_H_
#define HEDDLE_RTL_TESTBENCH_MEMORY_MODEL_H_

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace heddle::testbench {

// Where the signals of one port are in the verilated model.
struct MemoryPort {
  const uint8_t* req_valid;
  uint8_t* req_ready;
  const uint8_t* req_write;
  const uint64_t* req_addr;
  const uint8_t* req_beats;
  const uint8_t* w_valid = nullptr;
  uint8_t* w_ready = nullptr;
  const uint32_t* w_data = nullptr;  // 4 words
  const uint16_t* w_strb = nullptr;
  uint8_t* r_valid = nullptr;
  const uint8_t* r_ready = nullptr;
  uint32_t* r_data = nullptr;  // 4 words
  uint8_t* r_error = nullptr;
  uint8_t* b_valid = nullptr;
  uint8_t* b_error = nullptr;
};

struct MemoryTiming {
  uint32_t latency = 100;       // cycles from request to first data, at least 1
  uint32_t latency_spread = 0;  // up to this many cycles more, at random
  uint32_t stall_percent = 0;   // each handshake is refused so often
};

class MemoryModel {
 public:
  MemoryModel(uint64_t bytes, const MemoryTiming& timing, uint64_t seed = 1)
      : data_(bytes), timing_(timing), random_(seed) {}

  uint8_t* data() { return data_.data(); }
  uint64_t size() const { return data_.size(); }
  void set_timing(const MemoryTiming& timing) { timing_ = timing; }
  // Beats in [low, high) are answered with an error.
  void set_error_range(uint64_t low, uint64_t high) {
    error_low_ = low;
    error_high_ = high;
  }
  const std::vector<std::string>& violations() const { return violations_; }
  uint64_t beats_read() const { return beats_read_; }
  uint64_t beats_written() const { return beats_written_; }
  uint64_t requests() const { return requests_; }
  // Nothing under way.
  bool quiet() const {
    return reads_.empty() && writes_.empty() && answers_.empty();
  }
  struct Request {
    bool write;
    uint64_t address;
    uint32_t beats;
  };
  // All requests so far, if asked for.
  void set_log(std::vector<Request>* log) { log_ = log; }

  void Drive(MemoryPort* p) {
    // The one beat of this cycle goes to the older of read and write.
    const bool read_first =
        !reads_.empty() &&
        (writes_.empty() || reads_.front().number < writes_.front().number);
    const bool read_can = !reads_.empty() && reads_.front().ready_at <= cycle_;
    r_offer_ = r_held_ || (read_can && (read_first || !Write(p)) && !Stall());
    *p->req_ready = reads_.size() + writes_.size() < 512 && !Stall();
    if (p->r_valid != nullptr) {
      *p->r_valid = r_offer_;
      *p->r_error = 0;
      if (r_offer_) {
        const uint64_t at = reads_.front().address;
        const bool bad = Bad(at);
        *p->r_error = bad;
        uint8_t beat[16];
        for (int i = 0; i < 16; ++i) {
          beat[i] = bad ? static_cast<uint8_t>(random_()) : data_[at + i];
        }
        std::memcpy(p->r_data, beat, 16);
      }
    }
    if (p->w_ready != nullptr) {
      *p->w_ready = !writes_.empty() && !r_offer_ && !Stall();
    }
    if (p->b_valid != nullptr) {
      const bool b =
          !answers_.empty() && answers_.front().at <= cycle_ && !Stall();
      *p->b_valid = b;
      *p->b_error = b && answers_.front().error;
      if (b) answers_.pop_front();
    }
  }

  void Sample(const MemoryPort& p) {
    r_held_ = r_offer_ && !*p.r_ready;
    if (r_offer_ && *p.r_ready) {
      ++beats_read_;
      Burst& b = reads_.front();
      b.address += 16;
      b.ready_at = 0;
      if (--b.beats == 0) reads_.pop_front();
    }
    if (p.w_ready != nullptr && *p.w_ready) {
      if (*p.w_valid) {
        ++beats_written_;
        Burst& b = writes_.front();
        if (Bad(b.address)) {
          b.error = true;
        } else {
          uint8_t beat[16];
          std::memcpy(beat, p.w_data, 16);
          for (int i = 0; i < 16; ++i) {
            if (*p.w_strb >> i & 1) data_[b.address + i] = beat[i];
          }
        }
        b.address += 16;
        b.started = true;
        if (--b.beats == 0) {
          answers_.push_back({cycle_ + Latency() / 2 + 1, b.error});
          // Answers keep their order.
          if (answers_.size() > 1) {
            const uint64_t before = answers_[answers_.size() - 2].at;
            if (answers_.back().at < before) answers_.back().at = before;
          }
          writes_.pop_front();
        }
      } else if (writes_.front().started) {
        Violation("a gap in the data of a write burst");
      }
    }
    if (*p.req_valid && *p.req_ready) {
      ++requests_;
      const uint64_t at = *p.req_addr;
      const uint32_t beats = *p.req_beats;
      if (log_ != nullptr) log_->push_back({*p.req_write != 0, at, beats});
      if (at % 16 != 0) Violation("address not aligned");
      if (beats < 1 || beats > 64) Violation("number of beats");
      if (at / 4096 != (at + 16 * uint64_t{beats} - 1) / 4096) {
        Violation("burst crosses 4 KiB");
      }
      Burst b;
      b.address = at;
      b.beats = beats;
      b.ready_at = cycle_ + Latency();
      b.number = requests_;
      if (beats > 0) (*p.req_write ? writes_ : reads_).push_back(b);
    } else if (req_held_ && !*p.req_valid) {
      Violation("a request was withdrawn");
    }
    req_held_ = *p.req_valid && !*p.req_ready;
    ++cycle_;
  }

 private:
  struct Burst {
    uint64_t address = 0;
    uint32_t beats = 0;
    uint64_t ready_at = 0;
    uint64_t number = 0;
    bool error = false;
    bool started = false;
  };
  struct Answer {
    uint64_t at;
    bool error;
  };

  bool Stall() {
    return timing_.stall_percent != 0 &&
           random_() % 100 < timing_.stall_percent;
  }
  bool Write(const MemoryPort* p) const {
    return !writes_.empty() && p->w_valid != nullptr && *p->w_valid;
  }
  uint64_t Latency() {
    return timing_.latency + (timing_.latency_spread != 0
                                  ? random_() % (timing_.latency_spread + 1)
                                  : 0);
  }
  bool Bad(uint64_t at) const {
    return at + 16 > data_.size() || (at + 16 > error_low_ && at < error_high_);
  }
  void Violation(const std::string& what) {
    if (violations_.size() < 20) {
      violations_.push_back(what + " in cycle " + std::to_string(cycle_));
    }
  }

  std::vector<uint8_t> data_;
  MemoryTiming timing_;
  std::mt19937_64 random_;
  std::deque<Burst> reads_, writes_;
  std::deque<Answer> answers_;
  bool r_offer_ = false, r_held_ = false, req_held_ = false;
  uint64_t cycle_ = 0;
  uint64_t beats_read_ = 0, beats_written_ = 0, requests_ = 0;
  uint64_t error_low_ = 0, error_high_ = 0;
  std::vector<std::string> violations_;
  std::vector<Request>* log_ = nullptr;
};

}  // namespace heddle::testbench

#endif  // HEDDLE_RTL_TESTBENCH_MEMORY_MODEL_H_
