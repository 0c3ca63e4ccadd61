/* generated from rtl/spec by tools/specgen; do not edit. */
/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Tables and accessors of the command validator. Words are in CPU byte order. */
#ifndef HEDDLE_ISA_FIELDS_H
#define HEDDLE_ISA_FIELDS_H

#include <linux/types.h>

#include "heddle_hw.h"

/* Kinds of fields: what a validator may assume about a value. */
#define HEDDLE_KIND_UINT			0
#define HEDDLE_KIND_INT				1
#define HEDDLE_KIND_BOOL			2
#define HEDDLE_KIND_F32				3
#define HEDDLE_KIND_ENUM			4
#define HEDDLE_KIND_SEM				5
#define HEDDLE_KIND_REGION			6
#define HEDDLE_KIND_SRAM_WORD			7
#define HEDDLE_KIND_SRAM_BYTE			8
#define HEDDLE_KIND_DRAM_OFFSET			9

/* The value is two's complement. */
#define HEDDLE_FIELD_SIGNED	0x1
/* Zero is not legal. */
#define HEDDLE_FIELD_NONZERO	0x2

/* Bits [lsb, lsb + bits) of a 32-bit word of a command. */
struct heddle_isa_field {
	const char *name;
	__u8 word;
	__u8 lsb;
	__u8 bits;
	__u8 kind;
	__u8 flags;
	/* Smallest and largest legal value; not used for F32 and ENUM. */
	__s64 min;
	__s64 max;
	/* ENUM: bit v is set when v is a legal value. */
	__u64 legal;
};

struct heddle_isa_command {
	const char *name;
	__u8 opcode;
	__u8 engine;
	/* Length in 32-bit words, header included. */
	__u16 words;
	__u16 num_fields;
	/* Header fields included, in bit order. */
	const struct heddle_isa_field *fields;
	/* One mask per word: bits that must be zero. */
	const __u32 *reserved;
};

/* What a status code of the card means to user space. */
struct heddle_error_info {
	__u32 code;
	/* Negative errno, 0 for success. */
	int err;
	const char *name;
};

#define HEDDLE_NUM_COMMANDS	15
#define HEDDLE_LONGEST_COMMAND_WORDS	52
#define HEDDLE_HEADER_WORDS	4
#define HEDDLE_NUM_CONFIGS	3
#define HEDDLE_NUM_ERRORS	19

extern const struct heddle_isa_command heddle_isa_commands[HEDDLE_NUM_COMMANDS];
/* Index into heddle_isa_commands plus one by opcode; 0: there is no such opcode. */
extern const __u8 heddle_isa_by_opcode[256];
extern const struct heddle_config heddle_configs[HEDDLE_NUM_CONFIGS];
extern const struct heddle_error_info heddle_errors[HEDDLE_NUM_ERRORS];

/*
 * Accessors: the value of each field from the words of a command. The header's are
 * heddle_header_*, an instruction's own are heddle_<instruction>_*, a repeating group's take the
 * first word of the group (HEDDLE_<INSTRUCTION>_<INSTANCE>_WORD) and are heddle_<group>_*.
 */
static inline __u32 heddle_header_opcode(const __u32 *w)
{
	return w[0] & 0xffU;
}

static inline __u32 heddle_header_words(const __u32 *w)
{
	return (w[0] >> 8) & 0xffU;
}

static inline __u32 heddle_header_wait0_enable(const __u32 *w)
{
	return w[1] & 0x1U;
}

static inline __u32 heddle_header_wait0_sem(const __u32 *w)
{
	return (w[1] >> 1) & 0x1fU;
}

static inline __u32 heddle_header_wait0_count(const __u32 *w)
{
	return (w[1] >> 6) & 0xffU;
}

static inline __u32 heddle_header_wait1_enable(const __u32 *w)
{
	return (w[1] >> 14) & 0x1U;
}

static inline __u32 heddle_header_wait1_sem(const __u32 *w)
{
	return (w[1] >> 15) & 0x1fU;
}

static inline __u32 heddle_header_wait1_count(const __u32 *w)
{
	return (w[1] >> 20) & 0xffU;
}

static inline __u32 heddle_header_signal0_enable(const __u32 *w)
{
	return w[2] & 0x1U;
}

static inline __u32 heddle_header_signal0_sem(const __u32 *w)
{
	return (w[2] >> 1) & 0x1fU;
}

static inline __u32 heddle_header_signal0_count(const __u32 *w)
{
	return (w[2] >> 6) & 0xffU;
}

