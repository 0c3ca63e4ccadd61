// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Job life cycle; see heddle_job.h. */
#include "heddle_job.h"

#include <linux/errno.h>

#include "heddle_isa_fields.h"

/* Next state plus one; 0 = the event cannot happen in this state. */
#define TO(state) (HEDDLE_JOB_##state + 1)

static const u8 transitions[HEDDLE_JOB_STATES][HEDDLE_JOB_EVENTS] = {
	[HEDDLE_JOB_QUEUED] = {
		[HEDDLE_JOB_START] = TO(RUNNING),
		[HEDDLE_JOB_CANCEL] = TO(CANCELLED),
		[HEDDLE_JOB_LOST] = TO(CANCELLED),
	},
	[HEDDLE_JOB_RUNNING] = {
		[HEDDLE_JOB_COMPLETE] = TO(DONE),
		[HEDDLE_JOB_CANCEL] = TO(CANCELLED),
		[HEDDLE_JOB_HANG] = TO(GUILTY),
		[HEDDLE_JOB_LOST] = TO(CANCELLED),
	},
};

int heddle_job_step(enum heddle_job_state *state, enum heddle_job_event event)
{
	u8 to = 0;

	if ((u32)*state < HEDDLE_JOB_STATES && (u32)event < HEDDLE_JOB_EVENTS)
		to = transitions[*state][event];
	if (!to)
		return -EINVAL;
	*state = (enum heddle_job_state)(to - 1);
	return 0;
}

bool heddle_job_ended(enum heddle_job_state state)
{
	return state == HEDDLE_JOB_DONE || state == HEDDLE_JOB_GUILTY ||
	       state == HEDDLE_JOB_CANCELLED;
}

u64 heddle_job_timeout(u64 asked, u64 limit)
{
	return asked && asked < limit ? asked : limit;
}

static const struct heddle_error_info *find(u32 status)
{
	u32 i;

	for (i = 0; i < HEDDLE_NUM_ERRORS; i++)
		if (heddle_errors[i].code == status)
			return &heddle_errors[i];
	return NULL;
}

u32 heddle_job_status(enum heddle_job_state state, u32 card_status, bool lost)
{
	if (state == HEDDLE_JOB_GUILTY)
		return HEDDLE_ERROR_TIMEOUT;
	if (state == HEDDLE_JOB_CANCELLED)
		return lost ? HEDDLE_ERROR_DEVICE_LOST : HEDDLE_ERROR_ABORTED;
	return find(card_status) ? card_status : HEDDLE_ERROR_BUS_ERROR;
}

u32 heddle_job_errno(u32 status)
{
	const struct heddle_error_info *info = find(status);

	return info ? (u32)-info->err : EIO;
}
