// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Rules and bounds of `conv`; see heddle_bounds.h. All addresses are in words. */
#include "heddle_bounds.h"

#include <linux/minmax.h>

#define BLOCK 16 /* channels of an activation word */

static bool code_ok(s32 value, bool is_signed)
{
	return is_signed ? value >= -128 && value <= 127 : value >= 0 && value <= 255;
}

static bool eight_bit(const u32 *w)
{
	return heddle_conv_out_type(w) == HEDDLE_OUT_TYPE_U8 ||
	       heddle_conv_out_type(w) == HEDDLE_OUT_TYPE_S8;
}

/* Rules of the output stage of an 8-bit output; what is switched off is not looked at. */
static bool output_legal(const u32 *w)
{
	bool out_signed = heddle_conv_out_type(w) == HEDDLE_OUT_TYPE_S8;

	if (!code_ok(heddle_conv_zo(w), out_signed) ||
	    heddle_conv_act_min(w) > heddle_conv_act_max(w))
		return false;
	if (heddle_conv_res_op(w) != HEDDLE_RESIDUAL_OP_NONE &&
	    (heddle_conv_res_min(w) > heddle_conv_res_max(w) ||
	     !code_ok(heddle_conv_res_min(w), out_signed) ||
	     !code_ok(heddle_conv_res_max(w), out_signed)))
		return false;
	switch (heddle_conv_pool(w)) {
	case HEDDLE_POOL_KIND_MAX:
		return heddle_conv_pool_k(w) && heddle_conv_pool_s(w) &&
		       heddle_conv_pool_pad(w) < heddle_conv_pool_k(w);
	case HEDDLE_POOL_KIND_AVERAGE:
		return !heddle_conv_out_wrap(w) &&
		       code_ok(heddle_conv_pool_zero_in(w), out_signed) &&
		       code_ok(heddle_conv_pool_zero_out(w), out_signed);
	}
	return true;
}

/* The rules under "Legal if" but those about rows, which come with the bounds. */
static bool legal(const struct heddle_config *config, const u32 *w)
{
	u32 mode = heddle_conv_mode(w);
	bool packed = heddle_conv_w_mode(w) == HEDDLE_WEIGHT_MODE_PACKED;
	bool held = heddle_conv_acc_continue(w) || heddle_conv_acc_hold(w);
	bool extra = heddle_conv_lut(w) || heddle_conv_res_op(w) != HEDDLE_RESIDUAL_OP_NONE ||
		     heddle_conv_pool(w) != HEDDLE_POOL_KIND_NONE;
	u64 entries;

	if (heddle_conv_out_row0(w) + heddle_conv_out_rows(w) - 1 >= 65536)
		return false;
	if (!packed && (mode != HEDDLE_MATRIX_MODE_CONV || heddle_conv_kh(w) != 1 ||
			heddle_conv_kw(w) != 1))
		return false;
	if ((mode == HEDDLE_MATRIX_MODE_DEPTHWISE || mode == HEDDLE_MATRIX_MODE_MAXPOOL) &&
	    (heddle_conv_ci(w) != heddle_conv_co(w) || held))
		return false;
	if (mode == HEDDLE_MATRIX_MODE_FOLD ?
	    !heddle_conv_fold_channels(w) || heddle_conv_ci(w) != heddle_conv_fold_channels(w) :
	    heddle_conv_fold_channels(w) != 0)
		return false;
	if (heddle_conv_sx(w) * heddle_conv_fold_channels(w) > 48)
		return false;
	if (heddle_conv_in_wrap(w) &&
	    heddle_conv_in_wrap(w) < (heddle_conv_kh(w) - 1) * heddle_conv_dy(w) + 1)
		return false;
	if (mode == HEDDLE_MATRIX_MODE_MAXPOOL)
		return eight_bit(w) && !extra && !heddle_conv_bias_f32(w) &&
		       !heddle_conv_zw_channel(w) &&
		       (heddle_conv_out_type(w) == HEDDLE_OUT_TYPE_S8) == heddle_conv_in_signed(w);
	if (!code_ok(heddle_conv_za(w), heddle_conv_in_signed(w)) ||
	    !code_ok(heddle_conv_zw(w), heddle_conv_w_signed(w)))
		return false;
	if (held) {
		entries = (u64)heddle_pieces(heddle_conv_co(w), config->lanes_out) *
			  heddle_conv_out_rows(w);
		if (check_mul_overflow(entries, (u64)heddle_conv_ow(w), &entries) ||
		    entries > config->acc_pixels)
			return false;
	}
	if (extra && (heddle_conv_acc_hold(w) || !eight_bit(w)))
		return false;
	if (heddle_conv_bias_f32(w) && heddle_conv_out_type(w) != HEDDLE_OUT_TYPE_F32)
		return false;
	return !eight_bit(w) || heddle_conv_acc_hold(w) || output_legal(w);
}

