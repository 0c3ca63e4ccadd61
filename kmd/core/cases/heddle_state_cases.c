// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_state.h. */
#include "heddle_state.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"

static const struct {
	enum heddle_device_state from;
	enum heddle_device_event event;
	enum heddle_device_state to;
} legal[] = {
	{ HEDDLE_DEVICE_PROBING, HEDDLE_DEVICE_PROBED, HEDDLE_DEVICE_READY },
	{ HEDDLE_DEVICE_READY, HEDDLE_DEVICE_HANG, HEDDLE_DEVICE_ABORTING },
	{ HEDDLE_DEVICE_READY, HEDDLE_DEVICE_COMPACT, HEDDLE_DEVICE_COMPACTING },
	{ HEDDLE_DEVICE_ABORTING, HEDDLE_DEVICE_ABORTED, HEDDLE_DEVICE_READY },
	{ HEDDLE_DEVICE_ABORTING, HEDDLE_DEVICE_STUCK, HEDDLE_DEVICE_RESETTING },
	{ HEDDLE_DEVICE_RESETTING, HEDDLE_DEVICE_RESET_DONE, HEDDLE_DEVICE_READY },
	{ HEDDLE_DEVICE_COMPACTING, HEDDLE_DEVICE_COMPACTED, HEDDLE_DEVICE_READY },
	/* A card can go at any time, once. */
	{ HEDDLE_DEVICE_PROBING, HEDDLE_DEVICE_LOST, HEDDLE_DEVICE_REMOVED },
	{ HEDDLE_DEVICE_READY, HEDDLE_DEVICE_LOST, HEDDLE_DEVICE_REMOVED },
	{ HEDDLE_DEVICE_ABORTING, HEDDLE_DEVICE_LOST, HEDDLE_DEVICE_REMOVED },
	{ HEDDLE_DEVICE_RESETTING, HEDDLE_DEVICE_LOST, HEDDLE_DEVICE_REMOVED },
	{ HEDDLE_DEVICE_COMPACTING, HEDDLE_DEVICE_LOST, HEDDLE_DEVICE_REMOVED },
};

static void follows_the_table_and_nothing_else(struct heddle_test *t)
{
	u32 from, event, i;

	for (from = 0; from < HEDDLE_DEVICE_STATES; from++) {
		for (event = 0; event < HEDDLE_DEVICE_EVENTS; event++) {
			enum heddle_device_state state = from;
			u32 to = from;
			int want = -EINVAL;

			for (i = 0; i < ARRAY_SIZE(legal); i++) {
				if (legal[i].from == from && legal[i].event == event) {
					to = legal[i].to;
					want = 0;
				}
			}
			heddle_row(t, "state * 100 + event", from * 100 + event);
			HEDDLE_EXPECT_EQ(t, heddle_device_step(&state, event), want);
			HEDDLE_EXPECT_EQ(t, state, to);
		}
	}
}

static void refuses_what_is_no_state_or_event(struct heddle_test *t)
{
	enum heddle_device_state state = HEDDLE_DEVICE_STATES;

	HEDDLE_EXPECT_EQ(t, heddle_device_step(&state, HEDDLE_DEVICE_LOST), -EINVAL);
	HEDDLE_EXPECT_EQ(t, state, HEDDLE_DEVICE_STATES);
	state = HEDDLE_DEVICE_READY;
	HEDDLE_EXPECT_EQ(t, heddle_device_step(&state, HEDDLE_DEVICE_EVENTS), -EINVAL);
	HEDDLE_EXPECT_EQ(t, state, HEDDLE_DEVICE_READY);
}

static void jobs_run_only_on_a_ready_card(struct heddle_test *t)
{
	u32 state;

	for (state = 0; state < HEDDLE_DEVICE_STATES; state++) {
		heddle_row(t, "state", state);
		HEDDLE_EXPECT_EQ(t, heddle_device_accepts_jobs(state),
				 state == HEDDLE_DEVICE_READY);
		HEDDLE_EXPECT_EQ(t, heddle_device_gone(state), state == HEDDLE_DEVICE_REMOVED);
	}
}

const struct heddle_case heddle_state_cases[] = {
	{ "follows_the_table_and_nothing_else", follows_the_table_and_nothing_else },
	{ "refuses_what_is_no_state_or_event", refuses_what_is_no_state_or_event },
	{ "jobs_run_only_on_a_ready_card", jobs_run_only_on_a_ready_card },
	{ }
};
