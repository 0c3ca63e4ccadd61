// SPDX-License-Identifier: Apache-2.0
//
// Device memory as a TLM target. Addresses are device addresses. A transaction
// beyond the card's memory gets TLM_ADDRESS_ERROR_RESPONSE, an injected fault
// TLM_GENERIC_ERROR_RESPONSE. Annotates latency and bandwidth of the
// configuration, with 1 ns per core cycle. Gives DMI pointers.
#ifndef HEDDLE_SIMULATOR_PLATFORM_DRAM_H_
#define HEDDLE_SIMULATOR_PLATFORM_DRAM_H_

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstring>
#include <systemc>
#include <utility>

#include "rtl/spec/generated/isa.h"
#include "simulator/platform/dram_store.h"
#include "simulator/platform/faults.h"

namespace heddle::platform {

class Dram : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<Dram> port;

  Dram(sc_core::sc_module_name name, const isa::Config& config,
       DramStore* store, Faults* faults)
      : sc_module(name),
        port("port"),
        config_(config),
        store_(store),
        faults_(faults) {
    port.register_b_transport(this, &Dram::Transport);
    port.register_get_direct_mem_ptr(this, &Dram::Direct);
  }

 private:
  void Transport(int, tlm::tlm_generic_payload& payload,
                 sc_core::sc_time& delay) {
    const uint64_t address = payload.get_address();
    const uint64_t bytes = payload.get_data_length();
    if (!store_->Contains(address, bytes)) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return;
    }
    if (std::exchange(faults_->device_bus_error, false)) {
      payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      return;
    }
    if (payload.is_write()) {
      std::memcpy(store_->data() + address, payload.get_data_ptr(), bytes);
    } else {
      std::memcpy(payload.get_data_ptr(), store_->data() + address, bytes);
    }
    delay += sc_core::sc_time(
        static_cast<double>(config_.dram_latency_cycles +
                            bytes / config_.dram_bytes_per_cycle),
        sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  // Covers the largest memory a card can have: the pointer holds over a change
  // of size, users check DramStore::size() themselves.
  bool Direct(int, tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.allow_read_write();
    dmi.set_dmi_ptr(store_->data());
    dmi.set_start_address(0);
    dmi.set_end_address(isa::kDramBytesMax - 1);
    return true;
  }

  const isa::Config& config_;
  DramStore* store_;
  Faults* faults_;
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_DRAM_H_
