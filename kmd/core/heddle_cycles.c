// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Upper bounds of run time; see heddle_cycles.h. Sums and products stop at ~0.
 * Divisions are of 32 bits: 32-bit kernels have no others.
 */
#include "heddle_cycles.h"

#include <linux/minmax.h>
#include <linux/overflow.h>

#include "heddle_bounds.h"

/* Dispatch, set-up, the way through an engine's pipeline, semaphores. */
#define COMMAND 160
/* Largest burst of device memory in beats, and what a burst costs besides them. */
#define BURST_BEATS 16
#define BURST 2
/* An index: fetched, compared, multiplied. */
#define ROW_OF_INDEX 8
/* A division or a tree over the lanes, with its way through the lanes. */
#define MICRO 44
/* Loads that wait for the stores before them, once per section. */
#define TURN 64
/* A fused multiply-add of a chain waits for the one before. */
#define CHAIN 10
/* Bytes of SRAM that the vector engine moves at a time. */
#define LINE 64
/* What a block of output channels costs besides its words. */
#define BLOCK_CYCLES 96
/* A word that is read, changed and written waits for its last change. */
#define POOLED_WORD 12

u64 heddle_cycles_add(u64 a, u64 b)
{
	u64 sum;

	return check_add_overflow(a, b, &sum) ? ~0ULL : sum;
}

static u64 times(u64 a, u64 b)
{
	u64 product;

	return check_mul_overflow(a, b, &product) ? ~0ULL : product;
}

static u64 times4(u64 a, u64 b, u64 c, u64 d)
{
	return times(times(a, b), times(c, d));
}

/* Words of 16 bytes that @bytes bytes at any address lie in. */
static u64 words_of(u64 bytes)
{
	return (bytes + 2 * HEDDLE_WORD_BYTES - 2) / HEDDLE_WORD_BYTES;
}

/* A run of @beats beats: those and the bursts that it is cut into. */
static u64 run_cycles(u64 beats)
{
	return beats + (beats / BURST_BEATS + 2) * BURST;
}

/*
 * n[0] x n[1] x n[2] x n[3] elements between device memory and SRAM: the beats and
 * bursts there, the words here. Elements with gaps between them move one by one.
 */
static u64 box_cycles(const u32 n[4], u32 size, u64 s0, u64 t0)
{
	u64 rows = times(times(n[1], n[2]), n[3]), row = (u64)n[0] * size;
	u64 device, sram;

	if (n[0] == 1)
		s0 = t0 = size;
	if (s0 == size && t0 == size) {
		device = run_cycles(words_of(row));
		sram = words_of(row);
	} else {
		sram = 2 * n[0];
		device = s0 > HEDDLE_WORD_BYTES ? n[0] * run_cycles(1) :
						  run_cycles(words_of((n[0] - 1) * s0 + size));
	}
	return times(rows, device + sram);
}

/* load, store: see heddle_bounds_copy(). */
static u64 copy_cycles(const u32 *w)
{
	u32 n[4] = { heddle_load_n0(w), heddle_load_n1(w), heddle_load_n2(w), heddle_load_n3(w) };

	return box_cycles(n, 1U << heddle_load_elem_log2(w), heddle_load_s0(w), heddle_load_t0(w));
}

static u64 fill_cycles(const u32 *w)
{
	u32 n0 = heddle_fill_n0(w), size = 1U << heddle_fill_elem_log2(w);
	u64 words = heddle_fill_t0(w) == size ? words_of((u64)n0 * size) : n0;

	return times4(words, heddle_fill_n1(w), heddle_fill_n2(w), heddle_fill_n3(w));
}

static u64 indexed_cycles(const u32 *w)
{
	u64 words = words_of((u64)heddle_load_gather_n0(w) << heddle_load_gather_elem_log2(w));

	return times(heddle_load_gather_count(w), ROW_OF_INDEX + run_cycles(words) + words);
}

/**
 * struct nest - how the matrix engine walks a command (rtl/src/hd_matrix_pkg.sv)
 * @parts: stripes of rows times chunks of columns; for each all weights are read again
 * @blocks: blocks of output channels
 * @passes: through the pixels, for each block
 * @words: words of a vector of outputs
 * @tile: words of the weights of a pass
 * @row: cycles and words of input for a row of outputs, in one pass
 */
struct nest {
	u64 parts;
	u64 blocks;
	u64 passes;
	u64 words;
	u64 tile;
	u64 row;
};

