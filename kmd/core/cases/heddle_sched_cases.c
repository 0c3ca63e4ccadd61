// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_sched.h. */
#include "heddle_sched.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"

static void urgent_first_then_turns(struct heddle_test *t)
{
	static const struct {
		bool ready[3];
		u32 want;
	} rows[] = {
		{ { true, true, true }, 1 },
		{ { true, true, true }, 2 },
		{ { true, true, true }, 1 },
		{ { true, true, true }, 2 },
		{ { true, false, false }, 0 },
		{ { true, false, false }, 0 },
	};
	struct heddle_sched_entry e[3] = {
		{ .priority = 2 }, { .priority = 1 }, { .priority = 1 },
	};
	struct heddle_sched sched;
	u32 i, k, chosen;

	heddle_sched_init(&sched);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, "turn", i);
		for (k = 0; k < ARRAY_SIZE(e); k++)
			e[k].ready = rows[i].ready[k];
		chosen = 9;
		if (!HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 3, &chosen), 0))
			return;
		if (!HEDDLE_EXPECT_EQ(t, chosen, rows[i].want))
			return;
		heddle_sched_start(&sched, &e[chosen], chosen + 1, false);
		heddle_sched_end(&sched);
	}
}

static void a_busy_context_gets_no_more_than_its_share(struct heddle_test *t)
{
	struct heddle_sched_entry e[5];
	struct heddle_sched sched;
	u32 turns[5] = { 0 };
	u32 i, chosen;

	heddle_sched_init(&sched);
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		e[i].priority = 1;
		e[i].ready = true;
		e[i].turn = 0;
	}
	for (i = 0; i < 500; i++) {
		chosen = 9;
		if (!HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 5, &chosen), 0) ||
		    !HEDDLE_EXPECT(t, chosen < ARRAY_SIZE(e)))
			return;
		turns[chosen]++;
		heddle_sched_start(&sched, &e[chosen], 1, false);
		heddle_sched_end(&sched);
	}
	for (i = 0; i < ARRAY_SIZE(e); i++) {
		heddle_row(t, "context", i);
		HEDDLE_EXPECT_EQ(t, turns[i], 100);
	}
}

static void never_lets_a_job_overtake_one_with_the_card(struct heddle_test *t)
{
	struct heddle_sched_entry e[2] = { { 2, true, 0 }, { 1, false, 0 } };
	struct heddle_sched sched;
	u32 chosen = 9;

	heddle_sched_init(&sched);
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 2, &chosen), 0);
	if (!HEDDLE_EXPECT_EQ(t, chosen, 0))
		return;
	heddle_sched_start(&sched, &e[0], 1, true);
	e[1].ready = true;
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 2, &chosen), -EAGAIN);
	e[1].priority = 3;
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 2, &chosen), 0);
	if (!HEDDLE_EXPECT_EQ(t, chosen, 0))
		return;
	heddle_sched_start(&sched, &e[0], 1, true);
	heddle_row(t, "enough are with the card", sched.in_flight);
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 2, &chosen), -EAGAIN);
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 0, &chosen), -EAGAIN);
}

static void chooses_nobody_when_nobody_is_ready(struct heddle_test *t)
{
	struct heddle_sched_entry e[2] = { { 0, false, 0 }, { 1, false, 0 } };
	struct heddle_sched sched;
	u32 chosen = 9;

	heddle_sched_init(&sched);
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 2, &chosen), -EAGAIN);
	HEDDLE_EXPECT_EQ(t, heddle_sched_pick(&sched, e, 0, &chosen), -EAGAIN);
	HEDDLE_EXPECT_EQ(t, chosen, 9);
}

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
	struct heddle_sched_entry e = { 1, true, 0 };
	struct heddle_sched sched;
	u32 i;

	heddle_sched_init(&sched);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		if (rows[i].reset)
			heddle_sched_reset(&sched);
		HEDDLE_EXPECT_EQ(t, heddle_sched_start(&sched, &e, rows[i].client,
						       rows[i].uses_sram), rows[i].want);
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
	{ "urgent_first_then_turns", urgent_first_then_turns },
	{ "a_busy_context_gets_no_more_than_its_share",
	  a_busy_context_gets_no_more_than_its_share },
	{ "never_lets_a_job_overtake_one_with_the_card",
	  never_lets_a_job_overtake_one_with_the_card },
	{ "chooses_nobody_when_nobody_is_ready", chooses_nobody_when_nobody_is_ready },
	{ "clears_sram_for_another_client_and_after_a_reset",
	  clears_sram_for_another_client_and_after_a_reset },
	{ "sees_standstill_of_one_job_only", sees_standstill_of_one_job_only },
	{ }
};
