// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_args.h: a structure, and what its check says of it. */
#include "heddle_args.h"

#include <asm/byteorder.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"
#include "heddle_hw.h"

#define BYTES(type) ((u32)sizeof(struct drm_heddle_##type))

static void arrays(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_array array;
		int want;
	} rows[] = {
		{ "empty: the stride does not matter", { 0, 0, 0 }, 0 },
		{ "as many as may be", { 1, 4, 16 }, 0 },
		{ "one more", { 1, 5, 16 }, -EINVAL },
		{ "elements too short", { 1, 1, 15 }, -EINVAL },
		{ "structures may have grown", { 1, 1, 4096 }, 0 },
		{ "but not so far that looking at them takes long", { 1, 1, 4097 }, -EINVAL },
		{ "nor to the end of all memory", { 1, 1, ~0U }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_array(&rows[i].array, 16, 4), rows[i].want);
	}
}

static void query(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_query args;
		int want;
	} rows[] = {
		{ "size only", { .type = 0 }, 0 },
		{ "two", { .data = { 1, 2, 8 } }, -EINVAL },
		{ "none, with a stride", { .data = { 1, 0, 8 } }, -EINVAL },
		{ "one", { .data = { 1, 1, 8 } }, 0 },
		{ "padding", { .pad = 1, .data = { 1, 1, 8 } }, -EINVAL },
		{ "last type", { .type = DRM_HEDDLE_QUERY_LIMITS, .data = { 1, 1, 8 } }, 0 },
		{ "no such type", { .type = DRM_HEDDLE_QUERY_LIMITS + 1, .data = { 1, 1, 8 } },
		  -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_query(&rows[i].args), rows[i].want);
	}
}

static void context_create(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_context_create args;
		bool may_raise;
		int want;
	} rows[] = {
		{ "highest priority, not allowed", { .priority = 0 }, false, -EACCES },
		{ "highest priority, allowed", { .priority = 0 }, true, 0 },
		{ "above normal, not allowed", { .priority = 1 }, false, -EACCES },
		{ "above normal, allowed", { .priority = 1 }, true, 0 },
		{ "normal", { .priority = HEDDLE_PRIORITY_NORMAL }, false, 0 },
		{ "lowest priority", { .priority = HEDDLE_RINGS - 1 }, false, 0 },
		{ "no such priority", { .priority = HEDDLE_RINGS }, true, -EINVAL },
		{ "a flag", { .priority = 1, .flags = 1 }, true, -EINVAL },
		{ "padding", { .priority = 1, .pad = 1 }, true, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_context_create(&rows[i].args, rows[i].may_raise),
				 rows[i].want);
	}
}

static void context_control(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_context_control args;
		bool may_raise;
		int want;
	} rows[] = {
		{ "read", { .context = 1 }, false, 0 },
		{ "read, with a limit", { .run_cycles = 1 }, true, -EINVAL },
		{ "the default again", { .flags = 1 }, false, 0 },
		{ "a lower limit", { .flags = 1, .run_cycles = 999 }, false, 0 },
		{ "the same limit", { .flags = 1, .run_cycles = 1000 }, false, 0 },
		{ "a higher limit, not allowed", { .flags = 1, .run_cycles = 1001 }, false,
		  -EACCES },
		{ "a higher limit, allowed", { .flags = 1, .run_cycles = 1001 }, true, 0 },
		{ "no such flag", { .flags = 2 }, true, -EINVAL },
		{ "state is for reading", { .state = 1 }, true, -EINVAL },
		{ "so are hangs", { .hangs = 1 }, true, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_context_control(&rows[i].args, 1000,
								 rows[i].may_raise),
				 rows[i].want);
	}
}

static void padding_is_zero(struct heddle_test *t)
{
	HEDDLE_EXPECT_EQ(t, heddle_check_pad(0), 0);
	HEDDLE_EXPECT_EQ(t, heddle_check_pad(1), -EINVAL);
	HEDDLE_EXPECT_EQ(t, heddle_check_pad(~0U), -EINVAL);
}