/* Rows and columns that fit the accumulators at a time; with one pass all do. */
static u64 parts_of(const struct heddle_config *config, const u32 *w, u64 passes)
{
	u32 rows = heddle_conv_out_rows(w), columns = heddle_conv_ow(w), depth = config->acc_pixels;

	if (passes == 1 || heddle_conv_acc_hold(w) || heddle_conv_acc_continue(w) ||
	    (u64)rows * columns <= depth)
		return 1;
	if (columns > depth)
		return (u64)rows * heddle_pieces(columns, depth);
	return heddle_pieces(rows, depth / columns);
}

/* Windows of depthwise: 3 x 5 or 2 x 8 taps, or single columns, enter column by column. */
static struct nest window_nest(const u32 *w)
{
	u32 kh = heddle_conv_kh(w), kw = heddle_conv_kw(w), sx = heddle_conv_sx(w);
	bool narrow = heddle_conv_dx(w) != 1 || sx > 4 || sx > kw;
	u32 rows = min(!narrow && kw > 5 ? 2U : 3U, kh);
	u32 columns = min(narrow ? 1U : kw > 5 ? 8U : 5U, kw);

	return (struct nest) {
		.blocks = heddle_pieces(heddle_conv_co(w), 16),
		.passes = heddle_pieces(kh, rows) * heddle_pieces(kw, columns),
		.words = 1,
		.tile = rows * columns,
		.row = (u64)heddle_conv_ow(w) * (1 + rows * (narrow ? 1 : sx)) +
		       (rows + 1) * columns,
	};
}

/* Rows of bytes: a pass takes what of up to four of them fits its lanes. */
static struct nest fold_nest(const struct heddle_config *config, const u32 *w)
{
	u32 channels = heddle_conv_fold_channels(w), kh = heddle_conv_kh(w), kw = heddle_conv_kw(w);
	bool dilated = heddle_conv_dx(w) != 1 && kw != 1;
	u64 bytes = (u64)heddle_conv_ow(w) * heddle_conv_sx(w) * channels + (u64)kw * channels;

	return (struct nest) {
		.blocks = heddle_pieces(heddle_conv_co(w), config->lanes_out),
		.passes = dilated ? kh * kw :
				    heddle_fold_vectors(config->lanes_in, kh, kw * channels),
		.words = config->lanes_out / 16,
		.tile = config->lanes_in * config->lanes_out / 16,
		.row = heddle_conv_ow(w) + HEDDLE_FOLD_ROWS_MAX * words_of(bytes),
	};
}

static struct nest product_nest(const struct heddle_config *config, const u32 *w)
{
	return (struct nest) {
		.blocks = heddle_pieces(heddle_conv_co(w), config->lanes_out),
		.passes = (u64)(heddle_conv_kh(w) * heddle_conv_kw(w)) *
			  heddle_pieces(heddle_conv_ci(w), config->lanes_in),
		.words = config->lanes_out / 16,
		.tile = config->lanes_in * config->lanes_out / 16,
		.row = (u64)heddle_conv_ow(w) * (1 + config->lanes_in / 16),
	};
}

/* What the output stage does for all blocks: residual, table, words written, pooling. */
static u64 output_cycles(const u32 *w, const struct nest *nest)
{
	u64 rows = heddle_conv_out_rows(w), vectors = rows * heddle_conv_ow(w);
	u32 type = heddle_conv_out_type(w), k = heddle_conv_pool_k(w), s = heddle_conv_pool_s(w);
	u64 words = type == HEDDLE_OUT_TYPE_I32 || type == HEDDLE_OUT_TYPE_F32 ? 4 : 1, cycles;

	if (heddle_conv_res_op(w) != HEDDLE_RESIDUAL_OP_NONE)
		words++;
	cycles = times(vectors, 1 + words * nest->words);
	if (heddle_conv_pool(w) == HEDDLE_POOL_KIND_MAX) {
		/* A row emits its windows, and at the end of a chunk those that are open. */
		u64 overlap = heddle_pieces(k, s);
		u64 emitted = heddle_conv_pool_ow(w) + nest->parts * overlap;

		cycles = heddle_cycles_add(cycles, times4(rows, emitted, overlap,
							  k + POOLED_WORD * nest->words));
	}
	return times(nest->blocks, cycles);
}

static u64 conv_cycles(const struct heddle_config *config, const u32 *w)
{
	u64 rows = heddle_conv_out_rows(w), input, blocks;
	struct nest nest;

	switch (heddle_conv_mode(w)) {
	case HEDDLE_MATRIX_MODE_DEPTHWISE:
	case HEDDLE_MATRIX_MODE_MAXPOOL:
		nest = window_nest(w);
		break;
	case HEDDLE_MATRIX_MODE_FOLD:
		nest = fold_nest(config, w);
		break;
	default:
		nest = product_nest(config, w);
	}
	nest.parts = parts_of(config, w, nest.passes);
	/* Chunks begin a row anew: at most a part and a row more than there are of both. */
	input = times4(nest.blocks, nest.passes, rows, nest.row + 4);
	if (nest.parts > rows)
		input = heddle_cycles_add(input, times4(nest.blocks, nest.passes, nest.parts, 64));
	/* With the weights of each. */
	blocks = times(times(nest.parts, nest.blocks),
		       nest.passes * (nest.tile + 8) + BLOCK_CYCLES);
	return heddle_cycles_add(heddle_cycles_add(input, blocks), output_cycles(w, &nest));
}

