// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/rtl_front.h"

#include <cstring>
#include <utility>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/transfer.h"

namespace heddle::platform {
namespace {
// Cycles between two looks at the host.
constexpr int kQuantum = 2048;
}  // namespace

RtlFront::RtlFront(sc_core::sc_module_name name, const DramStore* store,
                   Core* core, InterruptController* interrupts)
    : sc_module(name),
      registers_("registers"),
      host_("host"),
      dram_("dram"),
      store_(store),
      core_(core),
      interrupts_(interrupts) {
  registers_.register_b_transport(this, &RtlFront::Transport);
  SC_HAS_PROCESS(RtlFront);
  SC_THREAD(Loop);
  set_stack_size(1 << 20);
}

absl::Status RtlFront::Make(const rtl::FrontOptions& options) {
  auto made = rtl::MakeFront(options, this);
  if (!made.ok()) return made.status();
  model_ = std::move(*made);
  return absl::OkStatus();
}

void RtlFront::Bind(HostBridge* bridge, Dram* dram) {
  bridge->registers.bind(registers_);
  host_.bind(bridge->dma);
  dram_.bind(dram->port);
}

void RtlFront::Loop() {
  for (;;) {
    if (streaming_ && !core_->busy()) {
      streaming_ = false;
      model_->CoreDone(core_->result());
    }
    int cycles = 0;
    for (; cycles < kQuantum && model_->active(); ++cycles) model_->Cycle();
    if (cycles > 0) {
      // Longer than the clock says, where memory is slower than a burst.
      wait(std::exchange(delay_, sc_core::SC_ZERO_TIME) +
           sc_core::sc_time(cycles, sc_core::SC_NS));
    } else {
      wait(work_ | core_->done());
    }
  }
}

void RtlFront::Transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  const auto offset = static_cast<uint32_t>(payload.get_address());
  uint32_t word = 0;
  if (payload.get_data_length() != sizeof(word) || offset % sizeof(word) != 0) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (payload.is_write()) {
    std::memcpy(&word, payload.get_data_ptr(), sizeof(word));
    if (!interrupts_->TableWrite(offset, word)) model_->Write(offset, word);
  } else {
    if (!interrupts_->TableRead(offset, &word)) word = model_->Read(offset);
    std::memcpy(payload.get_data_ptr(), &word, sizeof(word));
  }
  work_.notify(sc_core::SC_ZERO_TIME);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

bool RtlFront::Host(bool write, uint64_t iova, void* data, size_t bytes) {
  return Transfer(host_, write, iova, data, bytes, &delay_) ==
         tlm::TLM_OK_RESPONSE;
}

bool RtlFront::Device(bool write, uint64_t address, void* data, size_t bytes) {
  return Transfer(dram_, write, address, data, bytes, &delay_) ==
         tlm::TLM_OK_RESPONSE;
}

void RtlFront::StartCore(const CoreRequest& request) {
  streaming_ = true;
  core_->Start(request);
}

void RtlFront::Reset(bool power_cycle) {
  core_->Reset();
  model_->Reset(power_cycle);
  work_.notify(sc_core::SC_ZERO_TIME);
}

void RtlFront::DramResized() {
  model_->ResizeDram(store_->size());
  work_.notify(sc_core::SC_ZERO_TIME);
}

FrontStatus RtlFront::status() {
  return {model_->Read(reg::kStatusOffset),
          model_->Read(reg::kProgressOffset),
          model_->Read(reg::kRunningLoOffset) |
              uint64_t{model_->Read(reg::kRunningHiOffset)} << 32,
          model_->Read(reg::kCounterJobsOffset),
          model_->Read(reg::kCounterFaultsOffset),
          model_->Read(reg::kCounterResetsOffset),
          model_->Read(reg::kDeviceErrorOffset)};
}

}  // namespace heddle::platform
