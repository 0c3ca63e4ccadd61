// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/rtl_card.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/transfer.h"

namespace heddle::platform {

RtlCard::RtlCard(sc_core::sc_module_name name, DramStore* store, Faults* faults,
                 InterruptController* interrupts, uint64_t quantum)
    : sc_module(name),
      registers_("registers"),
      host_("host"),
      store_(store),
      faults_(faults),
      interrupts_(interrupts),
      quantum_(quantum) {
  registers_.register_b_transport(this, &RtlCard::Transport);
  SC_HAS_PROCESS(RtlCard);
  SC_THREAD(Loop);
  set_stack_size(1 << 20);
}

absl::Status RtlCard::Make(const isa::Config& config,
                           const rtl::CardOptions& options) {
  auto made = rtl::MakeCard(config, options, this);
  if (!made.ok()) return made.status();
  model_ = std::move(*made);
  // Its values have their timing in the model, so they come by pointer.
  model_->SetDeviceMemory(store_->data(), store_->size());
  return absl::OkStatus();
}

void RtlCard::Bind(HostBridge* bridge, Dram*) {
  bridge->registers.bind(registers_);
  host_.bind(bridge->dma);
}

template <typename What>
void RtlCard::Clock(What what) {
  model_->SetHang(faults_->stuck_engine);
  if (std::exchange(faults_->device_bus_error, false)) {
    model_->memory()->InjectError();
  }
  model_->CorruptNextRead(std::exchange(faults_->sram_error, 0));
  what();
  if (faults_->sram_error == 0)
    faults_->sram_error = model_->corruption_waiting();
  // A fault that met no access waits for the next one, or is disarmed.
  if (model_->memory()->TakeError()) faults_->device_bus_error = true;
  const std::string violation = model_->violation();
  if (!violation.empty()) {
    std::fprintf(stderr, "heddle-sim: error: the card breaks the rules: %s\n",
                 violation.c_str());
    std::exit(1);
  }
}

void RtlCard::Loop() {
  for (;;) {
    while (!model_->active()) wait(work_);
    uint64_t cycles = 0;
    Clock([this, &cycles] { cycles = model_->Advance(quantum_); });
    wait(sc_core::sc_time(static_cast<double>(cycles), sc_core::SC_NS));
  }
}

void RtlCard::Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const auto offset = static_cast<uint32_t>(payload.get_address());
  uint32_t word = 0;
  if (payload.get_data_length() != sizeof(word) || offset % sizeof(word) != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (payload.is_write()) {
    std::memcpy(&word, payload.get_data_ptr(), sizeof(word));
    const bool reset = offset == reg::kResetOffset;
    if (reset && (word & reg::kResetCardMask))
      faults_->lost_engine_resets = false;
    const bool lost =
        reset && word == reg::kResetEngineMask && faults_->lost_engine_resets;
    if (!lost && !interrupts_->TableWrite(offset, word)) {
      Clock([=] { model_->Write(offset, word); });
    }
  } else {
    if (!interrupts_->TableRead(offset, &word)) {
      Clock([&] { word = model_->Read(offset); });
    }
    std::memcpy(payload.get_data_ptr(), &word, sizeof(word));
  }
  work_.notify(sc_core::SC_ZERO_TIME);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool RtlCard::Host(bool write, uint64_t iova, void* data, size_t bytes) {
  // The model has the time of it.
  sc_core::sc_time delay;
  return Transfer(host_, write, iova, data, bytes, &delay) ==
         tlm::TLM_OK_RESPONSE;
}

void RtlCard::StreamStarts(const rtl::StreamStart& stream) {
  rtl::DeviceMemory* memory = model_->memory();
  if (stream.hangs) {
    faults_->stuck_engine = false;
    model_->SetHang(false);
  }
  if (faults_->flip_command && stream.bytes > 0) {
    memory->FlipOnRead(
        stream.address + faults_->flip_command->byte % stream.bytes,
        faults_->flip_command->bit);
    faults_->flip_command.reset();
  }
  if (faults_->flip_weights && stream.weights_bytes > 0) {
    memory->data()[stream.weights +
                   faults_->flip_weights->byte % stream.weights_bytes] ^=
        static_cast<uint8_t>(1u << (faults_->flip_weights->bit % 8));
    faults_->flip_weights.reset();
  }
  if (faults_->flip_sram) {
    model_->FlipSram(faults_->flip_sram->byte, faults_->flip_sram->bit);
    faults_->flip_sram.reset();
  }
}

void RtlCard::Reset(bool power_cycle) {
  if (power_cycle) {
    model_->PowerCycle();
  } else {
    Clock([this] { model_->FunctionReset(); });
  }
  work_.notify(sc_core::SC_ZERO_TIME);
}

void RtlCard::DramResized() {
  Clock([this] { model_->SetDeviceMemory(store_->data(), store_->size()); });
  work_.notify(sc_core::SC_ZERO_TIME);
}

FrontStatus RtlCard::status() {
  FrontStatus status;
  Clock([this, &status] {
    status = {model_->Read(reg::kStatusOffset),
              model_->Read(reg::kProgressOffset),
              model_->Read(reg::kRunningLoOffset) |
                  uint64_t{model_->Read(reg::kRunningHiOffset)} << 32,
              model_->Read(reg::kCounterJobsOffset),
              model_->Read(reg::kCounterFaultsOffset),
              model_->Read(reg::kCounterResetsOffset),
              model_->Read(reg::kDeviceErrorOffset),
              model_->Read(reg::kCounterSramCorrectedOffset)};
  });
  work_.notify(sc_core::SC_ZERO_TIME);
  return status;
}

}  // namespace heddle::platform
