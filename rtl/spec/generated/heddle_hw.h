/* generated from rtl/spec by tools/specgen; do not edit. */
/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The card as the driver sees it: registers, structures in memory, limits, opcodes and status
 * codes. Structures are little-endian and have no implicit padding.
 */
#ifndef HEDDLE_HW_H
#define HEDDLE_HW_H

#include <linux/types.h>

/* Limits that hold for every configuration. */
/* bytes of an SRAM word; the unit of every address whose type is sram_word */
#define HEDDLE_WORD_BYTES			0x10U
/* entries of a job's region table */
#define HEDDLE_REGIONS				0x10U
/* counting semaphores; all are zero when a stream starts */
#define HEDDLE_SEMAPHORES			0x20U
/* largest value a semaphore can hold; a signal beyond it is fault semaphore_overflow */
#define HEDDLE_SEMAPHORE_MAX			0xffU
/* commands that each engine's queue holds besides the one it executes */
#define HEDDLE_QUEUE_DEPTH			8U
/* 32-bit lanes of the vector engine, the same in every configuration */
#define HEDDLE_VECTOR_LANES			0x10U
/* vector registers of the vector engine, each vector_lanes x 32 bits */
#define HEDDLE_VECTOR_REGISTERS			0x10U
/* 64-bit micro-instructions of one microprogram, all sections together */
#define HEDDLE_VECTOR_PROGRAM_MAX		0x100U
/* largest command stream in bytes */
#define HEDDLE_STREAM_BYTES_MAX			0x1000000U
/* alignment in bytes of a command stream in device memory */
#define HEDDLE_STREAM_ALIGN			0x40U
/* alignment in bytes of a region's base in device memory */
#define HEDDLE_REGION_ALIGN			0x40U
/* 32-bit words of the longest command */
#define HEDDLE_COMMAND_WORDS_MAX		0x40U
/* job rings; ring 0 has the highest priority */
#define HEDDLE_RINGS				4U
/* largest number of entries of a job ring or of the completion ring; a power of two */
#define HEDDLE_RING_ENTRIES_MAX			0x400U
/* steps of one job */
#define HEDDLE_STEPS_MAX			0x40U
/* entries of one scatter list */
#define HEDDLE_SG_ENTRIES_MAX			0x10000U
/* rows of the kernel that one weight vector of mode fold may touch (number of row ports) */
#define HEDDLE_FOLD_ROWS_MAX			4U
/* largest kernel extent in either direction */
#define HEDDLE_KERNEL_MAX			0xffU
/* granule of device memory allocation */
#define HEDDLE_PAGE_BYTES			0x1000U
/*
 * device memory that the driver keeps for command streams' bounce space and its own
 * structures; user allocations are refused beyond the card's size minus this
 */
#define HEDDLE_DEVICE_RESERVE_BYTES		0x100000U
/* smallest device memory of a card */
#define HEDDLE_DRAM_BYTES_MIN			0x4000000U
/* largest device memory of a card */
#define HEDDLE_DRAM_BYTES_MAX			0x100000000ULL
/* device memory of a card when nothing else is said */
#define HEDDLE_DRAM_BYTES_DEFAULT		0x20000000U
/* MSI-X vectors (one MSI vector is used where MSI-X is not enabled) */
#define HEDDLE_INTERRUPT_VECTORS		4U
/* largest length of a copy or fill step in bytes */
#define HEDDLE_FILL_BYTES_MAX			0x10000000000ULL

