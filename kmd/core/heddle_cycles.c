// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Upper bounds of run time; see heddle_cycles.h. Sums and products stop at ~0. */
#include "heddle_cycles.h"

#include <linux/overflow.h>

/* Fetch, dispatch, set-up, the way through an engine's pipeline, semaphores. */
#define COMMAND 200
/* Words of SRAM that 16 elements in different places lie in. */
#define SPREAD HEDDLE_VECTOR_LANES
/* A division or a square root, and what waits for its result. */
#define SLOWEST_MICRO 40
/* Fused multiply-adds of a chain wait for one another. */
#define CHAIN 8

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

/* Divisions are of 32 bits: 32-bit kernels have no others. */
static u32 groups(u32 n, u32 size)
{
	return (n - 1) / size + 1;
}

/* A row of @bytes at any address: its beats, and the request with the wait for its answer. */
static u64 row_cycles(const struct heddle_config *config, u32 elements, u32 size)
{
	u64 beats = ((u64)elements * size + HEDDLE_WORD_BYTES - 1) / HEDDLE_WORD_BYTES + 1;

	/* Into SRAM, and through the bus of device memory. */
	return 2 * beats + config->dram_latency_cycles;
}

/* n0 x n1 x n2 x n3 elements; those of a row may be next to each other. */
static u64 box_cycles(const struct heddle_config *config, const u32 n[4], u32 size, bool dense)
{
	u64 rows = times((u64)n[1] * n[2], n[3]);

	if (dense)
		return times(rows, row_cycles(config, n[0], size));
	return times(times(rows, n[0]), row_cycles(config, 1, size));
}

static u64 load_cycles(const struct heddle_config *config, const u32 *w)
{
	u32 n[4] = { heddle_load_n0(w), heddle_load_n1(w), heddle_load_n2(w), heddle_load_n3(w) };
	u32 size = 1U << heddle_load_elem_log2(w);

	return box_cycles(config, n, size, heddle_load_s0(w) == size && heddle_load_t0(w) == size);
}

static u64 store_cycles(const struct heddle_config *config, const u32 *w)
{
	u32 n[4] = { heddle_store_n0(w), heddle_store_n1(w), heddle_store_n2(w),
		     heddle_store_n3(w) };
	u32 size = 1U << heddle_store_elem_log2(w);

	return box_cycles(config, n, size,
			  heddle_store_s0(w) == size && heddle_store_t0(w) == size);
}

static u64 fill_cycles(const u32 *w)
{
	/* At worst a word of SRAM for each element. */
	return times(times((u64)heddle_fill_n0(w) * heddle_fill_n1(w), heddle_fill_n2(w)),
		     heddle_fill_n3(w));
}

static u64 indexed_cycles(const struct heddle_config *config, u32 count, u32 n0, u32 size)
{
	return times(count, row_cycles(config, 1, sizeof(u32)) + row_cycles(config, n0, size));
}

/* Weight vectors of mode fold: at worst one for each kernel row and C bytes of it. */
static u64 fold_passes(const struct heddle_config *config, const u32 *w)
{
	return heddle_conv_kh(w) *
	       groups(heddle_conv_kw(w) * heddle_conv_fold_channels(w), config->lanes_in);
}

