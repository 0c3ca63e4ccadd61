// SPDX-License-Identifier: Apache-2.0
#include "simulator/platform/config_space.h"

#include <cstring>

namespace heddle::platform {
namespace {

// Header.
constexpr uint32_t kVendor = 0x00;
constexpr uint32_t kDevice = 0x02;
constexpr uint32_t kCommand = 0x04;
constexpr uint32_t kCommandMemory = 1u << 1;
constexpr uint32_t kCommandMaster = 1u << 2;
constexpr uint32_t kCommandParity = 1u << 6;
constexpr uint32_t kCommandSerr = 1u << 8;
constexpr uint32_t kCommandNoIntx = 1u << 10;
constexpr uint32_t kStatus = 0x06;
constexpr uint32_t kStatusCapabilities = 1u << 4;
constexpr uint32_t kRevision = 0x08;
constexpr uint32_t kClass = 0x09;
constexpr uint32_t kCacheLine = 0x0c;
constexpr uint32_t kBar0 = 0x10;
constexpr uint32_t kSubsystemVendor = 0x2c;
constexpr uint32_t kSubsystem = 0x2e;
constexpr uint32_t kCapabilityPointer = 0x34;
constexpr uint32_t kInterruptLine = 0x3c;

// Capability ids.
constexpr uint32_t kIdPowerManagement = 0x01;
constexpr uint32_t kIdMsi = 0x05;
constexpr uint32_t kIdExpress = 0x10;
constexpr uint32_t kIdMsix = 0x11;

// Power management: PMC version 3; PMCSR bit 3 "no soft reset".
constexpr uint32_t kPmc = 2;
constexpr uint32_t kPmcsr = 4;
constexpr uint32_t kPmcsrStateMask = 3;
constexpr uint32_t kPmcsrNoSoftReset = 1u << 3;

// MSI.
constexpr uint32_t kMsiControl = 2;
constexpr uint32_t kMsiEnable = 1u << 0;
constexpr uint32_t kMsi64 = 1u << 7;
constexpr uint32_t kMsiAddress = 4;
constexpr uint32_t kMsiData = 12;

// MSI-X.
constexpr uint32_t kMsixControl = 2;
constexpr uint32_t kMsixMask = 1u << 14;
constexpr uint32_t kMsixEnable = 1u << 15;
constexpr uint32_t kMsixTable = 4;
constexpr uint32_t kMsixPba = 8;

// PCI Express.
constexpr uint32_t kExpressFlags = 2;
constexpr uint32_t kExpressDeviceCap = 4;
constexpr uint32_t kDeviceCapFlr = 1u << 28;
constexpr uint32_t kDeviceCapRoleBased = 1u << 15;
constexpr uint32_t kExpressDeviceControl = 8;
constexpr uint32_t kDeviceControlFlr = 1u << 15;
constexpr uint32_t kExpressLinkCap = 12;
constexpr uint32_t kExpressLinkControl = 16;
constexpr uint32_t kExpressLinkStatus = 18;
constexpr uint32_t kExpressLinkControl2 = 48;
// Gen 3 (8 GT/s), 4 lanes.
constexpr uint32_t kLinkSpeed = 3;
constexpr uint32_t kLinkWidth = 4;

}  // namespace

void ConfigSpace::Reset() {
  std::memset(bytes_, 0, sizeof(bytes_));
  std::memset(writable_, 0, sizeof(writable_));
  auto writable = [this](uint32_t offset, uint32_t mask, size_t n) {
    std::memcpy(writable_ + offset, &mask, n);
  };

  Put(kVendor, reg::kPciVendorId, 2);
  Put(kDevice, reg::kPciDeviceId, 2);
  writable(kCommand,
           kCommandMemory | kCommandMaster | kCommandParity | kCommandSerr |
               kCommandNoIntx,
           2);
  Put(kStatus, kStatusCapabilities, 2);
  Put(kRevision, reg::kPciRevisionId, 1);
  Put(kClass, reg::kPciClassCode, 3);
  writable(kCacheLine, 0xff, 1);
  // Writing ones and reading back tells the size; the low bits are the type.
  writable(kBar0, ~(reg::kBlockBytes - 1), 4);
  Put(kSubsystemVendor, reg::kPciSubsystemVendorId, 2);
  Put(kSubsystem, reg::kPciSubsystemId, 2);
  Put(kCapabilityPointer, kPowerManagement, 1);
  writable(kInterruptLine, 0xff, 1);

  Put(kPowerManagement, kIdPowerManagement | kMsi << 8, 2);
  Put(kPowerManagement + kPmc, 3, 2);
  Put(kPowerManagement + kPmcsr, kPmcsrNoSoftReset, 2);
  writable(kPowerManagement + kPmcsr, kPmcsrStateMask, 2);

  Put(kMsi, kIdMsi | kMsix << 8, 2);
  Put(kMsi + kMsiControl, kMsi64, 2);
  writable(kMsi + kMsiControl, kMsiEnable, 2);
  writable(kMsi + kMsiAddress, ~3u, 4);
  writable(kMsi + kMsiAddress + 4, ~0u, 4);
  writable(kMsi + kMsiData, 0xffff, 2);

  Put(kMsix, kIdMsix | kExpress << 8, 2);
  Put(kMsix + kMsixControl, reg::kPciMsixVectors - 1, 2);
  writable(kMsix + kMsixControl, kMsixEnable | kMsixMask, 2);
  // The low three bits name the BAR.
  Put(kMsix + kMsixTable, reg::kPciMsixTableOffset | reg::kBar, 4);
  Put(kMsix + kMsixPba, reg::kPciMsixPbaOffset | reg::kBar, 4);

  Put(kExpress, kIdExpress, 2);
  Put(kExpress + kExpressFlags, 2, 2);  // version 2, endpoint
  Put(kExpress + kExpressDeviceCap, kDeviceCapFlr | kDeviceCapRoleBased | 1, 4);
  Put(kExpress + kExpressDeviceControl, 0x2810, 2);
  writable(kExpress + kExpressDeviceControl, 0x7fff, 2);
  Put(kExpress + kExpressLinkCap, kLinkSpeed | kLinkWidth << 4, 4);
  writable(kExpress + kExpressLinkControl, 0x00c3, 2);
  Put(kExpress + kExpressLinkStatus, kLinkSpeed | kLinkWidth << 4, 2);
  Put(kExpress + kExpressLinkControl2, kLinkSpeed, 2);
}

uint32_t ConfigSpace::Get(uint32_t offset, size_t bytes) const {
  uint32_t value = 0;
  std::memcpy(&value, bytes_ + offset, bytes);
  return value;
}

void ConfigSpace::Put(uint32_t offset, uint32_t value, size_t bytes) {
  std::memcpy(bytes_ + offset, &value, bytes);
}

void ConfigSpace::Read(uint32_t offset, void* to, size_t bytes) const {
  auto* out = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < bytes; ++i) {
    uint64_t at = uint64_t{offset} + i;
    out[i] = at < sizeof(bytes_) ? bytes_[at] : 0xff;
  }
}

