// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_limits.h. */
#include "heddle_limits.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"
#include "heddle_cycles.h"

static void each_resource_up_to_its_limit(struct heddle_test *t)
{
	static const struct drm_heddle_limits limits = {
		.device_bytes = 10,
		.pinned_bytes = 11,
		.buffers = 12,
		.streams = 13,
		.contexts = 14,
		.jobs = 15,
	};
	struct heddle_usage usage = { .hangs = 0 };
	u32 what;

	for (what = 0; what < HEDDLE_RESOURCES; what++) {
		int full = what == HEDDLE_JOBS ? -EAGAIN : -EDQUOT;

		heddle_row(t, "resource", what);
		HEDDLE_EXPECT_EQ(t, heddle_usage_charge(&usage, &limits, what, 10 + what), 0);
		HEDDLE_EXPECT_EQ(t, heddle_usage_charge(&usage, &limits, what, 1), full);
		HEDDLE_EXPECT_EQ(t, heddle_usage_charge(&usage, &limits, what, ~0ULL), full);
		HEDDLE_EXPECT_EQ(t, usage.used[what], 10 + what);
		heddle_usage_release(&usage, what, 1);
		HEDDLE_EXPECT_EQ(t, heddle_usage_charge(&usage, &limits, what, 2), full);
		HEDDLE_EXPECT_EQ(t, heddle_usage_charge(&usage, &limits, what, 1), 0);
		heddle_usage_release(&usage, what, 10 + what);
		HEDDLE_EXPECT_EQ(t, usage.used[what], 0);
	}
}

static void an_empty_card_gives_all_its_memory(struct heddle_test *t)
{
	struct heddle_usage usage = { .hangs = 0 };
	struct drm_heddle_limits limits;

	heddle_limits_init(&limits, 1 << 29, 1ULL << 34, 7);
	HEDDLE_EXPECT_EQ(t, limits.timeout_ns, 7);
	HEDDLE_EXPECT_EQ(t, limits.pinned_bytes, 1ULL << 32);
	HEDDLE_EXPECT_EQ(t, heddle_usage_charge(&usage, &limits, HEDDLE_DEVICE_BYTES, 1 << 29), 0);
	HEDDLE_EXPECT(t, limits.run_cycles && limits.buffers && limits.streams &&
			 limits.contexts && limits.jobs && limits.hangs);
}

static void too_many_hangs_ban(struct heddle_test *t)
{
	static const struct drm_heddle_limits limits = { .hangs = 3 };
	struct heddle_usage usage = { .hangs = 0 };

	HEDDLE_EXPECT(t, !heddle_usage_hang(&usage, &limits));
	HEDDLE_EXPECT(t, !heddle_usage_hang(&usage, &limits));
	HEDDLE_EXPECT(t, !heddle_usage_banned(&usage, &limits));
	HEDDLE_EXPECT(t, heddle_usage_hang(&usage, &limits));
	HEDDLE_EXPECT(t, heddle_usage_banned(&usage, &limits));
	usage.hangs = ~0U;
	HEDDLE_EXPECT(t, heddle_usage_hang(&usage, &limits));
}

static void sums_of_cycles_saturate(struct heddle_test *t)
{
	HEDDLE_EXPECT_EQ(t, heddle_cycles_add(3, 4), 7);
	HEDDLE_EXPECT_EQ(t, heddle_cycles_add(~0ULL, 1), ~0ULL);
	HEDDLE_EXPECT_EQ(t, heddle_cycles_add(1ULL << 63, 1ULL << 63), ~0ULL);
	HEDDLE_EXPECT_EQ(t, heddle_copy_cycles(~0ULL), ~0ULL);
	HEDDLE_EXPECT(t, heddle_copy_cycles(1 << 20) >= 1 << 20);
}

const struct heddle_case heddle_limits_cases[] = {
	{ "each_resource_up_to_its_limit", each_resource_up_to_its_limit },
	{ "an_empty_card_gives_all_its_memory", an_empty_card_gives_all_its_memory },
	{ "too_many_hangs_ban", too_many_hangs_ban },
	{ "sums_of_cycles_saturate", sums_of_cycles_saturate },
	{ NULL, NULL },
};
