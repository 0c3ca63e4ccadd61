/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Policy of device memory: exact accounting of page-rounded sizes, first-fit
 * placement, and a compaction plan. The caller owns the nodes (one per object)
 * and serialises all calls.
 *
 * Device addresses 0 .. total-1 are handed out; the reserve lies behind them.
 * An allocation is refused only when the sum of page-rounded sizes would exceed
 * the total. When no gap is large enough although the sum fits, the caller
 * moves objects as heddle_mem_plan() says and tries again.
 */
#ifndef HEDDLE_MEM_H
#define HEDDLE_MEM_H

#include <linux/types.h>

/**
 * struct heddle_mem_node - one object in device memory
 * @offset: device address, page-aligned
 * @size: bytes, page-rounded; 0 = not placed
 * @prev: neighbour below
 * @next: neighbour above
 */
struct heddle_mem_node {
	u64 offset;
	u64 size;
	struct heddle_mem_node *prev;
	struct heddle_mem_node *next;
};

/**
 * struct heddle_mem - device memory of a card
 * @total: bytes that can be handed out
 * @used: sum of the sizes of all nodes
 * @first: node with the lowest address
 */
struct heddle_mem {
	u64 total;
	u64 used;
	struct heddle_mem_node *first;
};

/* One step of a compaction: copy @size bytes to @to, then node->offset = @to. */
struct heddle_mem_move {
	struct heddle_mem_node *node;
	u64 from;
	u64 to;
	u64 size;
};

/*
 * The part of a card's memory that can be handed out. -ERANGE: @card_bytes,
 * which comes from the card, is not a possible size.
 */
int heddle_mem_total(u64 card_bytes, u64 *total);

void heddle_mem_init(struct heddle_mem *mem, u64 total);

/*
 * After a change of the card's memory. Objects beyond a smaller total stay
 * where they are until they are moved or freed; only new ones are refused.
 */
void heddle_mem_resize(struct heddle_mem *mem, u64 total);

/* Bytes that can still be allocated. */
u64 heddle_mem_available(const struct heddle_mem *mem);

/* @size rounded up to a page. -EINVAL: 0. -ENOSPC: no u64 holds the result. */
int heddle_mem_round(u64 size, u64 *rounded);

/*
 * Places an object of @size bytes. -ENOSPC: the sum would exceed the total.
 * -EAGAIN: it would not, but a compaction is needed first. -EINVAL: size 0.
 */
int heddle_mem_insert(struct heddle_mem *mem, struct heddle_mem_node *node, u64 size);

void heddle_mem_remove(struct heddle_mem *mem, struct heddle_mem_node *node);

/*
 * The next at most @max moves, to be executed in order, on the way to a gap of
 * @need bytes (page-rounded). Every move goes to a lower address and may overlap
 * its source. Returns the number of moves; 0: a large enough gap exists. The
 * nodes change only by heddle_mem_apply(). -ENOSPC: the sum does not fit.
 */
int heddle_mem_plan(const struct heddle_mem *mem, u64 need, struct heddle_mem_move *moves, int max);

/* Enters the new addresses after all @count moves were executed. */
void heddle_mem_apply(const struct heddle_mem_move *moves, int count);

#endif