static void bo_create(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_bo_create args;
		int want;
	} rows[] = {
		{ "no size", { .size = 0 }, -EINVAL },
		{ "one byte", { .size = 1 }, 0 },
		{ "last placement", { .size = 1, .placement = DRM_HEDDLE_DEVICE }, 0 },
		{ "no such placement", { .size = 1, .placement = 2 }, -EINVAL },
		{ "a flag", { .size = 1, .flags = 1 }, -EINVAL },
		{ "padding", { .size = 1, .pad = 1 }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_bo_create(&rows[i].args), rows[i].want);
	}
}

static void stream_create(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_stream_create args;
		int want;
	} rows[] = {
		{ "shortest", { .data = { 1, 16, 1 } }, 0 },
		{ "longest", { .data = { 1, HEDDLE_STREAM_BYTES_MAX, 1 } }, 0 },
		{ "empty", { .data = { 1, 0, 1 } }, -EINVAL },
		{ "short of an SRAM word", { .data = { 1, 15, 1 } }, -EINVAL },
		{ "beyond an SRAM word", { .data = { 1, 17, 1 } }, -EINVAL },
		{ "too long", { .data = { 1, HEDDLE_STREAM_BYTES_MAX + 16, 1 } }, -EINVAL },
		{ "longest of 32 bits", { .data = { 1, ~0U, 1 } }, -EINVAL },
		{ "not bytes", { .data = { 1, 16, 4 } }, -EINVAL },
		{ "a flag", { .data = { 1, 16, 1 }, .flags = 1 }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_stream_create(&rows[i].args), rows[i].want);
	}
}

static void submit(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_submit args;
		int want;
	} rows[] = {
		{ "no step", { .flags = 0 }, -EINVAL },
		{ "as many steps as may be",
		  { .steps = { 1, HEDDLE_STEPS_MAX, BYTES(step) } }, 0 },
		{ "one more", { .steps = { 1, HEDDLE_STEPS_MAX + 1, BYTES(step) } }, -EINVAL },
		{ "a trace", { .flags = 1, .steps = { 1, 1, BYTES(step) }, .trace_entries = 1 },
		  0 },
		{ "the longest trace",
		  { .flags = 1, .steps = { 1, 1, BYTES(step) },
		    .trace_entries = DRM_HEDDLE_TRACE_ENTRIES_MAX }, 0 },
		{ "a longer one",
		  { .flags = 1, .steps = { 1, 1, BYTES(step) },
		    .trace_entries = DRM_HEDDLE_TRACE_ENTRIES_MAX + 1 }, -EINVAL },
		{ "one of 32 bits",
		  { .flags = 1, .steps = { 1, 1, BYTES(step) }, .trace_entries = ~0U },
		  -EINVAL },
		{ "a trace of nothing", { .flags = 1, .steps = { 1, 1, BYTES(step) } }, -EINVAL },
		{ "room for a trace that is not asked for",
		  { .steps = { 1, 1, BYTES(step) }, .trace_entries = 1 }, -EINVAL },
		{ "no such flag", { .flags = 2, .steps = { 1, 1, BYTES(step) } }, -EINVAL },
		{ "one beside a trace",
		  { .flags = 3, .steps = { 1, 1, BYTES(step) }, .trace_entries = 1 }, -EINVAL },
		{ "padding", { .steps = { 1, 1, BYTES(step) }, .pad = 1 }, -EINVAL },
		{ "sync points too short",
		  { .steps = { 1, 1, BYTES(step) }, .in_syncs = { 1, 1, 8 } }, -EINVAL },
		{ "sync points of any number",
		  { .steps = { 1, 1, BYTES(step) }, .out_syncs = { 1, ~0U, BYTES(sync) } },
		  -EINVAL },
		{ "one of each", { .steps = { 1, 1, BYTES(step) },
				   .in_syncs = { 1, 1, BYTES(sync) },
				   .out_syncs = { 1, 1, BYTES(sync) } }, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_submit(&rows[i].args, 0x10001), rows[i].want);
	}
}

static void submit_to_cards_without_a_trace(struct heddle_test *t)
{
	struct drm_heddle_submit args = { .steps = { 1, 1, BYTES(step) } };

	HEDDLE_EXPECT_EQ(t, heddle_check_submit(&args, 0x10000), 0);
	args.flags = DRM_HEDDLE_SUBMIT_TRACE;
	HEDDLE_EXPECT_EQ(t, heddle_check_submit(&args, 0x10000), -EINVAL);
	args.trace_entries = 1;
	HEDDLE_EXPECT_EQ(t, heddle_check_submit(&args, 0x10000), -EOPNOTSUPP);
	HEDDLE_EXPECT_EQ(t, heddle_check_submit(&args, 0x10001), 0);
	HEDDLE_EXPECT_EQ(t, heddle_check_submit(&args, 0x100ff), 0);
}