/* Configurations: values of the CONFIG register. */
#define HEDDLE_CONFIG_H256			1
#define HEDDLE_CONFIG_H512			2
#define HEDDLE_CONFIG_H1024			3
/* Sizes of one configuration. */
struct heddle_config {
	const char *name;
	__u32 id;
	/* C: activations that every cell multiplies per cycle */
	__u32 lanes_in;
	/* K: output-channel cells */
	__u32 lanes_out;
	/* unified SRAM in bytes */
	__u32 sram_bytes;
	/* single-port SRAM banks, word-interleaved */
	__u32 sram_banks;
	/* entries of the accumulator RAM; an entry holds K int32 values */
	__u32 acc_pixels;
	/* device memory bandwidth in bytes per core cycle, reads and writes together */
	__u32 dram_bytes_per_cycle;
	/* cycles from a read request to its first data */
	__u32 dram_latency_cycles;
	/* bytes per cycle of the weight reader */
	__u32 weight_port_bytes;
	/* output pixels of 16 channels per cycle in mode depthwise, with the window filled */
	__u32 depthwise_pixels;
	/*
	 * clock that cycles are converted to time with, in MHz: what a chip of this configuration is
	 * meant for, not a measured one
	 */
	__u32 clock_mhz;
};

#define HEDDLE_BAR				0
#define HEDDLE_BAR_BYTES			0x10000U
/* PCI vendor; the number that virtual devices use, not an assigned one */
#define HEDDLE_PCI_VENDOR_ID			0x1234
/* PCI device */
#define HEDDLE_PCI_DEVICE_ID			0x4e50
/* PCI revision */
#define HEDDLE_PCI_REVISION_ID			0x1
/* processing accelerator */
#define HEDDLE_PCI_CLASS_CODE			0x120000
/* PCI subsystem vendor */
#define HEDDLE_PCI_SUBSYSTEM_VENDOR_ID		0x1234
/* PCI subsystem */
#define HEDDLE_PCI_SUBSYSTEM_ID			0x1
/* bytes of configuration space; no extended capabilities */
#define HEDDLE_PCI_CONFIG_BYTES			0x100
/* MSI-X vectors */
#define HEDDLE_PCI_MSIX_VECTORS			0x4
/* offset of the MSI-X table in BAR0 */
#define HEDDLE_PCI_MSIX_TABLE_OFFSET		0x8000
/* offset of the MSI-X pending bits in BAR0 */
#define HEDDLE_PCI_MSIX_PBA_OFFSET		0x9000
/* vectors of the MSI fallback */
#define HEDDLE_PCI_MSI_VECTORS			0x1

/* ASCII 'HEDL'. Any other value: not this card, or gone. */
#define HEDDLE_REG_ID				0x0000
#define HEDDLE_REG_ID_RESET			0x4c444548U

/* Version of registers, descriptors and instruction set. */
#define HEDDLE_REG_VERSION			0x0004
#define HEDDLE_REG_VERSION_RESET		0x10001U
#define HEDDLE_VERSION_MINOR_MASK		0x0000ffffU
#define HEDDLE_VERSION_MINOR_SHIFT		0
#define HEDDLE_VERSION_MAJOR_MASK		0xffff0000U
#define HEDDLE_VERSION_MAJOR_SHIFT		16

/* id of the configuration (config.toml). The reset value is h256's. */
#define HEDDLE_REG_CONFIG			0x0008
#define HEDDLE_REG_CONFIG_RESET			1U

/* What executes the commands. */
#define HEDDLE_REG_CORE_KIND			0x000c
#define HEDDLE_CORE_KIND_KIND_MASK		0x0000000fU
#define HEDDLE_CORE_KIND_KIND_SHIFT		0

/* Device memory in bytes, low half. The reset value is the default card's. */
#define HEDDLE_REG_DRAM_LO			0x0010
#define HEDDLE_REG_DRAM_LO_RESET		0x20000000U

/* Device memory in bytes, high half. */
#define HEDDLE_REG_DRAM_HI			0x0014

/* Serial number of the card, low half; the same after a re-plug. */
#define HEDDLE_REG_UNIQUE_LO			0x0018

/* Serial number of the card, high half. */
#define HEDDLE_REG_UNIQUE_HI			0x001c

/* State of the card. */
#define HEDDLE_REG_STATUS			0x0020
#define HEDDLE_REG_STATUS_RESET			1U
#define HEDDLE_STATUS_READY_MASK		0x00000001U
#define HEDDLE_STATUS_READY_SHIFT		0
#define HEDDLE_STATUS_BUSY_MASK			0x00000002U
#define HEDDLE_STATUS_BUSY_SHIFT		1
#define HEDDLE_STATUS_HALTED_MASK		0x00000004U
#define HEDDLE_STATUS_HALTED_SHIFT		2
#define HEDDLE_STATUS_RING_MASK			0x00000f00U
#define HEDDLE_STATUS_RING_SHIFT		8

