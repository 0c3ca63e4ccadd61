/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Limits of one client (an open file) on a card, and when it counts as hanging the
 * card too often. Plain data; the caller serialises all calls.
 */
#ifndef HEDDLE_LIMITS_H
#define HEDDLE_LIMITS_H

#include <linux/types.h>

#include <drm/heddle_drm.h>

/**
 * enum heddle_resource - what is counted per client, by members of struct drm_heddle_limits
 * @HEDDLE_DEVICE_BYTES: -EDQUOT
 * @HEDDLE_PINNED_BYTES: -EDQUOT
 * @HEDDLE_BUFFERS: -EDQUOT
 * @HEDDLE_STREAMS: -EDQUOT
 * @HEDDLE_CONTEXTS: -EDQUOT
 * @HEDDLE_JOBS: -EAGAIN, because the next job that ends makes room
 */
enum heddle_resource {
	HEDDLE_DEVICE_BYTES,
	HEDDLE_PINNED_BYTES,
	HEDDLE_BUFFERS,
	HEDDLE_STREAMS,
	HEDDLE_CONTEXTS,
	HEDDLE_JOBS,
	HEDDLE_RESOURCES,
};

/**
 * struct heddle_usage - what a client holds
 * @used: by enum heddle_resource
 * @hangs: its jobs that were ended because they made no progress or ran too long
 */
struct heddle_usage {
	u64 used[HEDDLE_RESOURCES];
	u32 hangs;
};

/*
 * The limits of a card with @device_bytes of allocatable memory in a system with
 * @system_bytes: all of the card's memory (it is refused exactly, never early), a
 * quarter of the system's for pinned pages.
 */
void heddle_limits_init(struct drm_heddle_limits *limits, u64 device_bytes, u64 system_bytes,
			u64 timeout_ns);

/* Takes @amount, or nothing and the error of @what. */
int heddle_usage_charge(struct heddle_usage *usage, const struct drm_heddle_limits *limits,
			enum heddle_resource what, u64 amount);

/* Gives back what was taken. */
void heddle_usage_release(struct heddle_usage *usage, enum heddle_resource what, u64 amount);

/* Takes note of a hang. Returns whether the client is banned from now on. */
bool heddle_usage_hang(struct heddle_usage *usage, const struct drm_heddle_limits *limits);

bool heddle_usage_banned(const struct heddle_usage *usage,
			 const struct drm_heddle_limits *limits);

/*
 * Most cycles of a copy or fill of @bytes: what the copy engine needs at the lowest
 * rate that a working card has, and a fixed cost.
 */
u64 heddle_copy_cycles(u64 bytes);

#endif
