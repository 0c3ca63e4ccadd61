// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <deque>
#include <vector>

#include "Vhd_front.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/rtl/front_model.h"
#include "verilated.h"

namespace heddle::rtl {
namespace {

constexpr size_t kBeat = 16;

// One memory port, served by calls: a burst of a read is read when it is
// requested, one of a write is written when its last beat has come.
class Port {
 public:
  struct Answer {  // of a read, by beat
    uint8_t data[kBeat];
    bool error;
  };
  template <typename Move>
  void Request(bool write, uint64_t address, uint32_t beats, Move move) {
    if (write) {
      writes_.push_back({address, beats, {}, {}});
      return;
    }
    std::vector<uint8_t> bytes(beats * kBeat);
    const bool ok = move(false, address, bytes.data(), bytes.size());
    for (uint32_t i = 0; i < beats; ++i) {
      Answer a;
      std::memcpy(a.data, &bytes[i * kBeat], kBeat);
      a.error = !ok;
      reads_.push_back(a);
    }
  }
  template <typename Move>
  void Data(const void* data, uint32_t strobes, Move move) {
    Burst& b = writes_.front();
    const size_t at = b.data.size();
    b.data.resize(at + kBeat);
    std::memcpy(&b.data[at], data, kBeat);
    b.strobes.push_back(static_cast<uint16_t>(strobes));
    if (b.strobes.size() < b.beats) return;
    bool ok = true;
    // Runs of bytes that are written; a burst of the front end has one.
    for (size_t i = 0; i < b.data.size();) {
      size_t n = 0;
      while (i + n < b.data.size() &&
             (b.strobes[(i + n) / kBeat] >> ((i + n) % kBeat) & 1)) {
        ++n;
      }
      if (n != 0) ok = move(true, b.address + i, &b.data[i], n) && ok;
      i += n + 1;
    }
    answers_.push_back(!ok);
    writes_.pop_front();
  }
  bool wants_data() const { return !writes_.empty(); }
  const Answer* read() const {
    return reads_.empty() ? nullptr : &reads_.front();
  }
  void PopRead() { reads_.pop_front(); }
  // -1: no answer of a write; else its error.
  int TakeAnswer() {
    if (answers_.empty()) return -1;
    const bool error = answers_.front();
    answers_.pop_front();
    return error;
  }

 private:
  struct Burst {
    uint64_t address;
    uint32_t beats;
    std::vector<uint8_t> data;
    std::vector<uint16_t> strobes;
  };
  std::deque<Burst> writes_;
  std::deque<Answer> reads_;
  std::deque<bool> answers_;
};

class VerilatedFront : public FrontModel {
 public:
  VerilatedFront(const FrontOptions& options, FrontEnvironment* environment)
      : top_(&context_, "hd_front"), environment_(environment) {
    top_.config_i = options.config;
    top_.core_kind_i = static_cast<uint8_t>(options.kind);
    top_.unique_i = options.serial;
    top_.dram_bytes_i = options.dram_bytes;
    top_.irq_ready_i = 1;
    PowerUp();
  }
  ~VerilatedFront() override { top_.final(); }

  bool active() const override { return top_.active_o && !waiting_; }

  void Cycle() override {
    host_drive();
    device_drive();
    top_.core_busy_i = waiting_ || done_;
    top_.core_done_i = done_;
    top_.core_progress_i = environment_->CoreProgress();
    top_.clk_i = 0;
    top_.eval();
    done_ = false;
    Sample();
    top_.clk_i = 1;
    top_.eval();
    top_.function_reset_i = 0;
  }

  uint32_t Read(uint32_t offset) override { return Access(false, offset, 0); }
  void Write(uint32_t offset, uint32_t value) override {
    Access(true, offset, value);
  }

  uint32_t Access(bool write, uint32_t offset, uint32_t value) {
    top_.req_i = 1;
    top_.write_i = write;
    top_.addr_i = static_cast<uint16_t>(offset);
    top_.wdata_i = value;
    top_.strb_i = 15;
    do {
      Cycle();
    } while (!top_.ack_o);
    const uint32_t got = top_.rdata_o;
    top_.req_i = 0;
    Cycle();
    Settle();
    return got;
  }

  void CoreDone(const platform::CoreResult& result) override {
    if (!waiting_) return;
    // The core's cycles pass here, too.
    for (uint64_t i = 0; i < result.cycles; ++i) Cycle();
    waiting_ = false;
    done_ = true;
    const model::RunResult& run = result.run;
    top_.core_status_i = static_cast<uint8_t>(run.status);
    top_.core_fault_offset_i = run.fault_offset;
    top_.core_fault_tag_i = run.fault_tag;
    top_.core_fault_engine_i = static_cast<uint8_t>(run.fault_engine);
    top_.core_fault_region_i = static_cast<uint8_t>(run.fault_region);
    top_.core_fault_addr_i = run.fault_address;
    top_.core_commands_i = run.commands;
    top_.core_macs_i = run.macs;
    top_.core_bytes_loaded_i = run.bytes_loaded;
    top_.core_bytes_stored_i = run.bytes_stored;
    top_.core_matrix_busy_i = result.matrix_busy;
    top_.core_vector_busy_i = result.vector_busy;
    top_.core_dma_busy_i = result.dma_busy;
  }

