// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/rtl_core.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace heddle::platform {

RtlCore::RtlCore(sc_core::sc_module_name name,
                 std::unique_ptr<rtl::CoreModel> model, const DramStore* dram,
                 uint64_t quantum, Faults* faults)
    : Core(name, faults),
      model_(std::move(model)),
      dram_(dram),
      quantum_(quantum) {
  SC_HAS_PROCESS(RtlCore);
  SC_THREAD(Loop);
  set_stack_size(1 << 20);
}

void RtlCore::start_of_simulation() {
  tlm::tlm_generic_payload payload;
  tlm::tlm_dmi dmi;
  if (!memory->get_direct_mem_ptr(payload, dmi)) {
    SC_REPORT_FATAL("heddle-sim", "device memory gives no direct pointer");
  }
  model_->memory()->Attach(dmi.get_dmi_ptr() - dmi.get_start_address(),
                           dram_->size());
}

void RtlCore::DramResized() { model_->memory()->Resize(dram_->size()); }

void RtlCore::Start(const CoreRequest& request) {
  result_ = CoreResult();
  busy_ = true;
  ++run_;
  if (std::exchange(faults_->stuck_engine, false)) model_->HangNext();
  rtl::DeviceMemory* memory = model_->memory();
  if (faults_->flip_command && request.stream_bytes > 0) {
    memory->FlipOnRead(request.stream_address +
                           faults_->flip_command->byte % request.stream_bytes,
                       faults_->flip_command->bit);
    faults_->flip_command.reset();
  }
  if (faults_->flip_weights && request.regions[0].size > 0) {
    const model::Region& weights = request.regions[0];
    memory->data()[weights.base + faults_->flip_weights->byte % weights.size] ^=
        static_cast<uint8_t>(1u << (faults_->flip_weights->bit % 8));
    faults_->flip_weights.reset();
  }
  if (faults_->flip_sram) {
    if (!model_->FlipSram(faults_->flip_sram->byte, faults_->flip_sram->bit)) {
      std::fprintf(stderr,
                   "heddle-sim: warning: bit_flip sram has no effect on this "
                   "core\n");
    }
    faults_->flip_sram.reset();
  }
  ArmBusError();
  model_->Start(request);
  start_.notify(sc_core::SC_ZERO_TIME);
}

void RtlCore::Reset() {
  if (busy_) model_->Reset();
  busy_ = false;
  model_->ClearSram();
}

void RtlCore::ArmBusError() {
  if (std::exchange(faults_->device_bus_error, false)) {
    model_->memory()->InjectError();
  }
}

void RtlCore::Finish() {
  result_ = model_->result();
  busy_ = false;
  // A fault that met no access waits for the next one.
  if (model_->memory()->TakeError()) faults_->device_bus_error = true;
  done_.notify(sc_core::SC_ZERO_TIME);
}

void RtlCore::Loop() {
  for (;;) {
    while (!busy_) wait(start_);
    ArmBusError();
    const uint64_t run = run_;
    const uint64_t cycles = model_->Step(quantum_);
    wait(sc_core::sc_time(static_cast<double>(cycles), sc_core::SC_NS));
    // The host may have reset the core meanwhile, and started another stream.
    if (!busy_ || run != run_) continue;
    if (!model_->memory()->violation().empty()) {
      std::fprintf(stderr, "heddle-sim: error: the core breaks the rules: %s\n",
                   model_->memory()->violation().c_str());
      std::exit(1);
    }
    if (!model_->busy()) Finish();
  }
}

}  // namespace heddle::platform