/*
 * Smallest and largest of start + i*step + j*dilation within 0 .. size-1, for
 * i < n and j < taps. False: there is none. All of these fit 21 bits, and 32-bit
 * kernels have no division of 64.
 */
static bool reached(s32 start, s32 step, s32 n, s32 dilation, s32 taps, s32 size, u32 *low,
		    u32 *high)
{
	bool any = false;
	s32 j;

	for (j = 0; j < taps; j++) {
		s32 base = start + j * dilation, from = 0, to = n - 1;

		if (base > size - 1)
			break;
		if (base < 0)
			from = (-base + step - 1) / step;
		if ((size - 1 - base) / step < to)
			to = (size - 1 - base) / step;
		if (from > to)
			continue;
		if (!any || base + from * step < (s32)*low)
			*low = base + from * step;
		if (!any || base + to * step > (s32)*high)
			*high = base + to * step;
		any = true;
	}
	return any;
}

/* Largest slot that rows up to @last (counted from @row0) take in a buffer. */
static u32 last_slot(u32 last, u32 row0, u32 wrap)
{
	return wrap ? min(last, wrap - 1) : last - row0;
}

/* Whether pixels up to (block, slot, column) of @bytes bytes each lie in SRAM. */
static enum heddle_validate_error plane_bounds(const struct heddle_config *config, u32 address,
					       u32 num_blocks, u32 plane, u32 slot, u32 pitch,
					       u32 column, u32 xstep, u64 bytes)
{
	u64 sum = address;

	if (heddle_add_axis(&sum, num_blocks, plane) || heddle_add_axis(&sum, slot + 1, pitch) ||
	    heddle_add_axis(&sum, column + 1, xstep) ||
	    check_mul_overflow(sum, (u64)HEDDLE_WORD_BYTES, &sum))
		return HEDDLE_VALIDATE_SRAM;
	return heddle_check_sram(config, sum, bytes);
}

static enum heddle_validate_error input_bounds(const struct heddle_config *config, const u32 *w)
{
	bool rows, columns, fold = heddle_conv_mode(w) == HEDDLE_MATRIX_MODE_FOLD;
	u32 row_low, row_high, low, high, slot;

	rows = reached((s32)(heddle_conv_out_row0(w) * heddle_conv_sy(w)) - heddle_conv_pad_top(w),
		       heddle_conv_sy(w), heddle_conv_out_rows(w), heddle_conv_dy(w),
		       heddle_conv_kh(w), heddle_conv_ih(w), &row_low, &row_high);
	columns = reached(-heddle_conv_pad_left(w), heddle_conv_sx(w), heddle_conv_ow(w),
			  heddle_conv_dx(w), heddle_conv_kw(w), heddle_conv_iw(w), &low, &high);
	if (!rows)
		return HEDDLE_VALIDATE_OK;
	if (!heddle_conv_in_wrap(w) && row_low < heddle_conv_in_row0(w))
		return HEDDLE_VALIDATE_RULE;
	if (!columns)
		return HEDDLE_VALIDATE_OK;
	slot = last_slot(row_high, heddle_conv_in_row0(w), heddle_conv_in_wrap(w));
	/* Of packed bytes, a row is a pixel. */
	return plane_bounds(config, heddle_conv_in_addr(w),
			    fold ? 1 : heddle_pieces(heddle_conv_ci(w), BLOCK),
			    heddle_conv_in_plane(w), slot, heddle_conv_in_pitch(w),
			    fold ? 0 : high, heddle_conv_in_xstep(w),
			    fold ? (u64)(high + 1) * heddle_conv_fold_channels(w) :
				   HEDDLE_WORD_BYTES);
}

