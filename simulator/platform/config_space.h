// SPDX-License-Identifier: Apache-2.0
//
// PCI config space of the card, 256 bytes: type 0 header with one 32-bit
// memory BAR, and capabilities
//
//   0x40 power management (D0, D3hot; no soft reset)
//   0x50 MSI: 64-bit address, one vector, no per-vector mask
//   0x60 MSI-X: table and pending bits in BAR0 (registers.toml [pci])
//   0x70 PCI Express 2.0 endpoint, function-level reset
//
// Identity comes from registers.toml. Writes change only the bits that the PCI
// specifications call writable.
#ifndef HEDDLE_SIMULATOR_PLATFORM_CONFIG_SPACE_H_
#define HEDDLE_SIMULATOR_PLATFORM_CONFIG_SPACE_H_

#include <cstddef>
#include <cstdint>

#include "rtl/spec/generated/registers.h"
#include "simulator/platform/card.h"

namespace heddle::platform {

class ConfigSpace {
 public:
  // Offsets of the capabilities.
  static constexpr uint32_t kPowerManagement = 0x40;
  static constexpr uint32_t kMsi = 0x50;
  static constexpr uint32_t kMsix = 0x60;
  static constexpr uint32_t kExpress = 0x70;

  ConfigSpace() { Reset(); }

  // Bytes beyond the end read as ones.
  void Read(uint32_t offset, void* to, size_t bytes) const;
  // Returns true when the write asked for a function-level reset.
  bool Write(uint32_t offset, const void* from, size_t bytes);
  void Reset();

  // The function is in D0.
  bool PoweredUp() const;
  // Memory space is enabled and the function is in D0.
  bool MemoryEnabled() const;
  // The function may write to and read from host memory and send interrupts.
  bool BusMaster() const;
  bool MsiEnabled() const;
  bool MsixEnabled() const;
  // MSI-X: all vectors masked.
  bool MsixFunctionMask() const;
  MsiMessage Msi() const;
  uint32_t Bar0() const;

 private:
  uint32_t Get(uint32_t offset, size_t bytes) const;
  void Put(uint32_t offset, uint32_t value, size_t bytes);

  uint8_t bytes_[reg::kPciConfigBytes];
  uint8_t writable_[reg::kPciConfigBytes];
};

}  // namespace heddle::platform

#endif  // HEDDLE_SIMULATOR_PLATFORM_CONFIG_SPACE_H_
