// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Scheduling policy; see heddle_sched.h. */
#include "heddle_sched.h"

bool heddle_sram_take(u64 *owner, u64 client, bool uses_sram)
{
	bool clear = uses_sram && *owner != client;

	if (uses_sram)
		*owner = client;
	return clear;
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