u32 heddle_fold_vectors(u32 lanes, u32 rows, u32 row_bytes)
{
	u32 total = rows * row_bytes, at = 0, count = 0;

	/* A vector that starts anywhere in a row ends within fold_rows_max rows. */
	if (lanes <= (HEDDLE_FOLD_ROWS_MAX - 1) * row_bytes + 1)
		return heddle_pieces(total, lanes);
	while (at < total) {
		u32 end = (at / row_bytes + HEDDLE_FOLD_ROWS_MAX) * row_bytes;

		at = end - at < lanes ? end : at + lanes;
		count++;
	}
	return count;
}

static enum heddle_validate_error weight_bounds(const struct heddle_config *config, const u32 *w)
{
	u32 ci = heddle_conv_ci(w), co = heddle_conv_co(w), kh = heddle_conv_kh(w);
	u32 kw = heddle_conv_kw(w);
	u64 address = (u64)heddle_conv_w_addr(w) * HEDDLE_WORD_BYTES, bytes;
	u64 tile = (u64)config->lanes_in * config->lanes_out;
	bool by_row = heddle_conv_w_mode(w) == HEDDLE_WEIGHT_MODE_ROW;

	if (heddle_conv_mode(w) == HEDDLE_MATRIX_MODE_MAXPOOL)
		return HEDDLE_VALIDATE_OK;
	if (heddle_conv_w_mode(w) != HEDDLE_WEIGHT_MODE_PACKED)
		return plane_bounds(config, heddle_conv_w_addr(w),
				    heddle_pieces(by_row ? ci : co, BLOCK), heddle_conv_w_plane(w),
				    0, 0, (by_row ? co : ci) - 1, heddle_conv_w_step(w),
				    HEDDLE_WORD_BYTES);
	/* Products of at most 4096 * 255 * 255 * 4096 tiles or words fit 64 bits. */
	switch (heddle_conv_mode(w)) {
	case HEDDLE_MATRIX_MODE_DEPTHWISE:
		bytes = (u64)heddle_pieces(co, BLOCK) * kh * kw * HEDDLE_WORD_BYTES;
		break;
	case HEDDLE_MATRIX_MODE_FOLD:
		bytes = (u64)heddle_pieces(co, config->lanes_out) *
			heddle_fold_vectors(config->lanes_in, kh,
					    kw * heddle_conv_fold_channels(w)) *
			tile;
		break;
	default:
		bytes = (u64)heddle_pieces(co, config->lanes_out) * kh * kw *
			heddle_pieces(ci, config->lanes_in);
		if (check_mul_overflow(bytes, tile, &bytes))
			return HEDDLE_VALIDATE_SRAM;
	}
	return heddle_check_sram(config, address, bytes);
}

static enum heddle_validate_error parameter_bounds(const struct heddle_config *config, const u32 *w)
{
	u32 words = 8 + heddle_conv_zw_channel(w);
	bool used = heddle_conv_mode(w) != HEDDLE_MATRIX_MODE_MAXPOOL &&
		    (!heddle_conv_acc_hold(w) || heddle_conv_zw_channel(w));
	enum heddle_validate_error error = HEDDLE_VALIDATE_OK;

