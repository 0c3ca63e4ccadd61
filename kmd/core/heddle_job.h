/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The life of a job, as a table of transitions. */
#ifndef HEDDLE_JOB_H
#define HEDDLE_JOB_H

#include <linux/types.h>

/**
 * enum heddle_job_state - where a job is
 * @HEDDLE_JOB_QUEUED: waits in its context, the card does not know it
 * @HEDDLE_JOB_RUNNING: its descriptor is in a ring of the card
 * @HEDDLE_JOB_DONE: ended by itself, with success or with a fault
 * @HEDDLE_JOB_GUILTY: made no progress or ran too long, and was ended by the driver
 * @HEDDLE_JOB_CANCELLED: never ran, or was ended with the card or its context
 */
enum heddle_job_state {
	HEDDLE_JOB_QUEUED,
	HEDDLE_JOB_RUNNING,
	HEDDLE_JOB_DONE,
	HEDDLE_JOB_GUILTY,
	HEDDLE_JOB_CANCELLED,
	HEDDLE_JOB_STATES,
};

/**
 * enum heddle_job_event - what happens to a job
 * @HEDDLE_JOB_START: its descriptor was given to the card
 * @HEDDLE_JOB_COMPLETE: its completion record came
 * @HEDDLE_JOB_HANG: no progress within its time limit, or more cycles than it may
 *                  take; it has been ended
 * @HEDDLE_JOB_CANCEL: its context or its file is gone; one that ran has been ended
 * @HEDDLE_JOB_LOST: the card is gone
 */
enum heddle_job_event {
	HEDDLE_JOB_START,
	HEDDLE_JOB_COMPLETE,
	HEDDLE_JOB_HANG,
	HEDDLE_JOB_CANCEL,
	HEDDLE_JOB_LOST,
	HEDDLE_JOB_EVENTS,
};

/* Moves @state on. -EINVAL: @event cannot happen there; @state is unchanged. */
int heddle_job_step(enum heddle_job_state *state, enum heddle_job_event event);

/* Whether nothing can happen to the job any more. */
bool heddle_job_ended(enum heddle_job_state state);

/*
 * How long a job may make no progress, in ns: what its submission @asked for, but
 * never longer than the driver's own limit, so that nobody can keep the card from
 * the others; 0 asks for the limit.
 */
u64 heddle_job_timeout(u64 asked, u64 limit);

/*
 * The status code that a job reports: the card's (which is bounded here), or the
 * driver's own for a job that did not end by itself.
 */
u32 heddle_job_status(enum heddle_job_state state, u32 card_status, bool lost);

/* The positive errno of a status code; codes that no one defined give EIO. */
u32 heddle_job_errno(u32 status);

#endif