static void steps(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_step step;
		int want;
	} rows[] = {
		{ "type 0", { .type = 0, .length = 4 }, -EINVAL },
		{ "type 6", { .type = 6, .length = 4 }, -EINVAL },
		{ "type of 32 bits", { .type = ~0U, .length = 4 }, -EINVAL },
		{ "fill", { .type = DRM_HEDDLE_FILL, .length = 4 }, 0 },
		{ "fill, half a word", { .type = DRM_HEDDLE_FILL, .length = 6 }, -EINVAL },
		{ "copy in", { .type = DRM_HEDDLE_COPY_IN, .length = 6 }, 0 },
		{ "copy in, nothing", { .type = DRM_HEDDLE_COPY_IN, .length = 0 }, -EINVAL },
		{ "copy out", { .type = DRM_HEDDLE_COPY_OUT, .length = 1 }, 0 },
		{ "copy with a region", { .type = DRM_HEDDLE_COPY_OUT, .length = 1,
					  .regions = { 1, 1, BYTES(region) } }, -EINVAL },
		{ "copy on the card", { .type = DRM_HEDDLE_STEP_COPY, .length = 3 }, 0 },
		{ "copy on the card, nothing", { .type = DRM_HEDDLE_STEP_COPY }, -EINVAL },
		{ "run", { .type = DRM_HEDDLE_RUN,
			   .regions = { 1, HEDDLE_REGIONS, BYTES(region) } }, 0 },
		{ "run, a region too many",
		  { .type = DRM_HEDDLE_RUN,
		    .regions = { 1, HEDDLE_REGIONS + 1, BYTES(region) } }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_step(&rows[i].step, false), rows[i].want);
		HEDDLE_EXPECT_EQ(t, heddle_check_step(&rows[i].step, true), rows[i].want);
	}
}

/* Behind a run, or what overlaps one; elsewhere none may overlap. */
static void steps_that_overlap(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_step step;
		int want;
	} rows[] = {
		{ "copy in", { .type = DRM_HEDDLE_COPY_IN, .length = 6 }, 0 },
		{ "copy out", { .type = DRM_HEDDLE_COPY_OUT, .length = 6 }, 0 },
		{ "copy on the card", { .type = DRM_HEDDLE_STEP_COPY, .length = 6 }, 0 },
		{ "fill", { .type = DRM_HEDDLE_FILL, .length = 4 }, 0 },
		{ "fill, half a word", { .type = DRM_HEDDLE_FILL, .length = 6 }, -EINVAL },
		{ "run", { .type = DRM_HEDDLE_RUN }, -EINVAL },
	};
	u32 i, bit;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct drm_heddle_step step = rows[i].step;

		heddle_row(t, rows[i].row, i);
		step.flags = DRM_HEDDLE_STEP_OVERLAP;
		HEDDLE_EXPECT_EQ(t, heddle_check_step(&step, true), rows[i].want);
		HEDDLE_EXPECT_EQ(t, heddle_check_step(&step, false), -EINVAL);
		for (bit = 1; bit < 32; bit++) {
			step.flags = DRM_HEDDLE_STEP_OVERLAP | 1U << bit;
			HEDDLE_EXPECT_EQ(t, heddle_check_step(&step, true), -EINVAL);
		}
	}
}

#define LAST (HEDDLE_REGIONS - 1)

/* In this order: an index that was taken cannot be bound again. */
static void regions(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_region region;
		int want;
		u32 used;
	} rows[] = {
		{ "last", { .index = LAST, .size = 1 }, 0, 1U << LAST },
		{ "bound twice", { .index = LAST, .size = 1 }, -EINVAL, 1U << LAST },
		{ "no such region", { .index = LAST + 1, .size = 1 }, -EINVAL, 1U << LAST },
		{ "not aligned", { .offset = 32, .size = 1 }, -EINVAL, 1U << LAST },
		{ "no such flag", { .offset = 64, .size = 1, .flags = 2 }, -EINVAL, 1U << LAST },
		{ "padding", { .offset = 64, .size = 1, .pad = 1 }, -EINVAL, 1U << LAST },
		{ "empty", { .offset = 64, .size = 0 }, -EINVAL, 1U << LAST },
		{ "first", { .offset = 64, .size = 1, .flags = DRM_HEDDLE_REGION_WRITE }, 0,
		  1U << LAST | 1 },
	};
	u32 i, used = 0;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_region(&rows[i].region, &used), rows[i].want);
		HEDDLE_EXPECT_EQ(t, used, rows[i].used);
	}
}

