// SPDX-License-Identifier: Apache-2.0
//
// One blocking TLM transaction without byte enables, as all units here use it.
#ifndef HEDDLE_SIMULATOR_PLATFORM_TRANSFER_H_
#define HEDDLE_SIMULATOR_PLATFORM_TRANSFER_H_

#include <cstdint>
#include <systemc>
#include <tlm>

namespace heddle::platform {

// Moves `bytes` bytes between `data` and `address` behind `socket`; adds to
// `delay`. The answer is the target's.
template <typename Socket>
tlm::tlm_response_status Transfer(Socket& socket, bool write, uint64_t address,
                                  void* data, size_t bytes,
                                  sc_core::sc_time* delay) {
  tlm::tlm_generic_payload payload;
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<unsigned char*>(data));
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  payload.set_byte_enable_ptr(nullptr);
  payload.set_dmi_allowed(false);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  socket->b_transport(payload, *delay);
  return payload.get_response_status();
}

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_TRANSFER_H_