static inline __u32 heddle_header_signal0_point(const __u32 *w)
{
	return (w[2] >> 14) & 0x1U;
}

static inline __u32 heddle_header_signal1_enable(const __u32 *w)
{
	return (w[2] >> 15) & 0x1U;
}

static inline __u32 heddle_header_signal1_sem(const __u32 *w)
{
	return (w[2] >> 16) & 0x1fU;
}

static inline __u32 heddle_header_signal1_count(const __u32 *w)
{
	return (w[2] >> 21) & 0xffU;
}

static inline __u32 heddle_header_signal1_point(const __u32 *w)
{
	return (w[2] >> 29) & 0x1U;
}

static inline __u32 heddle_header_tag(const __u32 *w)
{
	return w[3];
}

static inline __u32 heddle_stream_base(const __u32 *w)
{
	return w[0] & 0xffffffU;
}

static inline __u32 heddle_stream_type(const __u32 *w)
{
	return (w[0] >> 24) & 0xfU;
}

static inline __s32 heddle_stream_lane_stride(const __u32 *w)
{
	return (__s32)(w[1] << 8) >> 8;
}

static inline __s32 heddle_stream_r1_stride(const __u32 *w)
{
	return (__s32)(w[2] << 8) >> 8;
}

static inline __s32 heddle_stream_r2_stride(const __u32 *w)
{
	return (__s32)(w[3] << 8) >> 8;
}

static inline __s32 heddle_stream_r3_stride(const __u32 *w)
{
	return (__s32)(w[4] << 8) >> 8;
}

static inline __s32 heddle_stream_o1_stride(const __u32 *w)
{
	return (__s32)(w[5] << 8) >> 8;
}

static inline __s32 heddle_stream_o2_stride(const __u32 *w)
{
	return (__s32)(w[6] << 8) >> 8;
}

static inline __s32 heddle_stream_o3_stride(const __u32 *w)
{
	return (__s32)(w[7] << 8) >> 8;
}

static inline __u32 heddle_load_region(const __u32 *w)
{
	return w[4] & 0xfU;
}

static inline __u32 heddle_load_elem_log2(const __u32 *w)
{
	return (w[4] >> 4) & 0x7U;
}

static inline __u32 heddle_load_dram_offset(const __u32 *w)
{
	return w[5];
}

static inline __u32 heddle_load_sram_addr(const __u32 *w)
{
	return w[6] & 0xffffffU;
}