/* Write one bit. STATUS.ready falls and rises again when done. */
#define HEDDLE_REG_RESET			0x0024
#define HEDDLE_RESET_ENGINE_MASK		0x00000001U
#define HEDDLE_RESET_ENGINE_SHIFT		0
#define HEDDLE_RESET_CARD_MASK			0x00000002U
#define HEDDLE_RESET_CARD_SHIFT			1

/*
 * Writing the low 32 bits of the running job's fence ends that job with status aborted at the
 * next command boundary; another value does nothing. If an engine hangs, STATUS.halted does
 * not rise and RESET.engine is needed.
 */
#define HEDDLE_REG_ABORT			0x0028

/*
 * Counts retired commands and copied 4 KiB pieces, modulo 2^32. A job whose PROGRESS stands
 * still is stuck.
 */
#define HEDDLE_REG_PROGRESS			0x002c

/* Fence of the running job, low half. */
#define HEDDLE_REG_RUNNING_LO			0x0030

/* Fence of the running job, high half. */
#define HEDDLE_REG_RUNNING_HI			0x0034

/* Pending interrupts. Each bit has the MSI-X vector of its number; MSI uses vector 0 for all. */
#define HEDDLE_REG_INT_STATUS			0x0040
#define HEDDLE_INT_STATUS_COMPLETION_MASK	0x00000001U
#define HEDDLE_INT_STATUS_COMPLETION_SHIFT	0
#define HEDDLE_INT_STATUS_FAULT_MASK		0x00000002U
#define HEDDLE_INT_STATUS_FAULT_SHIFT		1
#define HEDDLE_INT_STATUS_MEMORY_MASK		0x00000004U
#define HEDDLE_INT_STATUS_MEMORY_SHIFT		2
#define HEDDLE_INT_STATUS_ERROR_MASK		0x00000008U
#define HEDDLE_INT_STATUS_ERROR_SHIFT		3

/* Which bits of INT_STATUS raise interrupts. */
#define HEDDLE_REG_INT_ENABLE			0x0044
#define HEDDLE_INT_ENABLE_MASK_MASK		0x0000000fU
#define HEDDLE_INT_ENABLE_MASK_SHIFT		0

/* Sets bits of INT_STATUS, for the driver's interrupt self-test. */
#define HEDDLE_REG_INT_RAISE			0x0048
#define HEDDLE_INT_RAISE_MASK_MASK		0x0000000fU
#define HEDDLE_INT_RAISE_MASK_SHIFT		0

/*
 * Error code (errors.toml) of the last error that belongs to no job; writing all ones clears
 * it.
 */
#define HEDDLE_REG_DEVICE_ERROR			0x004c

/* Host address of the completion ring, 128-byte aligned, low half. */
#define HEDDLE_REG_COMPLETION_BASE_LO		0x0060

/* Host address of the completion ring, high half. */
#define HEDDLE_REG_COMPLETION_BASE_HI		0x0064

/*
 * Entries of the completion ring: a power of two up to ring_entries_max; at least the sum of
 * all job rings. Writing it restarts the sequence number at 1 and enables the ring (0
 * disables).
 */
#define HEDDLE_REG_COMPLETION_SIZE		0x0068

/* Records written since enable, modulo 2^32. */
#define HEDDLE_REG_COMPLETION_TAIL		0x006c

/* Host address of a job ring, 64-byte aligned, low half. Write while RING_SIZE is 0. */
#define HEDDLE_REG_RING_BASE_LO(i)		(0x0100 + (i) * 0x20)
#define HEDDLE_REG_RING_BASE_LO_COUNT		4

/* Host address of a job ring, high half. */
#define HEDDLE_REG_RING_BASE_HI(i)		(0x0104 + (i) * 0x20)
#define HEDDLE_REG_RING_BASE_HI_COUNT		4

