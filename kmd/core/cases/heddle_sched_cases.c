// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_sched.h. */
#include "heddle_sched.h"

#include <linux/kernel.h>

#include "heddle_cases.h"

static void clears_sram_for_another_client_and_after_a_reset(struct heddle_test *t)
{
	static const struct {
		const char *row;
		bool reset;
		u64 client;
		bool uses_sram;
		bool want;
	} rows[] = {
		{ "what was there before us", false, 1, true, true },
		{ "another client", false, 7, true, true },
		{ "the same client", false, 7, true, false },
		{ "a copy does not look", false, 8, false, false },
		{ "the same client, after a copy", false, 7, true, false },
		{ "again another client", false, 8, true, true },
		{ "and back", false, 7, true, true },
		{ "after a reset", true, 7, true, true },
		{ "another client after a reset", true, 1, true, true },
	};
	u64 owner = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		if (rows[i].reset)
			owner = 0;
		HEDDLE_EXPECT_EQ(t, heddle_sram_take(&owner, rows[i].client, rows[i].uses_sram),
				 rows[i].want);
	}
}

static void sees_standstill_of_one_job_only(struct heddle_test *t)
{
	static const struct {
		const char *row;
		bool idle;
		u64 fence;
		u32 progress;
		u64 now_ns;
		bool want;
	} rows[] = {
		{ "first look", false, 1, 10, 1000, false },
		{ "before the limit", false, 1, 10, 1099, false },
		{ "at the limit", false, 1, 10, 1100, true },
		{ "progress", false, 1, 11, 1200, false },
		{ "another job", false, 2, 11, 1400, false },
		{ "not long enough", false, 2, 11, 1450, false },
		{ "nothing ran in between", true, 2, 11, 9999, false },
	};
	struct heddle_watch watch = { .armed = false };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		if (rows[i].idle)
			heddle_watch_idle(&watch);
		HEDDLE_EXPECT_EQ(t, heddle_watch_stuck(&watch, rows[i].fence, rows[i].progress,
						       rows[i].now_ns, 100), rows[i].want);
	}
}

const struct heddle_case heddle_sched_cases[] = {
	{ "clears_sram_for_another_client_and_after_a_reset",
	  clears_sram_for_another_client_and_after_a_reset },
	{ "sees_standstill_of_one_job_only", sees_standstill_of_one_job_only },
	{ }
};
