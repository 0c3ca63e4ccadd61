/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Accesses of single commands: internal parts of the validator. Each function
 * gets the words of one command whose fields are known to be in range, and
 * returns HEDDLE_VALIDATE_OK or the reason to reject the command.
 */
#ifndef HEDDLE_BOUNDS_H
#define HEDDLE_BOUNDS_H

#include <linux/overflow.h>
#include <linux/types.h>

#include "heddle_validate.h"

/* *sum += (count - 1) * stride. True: the result does not fit. */
static inline bool heddle_add_axis(u64 *sum, u32 count, u32 stride)
{
	u64 product;

	return check_mul_overflow((u64)(count - 1), (u64)stride, &product) ||
	       check_add_overflow(*sum, product, sum);
}

/* Whether @bytes from @address lie in SRAM. */
static inline enum heddle_validate_error
heddle_check_sram(const struct heddle_config *config, u64 address, u64 bytes)
{
	u64 end;

	if (check_add_overflow(address, bytes, &end) || end > config->sram_bytes)
		return HEDDLE_VALIDATE_SRAM;
	return HEDDLE_VALIDATE_OK;
}

/* Bytes 0 .. end-1 of a region are touched. */
static inline void heddle_note_region(struct heddle_validate_result *result, u32 region, u64 end,
				      bool written)
{
	u32 bit = 1U << (region % 32);

	if (!(result->used & bit) || result->end[region] < end)
		result->end[region] = end;
	result->used |= bit;
	if (written)
		result->written |= bit;
}

/* The number of pieces of @size, of which the last need not be whole, in @n. */
static inline u32 heddle_pieces(u32 n, u32 size)
{
	return (n - 1) / size + 1;
}

/*
 * Of load and store, of load_gather and store_scatter the fields are the same, at the
 * same places (a case compares the tables); those of the loads are read for both.
 */
enum heddle_validate_error heddle_bounds_copy(const struct heddle_config *config, const u32 *w,
					      struct heddle_validate_result *result);
enum heddle_validate_error heddle_bounds_fill(const struct heddle_config *config, const u32 *w);
enum heddle_validate_error heddle_bounds_indexed(const struct heddle_config *config, const u32 *w,
						 struct heddle_validate_result *result);
/* Weight vectors of mode fold for one block of output channels. */
u32 heddle_fold_vectors(u32 lanes, u32 rows, u32 row_bytes);
enum heddle_validate_error heddle_bounds_conv(const struct heddle_config *config, const u32 *w);
enum heddle_validate_error heddle_bounds_vrun(const struct heddle_config *config, const u32 *w);
enum heddle_validate_error heddle_bounds_vmac(const struct heddle_config *config, const u32 *w);

#endif