/*
 * Entries of the ring: a power of two up to ring_entries_max. Writing a value other than 0
 * enables the ring with head = tail = 0; 0 disables it, its unstarted jobs are forgotten.
 */
#define HEDDLE_REG_RING_SIZE(i)			(0x0108 + (i) * 0x20)
#define HEDDLE_REG_RING_SIZE_COUNT		4

/*
 * Doorbell: number of descriptors the driver has written since enable, modulo 2^32. More than
 * RING_SIZE ahead of RING_TAIL: ignored, DEVICE_ERROR = illegal_descriptor.
 */
#define HEDDLE_REG_RING_HEAD(i)			(0x010c + (i) * 0x20)
#define HEDDLE_REG_RING_HEAD_COUNT		4

/* Number of descriptors the card has finished since enable, modulo 2^32. */
#define HEDDLE_REG_RING_TAIL(i)			(0x0110 + (i) * 0x20)
#define HEDDLE_REG_RING_TAIL_COUNT		4

/*
 * Core cycles since reset, low half; reading it latches the high half. 0 on a core without
 * timing.
 */
#define HEDDLE_REG_COUNTER_CYCLES_LO		0x0200

/* Core cycles since reset, latched high half. */
#define HEDDLE_REG_COUNTER_CYCLES_HI		0x0204

/* Multiply-accumulates since reset, low half; reading it latches the high half. */
#define HEDDLE_REG_COUNTER_MACS_LO		0x0208

/* Multiply-accumulates since reset, latched high half. */
#define HEDDLE_REG_COUNTER_MACS_HI		0x020c

/* Jobs completed since reset, modulo 2^32. */
#define HEDDLE_REG_COUNTER_JOBS			0x0210

/* Jobs completed with a status other than ok since reset, modulo 2^32. */
#define HEDDLE_REG_COUNTER_FAULTS		0x0214

/* Engine and card resets since power-up, modulo 2^32. */
#define HEDDLE_REG_COUNTER_RESETS		0x0218

/*
 * Words of SRAM that had one wrong bit and were corrected and written back, since RESET.card;
 * stays at 2^32 - 1.
 */
#define HEDDLE_REG_COUNTER_SRAM_CORRECTED	0x021c

/* Holds what was written; for the driver's access self-test. */
#define HEDDLE_REG_SCRATCH			0x0ffc

/* who executes a command */
#define HEDDLE_ENGINE_CONTROL			0
#define HEDDLE_ENGINE_LOAD			1
#define HEDDLE_ENGINE_STORE			2
#define HEDDLE_ENGINE_MATRIX			3
#define HEDDLE_ENGINE_VECTOR			4

/* kind of a job step */
#define HEDDLE_STEP_TYPE_COPY_IN		1
#define HEDDLE_STEP_TYPE_RUN			2
#define HEDDLE_STEP_TYPE_COPY_OUT		3
#define HEDDLE_STEP_TYPE_COPY			4
#define HEDDLE_STEP_TYPE_FILL			5

/* what executes the commands */
#define HEDDLE_CORE_KIND_SILICON		0
#define HEDDLE_CORE_KIND_RTL			1
#define HEDDLE_CORE_KIND_FUNCTIONAL		2

/* when a signal is given */
#define HEDDLE_SIGNAL_POINT_INPUT_READ		0
#define HEDDLE_SIGNAL_POINT_OUTPUT_VISIBLE	1

/* what the matrix engine computes */
#define HEDDLE_MATRIX_MODE_CONV			0
#define HEDDLE_MATRIX_MODE_DEPTHWISE		1
#define HEDDLE_MATRIX_MODE_FOLD			2
#define HEDDLE_MATRIX_MODE_MAXPOOL		3

/* where the matrix engine finds its weights */
#define HEDDLE_WEIGHT_MODE_PACKED		0
#define HEDDLE_WEIGHT_MODE_ROW			1
#define HEDDLE_WEIGHT_MODE_COLUMN		2

