/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * User interface of the Heddle NPU driver.
 *
 * Rules for all structures: 64-bit layout with explicit padding; fields named
 * "pad" or "reserved" and unknown flags must be zero (-EINVAL). A user pointer is
 * always a {pointer, count, stride} triple, so that structures can grow: the driver
 * reads min(stride, its own size) bytes of each element and rejects non-zero bytes
 * beyond the size it knows (-E2BIG). An ioctl's own structure grows at its end: fields
 * that an older program does not send are zero, and fields that a newer program sends
 * have no effect without a flag or count that an older driver rejects or ignores. Place
 * new ioctls at the end.
 *
 * Errors common to all: -ENODEV the card is gone, -EINVAL a field has an invalid
 * value, -ENOENT a handle or id does not exist, -EFAULT a pointer is not accessible,
 * -ENOMEM out of system memory.
 */
#ifndef _UAPI_HEDDLE_DRM_H_
#define _UAPI_HEDDLE_DRM_H_

#include "drm.h"

#if defined(__cplusplus)
extern "C" {
#endif

#define DRM_HEDDLE_QUERY		0x00
#define DRM_HEDDLE_CONTEXT_CREATE	0x01
#define DRM_HEDDLE_CONTEXT_DESTROY	0x02
#define DRM_HEDDLE_BO_CREATE		0x03
#define DRM_HEDDLE_BO_INFO		0x04
#define DRM_HEDDLE_STREAM_CREATE	0x05
#define DRM_HEDDLE_STREAM_DESTROY	0x06
#define DRM_HEDDLE_SUBMIT		0x07
#define DRM_HEDDLE_WAIT			0x08
#define DRM_HEDDLE_EVENTS		0x09
#define DRM_HEDDLE_CONTEXT_CONTROL	0x0a

/**
 * struct drm_heddle_array - an array in user memory
 * @ptr: address of the first element
 * @count: number of elements
 * @stride: bytes from one element to the next, at least the element's first
 *          published size, at most DRM_HEDDLE_STRIDE_MAX if it is read
 */
#define DRM_HEDDLE_STRIDE_MAX	4096
struct drm_heddle_array {
	__u64 ptr;
	__u32 count;
	__u32 stride;
};

/** enum drm_heddle_query_type - what DRM_IOCTL_HEDDLE_QUERY returns */
enum drm_heddle_query_type {
	/** @DRM_HEDDLE_QUERY_DEVICE: struct drm_heddle_device_info */
	DRM_HEDDLE_QUERY_DEVICE = 0,
	/** @DRM_HEDDLE_QUERY_MEMORY: struct drm_heddle_memory_info */
	DRM_HEDDLE_QUERY_MEMORY = 1,
	/** @DRM_HEDDLE_QUERY_COUNTERS: struct drm_heddle_counters */
	DRM_HEDDLE_QUERY_COUNTERS = 2,
	/** @DRM_HEDDLE_QUERY_LIMITS: struct drm_heddle_limits */
	DRM_HEDDLE_QUERY_LIMITS = 3,
};

/**
 * struct drm_heddle_query - ask for a description of the card
 * @type: enum drm_heddle_query_type
 * @pad: zero
 * @data: count = 1; filled with min(stride, size known to the driver) bytes;
 *        stride 0 only returns the size
 * @size: out: size known to the driver
 */
struct drm_heddle_query {
	__u32 type;
	__u32 pad;
	struct drm_heddle_array data;
	__u64 size;
};

/**
 * struct drm_heddle_device_info - constant properties of the card
 * @config: id of the hardware configuration
 * @hw_version: VERSION register, major << 16 | minor. The driver supports that major
 *              version, and minor versions up to the one in DRM_IOCTL_VERSION
 * @core_kind: silicon, RTL or functional model
 * @priorities: number of priorities (0 is the highest)
 * @unique: serial number, the same after a re-plug
 * @max_stream_bytes: largest command stream
 * @max_steps: most steps of one submission
 * @pci_vendor: PCI vendor id
 * @pci_device: PCI device id
 * @pci_bdf: domain << 16 | bus << 8 | device << 3 | function
 * @pad: zero
 */
struct drm_heddle_device_info {
	__u32 config;
	__u32 hw_version;
	__u32 core_kind;
	__u32 priorities;
	__u64 unique;
	__u32 max_stream_bytes;
	__u32 max_steps;
	__u32 pci_vendor;
	__u32 pci_device;
	__u32 pci_bdf;
	__u32 pad;
};

/**
 * struct drm_heddle_memory_info - current use of device memory
 * @total: bytes of device memory available to DEVICE buffers and streams
 *         together (the card's size minus the reserve)
 * @used: bytes in use, each object rounded up to a page
 * @used_here: bytes in use by objects of this file
 * @generation: increases when @total changes
 */
struct drm_heddle_memory_info {
	__u64 total;
	__u64 used;
	__u64 used_here;
	__u64 generation;
};

/**
 * struct drm_heddle_limits - limits of a file and of a job
 *
 * Quotas count what this file holds; exceeding one gives -EDQUOT (jobs: -EAGAIN,
 * because the condition passes).
 * @run_cycles: most card cycles of a job, unless DRM_IOCTL_HEDDLE_CONTEXT_CONTROL
 *              sets another limit for its context
 * @timeout_ns: longest time without progress
 * @device_bytes: DEVICE buffers and streams, page-rounded
 * @pinned_bytes: HOST buffers mapped for the card
 * @buffers: buffers
 * @streams: command streams
 * @contexts: contexts
 * @jobs: jobs that have not ended
 * @hangs: number of hanging jobs after which a file is banned
 * @pad: zero
 */
struct drm_heddle_limits {
	__u64 run_cycles;
	__u64 timeout_ns;
	__u64 device_bytes;
	__u64 pinned_bytes;
	__u32 buffers;
	__u32 streams;
	__u32 contexts;
	__u32 jobs;
	__u32 hangs;
	__u32 pad;
};

/**
 * struct drm_heddle_counters - sums over all jobs since the driver attached
 *
 * Sums over all clients need CAP_PERFMON; without it, they cover this file's jobs.
 * @jobs: jobs completed
 * @faults: jobs completed with an error
 * @resets: engine resets
 * @compactions: compactions of device memory
 * @macs: multiply-accumulates retired
 * @cycles: core cycles in jobs (0 on a core without timing)
 * @bytes_copied: bytes moved between host and device memory
 * @queued: jobs waiting or running at the moment
 */
struct drm_heddle_counters {
	__u64 jobs;
	__u64 faults;
	__u64 resets;
	__u64 compactions;
	__u64 macs;
	__u64 cycles;
	__u64 bytes_copied;
	__u64 queued;
};

/**
 * struct drm_heddle_context_create - create a context, a queue of jobs
 *
 * Jobs of one context run in order of submission; jobs of different contexts in
 * order of priority. Contexts of the same priority take turns, or the oldest job goes
 * first, depending on the kernel scheduler's policy (gpu_sched.sched_policy). A
 * context whose job was aborted or faulted keeps working; only that job fails. When
 * jobs of this file hang too often (struct drm_heddle_limits), the file is banned: its
 * contexts accept no further jobs (-EIO).
 *
 * -EDQUOT: the file has reached its limit of contexts. -EIO: it is banned.
 * @priority: 0 (highest) to priorities - 1. 2 is normal; higher priorities (0 and
 *            1) need CAP_SYS_NICE (-EACCES)
 * @flags: zero
 * @context: out: id, not 0
 * @pad: zero
 */
struct drm_heddle_context_create {
	__u32 priority;
	__u32 flags;
	__u32 context;
	__u32 pad;
};

/**
 * struct drm_heddle_context_destroy - destroy a context
 *
 * Unfinished jobs are cancelled (-ECANCELED); a running one is aborted.
 * @context: id
 * @pad: zero
 */
struct drm_heddle_context_destroy {
	__u32 context;
	__u32 pad;
};

/** enum drm_heddle_placement - where a buffer lives */
enum drm_heddle_placement {
	/** @DRM_HEDDLE_HOST: system memory; can be mapped and exported; only
	 * copy steps access it
	 */
	DRM_HEDDLE_HOST = 0,
	/** @DRM_HEDDLE_DEVICE: the card's memory; can be a region of a run
	 * step; zero before first use; cannot be mapped or exported
	 */
	DRM_HEDDLE_DEVICE = 1,
};

/**
 * struct drm_heddle_bo_create - create a buffer
 *
 * -ENOSPC: not enough DEVICE memory (by the sum of page-rounded sizes, never
 * because of fragmentation). -EDQUOT: the file's quota is exhausted.
 * @size: bytes, not 0; rounded up to a page
 * @placement: enum drm_heddle_placement
 * @flags: zero
 * @handle: out: GEM handle; closed by DRM_IOCTL_GEM_CLOSE
 * @pad: zero
 * @available: out, also with -ENOSPC: bytes of DEVICE memory left
 */
struct drm_heddle_bo_create {
	__u64 size;
	__u32 placement;
	__u32 flags;
	__u32 handle;
	__u32 pad;
	__u64 available;
};

/**
 * struct drm_heddle_bo_info - describe a buffer
 * @handle: GEM handle
 * @placement: out: enum drm_heddle_placement
 * @size: out: bytes, page-rounded
 * @mmap_offset: out: offset to pass to mmap (HOST), 0 for DEVICE
 */
struct drm_heddle_bo_info {
	__u32 handle;
	__u32 placement;
	__u64 size;
	__u64 mmap_offset;
};

/** enum heddle_validate_error - why a command stream was rejected */
enum heddle_validate_error {
	/** @HEDDLE_VALIDATE_OK: accepted */
	HEDDLE_VALIDATE_OK = 0,
	/** @HEDDLE_VALIDATE_SIZE: empty, too long, or not whole SRAM words */
	HEDDLE_VALIDATE_SIZE = 1,
	/** @HEDDLE_VALIDATE_OPCODE: no such instruction */
	HEDDLE_VALIDATE_OPCODE = 2,
	/** @HEDDLE_VALIDATE_LENGTH: length differs from the instruction's */
	HEDDLE_VALIDATE_LENGTH = 3,
	/** @HEDDLE_VALIDATE_TRUNCATED: the command crosses the stream's end */
	HEDDLE_VALIDATE_TRUNCATED = 4,
	/** @HEDDLE_VALIDATE_RESERVED: a reserved bit is set */
	HEDDLE_VALIDATE_RESERVED = 5,
	/** @HEDDLE_VALIDATE_FIELD: a field is out of its range */
	HEDDLE_VALIDATE_FIELD = 6,
	/** @HEDDLE_VALIDATE_RULE: a rule under "Legal if" is broken */
	HEDDLE_VALIDATE_RULE = 7,
	/** @HEDDLE_VALIDATE_SRAM: an access can leave SRAM */
	HEDDLE_VALIDATE_SRAM = 8,
	/** @HEDDLE_VALIDATE_REGION: an offset in a region does not fit 63 bits */
	HEDDLE_VALIDATE_REGION = 9,
	/** @HEDDLE_VALIDATE_WAIT: a wait is not satisfied in program order */
	HEDDLE_VALIDATE_WAIT = 10,
	/** @HEDDLE_VALIDATE_SIGNAL: a semaphore would exceed its maximum */
	HEDDLE_VALIDATE_SIGNAL = 11,
	/** @HEDDLE_VALIDATE_END: no `end` as the last command, or one before it */
	HEDDLE_VALIDATE_END = 12,
	/** @HEDDLE_VALIDATE_SEMAPHORE: two signallers or waiters without a barrier in between */
	HEDDLE_VALIDATE_SEMAPHORE = 13,
};

/**
 * struct drm_heddle_stream_create - copy and validate a command stream
 *
 * The stream is copied to device memory that nobody else can access. Its extent in
 * each region is computed once, here; SUBMIT compares it with the bound buffers.
 * -ENOEXEC: the stream is invalid; @error_offset and @error_code say where and why.
 * -ENOSPC and -EDQUOT as for BO_CREATE.
 * @data: the words: count = bytes, stride = 1
 * @flags: zero
 * @stream: out: id, not 0
 * @error_offset: out with -ENOEXEC: byte offset of the rejected command
 * @error_code: out with -ENOEXEC: enum heddle_validate_error
 */
struct drm_heddle_stream_create {
	struct drm_heddle_array data;
	__u32 flags;
	__u32 stream;
	__u32 error_offset;
	__u32 error_code;
};

/**
 * struct drm_heddle_stream_destroy - destroy a stream
 *
 * Jobs that use it keep it alive until they end.
 * @stream: id
 * @pad: zero
 */
struct drm_heddle_stream_destroy {
	__u32 stream;
	__u32 pad;
};

/**
 * struct drm_heddle_region - binds a buffer to a region of a run step
 * @index: region number
 * @handle: GEM handle of a DEVICE buffer
 * @offset: first byte, a multiple of 64
 * @size: bytes, not 0
 * @flags: DRM_HEDDLE_REGION_WRITE or 0
 * @pad: zero
 */
struct drm_heddle_region {
	__u32 index;
	__u32 handle;
	__u64 offset;
	__u64 size;
#define DRM_HEDDLE_REGION_WRITE	1
	__u32 flags;
	__u32 pad;
};

/** enum drm_heddle_step_type - kind of a step */
enum drm_heddle_step_type {
	/** @DRM_HEDDLE_COPY_IN: HOST buffer to DEVICE buffer */
	DRM_HEDDLE_COPY_IN = 1,
	/** @DRM_HEDDLE_RUN: run a command stream */
	DRM_HEDDLE_RUN = 2,
	/** @DRM_HEDDLE_COPY_OUT: DEVICE buffer to HOST buffer */
	DRM_HEDDLE_COPY_OUT = 3,
	/** @DRM_HEDDLE_STEP_COPY: DEVICE buffer to DEVICE buffer; since the driver's minor
	 * version 1. Ranges in one buffer may overlap: the result is as if the whole source were
	 * read first
	 */
	DRM_HEDDLE_STEP_COPY = 4,
	/** @DRM_HEDDLE_FILL: fill a DEVICE buffer with a 32-bit pattern */
	DRM_HEDDLE_FILL = 5,
};

/**
 * struct drm_heddle_step - one step of a job
 *
 * A step begins when the previous one has ended. Copies and fills with
 * DRM_HEDDLE_STEP_OVERLAP (since the driver's minor version 1) may execute in parallel
 * with a run: they follow it directly, or follow others with this flag that do, and keep
 * their order among each other; a step without the flag waits for all of them. They must
 * not write a byte that is bound to a region of that run, nor read one of a region with
 * DRM_HEDDLE_REGION_WRITE, so the job's results are the same as without the flag. The
 * flag is a permission: a card of hardware version 1.0 never sees it and executes the
 * steps one by one.
 * @type: enum drm_heddle_step_type
 * @stream: RUN: stream id
 * @src: COPY_IN: HOST handle; COPY_OUT, COPY: DEVICE handle
 * @dst: COPY_IN, FILL, COPY: DEVICE handle; COPY_OUT: HOST handle
 * @src_offset: bytes
 * @dst_offset: bytes
 * @length: bytes to copy or fill (FILL: multiple of 4)
 * @fill_value: FILL: pattern
 * @flags: DRM_HEDDLE_STEP_OVERLAP or 0; RUN: 0
 * @regions: RUN: array of struct drm_heddle_region
 */
struct drm_heddle_step {
	__u32 type;
	__u32 stream;
	__u32 src;
	__u32 dst;
	__u64 src_offset;
	__u64 dst_offset;
	__u64 length;
	__u32 fill_value;
#define DRM_HEDDLE_STEP_OVERLAP	1
	__u32 flags;
	struct drm_heddle_array regions;
};

/**
 * struct drm_heddle_sync - a point of a syncobj
 * @handle: syncobj handle
 * @pad: zero
 * @point: timeline point, 0 for a binary syncobj
 */
struct drm_heddle_sync {
	__u32 handle;
	__u32 pad;
	__u64 point;
};

/**
 * struct drm_heddle_submit - queue a job: a list of steps
 *
 * Fences are explicit: the job waits only for @in_syncs and signals only @out_syncs. It
 * neither waits for fences on a shared buffer (dma_resv) nor adds any; use
 * DMA_BUF_IOCTL_EXPORT_SYNC_FILE and _IMPORT_SYNC_FILE where another driver expects
 * them.
 *
 * -EINVAL: among others, a step with DRM_HEDDLE_STEP_OVERLAP does not follow a run, or
 * conflicts with the buffers of that run.
 * -ERANGE: a stream exceeds a bound region or writes to one bound without
 * DRM_HEDDLE_REGION_WRITE, or a copy exceeds its buffer; nothing is queued.
 * -EAGAIN: the context or the file has reached its limit of jobs in flight.
 * -EFBIG: the job can take more card cycles than its context's limit (the bound is
 * computed from the streams and the bytes copied). -EIO: the file is banned.
 * -EDQUOT: the job would exceed the file's quota of pinned memory. -EOPNOTSUPP: the
 * card has no traces (its hardware version is 1.0).
 *
 * With DRM_HEDDLE_SUBMIT_TRACE (since the driver's minor version 1) the card records
 * begin and end of each command of the job, and WAIT returns them. Their memory belongs
 * to the driver, counts towards pinned_bytes (struct drm_heddle_limits), and is kept as
 * long as the job's result; destroying the context frees it sooner.
 * @context: id
 * @flags: DRM_HEDDLE_SUBMIT_TRACE or 0
 * @steps: array of struct drm_heddle_step, 1 to max_steps
 * @in_syncs: array of struct drm_heddle_sync to wait for before the job starts;
 *            it starts even if a job that it waits for failed
 * @out_syncs: array of struct drm_heddle_sync signalled when it ends
 * @seqno: out: number of the job in its context, counting from 1
 * @timeout_ns: time without progress after which the job is aborted; 0, or more
 *              than the driver's limit = that limit
 * @trace_entries: with DRM_HEDDLE_SUBMIT_TRACE: capacity in commands, 1 to
 *                 DRM_HEDDLE_TRACE_ENTRIES_MAX; otherwise zero
 * @pad: zero
 */
struct drm_heddle_submit {
	__u32 context;
#define DRM_HEDDLE_SUBMIT_TRACE	1
	__u32 flags;
	struct drm_heddle_array steps;
	struct drm_heddle_array in_syncs;
	struct drm_heddle_array out_syncs;
	__u64 seqno;
	__u64 timeout_ns;
#define DRM_HEDDLE_TRACE_ENTRIES_MAX	65536
	__u32 trace_entries;
	__u32 pad;
};

/**
 * struct drm_heddle_result - how a job ended
 * @status: hardware status code; 0 = ok
 * @error: the corresponding errno, positive; 0 = ok
 * @fault_step: index of the step
 * @fault_offset: byte offset of the command in its stream
 * @fault_tag: tag of that command
 * @fault_region: region
 * @fault_address: as the status code defines it
 * @cycles: core cycles of the job
 * @macs: multiply-accumulates
 * @commands: commands retired
 * @bytes_loaded: bytes read from device memory
 * @bytes_stored: bytes written to device memory
 * @matrix_busy: cycles
 * @vector_busy: cycles
 * @dma_busy: cycles
 */
struct drm_heddle_result {
	__u32 status;
	__u32 error;
	__u32 fault_step;
	__u32 fault_offset;
	__u32 fault_tag;
	__u32 fault_region;
	__u64 fault_address;
	__u64 cycles;
	__u64 macs;
	__u64 commands;
	__u64 bytes_loaded;
	__u64 bytes_stored;
	__u64 matrix_busy;
	__u64 vector_busy;
	__u64 dma_busy;
};

/** enum drm_heddle_engine - engine that executes a command */
enum drm_heddle_engine {
	/** @DRM_HEDDLE_ENGINE_LOAD: device memory to SRAM, and fills of SRAM */
	DRM_HEDDLE_ENGINE_LOAD = 1,
	/** @DRM_HEDDLE_ENGINE_STORE: SRAM to device memory */
	DRM_HEDDLE_ENGINE_STORE = 2,
	/** @DRM_HEDDLE_ENGINE_MATRIX: convolutions and products */
	DRM_HEDDLE_ENGINE_MATRIX = 3,
	/** @DRM_HEDDLE_ENGINE_VECTOR: microprograms */
	DRM_HEDDLE_ENGINE_VECTOR = 4,
};

/**
 * struct drm_heddle_trace_entry - one command of a job, as recorded by the card
 *
 * Entries are in order of retirement. Commands that only wait and signal have entries like
 * all others; barriers and ends of streams have none. Cycles count as in struct
 * drm_heddle_result, modulo 2^32: from the start of the job, not of the step.
 * @begin: cycle in which the engine accepted the command, possibly while executing another
 * @end: cycle in which the command's results became visible
 * @offset: byte offset of the command in its stream
 * @tag: tag of the command
 * @engine: enum drm_heddle_engine
 * @step: index of the RUN step
 * @flags: DRM_HEDDLE_TRACE_ESTIMATED: the card's core has no timing; @begin, @end and
 *         the stalls are estimates. Without DRM_HEDDLE_TRACE_VALID the entry is empty:
 *         the card could not keep up, and nothing is known about this command
 * @stall0: cycles in which the command stalled. MATRIX: waiting for weights; VECTOR:
 *          for SRAM; LOAD, STORE: for device memory
 * @stall1: MATRIX: waiting for activations; LOAD, STORE: for SRAM
 * @stall2: MATRIX: waiting for its output to be taken
 */
struct drm_heddle_trace_entry {
	__u32 begin;
	__u32 end;
	__u32 offset;
	__u32 tag;
	__u8 engine;
	__u8 step;
#define DRM_HEDDLE_TRACE_ESTIMATED	1
#define DRM_HEDDLE_TRACE_VALID		2
	__u16 flags;
	__u32 stall0;
	__u32 stall1;
	__u32 stall2;
};

/**
 * struct drm_heddle_wait - wait for a job and fetch its result
 *
 * -ETIME: not done by the deadline. -ENODEV: the card is gone, or about to be: its last
 * writes may still arrive until the job's fence signals. -ENOENT: no such job, or its
 * result is no longer kept (the last 1024 of a context are).
 * -EINVAL: among others, @trace has more elements than the job had @trace_entries.
 * Returns 0 when the job has ended, whatever its status.
 * @context: id
 * @pad: zero
 * @seqno: job
 * @deadline_ns: absolute CLOCK_MONOTONIC time; 0 = do not wait, ~0 = no limit
 * @result: out: array of one struct drm_heddle_result, count 0 = not wanted
 * @trace: out: array of struct drm_heddle_trace_entry, the job's first commands,
 *         count 0 = not wanted. Entries after the last retired command are zero
 * @trace_count: out, if @trace is wanted: commands of the job, including those that
 *               did not fit
 * @reserved: zero
 */
struct drm_heddle_wait {
	__u32 context;
	__u32 pad;
	__u64 seqno;
	__u64 deadline_ns;
	struct drm_heddle_array result;
	struct drm_heddle_array trace;
	__u32 trace_count;
	__u32 reserved;
};

/** enum drm_heddle_event_type - kind of an event */
enum drm_heddle_event_type {
	/** @DRM_HEDDLE_EVENT_REMOVED: the card is gone */
	DRM_HEDDLE_EVENT_REMOVED = 1,
	/** @DRM_HEDDLE_EVENT_RESET: the engine was reset because a job hung; value =
	 * seqno of that job if it belongs to this file, otherwise 0. Aborting a job
	 * whose context was destroyed causes no event
	 */
	DRM_HEDDLE_EVENT_RESET = 2,
	/** @DRM_HEDDLE_EVENT_MEMORY: device memory changed; value = new total */
	DRM_HEDDLE_EVENT_MEMORY = 3,
	/** @DRM_HEDDLE_EVENT_CORRECTED: the card has corrected a bit of its SRAM without
	 * effect on any job; value = words corrected since its last reset
	 */
	DRM_HEDDLE_EVENT_CORRECTED = 4,
};

/**
 * struct drm_heddle_event - something that happened to the card
 * @type: enum drm_heddle_event_type
 * @context: context concerned, 0 = all
 * @value: depends on the type
 * @time_ns: CLOCK_MONOTONIC
 */
struct drm_heddle_event {
	__u32 type;
	__u32 context;
	__u64 value;
	__u64 time_ns;
};

/**
 * struct drm_heddle_events - fetch events of this file
 *
 * -ETIME: none came before the deadline. Also works after removal. poll() on the file
 * reports POLLIN while events are pending, and POLLHUP when the card is gone.
 * @events: array of struct drm_heddle_event to fill
 * @filled: out: number of events written
 * @lost: out: events dropped since the last call because too many were pending
 * @deadline_ns: as in struct drm_heddle_wait
 */
struct drm_heddle_events {
	struct drm_heddle_array events;
	__u32 filled;
	__u32 lost;
	__u64 deadline_ns;
};

/** enum drm_heddle_context_state - whether a context accepts jobs */
enum drm_heddle_context_state {
	/** @DRM_HEDDLE_CONTEXT_USABLE: it accepts jobs */
	DRM_HEDDLE_CONTEXT_USABLE = 0,
	/** @DRM_HEDDLE_CONTEXT_BANNED: jobs of its file hung too often */
	DRM_HEDDLE_CONTEXT_BANNED = 1,
};

/**
 * struct drm_heddle_context_control - read a context's state, set its run limit
 *
 * -EACCES: a limit above the one in struct drm_heddle_limits, without CAP_SYS_ADMIN.
 * @context: id
 * @flags: DRM_HEDDLE_CONTROL_RUN_CYCLES or 0
 * @run_cycles: in, with DRM_HEDDLE_CONTROL_RUN_CYCLES: most card cycles of
 *              jobs submitted from now on, 0 = the default; otherwise zero.
 *              out: the limit in force
 * @state: out: enum drm_heddle_context_state
 * @hangs: out: jobs of this context that hung
 */
struct drm_heddle_context_control {
	__u32 context;
#define DRM_HEDDLE_CONTROL_RUN_CYCLES	1
	__u32 flags;
	__u64 run_cycles;
	__u32 state;
	__u32 hangs;
};

#define DRM_IOCTL_HEDDLE_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_QUERY, struct drm_heddle_query)
#define DRM_IOCTL_HEDDLE_CONTEXT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_CONTEXT_CREATE, struct drm_heddle_context_create)
#define DRM_IOCTL_HEDDLE_CONTEXT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_HEDDLE_CONTEXT_DESTROY, struct drm_heddle_context_destroy)
#define DRM_IOCTL_HEDDLE_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_BO_CREATE, struct drm_heddle_bo_create)
#define DRM_IOCTL_HEDDLE_BO_INFO \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_BO_INFO, struct drm_heddle_bo_info)
#define DRM_IOCTL_HEDDLE_STREAM_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_STREAM_CREATE, struct drm_heddle_stream_create)
#define DRM_IOCTL_HEDDLE_STREAM_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_HEDDLE_STREAM_DESTROY, struct drm_heddle_stream_destroy)
#define DRM_IOCTL_HEDDLE_SUBMIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_SUBMIT, struct drm_heddle_submit)
#define DRM_IOCTL_HEDDLE_WAIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_WAIT, struct drm_heddle_wait)
#define DRM_IOCTL_HEDDLE_EVENTS \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_EVENTS, struct drm_heddle_events)
#define DRM_IOCTL_HEDDLE_CONTEXT_CONTROL \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_HEDDLE_CONTEXT_CONTROL, struct drm_heddle_context_control)

#if defined(__cplusplus)
}
#endif

#endif
