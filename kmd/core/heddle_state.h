/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* States of a card, as a table of transitions. */
#ifndef HEDDLE_STATE_H
#define HEDDLE_STATE_H

#include <linux/types.h>

/**
 * enum heddle_device_state - what the driver can do with the card
 * @HEDDLE_DEVICE_PROBING: being set up; nobody can open it
 * @HEDDLE_DEVICE_READY: jobs run
 * @HEDDLE_DEVICE_ABORTING: a stuck job was told to end
 * @HEDDLE_DEVICE_RESETTING: the engine is being reset
 * @HEDDLE_DEVICE_COMPACTING: objects move; only the driver's own jobs run
 * @HEDDLE_DEVICE_REMOVED: gone for good; a card that comes back is a new device
 */
enum heddle_device_state {
	HEDDLE_DEVICE_PROBING,
	HEDDLE_DEVICE_READY,
	HEDDLE_DEVICE_ABORTING,
	HEDDLE_DEVICE_RESETTING,
	HEDDLE_DEVICE_COMPACTING,
	HEDDLE_DEVICE_REMOVED,
	HEDDLE_DEVICE_STATES,
};

/**
 * enum heddle_device_event - what happens to the card
 * @HEDDLE_DEVICE_PROBED: set-up has succeeded
 * @HEDDLE_DEVICE_HANG: a job makes no progress
 * @HEDDLE_DEVICE_ABORTED: the stuck job ended at a command boundary
 * @HEDDLE_DEVICE_STUCK: it did not
 * @HEDDLE_DEVICE_RESET_DONE: the engine is ready again
 * @HEDDLE_DEVICE_COMPACT: memory must be compacted and no job runs
 * @HEDDLE_DEVICE_COMPACTED: all moves have been made
 * @HEDDLE_DEVICE_LOST: the card does not answer, its link is down, or it
 *                      cannot be trusted any more
 */
enum heddle_device_event {
	HEDDLE_DEVICE_PROBED,
	HEDDLE_DEVICE_HANG,
	HEDDLE_DEVICE_ABORTED,
	HEDDLE_DEVICE_STUCK,
	HEDDLE_DEVICE_RESET_DONE,
	HEDDLE_DEVICE_COMPACT,
	HEDDLE_DEVICE_COMPACTED,
	HEDDLE_DEVICE_LOST,
	HEDDLE_DEVICE_EVENTS,
};

/* Moves @state on. -EINVAL: @event cannot happen there; @state is unchanged. */
int heddle_device_step(enum heddle_device_state *state, enum heddle_device_event event);

/* Whether new jobs may be given to the card. */
bool heddle_device_accepts_jobs(enum heddle_device_state state);

/* Whether calls other than fetching events get -ENODEV. */
bool heddle_device_gone(enum heddle_device_state state);

#endif