static u64 conv_cycles(const struct heddle_config *config, const u32 *w)
{
	u64 pixels = (u64)heddle_conv_out_rows(w) * heddle_conv_ow(w);
	u64 taps = heddle_conv_kh(w) * heddle_conv_kw(w), words = config->lanes_in / 16;
	u64 blocks = groups(heddle_conv_co(w), 16), compute, weights, results;

	switch (heddle_conv_mode(w)) {
	case HEDDLE_MATRIX_MODE_DEPTHWISE:
	case HEDDLE_MATRIX_MODE_MAXPOOL:
		compute = times(times(blocks * taps, pixels), 2);
		weights = blocks * taps;
		break;
	case HEDDLE_MATRIX_MODE_FOLD:
		compute = times(groups(heddle_conv_co(w), config->lanes_out) *
				fold_passes(config, w), times(pixels, 4));
		weights = times(groups(heddle_conv_co(w), config->lanes_out) *
				fold_passes(config, w), config->lanes_in * config->lanes_out / 16);
		break;
	default:
		compute = times(taps * groups(heddle_conv_co(w), config->lanes_out) *
				groups(heddle_conv_ci(w), config->lanes_in),
				times(pixels, 1 + words));
		weights = times(taps * groups(heddle_conv_co(w), config->lanes_out) *
				groups(heddle_conv_ci(w), config->lanes_in),
				config->lanes_in * config->lanes_out / 16);
	}
	/* Residual, table, up to four words each, pooling windows that overlap. */
	results = times(times(blocks, pixels), 8);
	if (heddle_conv_pool(w) == HEDDLE_POOL_KIND_MAX)
		results = times(results, heddle_conv_pool_k(w));
	return heddle_cycles_add(heddle_cycles_add(compute, weights),
				 heddle_cycles_add(results, blocks * 16));
}

static u64 nest(const u32 *w)
{
	u64 steps = times(times((u64)heddle_vrun_n_o1(w) * heddle_vrun_n_o2(w),
				heddle_vrun_n_o3(w)),
			  groups(heddle_vrun_lanes(w), HEDDLE_VECTOR_LANES));

	return steps;
}

static u64 vrun_cycles(const u32 *w)
{
	u64 steps = times((u64)heddle_vrun_n_r1(w) * heddle_vrun_n_r2(w), heddle_vrun_n_r3(w));
	u64 ends = heddle_vrun_prologue(w) + heddle_vrun_epilogue(w);
	u64 micro = SLOWEST_MICRO + 3 * SPREAD;
	u64 body = heddle_vrun_body(w) * micro + 2 * SPREAD;

	return times(nest(w), heddle_cycles_add(times(steps, body), ends * micro + 2 * SPREAD));
}

static u64 vmac_cycles(const u32 *w)
{
	u64 steps = times((u64)heddle_vmac_n_r1(w) * heddle_vmac_n_r2(w), heddle_vmac_n_r3(w));
	u64 outer = times(times((u64)heddle_vmac_n_o1(w) * heddle_vmac_n_o2(w),
				heddle_vmac_n_o3(w)),
			  groups(heddle_vmac_lanes(w), HEDDLE_VECTOR_LANES));

	return times(outer, heddle_cycles_add(times(steps, CHAIN + 2 * SPREAD), 4 * SPREAD));
}

static u64 engine_cycles(const struct heddle_config *config, const u32 *w)
{
	/* Nothing but a header does nothing. */
	if (heddle_header_words(w) == HEDDLE_HEADER_WORDS)
		return 0;
	switch (heddle_header_opcode(w)) {
	case HEDDLE_OP_LOAD:
		return load_cycles(config, w);
	case HEDDLE_OP_STORE:
		return store_cycles(config, w);
	case HEDDLE_OP_FILL:
		return fill_cycles(w);
	case HEDDLE_OP_LOAD_GATHER:
		return indexed_cycles(config, heddle_load_gather_count(w),
				      heddle_load_gather_n0(w),
				      1U << heddle_load_gather_elem_log2(w));
	case HEDDLE_OP_STORE_SCATTER:
		return indexed_cycles(config, heddle_store_scatter_count(w),
				      heddle_store_scatter_n0(w),
				      1U << heddle_store_scatter_elem_log2(w));
	case HEDDLE_OP_CONV:
		return conv_cycles(config, w);
	case HEDDLE_OP_VRUN:
		return vrun_cycles(w);
	case HEDDLE_OP_VMAC:
		return vmac_cycles(w);
	}
	return ~0ULL; /* an instruction that this function does not know */
}

u64 heddle_command_cycles(const struct heddle_config *config, const u32 *w)
{
	return heddle_cycles_add(engine_cycles(config, w), COMMAND);
}
