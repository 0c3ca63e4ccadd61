// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Scheduling policy; see heddle_sched.h. */
#include "heddle_sched.h"

#include <linux/errno.h>

void heddle_sched_init(struct heddle_sched *sched)
{
	sched->turn = 0;
	sched->in_flight = 0;
	sched->last_priority = 0;
	sched->sram_owner = 0;
}

int heddle_sched_pick(const struct heddle_sched *sched, const struct heddle_sched_entry *entries,
		      u32 count, u32 *chosen)
{
	const struct heddle_sched_entry *best = NULL;
	u32 i;

	if (sched->in_flight >= HEDDLE_SCHED_DEPTH)
		return -EAGAIN;
	for (i = 0; i < count; i++) {
		const struct heddle_sched_entry *e = &entries[i];

		if (!e->ready)
			continue;
		if (!best || e->priority < best->priority ||
		    (e->priority == best->priority && e->turn < best->turn)) {
			best = e;
			*chosen = i;
		}
	}
	if (!best)
		return -EAGAIN;
	if (sched->in_flight && best->priority < sched->last_priority)
		return -EAGAIN;
	return 0;
}

bool heddle_sched_start(struct heddle_sched *sched, struct heddle_sched_entry *entry, u64 client,
			bool uses_sram)
{
	bool clear = uses_sram && sched->sram_owner != client;

	entry->turn = ++sched->turn;
	sched->in_flight++;
	sched->last_priority = entry->priority;
	if (uses_sram)
		sched->sram_owner = client;
	return clear;
}

void heddle_sched_end(struct heddle_sched *sched)
{
	if (sched->in_flight)
		sched->in_flight--;
}

void heddle_sched_reset(struct heddle_sched *sched)
{
	sched->sram_owner = 0;
}

void heddle_watch_idle(struct heddle_watch *watch)
{
	watch->armed = false;
}

bool heddle_watch_stuck(struct heddle_watch *watch, u64 fence, u32 progress, u64 now_ns,
			u64 limit_ns)
{
	if (!watch->armed || watch->fence != fence || watch->progress != progress) {
		watch->armed = true;
		watch->fence = fence;
		watch->progress = progress;
		watch->since_ns = now_ns;
		return false;
	}
	return now_ns - watch->since_ns >= limit_ns;
}
