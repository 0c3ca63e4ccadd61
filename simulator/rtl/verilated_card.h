// SPDX-License-Identifier: Apache-2.0
//
// VerilatedCard<V>: the verilated hd_card of one configuration, V its class, as
// a CardModel. One file per configuration instantiates it (card_instance.cc),
// so that only that file sees the generated headers.
//
// A cycle: inputs are set from what the memories have decided before, eval with
// the clock low settles everything, outputs are sampled, eval with the clock
// high is the edge, and the memories are clocked with the samples.
//
// What is inside is found by name (card.vlt, probe.h).
#ifndef HEDDLE_SIMULATOR_RTL_VERILATED_CARD_H_
#define HEDDLE_SIMULATOR_RTL_VERILATED_CARD_H_

#include <verilated.h>

#ifdef HEDDLE_RTL_TRACE
#include <verilated_fst_c.h>
#endif

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "rtl/spec/generated/registers.h"
#include "simulator/rtl/card_model.h"
#include "simulator/rtl/probe.h"

namespace heddle::rtl {

template <typename V>
class VerilatedCard : public CardModel {
 public:
  VerilatedCard(const isa::Config& config, const CardOptions& options,
                CardEnvironment* environment)
      : CardModel(config, options),
        environment_(environment),
        host_(options.host_latency, [environment](bool write, uint64_t iova,
                                                  void* data, size_t bytes) {
          return environment->Host(write, iova, data, bytes);
        }) {
    context_ = std::make_unique<VerilatedContext>();
#ifdef HEDDLE_RTL_TRACE
    context_->traceEverOn(true);
#endif
    top_ = std::make_unique<V>(context_.get(), "hd_card");
    top_->core_kind_i = static_cast<uint8_t>(isa::CoreKind::kRtl);
    top_->unique_i = options.serial;
    top_->irq_ready_i = 1;
    top_->strb_i = 15;
    banks_ = SramBanks(context_.get(), config);
    stream_ = StreamProbe(context_.get());
    reads_ = ReadProbe(context_.get());
    if (!banks_.found() || !stream_.found() || !reads_.found()) {
      std::fprintf(stderr,
                   "heddle-sim: error: the RTL card and card.vlt differ\n");
      std::exit(1);
    }
    PowerUp();
  }
  ~VerilatedCard() override {
#ifdef HEDDLE_RTL_TRACE
    if (trace_ != nullptr) trace_->close();
#endif
    top_->final();
  }

  uint64_t Advance(uint64_t cycles) override {
    uint64_t n = 0;
    while (n < cycles && top_->active_o) {
      Cycle();
      ++n;
    }
    return n;
  }
  bool active() const override { return top_->active_o; }

  uint32_t Read(uint32_t offset) override { return Access(false, offset, 0); }
  void Write(uint32_t offset, uint32_t value) override {
    Access(true, offset, value);
  }

  void FunctionReset() override {
    top_->function_reset_i = 1;
    Cycle();
    top_->function_reset_i = 0;
    // What is under way ends; nothing else can begin.
    Advance(kResetCycles);
  }
  void PowerCycle() override {
    PowerUp();
    environment_->Cleared();
  }
  void SetDeviceMemory(uint8_t* data, uint64_t bytes) override {
    const bool resized = memory_.data() != nullptr;
    memory_.Attach(data, bytes);
    top_->dram_bytes_i = bytes;
    if (resized) {
      Cycle();  // it notices
    } else {
      PowerUp();
    }
  }
  void SetHang(bool on) override { top_->hang_i = on; }
  bool FlipSram(uint64_t byte, uint32_t bit) override {
    return banks_.Flip(byte, bit);
  }
  void CorruptNextRead(uint32_t bits) override { corrupt_ = bits; }
  uint32_t corruption_waiting() const override { return corrupt_; }

  uint64_t cycles() const override { return cycle_; }
  std::string violation() const override {
    return memory_.violation().empty() ? host_.violation()
                                       : memory_.violation();
  }

#ifdef HEDDLE_RTL_TRACE
  absl::Status Trace(const std::string& file, uint64_t from,
                     uint64_t to) override {
    trace_ = std::make_unique<VerilatedFstC>();
    top_->trace(trace_.get(), 99);
    trace_->open(file.c_str());
    trace_from_ = from;
    trace_to_ = to;
    return trace_->isOpen()
               ? absl::OkStatus()
               : absl::PermissionDeniedError("cannot write the trace " + file);
  }
#endif

 private:
  // A reset of the function takes less.
  static constexpr uint64_t kResetCycles = 1000000;
  // So does an access to a register.
  static constexpr int kAccessCycles = 100;

  uint32_t Access(bool write, uint32_t offset, uint32_t value) {
    top_->req_i = 1;
    top_->write_i = write;
    top_->addr_i = static_cast<uint16_t>(offset);
    top_->wdata_i = value;
    int n = 0;
    do {
      Cycle();
    } while (!top_->ack_o && ++n < kAccessCycles);
    const uint32_t got = top_->rdata_o;
    top_->req_i = 0;
    Cycle();
    // Interrupts that it has raised come before it ends.
    for (uint32_t i = 0; i < reg::kPciMsixVectors && top_->irq_valid_o; ++i) {
      Cycle();
    }
    return got;
  }

