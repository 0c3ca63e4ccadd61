/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Policy of device memory: exact accounting of page-rounded sizes, first-fit
 * placement, and compaction. The caller owns the nodes (one per object) and
 * serialises all calls.
 *
 * Device addresses 0 .. total-1 are handed out; the reserve lies behind them.
 * An allocation fails only when the sum of page-rounded sizes would exceed the
 * total. If no gap is large enough although the sum fits, the caller moves
 * objects as planned by heddle_mem_plan(), batch by batch, and tries again.
 *
 * The caller need not hold the lock that serialises the calls while it carries
 * out a batch of moves: objects may come and go meanwhile. Nothing is placed
 * where the compaction works, nor in memory that it counts on, so one pass over
 * the objects suffices, whatever others do.
 */
#ifndef HEDDLE_MEM_H
#define HEDDLE_MEM_H

#include <linux/types.h>

struct heddle_mem_move;

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
 * @total: bytes that can be handed out; the caller changes it when the card's memory
 *         changes. Objects beyond a smaller total stay where they are until they are
 *         moved or freed; only new ones are refused
 * @used: sum of the sizes of all nodes
 * @first: node with the lowest address
 * @packed: there is no gap below the end of this node; NULL: nothing is known
 * @compacting: from heddle_mem_plan()'s first moves until it returns 0
 * @need: compaction: bytes of the gap
 * @low: compaction: nothing is placed from here to @next; below lies what has been moved
 * @cursor: compaction: where @next goes; @low once the batch is carried out
 * @next: compaction: the first node that is not planned yet; NULL: there is none
 * @spare: compaction: bytes that objects placed above @next may still take
 * @moves: the batch that is being carried out
 * @count: its moves; 0: there is none
 * @visited: nodes looked at so far: what placement and planning cost
 */
struct heddle_mem {
	u64 total;
	u64 used;
	struct heddle_mem_node *first;
	struct heddle_mem_node *packed;
	bool compacting;
	u64 need;
	u64 low;
	u64 cursor;
	struct heddle_mem_node *next;
	u64 spare;
	struct heddle_mem_move *moves;
	int count;
	u64 visited;
};

/**
 * struct heddle_mem_move - one step of a compaction: copy @size bytes from @from to @to
 * @node: the object; NULL: it was removed meanwhile
 * @from: its device address
 * @to: its new one, which is lower; the two may overlap
 * @size: bytes
 */
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

/* Bytes that can still be allocated. */
u64 heddle_mem_available(const struct heddle_mem *mem);

/* @size rounded up to a page. -EINVAL: 0. -ENOSPC: no u64 holds the result. */
int heddle_mem_round(u64 size, u64 *rounded);

/*
 * Places an object of @size bytes. -ENOSPC: the sum would exceed the total.
 * -EAGAIN: it would not, but a compaction is needed first, or the one that is
 * under way must end. -EINVAL: size 0.
 */
int heddle_mem_insert(struct heddle_mem *mem, struct heddle_mem_node *node, u64 size);

void heddle_mem_remove(struct heddle_mem *mem, struct heddle_mem_node *node);

/*
 * The next at most @max moves, to be carried out in order, on the way to a gap of
 * @need bytes (page-rounded; that of a compaction's first call counts). @moves stay
 * where they are until heddle_mem_apply(), which comes before the next call, or
 * heddle_mem_settle(). Returns their number; 0: a gap that is large enough exists,
 * unless the total shrank meanwhile. -ENOSPC: the sum does not fit.
 */
int heddle_mem_plan(struct heddle_mem *mem, u64 need, struct heddle_mem_move *moves, int max);

/* Enters the new addresses: all moves of the batch were carried out. */
void heddle_mem_apply(struct heddle_mem *mem);

/* Ends a compaction that nobody wants any more, or that failed. The card carries out no batch. */
void heddle_mem_settle(struct heddle_mem *mem);

#endif