/* Bytes 128 to 255 are bound. */
static void overlaps(struct heddle_test *t)
{
	static const struct {
		const char *row;
		u64 offset;
		u64 length;
		bool writes;
		u32 flags;
		int want;
	} rows[] = {
		{ "up to the first", 64, 64, true, DRM_HEDDLE_REGION_WRITE, 0 },
		{ "the first", 64, 65, true, DRM_HEDDLE_REGION_WRITE, -EINVAL },
		{ "the last", 255, 1, true, DRM_HEDDLE_REGION_WRITE, -EINVAL },
		{ "behind the last", 256, 1, true, DRM_HEDDLE_REGION_WRITE, 0 },
		{ "one within", 130, 1, true, DRM_HEDDLE_REGION_WRITE, -EINVAL },
		{ "all and more", 0, 4096, true, DRM_HEDDLE_REGION_WRITE, -EINVAL },
		{ "both read", 128, 128, false, 0, 0 },
		{ "the step writes", 128, 128, true, 0, -EINVAL },
		{ "the run writes", 128, 128, false, DRM_HEDDLE_REGION_WRITE, -EINVAL },
		{ "the run writes elsewhere", 0, 128, false, DRM_HEDDLE_REGION_WRITE, 0 },
		{ "largest", 0, ~0ULL, true, 0, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct drm_heddle_region region = { .offset = 128, .size = 128,
						    .flags = rows[i].flags };

		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_overlap(&region, rows[i].offset, rows[i].length,
							 rows[i].writes),
				 rows[i].want);
	}
}

static void cards_get_flags_that_they_know(struct heddle_test *t)
{
	HEDDLE_EXPECT_EQ(t, heddle_step_flags(0, 0x10001), 0);
	HEDDLE_EXPECT_EQ(t, heddle_step_flags(DRM_HEDDLE_STEP_OVERLAP, 0x10000), 0);
	HEDDLE_EXPECT_EQ(t, heddle_step_flags(DRM_HEDDLE_STEP_OVERLAP, 0x10001),
			 HEDDLE_STEP_FLAGS_OVERLAP_MASK);
	HEDDLE_EXPECT_EQ(t, heddle_step_flags(DRM_HEDDLE_STEP_OVERLAP, 0x100ff),
			 HEDDLE_STEP_FLAGS_OVERLAP_MASK);
}

static __le32 le(u32 value)
{
	return cpu_to_le32(value);
}

/* Whatever the card has written, the step is one of the submission's. */
static void tells_of_commands(struct heddle_test *t)
{
	struct heddle_trace_entry from = { .begin = le(1), .end = le(0xfffffffe), .offset = le(3),
					   .tag = le(4), .stall = { le(5), le(6), le(7) } };
	u8 step_of[HEDDLE_STEPS_MAX];
	struct drm_heddle_trace_entry to;
	u32 i;

	for (i = 0; i < HEDDLE_STEPS_MAX; i++)
		step_of[i] = 200 - i;
	for (i = 0; i < 32; i++) {
		u32 flags = 1U << i;

		heddle_row(t, "bit of flags", i);
		from.flags = le(flags);
		heddle_trace_tell(&to, &from, step_of);
		HEDDLE_EXPECT_EQ(t, to.engine, flags & HEDDLE_TRACE_ENTRY_FLAGS_ENGINE_MASK);
		HEDDLE_EXPECT_EQ(t, to.step, i >= 8 && i < 14 ? 200 - (flags >> 8) : 200);
		HEDDLE_EXPECT_EQ(t, to.flags, i == 16 ? DRM_HEDDLE_TRACE_ESTIMATED :
					      i == 17 ? DRM_HEDDLE_TRACE_VALID : 0);
	}
	from.flags = le(~0U);
	heddle_trace_tell(&to, &from, step_of);
	HEDDLE_EXPECT_EQ(t, to.begin, 1);
	HEDDLE_EXPECT_EQ(t, to.end, 0xfffffffe);
	HEDDLE_EXPECT_EQ(t, to.offset, 3);
	HEDDLE_EXPECT_EQ(t, to.tag, 4);
	HEDDLE_EXPECT_EQ(t, to.engine, 7);
	HEDDLE_EXPECT_EQ(t, to.step, 200 - (HEDDLE_STEPS_MAX - 1));
	HEDDLE_EXPECT_EQ(t, to.flags, DRM_HEDDLE_TRACE_ESTIMATED | DRM_HEDDLE_TRACE_VALID);
	HEDDLE_EXPECT_EQ(t, to.stall0, 5);
	HEDDLE_EXPECT_EQ(t, to.stall1, 6);
	HEDDLE_EXPECT_EQ(t, to.stall2, 7);
}