  void PowerUp() {
    memory_.Reset();
    memory_.ForgetFlip();
    host_.Reset();
    top_->req_i = top_->function_reset_i = top_->hang_i = 0;
    top_->rst_ni = 0;
    // Synchronous; a few cycles, as on a board.
    for (int i = 0; i < 4; ++i) Cycle();
    memory_.Reset();
    host_.Reset();
    top_->rst_ni = 1;
  }

  // The two memory ports have the same signals under other names.
#define HEDDLE_DRIVE(PORT, OUTPUTS)                                  \
  {                                                                  \
    const DeviceMemory::ToCore& to = OUTPUTS;                        \
    top_->PORT##_req_ready_i = to.request_ready;                     \
    top_->PORT##_w_ready_i = to.write_ready;                         \
    top_->PORT##_r_valid_i = to.read_valid;                          \
    if (to.read_valid) {                                             \
      top_->PORT##_r_error_i = to.read_error;                        \
      std::memcpy(&top_->PORT##_r_data_i, to.read_data, kBeatBytes); \
    }                                                                \
    top_->PORT##_b_valid_i = to.answer_valid;                        \
    top_->PORT##_b_error_i = to.answer_error;                        \
  }
#define HEDDLE_SAMPLE(PORT, FROM, DATA)                    \
  FROM.request_valid = top_->PORT##_req_valid_o;           \
  FROM.request_write = top_->PORT##_req_write_o;           \
  FROM.request_address = top_->PORT##_req_addr_o;          \
  FROM.request_beats = top_->PORT##_req_beats_o;           \
  FROM.write_valid = top_->PORT##_w_valid_o;               \
  FROM.read_ready = top_->PORT##_r_ready_o;                \
  if (FROM.write_valid) {                                  \
    FROM.write_strobe = top_->PORT##_w_strb_o;             \
    std::memcpy(DATA, &top_->PORT##_w_data_o, kBeatBytes); \
    FROM.write_data = DATA;                                \
  }

  void Cycle() {
    HEDDLE_DRIVE(mem, memory_.outputs());
    HEDDLE_DRIVE(host, host_.outputs());
    top_->clk_i = 0;
    top_->eval();
    Dump(0);
    DeviceMemory::FromCore memory, host;
    uint8_t memory_data[kBeatBytes], host_data[kBeatBytes];
    HEDDLE_SAMPLE(mem, memory, memory_data);
    HEDDLE_SAMPLE(host, host, host_data);
    const bool interrupt = top_->irq_valid_o;
    const uint32_t vector = top_->irq_vector_o;
    const bool clear = top_->clear_o;
    const bool run = top_->rst_ni;
    const bool hang = top_->hang_i;
    // Granted in this cycle, read in the next one.
    const std::optional<uint64_t> read =
        run && corrupt_ != 0 ? reads_.First() : std::nullopt;
    if (run) {
      stream_.Sample(&now_);
      if (stream_.starts()) {
        now_.hangs = hung_;
        environment_->StreamStarts(now_);
      }
      // The card has looked at it in the cycle before a stream starts.
      hung_ = hang;
      if (stream_.ends()) memory_.ForgetFlip();
    }
    top_->clk_i = 1;
    top_->eval();
    Dump(1);
    ++cycle_;
    if (read) {
      for (uint32_t bit = 0; bit < corrupt_; ++bit) {
        banks_.Flip(*read * isa::kWordBytes, bit);
      }
      corrupt_ = 0;
    }
    if (!run) return;
    memory_.Clock(memory);
    host_.Clock(host);
    if (clear) environment_->Cleared();
    if (interrupt) environment_->Interrupt(vector);
  }
#undef HEDDLE_DRIVE
#undef HEDDLE_SAMPLE

  void Dump([[maybe_unused]] uint64_t half) {
#ifdef HEDDLE_RTL_TRACE
    if (trace_ == nullptr || cycle_ < trace_from_) return;
    if (cycle_ < trace_to_) {
      trace_->dump(2 * cycle_ + half);
    } else {
      // The file is complete from here on, whatever ends the process.
      trace_->close();
      trace_.reset();
    }
#endif
  }

  CardEnvironment* environment_;
  HostPort host_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<V> top_;
  SramBanks banks_;
  StreamProbe stream_;
  ReadProbe reads_;
  uint32_t corrupt_ = 0;
  StreamStart now_;
  bool hung_ = false;
  uint64_t cycle_ = 0;
#ifdef HEDDLE_RTL_TRACE
  std::unique_ptr<VerilatedFstC> trace_;
  uint64_t trace_from_ = 0, trace_to_ = 0;
#endif
};

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_VERILATED_CARD_H_