/* element type that the output stage writes */
#define HEDDLE_OUT_TYPE_U8			0
#define HEDDLE_OUT_TYPE_S8			1
#define HEDDLE_OUT_TYPE_I32			2
#define HEDDLE_OUT_TYPE_F32			3

/* second stage of the output stage */
#define HEDDLE_RESIDUAL_OP_NONE			0
#define HEDDLE_RESIDUAL_OP_ADD			1
#define HEDDLE_RESIDUAL_OP_MUL			2

/* pooling behind the output stage */
#define HEDDLE_POOL_KIND_NONE			0
#define HEDDLE_POOL_KIND_MAX			1
#define HEDDLE_POOL_KIND_AVERAGE		2

/* element type of a vector stream */
#define HEDDLE_ELEMENT_TYPE_U8			0
#define HEDDLE_ELEMENT_TYPE_S8			1
#define HEDDLE_ELEMENT_TYPE_S16			2
#define HEDDLE_ELEMENT_TYPE_S32			3
#define HEDDLE_ELEMENT_TYPE_F16			4
#define HEDDLE_ELEMENT_TYPE_BF16		5
#define HEDDLE_ELEMENT_TYPE_F32			6
#define HEDDLE_ELEMENT_TYPE_U16			7

/* when a vector command stores */
#define HEDDLE_STORE_MODE_NONE			0
#define HEDDLE_STORE_MODE_BODY			1
#define HEDDLE_STORE_MODE_EPILOGUE		2

/* source operand of a micro-instruction */
#define HEDDLE_OPERAND_V0			0
#define HEDDLE_OPERAND_V1			1
#define HEDDLE_OPERAND_V2			2
#define HEDDLE_OPERAND_V3			3
#define HEDDLE_OPERAND_V4			4
#define HEDDLE_OPERAND_V5			5
#define HEDDLE_OPERAND_V6			6
#define HEDDLE_OPERAND_V7			7
#define HEDDLE_OPERAND_V8			8
#define HEDDLE_OPERAND_V9			9
#define HEDDLE_OPERAND_V10			10
#define HEDDLE_OPERAND_V11			11
#define HEDDLE_OPERAND_V12			12
#define HEDDLE_OPERAND_V13			13
#define HEDDLE_OPERAND_V14			14
#define HEDDLE_OPERAND_V15			15
#define HEDDLE_OPERAND_STREAM_A			16
#define HEDDLE_OPERAND_STREAM_B			17
#define HEDDLE_OPERAND_STREAM_C			18
#define HEDDLE_OPERAND_IMM			19
#define HEDDLE_OPERAND_ARG0			20
#define HEDDLE_OPERAND_ARG1			21
#define HEDDLE_OPERAND_ARG2			22
#define HEDDLE_OPERAND_ARG3			23
#define HEDDLE_OPERAND_LANE			24
#define HEDDLE_OPERAND_INDEX_R			25
#define HEDDLE_OPERAND_VALID			26

/* destination of a micro-instruction */
#define HEDDLE_DESTINATION_V0			0
#define HEDDLE_DESTINATION_V1			1
#define HEDDLE_DESTINATION_V2			2
#define HEDDLE_DESTINATION_V3			3
#define HEDDLE_DESTINATION_V4			4
#define HEDDLE_DESTINATION_V5			5
#define HEDDLE_DESTINATION_V6			6
#define HEDDLE_DESTINATION_V7			7
#define HEDDLE_DESTINATION_V8			8
#define HEDDLE_DESTINATION_V9			9
#define HEDDLE_DESTINATION_V10			10
#define HEDDLE_DESTINATION_V11			11
#define HEDDLE_DESTINATION_V12			12
#define HEDDLE_DESTINATION_V13			13
#define HEDDLE_DESTINATION_V14			14
#define HEDDLE_DESTINATION_V15			15
#define HEDDLE_DESTINATION_OUT			16

/*
 * One entry of a job ring, in host memory that user space cannot reach. The driver writes
 * entry HEAD modulo the ring's size, then the doorbell.
 */
