// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Bounds of the commands of the vector engine; see heddle_bounds.h. */
#include "heddle_bounds.h"

/* Bytes of a vector element by type. */
static u32 element_bytes(u32 type)
{
	switch (type) {
	case HEDDLE_ELEMENT_TYPE_U8:
	case HEDDLE_ELEMENT_TYPE_S8:
		return 1;
	case HEDDLE_ELEMENT_TYPE_U16:
	case HEDDLE_ELEMENT_TYPE_S16:
	case HEDDLE_ELEMENT_TYPE_F16:
	case HEDDLE_ELEMENT_TYPE_BF16:
		return 2;
	default:
		return 4;
	}
}

#define DIMENSIONS 7

/*
 * A stream: base plus index times stride; dimension 0 is the lanes, 1 to 3 are
 * r1 to r3, 4 to 6 are o1 to o3.
 */
struct stream {
	u32 base;
	u32 element;
	u32 type;
	s32 stride[DIMENSIONS];
};

static struct stream decode(const u32 *w)
{
	u32 type = heddle_stream_type(w);

	return (struct stream) {
		.base = heddle_stream_base(w),
		.element = element_bytes(type),
		.type = type,
		.stride = { heddle_stream_lane_stride(w), heddle_stream_r1_stride(w),
			    heddle_stream_r2_stride(w), heddle_stream_r3_stride(w),
			    heddle_stream_o1_stride(w), heddle_stream_o2_stride(w),
			    heddle_stream_o3_stride(w) },
	};
}

/* How often each dimension is gone through. */
struct loops {
	u32 n[DIMENSIONS];
};

/* Of vrun and vmac: the same fields at the same places (a case compares the tables). */
static struct loops loops_of(const u32 *w)
{
	return (struct loops) { {
		heddle_vrun_lanes(w), heddle_vrun_n_r1(w), heddle_vrun_n_r2(w),
		heddle_vrun_n_r3(w), heddle_vrun_n_o1(w), heddle_vrun_n_o2(w),
		heddle_vrun_n_o3(w),
	} };
}

/* What is touched once per element, with r = 0. */
static struct loops once(struct loops all)
{
	all.n[1] = all.n[2] = all.n[3] = 1;
	return all;
}

static bool stream_aligned(const struct stream *s)
{
	u32 mask = s->element - 1;
	int i;

	for (i = 0; i < DIMENSIONS; i++)
		if ((u32)s->stride[i] & mask)
			return false;
	return !(s->base & mask);
}

static bool float_aligned(const struct stream *s)
{
	return stream_aligned(s) && (s->type == HEDDLE_ELEMENT_TYPE_F16 ||
				     s->type == HEDDLE_ELEMENT_TYPE_BF16 ||
				     s->type == HEDDLE_ELEMENT_TYPE_F32);
}

/*
 * Whether all elements that the loops can reach, and up to @extra bytes above each,
 * lie in SRAM. Lanes that a tail or store_one leave out count: the card's own check
 * takes whole loops, too.
 */
static enum heddle_validate_error stream_bounds(const struct heddle_config *config,
						const struct stream *s, struct loops all,
						u64 extra)
{
	s64 low = s->base, high = s->base;
	int i;

	for (i = 0; i < DIMENSIONS; i++) {
		s64 reach;

		if (check_mul_overflow((s64)all.n[i] - 1, (s64)s->stride[i], &reach) ||
		    check_add_overflow(low, reach < 0 ? reach : 0, &low) ||
		    check_add_overflow(high, reach > 0 ? reach : 0, &high))
			return HEDDLE_VALIDATE_SRAM;
	}
	if (low < 0 || check_add_overflow((u64)high, extra, &extra))
		return HEDDLE_VALIDATE_SRAM;
	return heddle_check_sram(config, extra, s->element);
}

enum heddle_validate_error heddle_bounds_vrun(const struct heddle_config *config, const u32 *w)
{
	u32 program = heddle_vrun_prologue(w) + heddle_vrun_body(w) + heddle_vrun_epilogue(w);
	u32 store = heddle_vrun_store(w), stride = heddle_vrun_index_stride(w);
	u32 bound = heddle_vrun_index_bound(w);
	bool enable_a = heddle_vrun_enable_a(w), enable_b = heddle_vrun_enable_b(w);
	bool enable_c = heddle_vrun_enable_c(w), enable_d = store != HEDDLE_STORE_MODE_NONE;
	bool gather = heddle_vrun_gather_a(w), pick = heddle_vrun_pick_a(w);
	bool scatter = heddle_vrun_scatter_d(w), places = gather || pick;
	struct stream a = decode(w + HEDDLE_VRUN_A_WORD), b = decode(w + HEDDLE_VRUN_B_WORD);
	struct stream c = decode(w + HEDDLE_VRUN_C_WORD), d = decode(w + HEDDLE_VRUN_D_WORD);
	struct loops loops = loops_of(w);
	enum heddle_validate_error error;
	u64 indexed = bound ? (u64)(bound - 1) * stride : 0;

	if (program > HEDDLE_VECTOR_PROGRAM_MAX || (heddle_vrun_store_one(w) && !enable_d) ||
	    (enable_a && !stream_aligned(&a)) || (enable_b && !stream_aligned(&b)) ||
	    (enable_c && !stream_aligned(&c)) || (enable_d && !stream_aligned(&d)))
		return HEDDLE_VALIDATE_RULE;
	if ((gather && pick) || (places && (!enable_a || stride & (a.element - 1))) ||
	    (scatter && (!enable_d || stride & (d.element - 1))) ||
	    ((gather || scatter) && (!enable_c || c.type != HEDDLE_ELEMENT_TYPE_S32)))
		return HEDDLE_VALIDATE_RULE;

	error = heddle_check_sram(config, (u64)heddle_vrun_prog_addr(w) * HEDDLE_WORD_BYTES,
				  (u64)program * sizeof(u64));
	/* With a bound of 0 every index faults before the access. */
	if (!error && enable_a && (!places || bound))
		error = stream_bounds(config, &a, loops, places ? indexed : 0);
	if (!error && enable_b)
		error = stream_bounds(config, &b, loops, 0);
	if (!error && enable_c)
		error = stream_bounds(config, &c, loops, 0);
	if (error || !enable_d || (scatter && !bound))
		return error;
	return stream_bounds(config, &d, store == HEDDLE_STORE_MODE_EPILOGUE ? once(loops) : loops,
			     scatter ? indexed : 0);
}

enum heddle_validate_error heddle_bounds_vmac(const struct heddle_config *config, const u32 *w)
{
	bool initial = heddle_vmac_initial(w);
	struct stream a = decode(w + HEDDLE_VMAC_A_WORD), b = decode(w + HEDDLE_VMAC_B_WORD);
	struct stream c = decode(w + HEDDLE_VMAC_C_WORD), d = decode(w + HEDDLE_VMAC_D_WORD);
	struct loops loops = loops_of(w);

	if (!float_aligned(&a) || !float_aligned(&b) || !float_aligned(&d) ||
	    (initial && !float_aligned(&c)))
		return HEDDLE_VALIDATE_RULE;
	return stream_bounds(config, &a, loops, 0) ?: stream_bounds(config, &b, loops, 0) ?:
	       (initial ? stream_bounds(config, &c, once(loops), 0) : HEDDLE_VALIDATE_OK) ?:
	       stream_bounds(config, &d, once(loops), 0);
}