static void ranges_do_not_wrap(struct heddle_test *t)
{
	static const struct {
		u64 offset;
		u64 length;
		u64 size;
		int want;
	} rows[] = {
		{ 0, 10, 10, 0 },
		{ 1, 10, 10, -ERANGE },
		{ ~0ULL, 2, 10, -ERANGE },
		{ 2, ~0ULL, ~0ULL, -ERANGE },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, "range", i);
		HEDDLE_EXPECT_EQ(t, heddle_check_range(rows[i].offset, rows[i].length,
						       rows[i].size), rows[i].want);
	}
}

static void wait_for_job(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_wait args;
		int want;
	} rows[] = {
		{ "jobs count from 1", { .seqno = 0 }, -EINVAL },
		{ "the first job", { .seqno = 1 }, 0 },
		{ "its result", { .seqno = 1, .result = { 1, 1, BYTES(result) } }, 0 },
		{ "two results", { .seqno = 1, .result = { 1, 2, BYTES(result) } }, -EINVAL },
		{ "padding", { .seqno = 1, .pad = 1 }, -EINVAL },
		{ "its trace", { .seqno = 1, .trace = { 1, 1, BYTES(trace_entry) } }, 0 },
		{ "the longest trace",
		  { .seqno = 1,
		    .trace = { 1, DRM_HEDDLE_TRACE_ENTRIES_MAX, BYTES(trace_entry) } }, 0 },
		{ "a longer one",
		  { .seqno = 1,
		    .trace = { 1, DRM_HEDDLE_TRACE_ENTRIES_MAX + 1, BYTES(trace_entry) } },
		  -EINVAL },
		{ "entries too short",
		  { .seqno = 1, .trace = { 1, 1, BYTES(trace_entry) - 1 } }, -EINVAL },
		{ "what is reserved", { .seqno = 1, .reserved = 1 }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_wait(&rows[i].args), rows[i].want);
	}
}

static void read_events(struct heddle_test *t)
{
	static const struct {
		const char *row;
		struct drm_heddle_events args;
		int want;
	} rows[] = {
		{ "room for none", { .filled = 0 }, -EINVAL },
		{ "room for some", { .events = { 1, 4, BYTES(event) } }, 0 },
		{ "events too short", { .events = { 1, 4, BYTES(event) - 1 } }, -EINVAL },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_check_events(&rows[i].args), rows[i].want);
	}
}

const struct heddle_case heddle_args_cases[] = {
	{ "arrays", arrays },
	{ "query", query },
	{ "context_create", context_create },
	{ "context_control", context_control },
	{ "padding_is_zero", padding_is_zero },
	{ "bo_create", bo_create },
	{ "stream_create", stream_create },
	{ "submit", submit },
	{ "submit_to_cards_without_a_trace", submit_to_cards_without_a_trace },
	{ "steps", steps },
	{ "regions", regions },
	{ "steps_that_overlap", steps_that_overlap },
	{ "overlaps", overlaps },
	{ "cards_get_flags_that_they_know", cards_get_flags_that_they_know },
	{ "tells_of_commands", tells_of_commands },
	{ "ranges_do_not_wrap", ranges_do_not_wrap },
	{ "wait_for_job", wait_for_job },
	{ "read_events", read_events },
	{ }
};
