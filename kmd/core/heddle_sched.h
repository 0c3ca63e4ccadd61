/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which job runs next, whether SRAM must be cleared before it, and when a job
 * counts as stuck. Plain data; the caller serialises all calls.
 *
 * Contexts of a higher priority go first. Among contexts of one priority the one
 * that waited longest for its turn goes first, so each gets every n-th turn,
 * however many jobs it has. At most HEDDLE_SCHED_DEPTH jobs are with the card, so
 * that it never idles between two jobs and a late urgent job waits for few.
 */
#ifndef HEDDLE_SCHED_H
#define HEDDLE_SCHED_H

#include <linux/types.h>

#define HEDDLE_SCHED_DEPTH 2

/**
 * struct heddle_sched_entry - what a context offers
 * @priority: ring, 0 is the highest
 * @ready: its first job can start
 * @turn: when it had its last turn (heddle_sched.turn at that time)
 */
struct heddle_sched_entry {
	u32 priority;
	bool ready;
	u64 turn;
};

/**
 * struct heddle_sched - state of a card's scheduler
 * @turn: turns given so far
 * @in_flight: jobs with the card
 * @last_priority: ring of the job given last, meaningful while in_flight > 0
 * @sram_owner: client whose job used SRAM last; 0 = nobody's data is there
 */
struct heddle_sched {
	u64 turn;
	u32 in_flight;
	u32 last_priority;
	u64 sram_owner;
};

void heddle_sched_init(struct heddle_sched *sched);

/*
 * Chooses an entry; its index goes to @chosen. -EAGAIN: none can go now, because
 * none is ready, enough jobs are with the card, or the best one would overtake a
 * job there (rings of higher priority go first, and then the order in which jobs
 * use SRAM would not be the order in which they were given).
 */
int heddle_sched_pick(const struct heddle_sched *sched, const struct heddle_sched_entry *entries,
		      u32 count, u32 *chosen);

/*
 * Accounts for a job given to the card. @client is not 0; @uses_sram = it has a run step.
 * Returns whether SRAM must be cleared before the job.
 */
bool heddle_sched_start(struct heddle_sched *sched, struct heddle_sched_entry *entry, u64 client,
			bool uses_sram);

/* A job given to the card has ended. */
void heddle_sched_end(struct heddle_sched *sched);

/* The engine was reset, which cleared SRAM: 0 cannot stay, jobs may follow. */
void heddle_sched_reset(struct heddle_sched *sched);

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