struct heddle_job_descriptor {
	/* value that the completion record repeats */
	__le64 fence;
	/* host address of step_count step structures, 64-byte aligned */
	__le64 steps_iova;
	/* 1 .. steps_max */
	__le32 step_count;
	/* other bits must be zero */
	__le32 flags;
	/* the client; reported, not interpreted */
	__le32 context_id;
	/* must be zero */
	__le32 reserved0;
	/*
	 * host address of trace_entries trace_entry structures, 32-byte aligned, all zero; must be
	 * zero without flags.trace
	 */
	__le64 trace_iova;
	/* how many there is room for; must be zero without flags.trace */
	__le32 trace_entries;
	/* must be zero */
	__le32 reserved1;
	/* must be zero */
	__le64 reserved2[2];
};
#define HEDDLE_JOB_DESCRIPTOR_BYTES		64
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK	0x1U
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_SHIFT	0
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK	0x2U
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_INTERRUPT_SHIFT	1
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_MASK	0x4U
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_SHIFT	2
#define HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_SINCE	1

/*
 * One step of a job. Steps run one after another in order, and every step sees all that the
 * steps before it wrote; flags.overlap alone lets one begin earlier.
 */
struct heddle_step {
	/* what to do */
	__le32 type;
	/* other bits must be zero */
	__le32 flags;
	/* copy_in, fill: destination; copy_out, copy: source; run: the command stream (stream_align) */
	__le64 device_address;
	/* bytes to copy or fill; run: bytes of the command stream (multiple of 16) */
	__le64 length;
	/*
	 * copy_in, copy_out: host address of sg_count scatter entries (16-byte aligned); run: host
	 * address of the region table (16 region structures)
	 */
	__le64 table_iova;
	/* entries of the scatter list; their lengths add up to length */
	__le32 sg_count;
	/* fill: the 32-bit pattern; length is a multiple of 4 */
	__le32 fill_value;
	/*
	 * copy: destination device address; the ranges may overlap, the result is as if the source had
	 * been read first
	 */
	__le64 destination;
	/* must be zero */
	__le64 reserved1[2];
};
#define HEDDLE_STEP_BYTES			64
#define HEDDLE_STEP_FLAGS_OVERLAP_MASK		0x1U
#define HEDDLE_STEP_FLAGS_OVERLAP_SHIFT		0
#define HEDDLE_STEP_FLAGS_OVERLAP_SINCE		1

/* One piece of a host buffer. */
struct heddle_sg_entry {
	/* host address */
	__le64 iova;
	/* bytes, not 0 */
	__le64 length;
};
#define HEDDLE_SG_ENTRY_BYTES			16

/*
 * One entry of a run step's region table. Every burst of the stream is checked against it by
 * the hardware.
 */
struct heddle_region {
	/* device address, region_align */
	__le64 base;
	/* bytes; 0 = not bound */
	__le64 size;
	/* other bits must be zero */
	__le32 flags;
	/* must be zero */
	__le32 reserved0;
	/* must be zero */
	__le64 reserved1;
};
#define HEDDLE_REGION_BYTES			32
#define HEDDLE_REGION_FLAGS_WRITABLE_MASK	0x1U
#define HEDDLE_REGION_FLAGS_WRITABLE_SHIFT	0

/*
 * One entry of the completion ring, written by the card in one piece except `sequence`, which
 * is written last. The driver knows a new entry by its sequence number.
 */
