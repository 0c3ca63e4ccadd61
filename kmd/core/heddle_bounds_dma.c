// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bounds of the commands of load and store DMA; see heddle_bounds.h. */
#include "heddle_bounds.h"

static bool aligned(u32 value, u32 size)
{
	return !(value & (size - 1));
}

/* A box of n0 x n1 x n2 x n3 elements in SRAM or in a region. */
struct box {
	u32 base;
	u32 n[4];
	u32 stride[4];
	u32 element;
};

static bool box_aligned(const struct box *box)
{
	int i;

	for (i = 0; i < 4; i++)
		if (!aligned(box->stride[i], box->element))
			return false;
	return aligned(box->base, box->element);
}

/* One more than the last byte of the box. True: it does not fit. */
static bool box_end(const struct box *box, u64 *end)
{
	u64 sum = box->base;
	int i;

	for (i = 0; i < 4; i++)
		if (heddle_add_axis(&sum, box->n[i], box->stride[i]))
			return true;
	return check_add_overflow(sum, (u64)box->element, end);
}

enum heddle_validate_error heddle_bounds_copy(const struct heddle_config *config, const u32 *w,
					      struct heddle_validate_result *result)
{
	const struct box device = {
		.base = heddle_load_dram_offset(w),
		.n = { heddle_load_n0(w), heddle_load_n1(w), heddle_load_n2(w), heddle_load_n3(w) },
		.stride = { heddle_load_s0(w), heddle_load_s1(w), heddle_load_s2(w),
			    heddle_load_s3(w) },
		.element = 1U << heddle_load_elem_log2(w),
	};
	const struct box sram = {
		.base = heddle_load_sram_addr(w),
		.n = { device.n[0], device.n[1], device.n[2], device.n[3] },
		.stride = { heddle_load_t0(w), heddle_load_t1(w), heddle_load_t2(w),
			    heddle_load_t3(w) },
		.element = device.element,
	};
	u64 end;

	if (!box_aligned(&device) || !box_aligned(&sram))
		return HEDDLE_VALIDATE_RULE;
	if (box_end(&sram, &end) || end > config->sram_bytes)
		return HEDDLE_VALIDATE_SRAM;
	if (box_end(&device, &end) || end >> 63)
		return HEDDLE_VALIDATE_REGION;
	heddle_note_region(result, heddle_load_region(w), end,
			   heddle_header_opcode(w) == HEDDLE_OP_STORE);
	return HEDDLE_VALIDATE_OK;
}

enum heddle_validate_error heddle_bounds_fill(const struct heddle_config *config, const u32 *w)
{
	struct box sram = {
		.base = heddle_fill_sram_addr(w),
		.n = { heddle_fill_n0(w), heddle_fill_n1(w), heddle_fill_n2(w), heddle_fill_n3(w) },
		.stride = { heddle_fill_t0(w), heddle_fill_t1(w), heddle_fill_t2(w),
			    heddle_fill_t3(w) },
		.element = 1U << heddle_fill_elem_log2(w),
	};
	u64 end;

	if (!box_aligned(&sram))
		return HEDDLE_VALIDATE_RULE;
	if (box_end(&sram, &end) || end > config->sram_bytes)
		return HEDDLE_VALIDATE_SRAM;
	return HEDDLE_VALIDATE_OK;
}

enum heddle_validate_error heddle_bounds_indexed(const struct heddle_config *config, const u32 *w,
						 struct heddle_validate_result *result)
{
	u32 element = 1U << heddle_load_gather_elem_log2(w), count = heddle_load_gather_count(w);
	u32 offset = heddle_load_gather_dram_offset(w), s1 = heddle_load_gather_s1(w);
	u32 sram = heddle_load_gather_sram_addr(w), t1 = heddle_load_gather_t1(w);
	u32 index = heddle_load_gather_index_addr(w);
	u64 row = (u64)heddle_load_gather_n0(w) * element, end = sram;

	if (!aligned(offset, element) || !aligned(s1, element) || !aligned(sram, element) ||
	    !aligned(t1, element) || !aligned(index, sizeof(u32)))
		return HEDDLE_VALIDATE_RULE;
	if (heddle_check_sram(config, index, (u64)count * sizeof(u32)) ||
	    heddle_add_axis(&end, count, t1) || heddle_check_sram(config, end, row))
		return HEDDLE_VALIDATE_SRAM;
	end = offset;
	if (heddle_add_axis(&end, heddle_load_gather_bound(w), s1) ||
	    check_add_overflow(end, row, &end) || end >> 63)
		return HEDDLE_VALIDATE_REGION;
	heddle_note_region(result, heddle_load_gather_region(w), end,
			   heddle_header_opcode(w) == HEDDLE_OP_STORE_SCATTER);
	return HEDDLE_VALIDATE_OK;
}
