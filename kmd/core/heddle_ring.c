// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Ring arithmetic; see heddle_ring.h. */
#include "heddle_ring.h"

#include <linux/errno.h>

#include "heddle_hw.h"

static bool size_ok(u32 size)
{
	return size && size <= HEDDLE_RING_ENTRIES_MAX && !(size & (size - 1));
}

int heddle_ring_init(struct heddle_ring *ring, u32 size)
{
	if (!size_ok(size))
		return -EINVAL;
	ring->size = size;
	ring->head = 0;
	ring->tail = 0;
	return 0;
}

int heddle_ring_push(struct heddle_ring *ring, u32 *index)
{
	if (ring->head - ring->tail == ring->size)
		return -ENOSPC;
	*index = ring->head & (ring->size - 1);
	ring->head++;
	return 0;
}

int heddle_ring_retire(struct heddle_ring *ring)
{
	if (ring->tail == ring->head)
		return -EIO;
	ring->tail++;
	return 0;
}

int heddle_completion_init(struct heddle_completion_ring *ring, u32 size)
{
	if (!size_ok(size))
		return -EINVAL;
	ring->size = size;
	ring->next = 1;
	return 0;
}

u32 heddle_completion_index(const struct heddle_completion_ring *ring)
{
	return (ring->next - 1) & (ring->size - 1);
}

bool heddle_completion_ready(const struct heddle_completion_ring *ring, u32 sequence)
{
	return ring->size && sequence == ring->next;
}

void heddle_completion_advance(struct heddle_completion_ring *ring)
{
	ring->next++;
}