struct heddle_completion {
	/* of the job descriptor */
	__le64 fence;
	/* an error code; 0 = ok */
	__le32 status;
	/* the ring that the job came from */
	__le32 ring;
	/* of the job descriptor */
	__le32 context_id;
	/* index of the step that failed */
	__le32 fault_step;
	/* byte offset in the stream of the command that failed */
	__le32 fault_offset;
	/* tag field of that command */
	__le32 fault_tag;
	/* engine that failed */
	__le32 fault_engine;
	/* region of the failing access */
	__le32 fault_region;
	/*
	 * offset in the region, SRAM byte address, index, or host or device address, as the status
	 * says
	 */
	__le64 fault_address;
	/* core cycles from fetching the descriptor to writing this record; 0 on a core without timing */
	__le64 cycles;
	/* commands retired */
	__le64 commands;
	/*
	 * multiply-accumulates retired by matrix and vector engine, as each instruction defines them
	 * (padding taps counted, idle lanes not)
	 */
	__le64 macs;
	/* bytes read from device memory by loads */
	__le64 bytes_loaded;
	/* bytes written to device memory by stores */
	__le64 bytes_stored;
	/* cycles in which the array worked on a command or waited to go on; 0 on a core without timing */
	__le64 matrix_busy;
	/* cycles in which the vector engine had a command; 0 on a core without timing */
	__le64 vector_busy;
	/* cycles in which load or store DMA had a command; 0 on a core without timing */
	__le64 dma_busy;
	/* bytes moved between host and device memory by copy steps */
	__le64 bytes_copied;
	/*
	 * commands of the trace (trace_entry), those for which there was no room included; 0 without
	 * flags.trace
	 */
	__le32 trace_count;
	/*
	 * number of completion records the card has written since ring enable, counting from 1, modulo
	 * 2^32
	 */
	__le32 sequence;
};
#define HEDDLE_COMPLETION_BYTES			128

/*
 * One command that a job with flags.trace has retired: all but those of engine control; a
 * command that failed or was not retired has none. Entry i of trace_iova is the command that
 * was retired as number i of the job (from 0; of those of one cycle in the order of enum
 * engine), as long as i is less than trace_entries. All entries are written before the
 * completion record and when the next step starts. An entry that finds the card's queue of
 * entries full is lost: its place in host memory is not written (flags.valid stays zero), and
 * completion.trace_count counts it. The trace changes no cycle of a stream, but for what
 * copies that overlap the run (step.flags.overlap) share with it. If an entry cannot be
 * written, no further one is, the run comes to its end, and the job fails with host_dma at
 * that run; fault_address is trace_iova.
 */
struct heddle_trace_entry {
	/*
	 * cycle in which the engine took the command, which may be while it executes the one before;
	 * cycles are counted as in completion.cycles, modulo 2^32. On a core without timing an
	 * estimate of the cycle model, in which runs of a job follow each other at once
	 */
	__le32 begin;
	/* cycle in which the command reached output_visible; as begin */
	__le32 end;
	/* byte offset of the command in the stream */
	__le32 offset;
	/* tag field of the command */
	__le32 tag;
	/* what the entry is of */
	__le32 flags;
	/*
	 * cycles after begin, up to and including end, in which this was the engine's oldest command
	 * that was not retired and the engine could not go on, by reason. Matrix: 0 = weights are not
	 * there; 1 = activations are not there; 2 = the output stage takes nothing (the first that
	 * holds, in the order 1, 0, 2). Load and store: 0 = device memory: no SRAM access is asked
	 * for, no beat of data moves, and a burst is to be asked for or not answered in full; 1 =
	 * SRAM: an access is asked for and not granted. Vector: 0 = SRAM: an access of one of its four
	 * ports is asked for and not granted. Others are zero
	 */
	__le32 stall[3];
};
#define HEDDLE_TRACE_ENTRY_BYTES		32
#define HEDDLE_TRACE_ENTRY_FLAGS_ENGINE_MASK	0x7U
#define HEDDLE_TRACE_ENTRY_FLAGS_ENGINE_SHIFT	0
#define HEDDLE_TRACE_ENTRY_FLAGS_STEP_MASK	0x3f00U
#define HEDDLE_TRACE_ENTRY_FLAGS_STEP_SHIFT	8
#define HEDDLE_TRACE_ENTRY_FLAGS_ESTIMATED_MASK	0x10000U
#define HEDDLE_TRACE_ENTRY_FLAGS_ESTIMATED_SHIFT	16
#define HEDDLE_TRACE_ENTRY_FLAGS_VALID_MASK	0x20000U
#define HEDDLE_TRACE_ENTRY_FLAGS_VALID_SHIFT	17