	if (used)
		error = heddle_check_sram(config,
					  (u64)heddle_conv_param_addr(w) * HEDDLE_WORD_BYTES,
					  (u64)heddle_pieces(heddle_conv_co(w), BLOCK) * words *
					  HEDDLE_WORD_BYTES);
	if (!error && heddle_conv_lut(w))
		error = heddle_check_sram(config, (u64)heddle_conv_lut_addr(w) * HEDDLE_WORD_BYTES,
					  256);
	return error;
}

static enum heddle_validate_error residual_bounds(const struct heddle_config *config, const u32 *w)
{
	u32 row0 = heddle_conv_out_row0(w), last = row0 + heddle_conv_out_rows(w) - 1;

	if (heddle_conv_res_op(w) == HEDDLE_RESIDUAL_OP_NONE)
		return HEDDLE_VALIDATE_OK;
	return plane_bounds(config, heddle_conv_res_addr(w),
			    heddle_pieces(heddle_conv_co(w), BLOCK), heddle_conv_res_plane(w),
			    last_slot(last, row0, heddle_conv_res_wrap(w)),
			    heddle_conv_res_pitch(w), heddle_conv_ow(w) - 1, 1,
			    HEDDLE_WORD_BYTES);
}

/*
 * Output through the pooling stage: the slot of the last row of windows that the command's
 * rows touch. *@any: there is one that has columns.
 */
static enum heddle_validate_error pooled_rows(const u32 *w, bool *any, u32 *slot)
{
	s32 k = heddle_conv_pool_k(w), s = heddle_conv_pool_s(w), pad = heddle_conv_pool_pad(w);
	s32 first_row = heddle_conv_out_row0(w), last_row = first_row + heddle_conv_out_rows(w) - 1;
	s32 first = first_row + pad - k + 1, last = (last_row + pad) / s;

	/* Window py covers rows py*s - pad .. py*s - pad + k - 1. */
	first = first > 0 ? (first + s - 1) / s : 0;
	last = min(last, (s32)heddle_conv_pool_oh(w) - 1);
	*any = first <= last && heddle_conv_pool_ow(w);
	if (first <= last && !heddle_conv_out_wrap(w) && first < (s32)heddle_conv_pool_row0(w))
		return HEDDLE_VALIDATE_RULE; /* of rows without columns, too */
	*slot = last_slot(last, heddle_conv_pool_row0(w), heddle_conv_out_wrap(w));
	return HEDDLE_VALIDATE_OK;
}

static enum heddle_validate_error output_bounds(const struct heddle_config *config, const u32 *w)
{
	u32 row0 = heddle_conv_out_row0(w), last = row0 + heddle_conv_out_rows(w) - 1;
	u32 slot = last_slot(last, row0, heddle_conv_out_wrap(w)), columns = heddle_conv_ow(w);
	enum heddle_validate_error error = HEDDLE_VALIDATE_OK;
	bool any = !heddle_conv_acc_hold(w);

	if (any && heddle_conv_pool(w) == HEDDLE_POOL_KIND_AVERAGE) {
		slot = 0;
		columns = 1;
	} else if (any && heddle_conv_pool(w) == HEDDLE_POOL_KIND_MAX) {
		error = pooled_rows(w, &any, &slot);
		columns = heddle_conv_pool_ow(w);
	}
	if (error || !any)
		return error;
	return plane_bounds(config, heddle_conv_out_addr(w),
			    heddle_pieces(heddle_conv_co(w), BLOCK), heddle_conv_out_plane(w), slot,
			    heddle_conv_out_pitch(w), columns - 1, heddle_conv_out_xstep(w),
			    (eight_bit(w) ? 1 : 4) * HEDDLE_WORD_BYTES);
}

enum heddle_validate_error heddle_bounds_conv(const struct heddle_config *config, const u32 *w)
{
	if (!legal(config, w))
		return HEDDLE_VALIDATE_RULE;
	return input_bounds(config, w) ?: weight_bounds(config, w) ?: parameter_bounds(config, w) ?:
	       residual_bounds(config, w) ?: output_bounds(config, w);
}
