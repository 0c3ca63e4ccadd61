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
	bool store = heddle_header_opcode(w) == HEDDLE_OP_STORE;
	struct box device, sram;
	u64 end;

	if (store) {
		device = (struct box) {
			.base = heddle_store_dram_offset(w),
			.n = { heddle_store_n0(w), heddle_store_n1(w), heddle_store_n2(w),
			       heddle_store_n3(w) },
			.stride = { heddle_store_s0(w), heddle_store_s1(w), heddle_store_s2(w),
				    heddle_store_s3(w) },
			.element = 1U << heddle_store_elem_log2(w),
		};
		sram = (struct box) {
			.base = heddle_store_sram_addr(w),
			.n = { device.n[0], device.n[1], device.n[2], device.n[3] },
			.stride = { heddle_store_t0(w), heddle_store_t1(w), heddle_store_t2(w),
				    heddle_store_t3(w) },
			.element = device.element,
		};
	} else {
		device = (struct box) {
			.base = heddle_load_dram_offset(w),
			.n = { heddle_load_n0(w), heddle_load_n1(w), heddle_load_n2(w),
			       heddle_load_n3(w) },
			.stride = { heddle_load_s0(w), heddle_load_s1(w), heddle_load_s2(w),
				    heddle_load_s3(w) },
			.element = 1U << heddle_load_elem_log2(w),
		};
		sram = (struct box) {
			.base = heddle_load_sram_addr(w),
			.n = { device.n[0], device.n[1], device.n[2], device.n[3] },
			.stride = { heddle_load_t0(w), heddle_load_t1(w), heddle_load_t2(w),
				    heddle_load_t3(w) },
			.element = device.element,
		};
	}
	if (!box_aligned(&device) || !box_aligned(&sram))
		return HEDDLE_VALIDATE_RULE;
	if (box_end(&sram, &end) || end > config->sram_bytes)
		return HEDDLE_VALIDATE_SRAM;
	if (box_end(&device, &end) || end >> 63)
		return HEDDLE_VALIDATE_REGION;
	heddle_note_region(result, store ? heddle_store_region(w) : heddle_load_region(w), end,
			   store);
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
	bool store = heddle_header_opcode(w) == HEDDLE_OP_STORE_SCATTER;
	u32 region, element, offset, sram, n0, count, index, bound, s1, t1;
	u64 end, row;

	if (store) {
		region = heddle_store_scatter_region(w);
		element = 1U << heddle_store_scatter_elem_log2(w);
		offset = heddle_store_scatter_dram_offset(w);
		sram = heddle_store_scatter_sram_addr(w);
		n0 = heddle_store_scatter_n0(w);
		count = heddle_store_scatter_count(w);
		index = heddle_store_scatter_index_addr(w);
		bound = heddle_store_scatter_bound(w);
		s1 = heddle_store_scatter_s1(w);
		t1 = heddle_store_scatter_t1(w);
	} else {
		region = heddle_load_gather_region(w);
		element = 1U << heddle_load_gather_elem_log2(w);
		offset = heddle_load_gather_dram_offset(w);
		sram = heddle_load_gather_sram_addr(w);
		n0 = heddle_load_gather_n0(w);
		count = heddle_load_gather_count(w);
		index = heddle_load_gather_index_addr(w);
		bound = heddle_load_gather_bound(w);
		s1 = heddle_load_gather_s1(w);
		t1 = heddle_load_gather_t1(w);
	}
	if (!aligned(offset, element) || !aligned(s1, element) || !aligned(sram, element) ||
	    !aligned(t1, element) || !aligned(index, sizeof(u32)))
		return HEDDLE_VALIDATE_RULE;
	row = (u64)n0 * element;
	if (heddle_check_sram(config, index, (u64)count * sizeof(u32)) != HEDDLE_VALIDATE_OK)
		return HEDDLE_VALIDATE_SRAM;
	end = sram;
	if (heddle_add_axis(&end, count, t1) ||
	    heddle_check_sram(config, end, row) != HEDDLE_VALIDATE_OK)
		return HEDDLE_VALIDATE_SRAM;
	end = offset;
	if (heddle_add_axis(&end, bound, s1) || check_add_overflow(end, row, &end) || end >> 63)
		return HEDDLE_VALIDATE_REGION;
	heddle_note_region(result, region, end, store);
	return HEDDLE_VALIDATE_OK;
}
