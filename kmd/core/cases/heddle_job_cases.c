// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_job.h. */
#include "heddle_job.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"
#include "heddle_hw.h"

static const struct {
	enum heddle_job_state from;
	enum heddle_job_event event;
	enum heddle_job_state to;
} legal[] = {
	{ HEDDLE_JOB_QUEUED, HEDDLE_JOB_START, HEDDLE_JOB_RUNNING },
	{ HEDDLE_JOB_QUEUED, HEDDLE_JOB_CANCEL, HEDDLE_JOB_CANCELLED },
	{ HEDDLE_JOB_QUEUED, HEDDLE_JOB_LOST, HEDDLE_JOB_CANCELLED },
	{ HEDDLE_JOB_RUNNING, HEDDLE_JOB_COMPLETE, HEDDLE_JOB_DONE },
	{ HEDDLE_JOB_RUNNING, HEDDLE_JOB_HANG, HEDDLE_JOB_GUILTY },
	{ HEDDLE_JOB_RUNNING, HEDDLE_JOB_CANCEL, HEDDLE_JOB_CANCELLED },
	{ HEDDLE_JOB_RUNNING, HEDDLE_JOB_LOST, HEDDLE_JOB_CANCELLED },
};

static void follows_the_table_and_nothing_else(struct heddle_test *t)
{
	u32 from, event, i;

	for (from = 0; from < HEDDLE_JOB_STATES; from++) {
		for (event = 0; event < HEDDLE_JOB_EVENTS; event++) {
			enum heddle_job_state state = from;
			u32 to = from;
			int want = -EINVAL;

			for (i = 0; i < ARRAY_SIZE(legal); i++) {
				if (legal[i].from == from && legal[i].event == event) {
					to = legal[i].to;
					want = 0;
				}
			}
			heddle_row(t, "state * 100 + event", from * 100 + event);
			HEDDLE_EXPECT_EQ(t, heddle_job_step(&state, event), want);
			HEDDLE_EXPECT_EQ(t, state, to);
		}
		HEDDLE_EXPECT_EQ(t, heddle_job_ended(from), from >= HEDDLE_JOB_DONE);
	}
}

static void refuses_what_is_no_state_or_event(struct heddle_test *t)
{
	enum heddle_job_state state = HEDDLE_JOB_STATES;

	HEDDLE_EXPECT_EQ(t, heddle_job_step(&state, HEDDLE_JOB_START), -EINVAL);
	HEDDLE_EXPECT_EQ(t, state, HEDDLE_JOB_STATES);
	state = HEDDLE_JOB_QUEUED;
	HEDDLE_EXPECT_EQ(t, heddle_job_step(&state, HEDDLE_JOB_EVENTS), -EINVAL);
	HEDDLE_EXPECT_EQ(t, state, HEDDLE_JOB_QUEUED);
}

static void reports_who_ended_it(struct heddle_test *t)
{
	static const struct {
		const char *row;
		enum heddle_job_state state;
		u32 card;
		bool lost;
		u32 want;
	} rows[] = {
		{ "success", HEDDLE_JOB_DONE, HEDDLE_ERROR_OK, false, HEDDLE_ERROR_OK },
		{ "the card's fault", HEDDLE_JOB_DONE, HEDDLE_ERROR_INDEX_BOUNDS, false,
		  HEDDLE_ERROR_INDEX_BOUNDS },
		{ "no code of the card", HEDDLE_JOB_DONE, 0xffffffff, false,
		  HEDDLE_ERROR_BUS_ERROR },
		{ "ended by the driver", HEDDLE_JOB_GUILTY, HEDDLE_ERROR_ABORTED, false,
		  HEDDLE_ERROR_TIMEOUT },
		{ "lost with the card", HEDDLE_JOB_CANCELLED, 0, true, HEDDLE_ERROR_DEVICE_LOST },
		{ "cancelled", HEDDLE_JOB_CANCELLED, 0, false, HEDDLE_ERROR_ABORTED },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_job_status(rows[i].state, rows[i].card, rows[i].lost),
				 rows[i].want);
	}
}

static void nobody_may_hang_longer_than_the_driver_allows(struct heddle_test *t)
{
	static const struct {
		u64 asked;
		u64 want;
	} rows[] = {
		{ 0, 1000 }, { 1, 1 }, { 999, 999 }, { 1001, 1000 }, { ~0ULL, 1000 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, "asked", rows[i].asked);
		HEDDLE_EXPECT_EQ(t, heddle_job_timeout(rows[i].asked, 1000), rows[i].want);
	}
}

static void maps_every_status_to_an_errno(struct heddle_test *t)
{
	u32 status;

	HEDDLE_EXPECT_EQ(t, heddle_job_errno(HEDDLE_ERROR_OK), 0);
	HEDDLE_EXPECT_EQ(t, heddle_job_errno(HEDDLE_ERROR_TIMEOUT), ETIME);
	HEDDLE_EXPECT_EQ(t, heddle_job_errno(HEDDLE_ERROR_DEVICE_LOST), ENODEV);
	HEDDLE_EXPECT_EQ(t, heddle_job_errno(12345), EIO);
	for (status = 1; status < 64; status++) {
		heddle_row(t, "status", status);
		HEDDLE_EXPECT(t, heddle_job_errno(status) != 0);
	}
}

const struct heddle_case heddle_job_cases[] = {
	{ "follows_the_table_and_nothing_else", follows_the_table_and_nothing_else },
	{ "refuses_what_is_no_state_or_event", refuses_what_is_no_state_or_event },
	{ "reports_who_ended_it", reports_who_ended_it },
	{ "nobody_may_hang_longer_than_the_driver_allows",
	  nobody_may_hang_longer_than_the_driver_allows },
	{ "maps_every_status_to_an_errno", maps_every_status_to_an_errno },
	{ }
};