bool ConfigSpace::Write(uint32_t offset, const void* from, size_t bytes) {
  const auto* in = static_cast<const uint8_t*>(from);
  bool reset = false;
  for (size_t i = 0; i < bytes; ++i) {
    uint64_t at = uint64_t{offset} + i;
    if (at >= sizeof(bytes_)) break;
    bytes_[at] = static_cast<uint8_t>((bytes_[at] & ~writable_[at]) |
                                      (in[i] & writable_[at]));
    // The reset bit reads zero, so it is not among the writable ones.
    if (at == kExpress + kExpressDeviceControl + 1 &&
        (in[i] & (kDeviceControlFlr >> 8))) {
      reset = true;
    }
  }
  return reset;
}

bool ConfigSpace::PoweredUp() const {
  return (Get(kPowerManagement + kPmcsr, 2) & kPmcsrStateMask) == 0;
}

bool ConfigSpace::MemoryEnabled() const {
  return PoweredUp() && (Get(kCommand, 2) & kCommandMemory);
}

bool ConfigSpace::BusMaster() const {
  return PoweredUp() && (Get(kCommand, 2) & kCommandMaster);
}

bool ConfigSpace::MsiEnabled() const {
  return Get(kMsi + kMsiControl, 2) & kMsiEnable;
}

bool ConfigSpace::MsixEnabled() const {
  return Get(kMsix + kMsixControl, 2) & kMsixEnable;
}

bool ConfigSpace::MsixFunctionMask() const {
  return Get(kMsix + kMsixControl, 2) & kMsixMask;
}

MsiMessage ConfigSpace::Msi() const {
  return {Get(kMsi + kMsiAddress, 4) | uint64_t{Get(kMsi + kMsiAddress + 4, 4)}
                                           << 32,
          Get(kMsi + kMsiData, 2)};
}

uint32_t ConfigSpace::Bar0() const {
  return Get(kBar0, 4) & ~(reg::kBlockBytes - 1);
}

}  // namespace heddle::platform
