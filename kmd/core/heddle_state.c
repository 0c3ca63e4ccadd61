// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Device states; see heddle_state.h. */
#include "heddle_state.h"

#include <linux/errno.h>

/* Next state plus one; 0 = the event cannot happen in this state. */
#define TO(state) (HEDDLE_DEVICE_##state + 1)

static const u8 transitions[HEDDLE_DEVICE_STATES][HEDDLE_DEVICE_EVENTS] = {
	[HEDDLE_DEVICE_PROBING] = {
		[HEDDLE_DEVICE_PROBED] = TO(READY),
		[HEDDLE_DEVICE_LOST] = TO(REMOVED),
	},
	[HEDDLE_DEVICE_READY] = {
		[HEDDLE_DEVICE_HANG] = TO(ABORTING),
		[HEDDLE_DEVICE_COMPACT] = TO(COMPACTING),
		[HEDDLE_DEVICE_LOST] = TO(REMOVED),
	},
	[HEDDLE_DEVICE_ABORTING] = {
		[HEDDLE_DEVICE_ABORTED] = TO(READY),
		[HEDDLE_DEVICE_STUCK] = TO(RESETTING),
		[HEDDLE_DEVICE_LOST] = TO(REMOVED),
	},
	[HEDDLE_DEVICE_RESETTING] = {
		[HEDDLE_DEVICE_RESET_DONE] = TO(READY),
		[HEDDLE_DEVICE_LOST] = TO(REMOVED),
	},
	/* A hang while objects move leaves their contents unknown: LOST. */
	[HEDDLE_DEVICE_COMPACTING] = {
		[HEDDLE_DEVICE_COMPACTED] = TO(READY),
		[HEDDLE_DEVICE_LOST] = TO(REMOVED),
	},
};

int heddle_device_step(enum heddle_device_state *state, enum heddle_device_event event)
{
	u8 to = 0;

	if ((u32)*state < HEDDLE_DEVICE_STATES && (u32)event < HEDDLE_DEVICE_EVENTS)
		to = transitions[*state][event];
	if (!to)
		return -EINVAL;
	*state = (enum heddle_device_state)(to - 1);
	return 0;
}

bool heddle_device_accepts_jobs(enum heddle_device_state state)
{
	return state == HEDDLE_DEVICE_READY;
}

bool heddle_device_gone(enum heddle_device_state state)
{
	return state == HEDDLE_DEVICE_REMOVED;
}
