// generated from rtl/spec by tools/specgen; do not edit.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
//
// Registers of the card: byte offsets in BAR0, masks and shifts of their fields, and a table of
// all registers for tests (reset value, which bits can be written, ...).
#ifndef RTL_SPEC_GENERATED_REGISTERS_H_
#define RTL_SPEC_GENERATED_REGISTERS_H_

#include <cstddef>
#include <cstdint>

namespace heddle::reg {

inline constexpr int kBar = 0;
inline constexpr uint32_t kBlockBytes = 0x10000;

// PCI vendor; the number that virtual devices use, not an assigned one
inline constexpr uint32_t kPciVendorId = 0x1234;
// PCI device
inline constexpr uint32_t kPciDeviceId = 0x4e50;
// PCI revision
inline constexpr uint32_t kPciRevisionId = 0x1;
// processing accelerator
inline constexpr uint32_t kPciClassCode = 0x120000;
// PCI subsystem vendor
inline constexpr uint32_t kPciSubsystemVendorId = 0x1234;
// PCI subsystem
inline constexpr uint32_t kPciSubsystemId = 0x1;
// bytes of configuration space; no extended capabilities
inline constexpr uint32_t kPciConfigBytes = 0x100;
// MSI-X vectors
inline constexpr uint32_t kPciMsixVectors = 0x4;
// offset of the MSI-X table in BAR0
inline constexpr uint32_t kPciMsixTableOffset = 0x8000;
// offset of the MSI-X pending bits in BAR0
inline constexpr uint32_t kPciMsixPbaOffset = 0x9000;
// vectors of the MSI fallback
inline constexpr uint32_t kPciMsiVectors = 0x1;

// ASCII 'HEDL'. Any other value: not this card, or gone.
inline constexpr uint32_t kIdOffset = 0x0;
inline constexpr uint32_t kIdReset = 0x4c444548;

// Version of registers, descriptors and instruction set.
inline constexpr uint32_t kVersionOffset = 0x4;
inline constexpr uint32_t kVersionReset = 0x10001;
// additions: what an earlier minor version defines keeps its encoding, and streams that keep to
// it run; REVISIONS.md
inline constexpr uint32_t kVersionMinorMask = 0xffff;
inline constexpr int kVersionMinorShift = 0;
// incompatible changes
inline constexpr uint32_t kVersionMajorMask = 0xffff0000;
inline constexpr int kVersionMajorShift = 16;

// id of the configuration (config.toml). The reset value is h256's.
inline constexpr uint32_t kConfigOffset = 0x8;
inline constexpr uint32_t kConfigReset = 0x1;

// What executes the commands.
inline constexpr uint32_t kCoreKindOffset = 0xc;
inline constexpr uint32_t kCoreKindReset = 0x0;
// silicon, RTL simulation or functional model
inline constexpr uint32_t kCoreKindKindMask = 0xf;
inline constexpr int kCoreKindKindShift = 0;

// Device memory in bytes, low half. The reset value is the default card's.
inline constexpr uint32_t kDramLoOffset = 0x10;
inline constexpr uint32_t kDramLoReset = 0x20000000;

// Device memory in bytes, high half.
inline constexpr uint32_t kDramHiOffset = 0x14;
inline constexpr uint32_t kDramHiReset = 0x0;

// Serial number of the card, low half; the same after a re-plug.
inline constexpr uint32_t kUniqueLoOffset = 0x18;
inline constexpr uint32_t kUniqueLoReset = 0x0;

// Serial number of the card, high half.
inline constexpr uint32_t kUniqueHiOffset = 0x1c;
inline constexpr uint32_t kUniqueHiReset = 0x0;

// State of the card.
inline constexpr uint32_t kStatusOffset = 0x20;
inline constexpr uint32_t kStatusReset = 0x1;
// out of reset; rings may be enabled
inline constexpr uint32_t kStatusReadyMask = 0x1;
inline constexpr int kStatusReadyShift = 0;
// a job is running
inline constexpr uint32_t kStatusBusyMask = 0x2;
inline constexpr int kStatusBusyShift = 1;
// a job was aborted or the engine faulted in a way that needs RESET.engine
inline constexpr uint32_t kStatusHaltedMask = 0x4;
inline constexpr int kStatusHaltedShift = 2;
// ring of the running job
inline constexpr uint32_t kStatusRingMask = 0xf00;
inline constexpr int kStatusRingShift = 8;

// Write one bit. STATUS.ready falls and rises again when done.
inline constexpr uint32_t kResetOffset = 0x24;
inline constexpr uint32_t kResetReset = 0x0;
// end the running job with status aborted, reset engines, queues, semaphores; clear SRAM and
// accumulators; device memory and rings keep their contents
inline constexpr uint32_t kResetEngineMask = 0x1;
inline constexpr int kResetEngineShift = 0;
// as engine, and disable the rings and interrupts and clear all registers; device memory keeps
// its contents
inline constexpr uint32_t kResetCardMask = 0x2;
inline constexpr int kResetCardShift = 1;

// Writing the low 32 bits of the running job's fence ends that job with status aborted at the
// next command boundary; another value does nothing. If an engine hangs, STATUS.halted does not
// rise and RESET.engine is needed.
inline constexpr uint32_t kAbortOffset = 0x28;
inline constexpr uint32_t kAbortReset = 0x0;

// Counts retired commands and copied 4 KiB pieces, modulo 2^32. A job whose PROGRESS stands still
// is stuck.
inline constexpr uint32_t kProgressOffset = 0x2c;
inline constexpr uint32_t kProgressReset = 0x0;

// Fence of the running job, low half.
inline constexpr uint32_t kRunningLoOffset = 0x30;
inline constexpr uint32_t kRunningLoReset = 0x0;

// Fence of the running job, high half.
inline constexpr uint32_t kRunningHiOffset = 0x34;
inline constexpr uint32_t kRunningHiReset = 0x0;

// Pending interrupts. Each bit has the MSI-X vector of its number; MSI uses vector 0 for all.
inline constexpr uint32_t kIntStatusOffset = 0x40;
inline constexpr uint32_t kIntStatusReset = 0x0;
// a completion record was written
inline constexpr uint32_t kIntStatusCompletionMask = 0x1;
inline constexpr int kIntStatusCompletionShift = 0;
// a job ended with a status other than ok
inline constexpr uint32_t kIntStatusFaultMask = 0x2;
inline constexpr int kIntStatusFaultShift = 1;
// the size of device memory changed
inline constexpr uint32_t kIntStatusMemoryMask = 0x4;
inline constexpr int kIntStatusMemoryShift = 2;
// the card met an error that belongs to no job; see DEVICE_ERROR
inline constexpr uint32_t kIntStatusErrorMask = 0x8;
inline constexpr int kIntStatusErrorShift = 3;

// Which bits of INT_STATUS raise interrupts.
inline constexpr uint32_t kIntEnableOffset = 0x44;
inline constexpr uint32_t kIntEnableReset = 0x0;
// one bit per interrupt
inline constexpr uint32_t kIntEnableMaskMask = 0xf;
inline constexpr int kIntEnableMaskShift = 0;

// Sets bits of INT_STATUS, for the driver's interrupt self-test.
inline constexpr uint32_t kIntRaiseOffset = 0x48;
inline constexpr uint32_t kIntRaiseReset = 0x0;
// one bit per interrupt
inline constexpr uint32_t kIntRaiseMaskMask = 0xf;
inline constexpr int kIntRaiseMaskShift = 0;

// Error code (errors.toml) of the last error that belongs to no job; writing all ones clears it.
inline constexpr uint32_t kDeviceErrorOffset = 0x4c;
inline constexpr uint32_t kDeviceErrorReset = 0x0;

// Host address of the completion ring, 128-byte aligned, low half.
inline constexpr uint32_t kCompletionBaseLoOffset = 0x60;
inline constexpr uint32_t kCompletionBaseLoReset = 0x0;

// Host address of the completion ring, high half.
inline constexpr uint32_t kCompletionBaseHiOffset = 0x64;
inline constexpr uint32_t kCompletionBaseHiReset = 0x0;

// Entries of the completion ring: a power of two up to ring_entries_max; at least the sum of all
// job rings. Writing it restarts the sequence number at 1 and enables the ring (0 disables).
inline constexpr uint32_t kCompletionSizeOffset = 0x68;
inline constexpr uint32_t kCompletionSizeReset = 0x0;

// Records written since enable, modulo 2^32.
inline constexpr uint32_t kCompletionTailOffset = 0x6c;
inline constexpr uint32_t kCompletionTailReset = 0x0;

// Host address of a job ring, 64-byte aligned, low half. Write while RING_SIZE is 0.
inline constexpr uint32_t kRingBaseLoCount = 4;
inline constexpr uint32_t kRingBaseLoStride = 0x20;
constexpr uint32_t RingBaseLoOffset(uint32_t i) { return 0x100 + i * 0x20; }
inline constexpr uint32_t kRingBaseLoReset = 0x0;

// Host address of a job ring, high half.
inline constexpr uint32_t kRingBaseHiCount = 4;
inline constexpr uint32_t kRingBaseHiStride = 0x20;
constexpr uint32_t RingBaseHiOffset(uint32_t i) { return 0x104 + i * 0x20; }
inline constexpr uint32_t kRingBaseHiReset = 0x0;

// Entries of the ring: a power of two up to ring_entries_max. Writing a value other than 0
// enables the ring with head = tail = 0; 0 disables it, its unstarted jobs are forgotten.
inline constexpr uint32_t kRingSizeCount = 4;
inline constexpr uint32_t kRingSizeStride = 0x20;
constexpr uint32_t RingSizeOffset(uint32_t i) { return 0x108 + i * 0x20; }
inline constexpr uint32_t kRingSizeReset = 0x0;

// Doorbell: number of descriptors the driver has written since enable, modulo 2^32. More than
// RING_SIZE ahead of RING_TAIL: ignored, DEVICE_ERROR = illegal_descriptor.
inline constexpr uint32_t kRingHeadCount = 4;
inline constexpr uint32_t kRingHeadStride = 0x20;
constexpr uint32_t RingHeadOffset(uint32_t i) { return 0x10c + i * 0x20; }
inline constexpr uint32_t kRingHeadReset = 0x0;

// Number of descriptors the card has finished since enable, modulo 2^32.
inline constexpr uint32_t kRingTailCount = 4;
inline constexpr uint32_t kRingTailStride = 0x20;
constexpr uint32_t RingTailOffset(uint32_t i) { return 0x110 + i * 0x20; }
inline constexpr uint32_t kRingTailReset = 0x0;

// Core cycles since reset, low half; reading it latches the high half. 0 on a core without
// timing.
inline constexpr uint32_t kCounterCyclesLoOffset = 0x200;
inline constexpr uint32_t kCounterCyclesLoReset = 0x0;

// Core cycles since reset, latched high half.
inline constexpr uint32_t kCounterCyclesHiOffset = 0x204;
inline constexpr uint32_t kCounterCyclesHiReset = 0x0;

// Multiply-accumulates since reset, low half; reading it latches the high half.
inline constexpr uint32_t kCounterMacsLoOffset = 0x208;
inline constexpr uint32_t kCounterMacsLoReset = 0x0;

// Multiply-accumulates since reset, latched high half.
inline constexpr uint32_t kCounterMacsHiOffset = 0x20c;
inline constexpr uint32_t kCounterMacsHiReset = 0x0;

// Jobs completed since reset, modulo 2^32.
inline constexpr uint32_t kCounterJobsOffset = 0x210;
inline constexpr uint32_t kCounterJobsReset = 0x0;

// Jobs completed with a status other than ok since reset, modulo 2^32.
inline constexpr uint32_t kCounterFaultsOffset = 0x214;
inline constexpr uint32_t kCounterFaultsReset = 0x0;

// Engine and card resets since power-up, modulo 2^32.
inline constexpr uint32_t kCounterResetsOffset = 0x218;
inline constexpr uint32_t kCounterResetsReset = 0x0;

// Words of SRAM that had one wrong bit and were corrected and written back, since RESET.card;
// stays at 2^32 - 1.
inline constexpr uint32_t kCounterSramCorrectedOffset = 0x21c;
inline constexpr uint32_t kCounterSramCorrectedReset = 0x0;

// Holds what was written; for the driver's access self-test.
inline constexpr uint32_t kScratchOffset = 0xffc;
inline constexpr uint32_t kScratchReset = 0x0;


enum class Access : uint8_t { kRo, kRw, kWo, kW1c, kW1s };

// A register as data. Bits of no mask are reserved: they read zero and ignore writes.
struct RegisterInfo {
  const char* name;
  uint32_t offset;
  uint32_t count;     // 1 for a single register
  uint32_t stride;    // bytes between the registers of an array
  Access access;      // of the register; fields may differ, see the masks
  bool is_volatile;   // the card changes it on its own: do not test read-back
  uint32_t reset;
  uint32_t ro_mask;
  uint32_t rw_mask;
  uint32_t wo_mask;
  uint32_t w1c_mask;
  uint32_t w1s_mask;
};

inline constexpr size_t kNumRegisters = 36;
inline constexpr RegisterInfo kRegisters[kNumRegisters] = {
    {"ID", 0x0, 1, 0x4, Access::kRo, false, 0x4c444548, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"VERSION", 0x4, 1, 0x4, Access::kRo, false, 0x10001, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"CONFIG", 0x8, 1, 0x4, Access::kRo, true, 0x1, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"CORE_KIND", 0xc, 1, 0x4, Access::kRo, true, 0x0, 0xf, 0x0, 0x0, 0x0, 0x0},
    {"DRAM_LO", 0x10, 1, 0x4, Access::kRo, true, 0x20000000, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"DRAM_HI", 0x14, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"UNIQUE_LO", 0x18, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"UNIQUE_HI", 0x1c, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"STATUS", 0x20, 1, 0x4, Access::kRo, true, 0x1, 0xf07, 0x0, 0x0, 0x0, 0x0},
    {"RESET", 0x24, 1, 0x4, Access::kWo, false, 0x0, 0x0, 0x0, 0x3, 0x0, 0x0},
    {"ABORT", 0x28, 1, 0x4, Access::kWo, false, 0x0, 0x0, 0x0, 0xffffffff, 0x0, 0x0},
    {"PROGRESS", 0x2c, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"RUNNING_LO", 0x30, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"RUNNING_HI", 0x34, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"INT_STATUS", 0x40, 1, 0x4, Access::kW1c, true, 0x0, 0x0, 0x0, 0x0, 0xf, 0x0},
    {"INT_ENABLE", 0x44, 1, 0x4, Access::kRw, false, 0x0, 0x0, 0xf, 0x0, 0x0, 0x0},
    {"INT_RAISE", 0x48, 1, 0x4, Access::kWo, false, 0x0, 0x0, 0x0, 0xf, 0x0, 0x0},
    {"DEVICE_ERROR", 0x4c, 1, 0x4, Access::kW1c, true, 0x0, 0x0, 0x0, 0x0, 0xffffffff, 0x0},
    {"COMPLETION_BASE_LO", 0x60, 1, 0x4, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"COMPLETION_BASE_HI", 0x64, 1, 0x4, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"COMPLETION_SIZE", 0x68, 1, 0x4, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"COMPLETION_TAIL", 0x6c, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"RING_BASE_LO", 0x100, 4, 0x20, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"RING_BASE_HI", 0x104, 4, 0x20, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"RING_SIZE", 0x108, 4, 0x20, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"RING_HEAD", 0x10c, 4, 0x20, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
    {"RING_TAIL", 0x110, 4, 0x20, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_CYCLES_LO", 0x200, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_CYCLES_HI", 0x204, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_MACS_LO", 0x208, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_MACS_HI", 0x20c, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_JOBS", 0x210, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_FAULTS", 0x214, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_RESETS", 0x218, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"COUNTER_SRAM_CORRECTED", 0x21c, 1, 0x4, Access::kRo, true, 0x0, 0xffffffff, 0x0, 0x0, 0x0, 0x0},
    {"SCRATCH", 0xffc, 1, 0x4, Access::kRw, false, 0x0, 0x0, 0xffffffff, 0x0, 0x0, 0x0},
};

}  // namespace heddle::reg

#endif  // RTL_SPEC_GENERATED_REGISTERS_H_
