// generated from rtl/spec by tools/specgen; do not edit.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
//
// Structures that card and driver exchange in memory: little-endian, naturally aligned, no
// implicit padding. Copy them with memcpy on a little-endian host.
#ifndef RTL_SPEC_GENERATED_DESCRIPTORS_H_
#define RTL_SPEC_GENERATED_DESCRIPTORS_H_

#include <cstddef>
#include <cstdint>

namespace heddle::desc {

// One entry of a job ring, in host memory that user space cannot reach. The driver writes entry
// HEAD modulo the ring's size, then the doorbell.
struct JobDescriptor {
  // value that the completion record repeats
  uint64_t fence = 0;
  // host address of step_count step structures, 64-byte aligned
  uint64_t steps_iova = 0;
  // 1 .. steps_max
  uint32_t step_count = 0;
  // other bits must be zero
  uint32_t flags = 0;
  // the client; reported, not interpreted
  uint32_t context_id = 0;
  // must be zero
  uint32_t reserved0 = 0;
  // must be zero
  uint64_t reserved1[4] = {};
};
static_assert(sizeof(JobDescriptor) == 64, "job_descriptor");
static_assert(offsetof(JobDescriptor, fence) == 0, "job_descriptor.fence");
static_assert(offsetof(JobDescriptor, steps_iova) == 8, "job_descriptor.steps_iova");
static_assert(offsetof(JobDescriptor, step_count) == 16, "job_descriptor.step_count");
static_assert(offsetof(JobDescriptor, flags) == 20, "job_descriptor.flags");
static_assert(offsetof(JobDescriptor, context_id) == 24, "job_descriptor.context_id");
static_assert(offsetof(JobDescriptor, reserved0) == 28, "job_descriptor.reserved0");
static_assert(offsetof(JobDescriptor, reserved1) == 32, "job_descriptor.reserved1");
// write zero to the whole SRAM and to the accumulators before the first step; set when the
// previous job was another client's
inline constexpr uint32_t kJobDescriptorFlagsClearSramMask = 0x1;
inline constexpr int kJobDescriptorFlagsClearSramShift = 0;
// raise the completion interrupt when the record is written
inline constexpr uint32_t kJobDescriptorFlagsInterruptMask = 0x2;
inline constexpr int kJobDescriptorFlagsInterruptShift = 1;

// One step of a job. Steps run one after another in order, and every step sees all that the steps
// before it wrote; flags.overlap alone lets one begin earlier.
struct Step {
  // what to do (isa::StepType)
  uint32_t type = 0;
  // other bits must be zero
  uint32_t flags = 0;
  // copy_in, fill: destination; copy_out, copy: source; run: the command stream (stream_align)
  uint64_t device_address = 0;
  // bytes to copy or fill; run: bytes of the command stream (multiple of 16)
  uint64_t length = 0;
  // copy_in, copy_out: host address of sg_count scatter entries (16-byte aligned); run: host
  // address of the region table (16 region structures)
  uint64_t table_iova = 0;
  // entries of the scatter list; their lengths add up to length
  uint32_t sg_count = 0;
  // fill: the 32-bit pattern; length is a multiple of 4
  uint32_t fill_value = 0;
  // copy: destination device address; the ranges may overlap, the result is as if the source had
  // been read first
  uint64_t destination = 0;
  // must be zero
  uint64_t reserved1[2] = {};
};
static_assert(sizeof(Step) == 64, "step");
static_assert(offsetof(Step, type) == 0, "step.type");
static_assert(offsetof(Step, flags) == 4, "step.flags");
static_assert(offsetof(Step, device_address) == 8, "step.device_address");
static_assert(offsetof(Step, length) == 16, "step.length");
static_assert(offsetof(Step, table_iova) == 24, "step.table_iova");
static_assert(offsetof(Step, sg_count) == 32, "step.sg_count");
static_assert(offsetof(Step, fill_value) == 36, "step.fill_value");
static_assert(offsetof(Step, destination) == 40, "step.destination");
static_assert(offsetof(Step, reserved1) == 48, "step.reserved1");
// since minor version 1. Of copy_in, copy_out, copy and fill that follow a run step, directly or
// behind others with this flag: the card may execute the step while it executes that run. Such
// steps are executed in order, one after another; a step without the flag waits for all before
// it. What run and step make of bytes that both touch, one of them writing, is undefined, and
// confined to what each may touch. If one of them fails the other comes to its end first, or to
// an abort; the run's failure is told rather than the step's
inline constexpr uint32_t kStepFlagsOverlapMask = 0x1;
inline constexpr int kStepFlagsOverlapShift = 0;

// One piece of a host buffer.
struct SgEntry {
  // host address
  uint64_t iova = 0;
  // bytes, not 0
  uint64_t length = 0;
};
static_assert(sizeof(SgEntry) == 16, "sg_entry");
static_assert(offsetof(SgEntry, iova) == 0, "sg_entry.iova");
static_assert(offsetof(SgEntry, length) == 8, "sg_entry.length");

// One entry of a run step's region table. Every burst of the stream is checked against it by the
// hardware.
struct Region {
  // device address, region_align
  uint64_t base = 0;
  // bytes; 0 = not bound
  uint64_t size = 0;
  // other bits must be zero
  uint32_t flags = 0;
  // must be zero
  uint32_t reserved0 = 0;
  // must be zero
  uint64_t reserved1 = 0;
};
static_assert(sizeof(Region) == 32, "region");
static_assert(offsetof(Region, base) == 0, "region.base");
static_assert(offsetof(Region, size) == 8, "region.size");
static_assert(offsetof(Region, flags) == 16, "region.flags");
static_assert(offsetof(Region, reserved0) == 20, "region.reserved0");
static_assert(offsetof(Region, reserved1) == 24, "region.reserved1");
// stores are allowed
inline constexpr uint32_t kRegionFlagsWritableMask = 0x1;
inline constexpr int kRegionFlagsWritableShift = 0;

// One entry of the completion ring, written by the card in one piece except `sequence`, which is
// written last. The driver knows a new entry by its sequence number.
struct Completion {
  // of the job descriptor
  uint64_t fence = 0;
  // an error code; 0 = ok
  uint32_t status = 0;
  // the ring that the job came from
  uint32_t ring = 0;
  // of the job descriptor
  uint32_t context_id = 0;
  // index of the step that failed
  uint32_t fault_step = 0;
  // byte offset in the stream of the command that failed
  uint32_t fault_offset = 0;
  // tag field of that command
  uint32_t fault_tag = 0;
  // engine that failed (isa::Engine)
  uint32_t fault_engine = 0;
  // region of the failing access
  uint32_t fault_region = 0;
  // offset in the region, SRAM byte address, index, or host or device address, as the status says
  uint64_t fault_address = 0;
  // core cycles from fetching the descriptor to writing this record; 0 on a core without timing
  uint64_t cycles = 0;
  // commands retired
  uint64_t commands = 0;
  // multiply-accumulates retired by matrix and vector engine, as each instruction defines them
  // (padding taps counted, idle lanes not)
  uint64_t macs = 0;
  // bytes read from device memory by loads
  uint64_t bytes_loaded = 0;
  // bytes written to device memory by stores
  uint64_t bytes_stored = 0;
  // cycles in which the array worked on a command or waited to go on; 0 on a core without timing
  uint64_t matrix_busy = 0;
  // cycles in which the vector engine had a command; 0 on a core without timing
  uint64_t vector_busy = 0;
  // cycles in which load or store DMA had a command; 0 on a core without timing
  uint64_t dma_busy = 0;
  // bytes moved between host and device memory by copy steps
  uint64_t bytes_copied = 0;
  // zero
  uint32_t reserved0 = 0;
  // number of completion records the card has written since ring enable, counting from 1, modulo
  // 2^32
  uint32_t sequence = 0;
};
static_assert(sizeof(Completion) == 128, "completion");
static_assert(offsetof(Completion, fence) == 0, "completion.fence");
static_assert(offsetof(Completion, status) == 8, "completion.status");
static_assert(offsetof(Completion, ring) == 12, "completion.ring");
static_assert(offsetof(Completion, context_id) == 16, "completion.context_id");
static_assert(offsetof(Completion, fault_step) == 20, "completion.fault_step");
static_assert(offsetof(Completion, fault_offset) == 24, "completion.fault_offset");
static_assert(offsetof(Completion, fault_tag) == 28, "completion.fault_tag");
static_assert(offsetof(Completion, fault_engine) == 32, "completion.fault_engine");
static_assert(offsetof(Completion, fault_region) == 36, "completion.fault_region");
static_assert(offsetof(Completion, fault_address) == 40, "completion.fault_address");
static_assert(offsetof(Completion, cycles) == 48, "completion.cycles");
static_assert(offsetof(Completion, commands) == 56, "completion.commands");
static_assert(offsetof(Completion, macs) == 64, "completion.macs");
static_assert(offsetof(Completion, bytes_loaded) == 72, "completion.bytes_loaded");
static_assert(offsetof(Completion, bytes_stored) == 80, "completion.bytes_stored");
static_assert(offsetof(Completion, matrix_busy) == 88, "completion.matrix_busy");
static_assert(offsetof(Completion, vector_busy) == 96, "completion.vector_busy");
static_assert(offsetof(Completion, dma_busy) == 104, "completion.dma_busy");
static_assert(offsetof(Completion, bytes_copied) == 112, "completion.bytes_copied");
static_assert(offsetof(Completion, reserved0) == 120, "completion.reserved0");
static_assert(offsetof(Completion, sequence) == 124, "completion.sequence");

}  // namespace heddle::desc

#endif  // RTL_SPEC_GENERATED_DESCRIPTORS_H_
