// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Limits of a client; see heddle_limits.h. */
#include "heddle_limits.h"

#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/overflow.h>

#include "heddle_cycles.h"
#include "heddle_refuse.h"

/* About a minute at 1 GHz: a thousand images of ResNet-50, with what the bound is too high. */
#define RUN_CYCLES		(1ULL << 36)
#define BUFFERS			16384
#define STREAMS			4096
#define CONTEXTS		256
#define JOBS			1024
#define HANGS			8

/* A copy that a slow host holds up still moves a byte per cycle. */
#define COPY_CYCLES_FIXED	4096

void heddle_limits_init(struct drm_heddle_limits *limits, u64 device_bytes, u64 system_bytes,
			u64 timeout_ns)
{
	*limits = (struct drm_heddle_limits){
		.run_cycles = RUN_CYCLES,
		.timeout_ns = timeout_ns,
		.device_bytes = device_bytes,
		.pinned_bytes = system_bytes >> 2,
		.buffers = BUFFERS,
		.streams = STREAMS,
		.contexts = CONTEXTS,
		.jobs = JOBS,
		.hangs = HANGS,
	};
}

int heddle_usage_charge(struct heddle_usage *usage, const struct drm_heddle_limits *limits,
			enum heddle_resource what, u64 amount)
{
	const struct {
		const char *name;
		u64 limit;
	} of[HEDDLE_RESOURCES] = {
		/* the card's may change */
		[HEDDLE_DEVICE_BYTES] = { "sum of device_bytes", READ_ONCE(limits->device_bytes) },
		[HEDDLE_PINNED_BYTES] = { "sum of pinned_bytes", limits->pinned_bytes },
		[HEDDLE_BUFFERS] = { "number of buffers", limits->buffers },
		[HEDDLE_STREAMS] = { "number of streams", limits->streams },
		[HEDDLE_CONTEXTS] = { "number of contexts", limits->contexts },
		[HEDDLE_JOBS] = { "number of jobs", limits->jobs },
	};
	u64 sum;

	if (check_add_overflow(usage->used[what], amount, &sum) || sum > of[what].limit)
		return heddle_refuse(what == HEDDLE_JOBS ? -EAGAIN : -EDQUOT, of[what].name,
				     usage->used[what] + amount, of[what].limit);
	usage->used[what] = sum;
	return 0;
}

void heddle_usage_release(struct heddle_usage *usage, enum heddle_resource what, u64 amount)
{
	usage->used[what] -= min(amount, usage->used[what]);
}

bool heddle_usage_hang(struct heddle_usage *usage, const struct drm_heddle_limits *limits)
{
	if (usage->hangs != ~0U)
		usage->hangs++;
	return heddle_usage_banned(usage, limits);
}

bool heddle_usage_banned(const struct heddle_usage *usage, const struct drm_heddle_limits *limits)
{
	return usage->hangs >= limits->hangs;
}

u64 heddle_copy_cycles(u64 bytes)
{
	return heddle_cycles_add(bytes, COPY_CYCLES_FIXED);
}
