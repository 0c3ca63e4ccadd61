/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Arithmetic of job rings and of the completion ring. Heads and tails count
 * modulo 2^32; an index is the count modulo the ring's size. No count comes from
 * the card.
 */
#ifndef HEDDLE_RING_H
#define HEDDLE_RING_H

#include <linux/types.h>

/**
 * struct heddle_ring - a job ring
 * @size: entries, a power of two; 0 = disabled
 * @head: descriptors written since enable
 * @tail: descriptors known to be finished
 */
struct heddle_ring {
	u32 size;
	u32 head;
	u32 tail;
};

/* -EINVAL: not a power of two, or above HEDDLE_RING_ENTRIES_MAX. */
int heddle_ring_init(struct heddle_ring *ring, u32 size);

/* Takes an entry: its index goes to @index, head moves on. -ENOSPC: full. */
int heddle_ring_push(struct heddle_ring *ring, u32 *index);

/* The oldest entry becomes free. -EIO: there is none. */
int heddle_ring_retire(struct heddle_ring *ring);

/**
 * struct heddle_completion_ring - where completion records are read
 * @size: entries, a power of two; 0 = disabled
 * @next: sequence number of the next record, counting from 1
 */
struct heddle_completion_ring {
	u32 size;
	u32 next;
};

int heddle_completion_init(struct heddle_completion_ring *ring, u32 size);

/* Index of the entry in which the next record will appear. */
u32 heddle_completion_index(const struct heddle_completion_ring *ring);

/* Whether an entry with this sequence number is the next record. */
bool heddle_completion_ready(const struct heddle_completion_ring *ring, u32 sequence);

void heddle_completion_advance(struct heddle_completion_ring *ring);

#endif