  void ResizeDram(uint64_t bytes) override {
    top_.dram_bytes_i = bytes;
    Cycle();
  }

  void Reset(bool power_cycle) override {
    if (power_cycle) {
      environment_->ResetCore();
      waiting_ = false;
      PowerUp();
      environment_->Cleared();
      return;
    }
    top_.function_reset_i = 1;
    Cycle();
    Settle();
  }

 private:
  // What a register write asked for happens before it returns: interrupts, and
  // an abort or reset of a stream, during which nobody else gives cycles.
  void Settle() {
    for (int i = 0; i < 4 && waiting_; ++i) Cycle();
    for (int i = 0; i < 4 && top_.irq_valid_o; ++i) Cycle();
  }
  void PowerUp() {
    host_ = Port();
    device_ = Port();
    done_ = false;
    top_.req_i = 0;
    top_.function_reset_i = 0;
    top_.hang_i = 0;
    top_.rst_ni = 0;
    for (int i = 0; i < 3; ++i) {
      top_.clk_i = 0;
      top_.eval();
      top_.clk_i = 1;
      top_.eval();
    }
    top_.rst_ni = 1;
  }

  void host_drive() {
    top_.host_req_ready_i = 1;
    top_.host_w_ready_i = host_.wants_data();
    top_.host_r_valid_i = host_.read() != nullptr;
    if (host_.read() != nullptr) {
      std::memcpy(&top_.host_r_data_i[0], host_.read()->data, kBeat);
      top_.host_r_error_i = host_.read()->error;
    }
    const int answer = host_.TakeAnswer();
    top_.host_b_valid_i = answer >= 0;
    top_.host_b_error_i = answer > 0;
  }
  void device_drive() {
    top_.mem_req_ready_i = 1;
    top_.mem_w_ready_i = device_.wants_data();
    top_.mem_r_valid_i = device_.read() != nullptr;
    if (device_.read() != nullptr) {
      std::memcpy(&top_.mem_r_data_i[0], device_.read()->data, kBeat);
      top_.mem_r_error_i = device_.read()->error;
    }
    const int answer = device_.TakeAnswer();
    top_.mem_b_valid_i = answer >= 0;
    top_.mem_b_error_i = answer > 0;
  }

  void Sample() {
    auto host = [this](bool write, uint64_t address, void* data, size_t n) {
      return environment_->Host(write, address, data, n);
    };
    auto device = [this](bool write, uint64_t address, void* data, size_t n) {
      return environment_->Device(write, address, data, n);
    };
    if (top_.host_r_valid_i) host_.PopRead();
    if (top_.host_w_valid_o && top_.host_w_ready_i)
      host_.Data(&top_.host_w_data_o[0], top_.host_w_strb_o, host);
    if (top_.host_req_valid_o)
      host_.Request(top_.host_req_write_o, top_.host_req_addr_o,
                    top_.host_req_beats_o, host);
    if (top_.mem_r_valid_i) device_.PopRead();
    if (top_.mem_w_valid_o && top_.mem_w_ready_i)
      device_.Data(&top_.mem_w_data_o[0], top_.mem_w_strb_o, device);
    if (top_.mem_req_valid_o)
      device_.Request(top_.mem_req_write_o, top_.mem_req_addr_o,
                      top_.mem_req_beats_o, device);

    if (top_.region_we_o) {
      request_.regions[top_.region_index_o] = {
          top_.region_base_o, top_.region_size_o, top_.region_writable_o != 0};
    }
    if (top_.core_clear_o) environment_->ClearSram();
    if (top_.core_start_o) {
      request_.stream_address = top_.core_stream_addr_o;
      request_.stream_bytes = top_.core_stream_bytes_o;
      waiting_ = true;
      aborted_ = false;
      environment_->StartCore(request_);
    }
    if (top_.core_abort_o && waiting_ && !aborted_) {
      aborted_ = true;
      environment_->AbortCore();
    }
    if (top_.core_reset_o) {
      waiting_ = false;
      environment_->ResetCore();
    }
    if (top_.clear_o) environment_->Cleared();
    if (top_.irq_valid_o) environment_->Interrupt(top_.irq_vector_o);
  }

  VerilatedContext context_;
  Vhd_front top_;
  FrontEnvironment* environment_;
  Port host_, device_;
  platform::CoreRequest request_;
  bool waiting_ = false;  // for the core
  bool aborted_ = false;
  bool done_ = false;  // it has ended: told in the next cycle
};

}  // namespace

absl::StatusOr<std::unique_ptr<FrontModel>> MakeFront(
    const FrontOptions& options, FrontEnvironment* environment) {
  return std::make_unique<VerilatedFront>(options, environment);
}

}  // namespace heddle::rtl
