// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/host_bridge.h"

#include <cstring>
#include <utility>

#include "simulator/platform/transfer.h"

namespace heddle::platform {
namespace {
// Time of a burst on the bus: latency, and bytes per nanosecond of four lanes.
constexpr double kBusLatencyNs = 500;
constexpr double kBusBytesPerNs = 3.9;
}  // namespace

HostBridge::HostBridge(sc_core::sc_module_name name, ConfigSpace* config,
                       Faults* faults, InterruptController* interrupts,
                       ResetHook reset)
    : sc_module(name),
      dma("dma"),
      registers("registers"),
      config_(config),
      faults_(faults),
      interrupts_(interrupts),
      reset_(std::move(reset)) {
  dma.register_b_transport(this, &HostBridge::Dma);
}

void HostBridge::Dma(int, tlm::tlm_generic_payload& payload,
                     sc_core::sc_time& delay) {
  const uint64_t iova = payload.get_address();
  const size_t bytes = payload.get_data_length();
  bool ok = !Gone() && config_->BusMaster();
  if (std::exchange(faults_->host_bus_error, false)) ok = false;
  if (ok) {
    ok = payload.is_write() ? memory_.Write(iova, payload.get_data_ptr(), bytes)
                            : memory_.Read(iova, payload.get_data_ptr(), bytes);
  }
  if (!ok) ++refused_dma_;
  delay += sc_core::sc_time(
      kBusLatencyNs + static_cast<double>(bytes) / kBusBytesPerNs,
      sc_core::SC_NS);
  payload.set_response_status(ok ? tlm::TLM_OK_RESPONSE
                                 : tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

void HostBridge::ConfigRead(uint32_t offset, void* to, size_t bytes) {
  if (Gone()) {
    std::memset(to, 0xff, bytes);
  } else {
    config_->Read(offset, to, bytes);
  }
}

void HostBridge::ConfigWrite(uint32_t offset, const void* from, size_t bytes) {
  if (Gone()) return;
  const bool slept = !config_->PoweredUp();
  if (config_->Write(offset, from, bytes)) {
    Reset();
  } else {
    interrupts_->ConfigChanged();
  }
  if (slept && config_->PoweredUp() && faults_->power_loss) reset_(true);
}

bool HostBridge::Answers(uint32_t offset, size_t bytes) const {
  return !Gone() && config_->MemoryEnabled() && bytes == sizeof(uint32_t) &&
         offset % sizeof(uint32_t) == 0 && offset < reg::kBlockBytes;
}

void HostBridge::BarRead(uint32_t offset, void* to, size_t bytes) {
  sc_core::sc_time delay;
  if (!Answers(offset, bytes) || Transfer(registers, false, offset, to, bytes,
                                          &delay) != tlm::TLM_OK_RESPONSE) {
    std::memset(to, 0xff, bytes);
  }
  if (faults_->link_down_after == offset) {
    faults_->link_down_after.reset();
    faults_->link_down = true;
  }
}

void HostBridge::BarWrite(uint32_t offset, const void* from, size_t bytes) {
  if (!Answers(offset, bytes)) return;
  uint32_t word;
  std::memcpy(&word, from, sizeof(word));
  sc_core::sc_time delay;
  Transfer(registers, true, offset, &word, sizeof(word), &delay);
}

absl::Status HostBridge::DmaMap(uint64_t iova, uint64_t size, int fd,
                                uint64_t fd_offset, bool readable,
                                bool writable) {
  return memory_.Map(iova, size, fd, fd_offset, readable, writable);
}

absl::Status HostBridge::DmaUnmap(uint64_t iova, uint64_t size) {
  return memory_.Unmap(iova, size);
}

void HostBridge::DmaUnmapAll() { memory_.UnmapAll(); }

void HostBridge::SetInterruptSink(InterruptSink* sink) {
  interrupts_->SetSink(sink);
}

bool HostBridge::Message(uint32_t vector, MsiMessage* message) {
  return interrupts_->Message(vector, message);
}

void HostBridge::Reset() {
  config_->Reset();
  reset_(false);
}

void HostBridge::PowerCycle() {
  config_->Reset();
  memory_.UnmapAll();
  reset_(true);
}

}  // namespace heddle::platform
