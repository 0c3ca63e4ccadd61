/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How many jobs are on the card, whether SRAM must be cleared before one, and when
 * a job counts as stuck. Plain data; the caller serialises all calls.
 */
#ifndef HEDDLE_SCHED_H
#define HEDDLE_SCHED_H

#include <linux/types.h>

/* At most, so that the card never idles between two jobs and a late urgent job waits for few. */
#define HEDDLE_SCHED_DEPTH 2

/*
 * Accounts for a job given to the card. @owner: the client whose job used SRAM last; 0 =
 * nobody's data is there, as after a reset of the engine. @client is not 0 if it
 * @uses_sram, which is to have a run step. Returns whether SRAM must be cleared before.
 */
bool heddle_sram_take(u64 *owner, u64 client, bool uses_sram);

/**
 * struct heddle_watch - looks for a stuck job
 * @fence: running job
 * @progress: PROGRESS when it last changed
 * @since_ns: when that was
 * @armed: the fields above are valid
 */
struct heddle_watch {
	u64 fence;
	u32 progress;
	u64 since_ns;
	bool armed;
};

/* Nothing runs. */
void heddle_watch_idle(struct heddle_watch *watch);

/*
 * One look at the card: @fence is running and PROGRESS reads @progress. Returns
 * whether the job has made no progress for @limit_ns.
 */
bool heddle_watch_stuck(struct heddle_watch *watch, u64 fence, u32 progress, u64 now_ns,
			u64 limit_ns);

#endif