/* Lines of SRAM that a vector of 16 elements of a stream lies in. */
static u32 lines_of(const u32 *stream)
{
	s32 stride = heddle_stream_lane_stride(stream);
	u32 lines = ((u32)(stride < 0 ? -stride : stride) * (HEDDLE_VECTOR_LANES - 1) + 4) / LINE;

	return min(lines + 2, HEDDLE_VECTOR_LANES);
}

/* The loops of vrun and vmac, whose fields are the same; @body for each r, @ends for each o. */
static u64 loop_cycles(const u32 *w, u64 body, u64 ends)
{
	u64 steps = times4(heddle_vrun_n_r1(w), heddle_vrun_n_r2(w), heddle_vrun_n_r3(w), body);

	return times(times4(heddle_pieces(heddle_vrun_lanes(w), HEDDLE_VECTOR_LANES),
			    heddle_vrun_n_o1(w), heddle_vrun_n_o2(w), heddle_vrun_n_o3(w)),
		     heddle_cycles_add(steps, ends));
}

/*
 * Each micro-instruction can be a division and name every stream; every section may
 * have to wait for the stores of the one before.
 */
static u64 vrun_cycles(const u32 *w)
{
	u32 program = heddle_vrun_prologue(w) + heddle_vrun_body(w) + heddle_vrun_epilogue(w);
	u64 micro = MICRO, store = TURN + 2 * lines_of(w + HEDDLE_VRUN_D_WORD), ends, body;

	if (heddle_vrun_enable_a(w))
		micro += 2 * lines_of(w + HEDDLE_VRUN_A_WORD);
	if (heddle_vrun_enable_b(w))
		micro += 2 * lines_of(w + HEDDLE_VRUN_B_WORD);
	if (heddle_vrun_enable_c(w))
		micro += 2 * lines_of(w + HEDDLE_VRUN_C_WORD);
	if (heddle_vrun_gather_a(w) || heddle_vrun_pick_a(w))
		micro += 4 * HEDDLE_VECTOR_LANES;
	if (heddle_vrun_scatter_d(w))
		store += 4 * HEDDLE_VECTOR_LANES;
	body = (heddle_vrun_body(w) + 1) * micro + store;
	ends = (heddle_vrun_prologue(w) + heddle_vrun_epilogue(w) + 1) * micro + 2 * store;
	/* The program is loaded and looked at first. */
	return heddle_cycles_add(2 * program, loop_cycles(w, body, ends));
}

static u64 vmac_cycles(const u32 *w)
{
	u64 step = CHAIN + 2 * (lines_of(w + HEDDLE_VMAC_A_WORD) +
				lines_of(w + HEDDLE_VMAC_B_WORD));
	u64 ends = 4 * CHAIN + 2 * (lines_of(w + HEDDLE_VMAC_C_WORD) +
				    lines_of(w + HEDDLE_VMAC_D_WORD));

	return loop_cycles(w, step, ends);
}

static u64 engine_cycles(const struct heddle_config *config, const u32 *w)
{
	u64 cycles;

	/* Nothing but a header does nothing. */
	if (heddle_header_words(w) == HEDDLE_HEADER_WORDS)
		return 0;
	switch (heddle_header_opcode(w)) {
	case HEDDLE_OP_LOAD:
	case HEDDLE_OP_STORE:
		cycles = copy_cycles(w);
		break;
	case HEDDLE_OP_FILL:
		return fill_cycles(w);
	case HEDDLE_OP_LOAD_GATHER:
	case HEDDLE_OP_STORE_SCATTER:
		cycles = indexed_cycles(w);
		break;
	case HEDDLE_OP_CONV:
		return conv_cycles(config, w);
	case HEDDLE_OP_VRUN:
		return vrun_cycles(w);
	case HEDDLE_OP_VMAC:
		return vmac_cycles(w);
	default:
		return ~0ULL; /* an instruction that this function does not know */
	}
	return heddle_cycles_add(cycles, config->dram_latency_cycles);
}

u64 heddle_command_cycles(const struct heddle_config *config, const u32 *w)
{
	return heddle_cycles_add(engine_cycles(config, w), COMMAND + heddle_header_words(w));
}
