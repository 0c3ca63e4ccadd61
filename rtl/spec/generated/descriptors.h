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
  // host address of trace_entries trace_entry structures, 32-byte aligned, all zero; must be zero
  // without flags.trace
  uint64_t trace_iova = 0;
  // how many there is room for; must be zero without flags.trace
  uint32_t trace_entries = 0;
  // must be zero
  uint32_t reserved1 = 0;
  // must be zero
  uint64_t reserved2[2] = {};
};
static_assert(sizeof(JobDescriptor) == 64, "job_descriptor");
static_assert(offsetof(JobDescriptor, fence) == 0, "job_descriptor.fence");
static_assert(offsetof(JobDescriptor, steps_iova) == 8, "job_descriptor.steps_iova");
static_assert(offsetof(JobDescriptor, step_count) == 16, "job_descriptor.step_count");
static_assert(offsetof(JobDescriptor, flags) == 20, "job_descriptor.flags");
static_assert(offsetof(JobDescriptor, context_id) == 24, "job_descriptor.context_id");
static_assert(offsetof(JobDescriptor, reserved0) == 28, "job_descriptor.reserved0");
static_assert(offsetof(JobDescriptor, trace_iova) == 32, "job_descriptor.trace_iova");
static_assert(offsetof(JobDescriptor, trace_entries) == 40, "job_descriptor.trace_entries");
static_assert(offsetof(JobDescriptor, reserved1) == 44, "job_descriptor.reserved1");
static_assert(offsetof(JobDescriptor, reserved2) == 48, "job_descriptor.reserved2");
// write zero to the whole SRAM and to the accumulators before the first step; set when the
// previous job was another client's
inline constexpr uint32_t kJobDescriptorFlagsClearSramMask = 0x1;
inline constexpr int kJobDescriptorFlagsClearSramShift = 0;
// raise the completion interrupt when the record is written
inline constexpr uint32_t kJobDescriptorFlagsInterruptMask = 0x2;
inline constexpr int kJobDescriptorFlagsInterruptShift = 1;
// since minor version 1. Write a trace_entry for each command that an engine retires
inline constexpr uint32_t kJobDescriptorFlagsTraceMask = 0x4;
inline constexpr int kJobDescriptorFlagsTraceShift = 2;

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
  // commands of the trace (trace_entry), those for which there was no room included; 0 without
  // flags.trace
  uint32_t trace_count = 0;
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
static_assert(offsetof(Completion, trace_count) == 120, "completion.trace_count");
static_assert(offsetof(Completion, sequence) == 124, "completion.sequence");

// One command that a job with flags.trace has retired: all but those of engine control; a command
// that failed or was not retired has none. Entry i of trace_iova is the command that was retired
// as number i of the job (from 0; of those of one cycle in the order of enum engine), as long as
// i is less than trace_entries. All entries are written before the completion record and when the
// next step starts. An entry that finds the card's queue of entries full is lost: its place in
// host memory is not written (flags.valid stays zero), and completion.trace_count counts it. The
// trace changes no cycle of a stream, but for what copies that overlap the run
// (step.flags.overlap) share with it. If an entry cannot be written, no further one is, the run
// comes to its end, and the job fails with host_dma at that run; fault_address is trace_iova.
struct TraceEntry {
  // cycle in which the engine took the command, which may be while it executes the one before;
  // cycles are counted as in completion.cycles, modulo 2^32. On a core without timing an estimate
  // of the cycle model, in which runs of a job follow each other at once
  uint32_t begin = 0;
  // cycle in which the command reached output_visible; as begin
  uint32_t end = 0;
  // byte offset of the command in the stream
  uint32_t offset = 0;
  // tag field of the command
  uint32_t tag = 0;
  // what the entry is of
  uint32_t flags = 0;
  // cycles after begin, up to and including end, in which this was the engine's oldest command
  // that was not retired and the engine could not go on, by reason. Matrix: 0 = weights are not
  // there; 1 = activations are not there; 2 = the output stage takes nothing (the first that
  // holds, in the order 1, 0, 2). Load and store: 0 = device memory: no SRAM access is asked for,
  // no beat of data moves, and a burst is to be asked for or not answered in full; 1 = SRAM: an
  // access is asked for and not granted. Vector: 0 = SRAM: an access of one of its four ports is
  // asked for and not granted. Others are zero
  uint32_t stall[3] = {};
};
static_assert(sizeof(TraceEntry) == 32, "trace_entry");
static_assert(offsetof(TraceEntry, begin) == 0, "trace_entry.begin");
static_assert(offsetof(TraceEntry, end) == 4, "trace_entry.end");
static_assert(offsetof(TraceEntry, offset) == 8, "trace_entry.offset");
static_assert(offsetof(TraceEntry, tag) == 12, "trace_entry.tag");
static_assert(offsetof(TraceEntry, flags) == 16, "trace_entry.flags");
static_assert(offsetof(TraceEntry, stall) == 20, "trace_entry.stall");
// enum engine
inline constexpr uint32_t kTraceEntryFlagsEngineMask = 0x7;
inline constexpr int kTraceEntryFlagsEngineShift = 0;
// index of the run step
inline constexpr uint32_t kTraceEntryFlagsStepMask = 0x3f00;
inline constexpr int kTraceEntryFlagsStepShift = 8;
// begin, end and stall are estimates: a core without timing
inline constexpr uint32_t kTraceEntryFlagsEstimatedMask = 0x10000;
inline constexpr int kTraceEntryFlagsEstimatedShift = 16;
// 1; 0 in memory that was zero before: the entry was lost, or has not been written
inline constexpr uint32_t kTraceEntryFlagsValidMask = 0x20000;
inline constexpr int kTraceEntryFlagsValidShift = 17;

}  // namespace heddle::desc

#endif  // RTL_SPEC_GENERATED_DESCRIPTORS_H_