static inline __u32 heddle_load_n0(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_load_n1(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_load_n2(const __u32 *w)
{
	return w[8] & 0xffffU;
}

static inline __u32 heddle_load_n3(const __u32 *w)
{
	return w[8] >> 16;
}

static inline __u32 heddle_load_s0(const __u32 *w)
{
	return w[9];
}

static inline __u32 heddle_load_s1(const __u32 *w)
{
	return w[10];
}

static inline __u32 heddle_load_s2(const __u32 *w)
{
	return w[11];
}

static inline __u32 heddle_load_s3(const __u32 *w)
{
	return w[12];
}

static inline __u32 heddle_load_t0(const __u32 *w)
{
	return w[13] & 0xffffffU;
}

static inline __u32 heddle_load_t1(const __u32 *w)
{
	return w[14] & 0xffffffU;
}

static inline __u32 heddle_load_t2(const __u32 *w)
{
	return w[15] & 0xffffffU;
}

static inline __u32 heddle_load_t3(const __u32 *w)
{
	return w[16] & 0xffffffU;
}

static inline __u32 heddle_fill_elem_log2(const __u32 *w)
{
	return w[4] & 0x3U;
}

static inline __u32 heddle_fill_sram_addr(const __u32 *w)
{
	return w[5] & 0xffffffU;
}

static inline __u32 heddle_fill_value(const __u32 *w)
{
	return w[6];
}

static inline __u32 heddle_fill_n0(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_fill_n1(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_fill_n2(const __u32 *w)
{
	return w[8] & 0xffffU;
}

static inline __u32 heddle_fill_n3(const __u32 *w)
{
	return w[8] >> 16;
}

static inline __u32 heddle_fill_t0(const __u32 *w)
{
	return w[9] & 0xffffffU;
}

static inline __u32 heddle_fill_t1(const __u32 *w)
{
	return w[10] & 0xffffffU;
}

static inline __u32 heddle_fill_t2(const __u32 *w)
{
	return w[11] & 0xffffffU;
}

static inline __u32 heddle_fill_t3(const __u32 *w)
{
	return w[12] & 0xffffffU;
}

static inline __u32 heddle_load_gather_region(const __u32 *w)
{
	return w[4] & 0xfU;
}

static inline __u32 heddle_load_gather_elem_log2(const __u32 *w)
{
	return (w[4] >> 4) & 0x7U;
}

static inline __u32 heddle_load_gather_dram_offset(const __u32 *w)
{
	return w[5];
}

static inline __u32 heddle_load_gather_sram_addr(const __u32 *w)
{
	return w[6] & 0xffffffU;
}

static inline __u32 heddle_load_gather_n0(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_load_gather_count(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_load_gather_index_addr(const __u32 *w)
{
	return w[8] & 0xffffffU;
}

static inline __u32 heddle_load_gather_bound(const __u32 *w)
{
	return w[9];
}

static inline __u32 heddle_load_gather_s1(const __u32 *w)
{
	return w[10];
}

static inline __u32 heddle_load_gather_t1(const __u32 *w)
{
	return w[11] & 0xffffffU;
}

static inline __u32 heddle_store_region(const __u32 *w)
{
	return w[4] & 0xfU;
}

static inline __u32 heddle_store_elem_log2(const __u32 *w)
{
	return (w[4] >> 4) & 0x7U;
}

static inline __u32 heddle_store_dram_offset(const __u32 *w)
{
	return w[5];
}

static inline __u32 heddle_store_sram_addr(const __u32 *w)
{
	return w[6] & 0xffffffU;
}

static inline __u32 heddle_store_n0(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_store_n1(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_store_n2(const __u32 *w)
{
	return w[8] & 0xffffU;
}

static inline __u32 heddle_store_n3(const __u32 *w)
{
	return w[8] >> 16;
}

static inline __u32 heddle_store_s0(const __u32 *w)
{
	return w[9];
}

static inline __u32 heddle_store_s1(const __u32 *w)
{
	return w[10];
}

static inline __u32 heddle_store_s2(const __u32 *w)
{
	return w[11];
}

static inline __u32 heddle_store_s3(const __u32 *w)
{
	return w[12];
}

static inline __u32 heddle_store_t0(const __u32 *w)
{
	return w[13] & 0xffffffU;
}

static inline __u32 heddle_store_t1(const __u32 *w)
{
	return w[14] & 0xffffffU;
}

static inline __u32 heddle_store_t2(const __u32 *w)
{
	return w[15] & 0xffffffU;
}

static inline __u32 heddle_store_t3(const __u32 *w)
{
	return w[16] & 0xffffffU;
}

static inline __u32 heddle_store_scatter_region(const __u32 *w)
{
	return w[4] & 0xfU;
}

static inline __u32 heddle_store_scatter_elem_log2(const __u32 *w)
{
	return (w[4] >> 4) & 0x7U;
}

static inline __u32 heddle_store_scatter_dram_offset(const __u32 *w)
{
	return w[5];
}

static inline __u32 heddle_store_scatter_sram_addr(const __u32 *w)
{
	return w[6] & 0xffffffU;
}

static inline __u32 heddle_store_scatter_n0(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_store_scatter_count(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_store_scatter_index_addr(const __u32 *w)
{
	return w[8] & 0xffffffU;
}

static inline __u32 heddle_store_scatter_bound(const __u32 *w)
{
	return w[9];
}

static inline __u32 heddle_store_scatter_s1(const __u32 *w)
{
	return w[10];
}

static inline __u32 heddle_store_scatter_t1(const __u32 *w)
{
	return w[11] & 0xffffffU;
}

static inline __u32 heddle_conv_mode(const __u32 *w)
{
	return w[4] & 0x3U;
}

static inline __u32 heddle_conv_in_signed(const __u32 *w)
{
	return (w[4] >> 2) & 0x1U;
}

static inline __u32 heddle_conv_w_signed(const __u32 *w)
{
	return (w[4] >> 3) & 0x1U;
}

static inline __u32 heddle_conv_w_mode(const __u32 *w)
{
	return (w[4] >> 4) & 0x3U;
}

static inline __u32 heddle_conv_out_type(const __u32 *w)
{
	return (w[4] >> 6) & 0x3U;
}

static inline __u32 heddle_conv_acc_continue(const __u32 *w)
{
	return (w[4] >> 8) & 0x1U;
}

static inline __u32 heddle_conv_acc_hold(const __u32 *w)
{
	return (w[4] >> 9) & 0x1U;
}

static inline __u32 heddle_conv_bias_f32(const __u32 *w)
{
	return (w[4] >> 10) & 0x1U;
}

static inline __u32 heddle_conv_zw_channel(const __u32 *w)
{
	return (w[4] >> 11) & 0x1U;
}

static inline __u32 heddle_conv_lut(const __u32 *w)
{
	return (w[4] >> 12) & 0x1U;
}

static inline __u32 heddle_conv_res_op(const __u32 *w)
{
	return (w[4] >> 13) & 0x3U;
}

static inline __u32 heddle_conv_res_signed(const __u32 *w)
{
	return (w[4] >> 15) & 0x1U;
}

static inline __u32 heddle_conv_res_first(const __u32 *w)
{
	return (w[4] >> 16) & 0x1U;
}

static inline __u32 heddle_conv_pool(const __u32 *w)
{
	return (w[4] >> 17) & 0x3U;
}

static inline __u32 heddle_conv_fold_channels(const __u32 *w)
{
	return (w[4] >> 19) & 0xfU;
}

static inline __u32 heddle_conv_in_addr(const __u32 *w)
{
	return w[5] & 0xfffffU;
}

static inline __u32 heddle_conv_in_pitch(const __u32 *w)
{
	return w[6] & 0xffffU;
}

static inline __u32 heddle_conv_in_xstep(const __u32 *w)
{
	return (w[6] >> 16) & 0xffU;
}

static inline __u32 heddle_conv_in_plane(const __u32 *w)
{
	return w[7] & 0xfffffU;
}

static inline __u32 heddle_conv_ih(const __u32 *w)
{
	return w[8] & 0xffffU;
}

static inline __u32 heddle_conv_iw(const __u32 *w)
{
	return w[8] >> 16;
}

static inline __u32 heddle_conv_in_row0(const __u32 *w)
{
	return w[9] & 0xffffU;
}

static inline __u32 heddle_conv_in_wrap(const __u32 *w)
{
	return w[9] >> 16;
}

static inline __u32 heddle_conv_out_addr(const __u32 *w)
{
	return w[10] & 0xfffffU;
}

static inline __u32 heddle_conv_out_pitch(const __u32 *w)
{
	return w[11] & 0xffffU;
}

static inline __u32 heddle_conv_out_xstep(const __u32 *w)
{
	return (w[11] >> 16) & 0xffU;
}

static inline __u32 heddle_conv_out_plane(const __u32 *w)
{
	return w[12] & 0xfffffU;
}

static inline __u32 heddle_conv_ow(const __u32 *w)
{
	return w[13] & 0xffffU;
}

static inline __u32 heddle_conv_out_rows(const __u32 *w)
{
	return w[13] >> 16;
}

static inline __u32 heddle_conv_out_row0(const __u32 *w)
{
	return w[14] & 0xffffU;
}

static inline __u32 heddle_conv_out_wrap(const __u32 *w)
{
	return w[14] >> 16;
}

static inline __u32 heddle_conv_kh(const __u32 *w)
{
	return w[15] & 0xffU;
}

static inline __u32 heddle_conv_kw(const __u32 *w)
{
	return (w[15] >> 8) & 0xffU;
}

static inline __u32 heddle_conv_sy(const __u32 *w)
{
	return (w[15] >> 16) & 0xfU;
}

static inline __u32 heddle_conv_sx(const __u32 *w)
{
	return (w[15] >> 20) & 0xfU;
}

static inline __u32 heddle_conv_dy(const __u32 *w)
{
	return w[16] & 0xffU;
}

static inline __u32 heddle_conv_dx(const __u32 *w)
{
	return (w[16] >> 8) & 0xffU;
}

static inline __s32 heddle_conv_pad_top(const __u32 *w)
{
	return (__s32)(w[17] << 16) >> 16;
}

static inline __s32 heddle_conv_pad_left(const __u32 *w)
{
	return (__s32)w[17] >> 16;
}

static inline __u32 heddle_conv_ci(const __u32 *w)
{
	return w[18] & 0xffffU;
}

static inline __u32 heddle_conv_co(const __u32 *w)
{
	return w[18] >> 16;
}

static inline __u32 heddle_conv_w_addr(const __u32 *w)
{
	return w[19] & 0xfffffU;
}

static inline __u32 heddle_conv_w_plane(const __u32 *w)
{
	return w[20] & 0xfffffU;
}

static inline __u32 heddle_conv_w_step(const __u32 *w)
{
	return w[21] & 0xfffffU;
}

static inline __u32 heddle_conv_param_addr(const __u32 *w)
{
	return w[22] & 0xfffffU;
}

static inline __s32 heddle_conv_za(const __u32 *w)
{
	return (__s32)(w[23] << 16) >> 16;
}

static inline __s32 heddle_conv_zw(const __u32 *w)
{
	return (__s32)w[23] >> 16;
}

static inline __s32 heddle_conv_zo(const __u32 *w)
{
	return (__s32)(w[24] << 16) >> 16;
}

static inline __s32 heddle_conv_act_min(const __u32 *w)
{
	return (__s32)(w[25] << 16) >> 16;
}

static inline __s32 heddle_conv_act_max(const __u32 *w)
{
	return (__s32)w[25] >> 16;
}

static inline __u32 heddle_conv_lut_addr(const __u32 *w)
{
	return w[26] & 0xfffffU;
}

static inline __u32 heddle_conv_res_addr(const __u32 *w)
{
	return w[27] & 0xfffffU;
}

static inline __u32 heddle_conv_res_pitch(const __u32 *w)
{
	return w[28] & 0xffffU;
}

static inline __u32 heddle_conv_res_wrap(const __u32 *w)
{
	return w[28] >> 16;
}

static inline __u32 heddle_conv_res_plane(const __u32 *w)
{
	return w[29] & 0xfffffU;
}

static inline __u32 heddle_conv_res_a(const __u32 *w)
{
	return w[30];
}

static inline __u32 heddle_conv_res_b(const __u32 *w)
{
	return w[31];
}

static inline __u32 heddle_conv_res_k(const __u32 *w)
{
	return w[32];
}

static inline __s32 heddle_conv_res_zero(const __u32 *w)
{
	return (__s32)(w[33] << 16) >> 16;
}

static inline __s32 heddle_conv_mid_zero(const __u32 *w)
{
	return (__s32)w[33] >> 16;
}

static inline __s32 heddle_conv_res_min(const __u32 *w)
{
	return (__s32)(w[34] << 16) >> 16;
}

static inline __s32 heddle_conv_res_max(const __u32 *w)
{
	return (__s32)w[34] >> 16;
}

static inline __u32 heddle_conv_pool_k(const __u32 *w)
{
	return w[35] & 0xfU;
}

static inline __u32 heddle_conv_pool_s(const __u32 *w)
{
	return (w[35] >> 4) & 0xfU;
}

static inline __u32 heddle_conv_pool_pad(const __u32 *w)
{
	return (w[35] >> 8) & 0xfU;
}

static inline __u32 heddle_conv_pool_oh(const __u32 *w)
{
	return w[36] & 0xffffU;
}

static inline __u32 heddle_conv_pool_ow(const __u32 *w)
{
	return w[36] >> 16;
}

static inline __u32 heddle_conv_pool_row0(const __u32 *w)
{
	return w[37] & 0xffffU;
}

static inline __u32 heddle_conv_pool_scale(const __u32 *w)
{
	return w[38];
}

static inline __s32 heddle_conv_pool_zero_in(const __u32 *w)
{
	return (__s32)(w[39] << 16) >> 16;
}

static inline __s32 heddle_conv_pool_zero_out(const __u32 *w)
{
	return (__s32)w[39] >> 16;
}

#define HEDDLE_VRUN_A_WORD			20
#define HEDDLE_VRUN_B_WORD			28
#define HEDDLE_VRUN_C_WORD			36
#define HEDDLE_VRUN_D_WORD			44

static inline __u32 heddle_vrun_prog_addr(const __u32 *w)
{
	return w[4] & 0xfffffU;
}

static inline __u32 heddle_vrun_prologue(const __u32 *w)
{
	return w[5] & 0x1ffU;
}

static inline __u32 heddle_vrun_body(const __u32 *w)
{
	return (w[5] >> 9) & 0x1ffU;
}

static inline __u32 heddle_vrun_epilogue(const __u32 *w)
{
	return (w[5] >> 18) & 0x1ffU;
}

static inline __u32 heddle_vrun_lanes(const __u32 *w)
{
	return w[6] & 0xffffU;
}

static inline __u32 heddle_vrun_n_r1(const __u32 *w)
{
	return w[6] >> 16;
}

static inline __u32 heddle_vrun_n_r2(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_vrun_n_r3(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_vrun_n_o1(const __u32 *w)
{
	return w[8] & 0xffffU;
}

static inline __u32 heddle_vrun_n_o2(const __u32 *w)
{
	return w[8] >> 16;
}

static inline __u32 heddle_vrun_n_o3(const __u32 *w)
{
	return w[9] & 0xffffU;
}

static inline __u32 heddle_vrun_tail(const __u32 *w)
{
	return (w[9] >> 16) & 0x1fU;
}

static inline __u32 heddle_vrun_enable_a(const __u32 *w)
{
	return w[10] & 0x1U;
}

static inline __u32 heddle_vrun_enable_b(const __u32 *w)
{
	return (w[10] >> 1) & 0x1U;
}

static inline __u32 heddle_vrun_enable_c(const __u32 *w)
{
	return (w[10] >> 2) & 0x1U;
}

static inline __u32 heddle_vrun_store(const __u32 *w)
{
	return (w[10] >> 3) & 0x3U;
}

static inline __u32 heddle_vrun_store_one(const __u32 *w)
{
	return (w[10] >> 5) & 0x1U;
}

static inline __u32 heddle_vrun_gather_a(const __u32 *w)
{
	return (w[10] >> 6) & 0x1U;
}

static inline __u32 heddle_vrun_scatter_d(const __u32 *w)
{
	return (w[10] >> 7) & 0x1U;
}

static inline __u32 heddle_vrun_pick_a(const __u32 *w)
{
	return (w[10] >> 8) & 0x1U;
}

static inline __u32 heddle_vrun_index_stride(const __u32 *w)
{
	return w[11] & 0xffffffU;
}

static inline __u32 heddle_vrun_index_bound(const __u32 *w)
{
	return w[12];
}

static inline __u32 heddle_vrun_arg0(const __u32 *w)
{
	return w[13];
}

static inline __u32 heddle_vrun_arg1(const __u32 *w)
{
	return w[14];
}

static inline __u32 heddle_vrun_arg2(const __u32 *w)
{
	return w[15];
}

static inline __u32 heddle_vrun_arg3(const __u32 *w)
{
	return w[16];
}

static inline __u32 heddle_vrun_a_base(const __u32 *w)
{
	return w[20] & 0xffffffU;
}

static inline __u32 heddle_vrun_a_type(const __u32 *w)
{
	return (w[20] >> 24) & 0xfU;
}

static inline __s32 heddle_vrun_a_lane_stride(const __u32 *w)
{
	return (__s32)(w[21] << 8) >> 8;
}

static inline __s32 heddle_vrun_a_r1_stride(const __u32 *w)
{
	return (__s32)(w[22] << 8) >> 8;
}

static inline __s32 heddle_vrun_a_r2_stride(const __u32 *w)
{
	return (__s32)(w[23] << 8) >> 8;
}

static inline __s32 heddle_vrun_a_r3_stride(const __u32 *w)
{
	return (__s32)(w[24] << 8) >> 8;
}

static inline __s32 heddle_vrun_a_o1_stride(const __u32 *w)
{
	return (__s32)(w[25] << 8) >> 8;
}

static inline __s32 heddle_vrun_a_o2_stride(const __u32 *w)
{
	return (__s32)(w[26] << 8) >> 8;
}

static inline __s32 heddle_vrun_a_o3_stride(const __u32 *w)
{
	return (__s32)(w[27] << 8) >> 8;
}

static inline __u32 heddle_vrun_b_base(const __u32 *w)
{
	return w[28] & 0xffffffU;
}

static inline __u32 heddle_vrun_b_type(const __u32 *w)
{
	return (w[28] >> 24) & 0xfU;
}

static inline __s32 heddle_vrun_b_lane_stride(const __u32 *w)
{
	return (__s32)(w[29] << 8) >> 8;
}

static inline __s32 heddle_vrun_b_r1_stride(const __u32 *w)
{
	return (__s32)(w[30] << 8) >> 8;
}

static inline __s32 heddle_vrun_b_r2_stride(const __u32 *w)
{
	return (__s32)(w[31] << 8) >> 8;
}

static inline __s32 heddle_vrun_b_r3_stride(const __u32 *w)
{
	return (__s32)(w[32] << 8) >> 8;
}

static inline __s32 heddle_vrun_b_o1_stride(const __u32 *w)
{
	return (__s32)(w[33] << 8) >> 8;
}

static inline __s32 heddle_vrun_b_o2_stride(const __u32 *w)
{
	return (__s32)(w[34] << 8) >> 8;
}

static inline __s32 heddle_vrun_b_o3_stride(const __u32 *w)
{
	return (__s32)(w[35] << 8) >> 8;
}

static inline __u32 heddle_vrun_c_base(const __u32 *w)
{
	return w[36] & 0xffffffU;
}

static inline __u32 heddle_vrun_c_type(const __u32 *w)
{
	return (w[36] >> 24) & 0xfU;
}

static inline __s32 heddle_vrun_c_lane_stride(const __u32 *w)
{
	return (__s32)(w[37] << 8) >> 8;
}

static inline __s32 heddle_vrun_c_r1_stride(const __u32 *w)
{
	return (__s32)(w[38] << 8) >> 8;
}

static inline __s32 heddle_vrun_c_r2_stride(const __u32 *w)
{
	return (__s32)(w[39] << 8) >> 8;
}

static inline __s32 heddle_vrun_c_r3_stride(const __u32 *w)
{
	return (__s32)(w[40] << 8) >> 8;
}

static inline __s32 heddle_vrun_c_o1_stride(const __u32 *w)
{
	return (__s32)(w[41] << 8) >> 8;
}

static inline __s32 heddle_vrun_c_o2_stride(const __u32 *w)
{
	return (__s32)(w[42] << 8) >> 8;
}

static inline __s32 heddle_vrun_c_o3_stride(const __u32 *w)
{
	return (__s32)(w[43] << 8) >> 8;
}

static inline __u32 heddle_vrun_d_base(const __u32 *w)
{
	return w[44] & 0xffffffU;
}

static inline __u32 heddle_vrun_d_type(const __u32 *w)
{
	return (w[44] >> 24) & 0xfU;
}

static inline __s32 heddle_vrun_d_lane_stride(const __u32 *w)
{
	return (__s32)(w[45] << 8) >> 8;
}

static inline __s32 heddle_vrun_d_r1_stride(const __u32 *w)
{
	return (__s32)(w[46] << 8) >> 8;
}

static inline __s32 heddle_vrun_d_r2_stride(const __u32 *w)
{
	return (__s32)(w[47] << 8) >> 8;
}

static inline __s32 heddle_vrun_d_r3_stride(const __u32 *w)
{
	return (__s32)(w[48] << 8) >> 8;
}

static inline __s32 heddle_vrun_d_o1_stride(const __u32 *w)
{
	return (__s32)(w[49] << 8) >> 8;
}

static inline __s32 heddle_vrun_d_o2_stride(const __u32 *w)
{
	return (__s32)(w[50] << 8) >> 8;
}

static inline __s32 heddle_vrun_d_o3_stride(const __u32 *w)
{
	return (__s32)(w[51] << 8) >> 8;
}

#define HEDDLE_VMAC_A_WORD			20
#define HEDDLE_VMAC_B_WORD			28
#define HEDDLE_VMAC_C_WORD			36
#define HEDDLE_VMAC_D_WORD			44

static inline __u32 heddle_vmac_lanes(const __u32 *w)
{
	return w[6] & 0xffffU;
}

static inline __u32 heddle_vmac_n_r1(const __u32 *w)
{
	return w[6] >> 16;
}

static inline __u32 heddle_vmac_n_r2(const __u32 *w)
{
	return w[7] & 0xffffU;
}

static inline __u32 heddle_vmac_n_r3(const __u32 *w)
{
	return w[7] >> 16;
}

static inline __u32 heddle_vmac_n_o1(const __u32 *w)
{
	return w[8] & 0xffffU;
}

static inline __u32 heddle_vmac_n_o2(const __u32 *w)
{
	return w[8] >> 16;
}

static inline __u32 heddle_vmac_n_o3(const __u32 *w)
{
	return w[9] & 0xffffU;
}

static inline __u32 heddle_vmac_initial(const __u32 *w)
{
	return w[10] & 0x1U;
}

static inline __u32 heddle_vmac_clamp(const __u32 *w)
{
	return (w[10] >> 1) & 0x1U;
}

static inline __u32 heddle_vmac_clamp_min(const __u32 *w)
{
	return w[13];
}

static inline __u32 heddle_vmac_clamp_max(const __u32 *w)
{
	return w[14];
}

static inline __u32 heddle_vmac_a_base(const __u32 *w)
{
	return w[20] & 0xffffffU;
}

static inline __u32 heddle_vmac_a_type(const __u32 *w)
{
	return (w[20] >> 24) & 0xfU;
}

static inline __s32 heddle_vmac_a_lane_stride(const __u32 *w)
{
	return (__s32)(w[21] << 8) >> 8;
}

static inline __s32 heddle_vmac_a_r1_stride(const __u32 *w)
{
	return (__s32)(w[22] << 8) >> 8;
}

static inline __s32 heddle_vmac_a_r2_stride(const __u32 *w)
{
	return (__s32)(w[23] << 8) >> 8;
}

static inline __s32 heddle_vmac_a_r3_stride(const __u32 *w)
{
	return (__s32)(w[24] << 8) >> 8;
}

static inline __s32 heddle_vmac_a_o1_stride(const __u32 *w)
{
	return (__s32)(w[25] << 8) >> 8;
}

static inline __s32 heddle_vmac_a_o2_stride(const __u32 *w)
{
	return (__s32)(w[26] << 8) >> 8;
}

static inline __s32 heddle_vmac_a_o3_stride(const __u32 *w)
{
	return (__s32)(w[27] << 8) >> 8;
}

static inline __u32 heddle_vmac_b_base(const __u32 *w)
{
	return w[28] & 0xffffffU;
}

static inline __u32 heddle_vmac_b_type(const __u32 *w)
{
	return (w[28] >> 24) & 0xfU;
}

static inline __s32 heddle_vmac_b_lane_stride(const __u32 *w)
{
	return (__s32)(w[29] << 8) >> 8;
}

static inline __s32 heddle_vmac_b_r1_stride(const __u32 *w)
{
	return (__s32)(w[30] << 8) >> 8;
}

static inline __s32 heddle_vmac_b_r2_stride(const __u32 *w)
{
	return (__s32)(w[31] << 8) >> 8;
}

static inline __s32 heddle_vmac_b_r3_stride(const __u32 *w)
{
	return (__s32)(w[32] << 8) >> 8;
}

static inline __s32 heddle_vmac_b_o1_stride(const __u32 *w)
{
	return (__s32)(w[33] << 8) >> 8;
}

static inline __s32 heddle_vmac_b_o2_stride(const __u32 *w)
{
	return (__s32)(w[34] << 8) >> 8;
}

static inline __s32 heddle_vmac_b_o3_stride(const __u32 *w)
{
	return (__s32)(w[35] << 8) >> 8;
}

static inline __u32 heddle_vmac_c_base(const __u32 *w)
{
	return w[36] & 0xffffffU;
}

static inline __u32 heddle_vmac_c_type(const __u32 *w)
{
	return (w[36] >> 24) & 0xfU;
}

static inline __s32 heddle_vmac_c_lane_stride(const __u32 *w)
{
	return (__s32)(w[37] << 8) >> 8;
}

static inline __s32 heddle_vmac_c_r1_stride(const __u32 *w)
{
	return (__s32)(w[38] << 8) >> 8;
}

static inline __s32 heddle_vmac_c_r2_stride(const __u32 *w)
{
	return (__s32)(w[39] << 8) >> 8;
}

static inline __s32 heddle_vmac_c_r3_stride(const __u32 *w)
{
	return (__s32)(w[40] << 8) >> 8;
}

static inline __s32 heddle_vmac_c_o1_stride(const __u32 *w)
{
	return (__s32)(w[41] << 8) >> 8;
}

static inline __s32 heddle_vmac_c_o2_stride(const __u32 *w)
{
	return (__s32)(w[42] << 8) >> 8;
}

static inline __s32 heddle_vmac_c_o3_stride(const __u32 *w)
{
	return (__s32)(w[43] << 8) >> 8;
}

static inline __u32 heddle_vmac_d_base(const __u32 *w)
{
	return w[44] & 0xffffffU;
}

static inline __u32 heddle_vmac_d_type(const __u32 *w)
{
	return (w[44] >> 24) & 0xfU;
}

static inline __s32 heddle_vmac_d_lane_stride(const __u32 *w)
{
	return (__s32)(w[45] << 8) >> 8;
}

static inline __s32 heddle_vmac_d_r1_stride(const __u32 *w)
{
	return (__s32)(w[46] << 8) >> 8;
}

static inline __s32 heddle_vmac_d_r2_stride(const __u32 *w)
{
	return (__s32)(w[47] << 8) >> 8;
}

static inline __s32 heddle_vmac_d_r3_stride(const __u32 *w)
{
	return (__s32)(w[48] << 8) >> 8;
}

static inline __s32 heddle_vmac_d_o1_stride(const __u32 *w)
{
	return (__s32)(w[49] << 8) >> 8;
}

static inline __s32 heddle_vmac_d_o2_stride(const __u32 *w)
{
	return (__s32)(w[50] << 8) >> 8;
}

static inline __s32 heddle_vmac_d_o3_stride(const __u32 *w)
{
	return (__s32)(w[51] << 8) >> 8;
}

#endif /* HEDDLE_ISA_FIELDS_H */