/* Opcodes. */
#define HEDDLE_OP_NOP				0x01
#define HEDDLE_OP_END				0x02
#define HEDDLE_OP_BARRIER			0x03
#define HEDDLE_OP_LOAD				0x10
#define HEDDLE_OP_FILL				0x11
#define HEDDLE_OP_LOAD_GATHER			0x12
#define HEDDLE_OP_SYNC_LOAD			0x13
#define HEDDLE_OP_STORE				0x20
#define HEDDLE_OP_STORE_SCATTER			0x21
#define HEDDLE_OP_SYNC_STORE			0x22
#define HEDDLE_OP_CONV				0x30
#define HEDDLE_OP_SYNC_MATRIX			0x31
#define HEDDLE_OP_VRUN				0x40
#define HEDDLE_OP_VMAC				0x41
#define HEDDLE_OP_SYNC_VECTOR			0x42

/* Status codes of completion records and of the error register. */
/* The job ran to its end. */
#define HEDDLE_ERROR_OK				0
/*
 * Unknown opcode, wrong length, reserved bit set, enumeration value undefined, field out of
 * its range, or a cross-field rule of the instruction broken.
 */
#define HEDDLE_ERROR_ILLEGAL_COMMAND		1
/* The fetch reached the end of the stream, or a command crosses it, before an end command. */
#define HEDDLE_ERROR_STREAM_OVERRUN		2
/*
 * A burst leaves its region, or the region is not bound (size 0). Nothing outside the region
 * was touched.
 */
#define HEDDLE_ERROR_REGION_BOUNDS		3
/* A store to a region whose writable flag is clear. Nothing was written. */
#define HEDDLE_ERROR_REGION_READONLY		4
/* An SRAM access beyond the configuration's SRAM. */
#define HEDDLE_ERROR_SRAM_BOUNDS		5
/* An index of a gather or scatter is negative or not below the bound in the command. */
#define HEDDLE_ERROR_INDEX_BOUNDS		6
/* A signal would raise a semaphore above semaphore_max. */
#define HEDDLE_ERROR_SEMAPHORE_OVERFLOW		7
/*
 * A micro-instruction has an unknown opcode, an operand that the operation does not take, or
 * reserved bits set.
 */
#define HEDDLE_ERROR_ILLEGAL_PROGRAM		8
/* Device memory or the host bridge answered a burst with an error. */
#define HEDDLE_ERROR_BUS_ERROR			9
/* Reported by the driver: PROGRESS did not change for the time limit and the job was aborted. */
#define HEDDLE_ERROR_TIMEOUT			10
/* The job was ended by ABORT or by a reset of the engine before it was complete. */
#define HEDDLE_ERROR_ABORTED			11
/*
 * A job descriptor, step or scatter list is malformed. Only the driver writes these, so this
 * is a driver fault.
 */
#define HEDDLE_ERROR_ILLEGAL_DESCRIPTOR		12
/* A host address of a descriptor or scatter list is not mapped for the card. */
#define HEDDLE_ERROR_HOST_DMA			13
/* A copy or fill step leaves device memory. */
#define HEDDLE_ERROR_COPY_BOUNDS		14
/*
 * Never written by the card: the driver reports it when the card does not answer (all-ones
 * reads) or its link is down.
 */
#define HEDDLE_ERROR_DEVICE_LOST		15
/* Never written by the card: the driver reports it when an allocation does not fit. */
#define HEDDLE_ERROR_NO_DEVICE_MEMORY		16
/*
 * A word of SRAM that was read, or written in part, has two wrong bits. fault_address is its
 * first byte in SRAM; offset and tag are those of the command that retired last, engine and
 * region are 0: a word belongs to nobody. It stays wrong until all of it is written or SRAM is
 * cleared.
 */
#define HEDDLE_ERROR_SRAM_UNCORRECTABLE		17
/*
 * In DEVICE_ERROR only, and only where that was 0: a word of SRAM that was read, or written in
 * part, had one wrong bit. It was corrected on the way and written back;
 * COUNTER_SRAM_CORRECTED counts them. No job notices.
 */
#define HEDDLE_ERROR_SRAM_CORRECTED		18

#endif /* HEDDLE_HW_H */
