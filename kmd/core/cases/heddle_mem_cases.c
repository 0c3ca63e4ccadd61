// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_mem.h: sequences of operations, and what each must do. */
#include "heddle_mem.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"
#include "heddle_hw.h"

#define PAGE ((u64)HEDDLE_PAGE_BYTES)

enum operation { STOP, INSERT, REMOVE, RESIZE, AVAILABLE, PLAN };
enum { A, B, C, D, NODES };

/**
 * struct step - one operation on a memory
 * @operation: what is done
 * @node: INSERT, REMOVE: this object; PLAN: the only one that moves
 * @bytes: INSERT: size; RESIZE: new total; AVAILABLE: what must be free; PLAN: gap wanted
 * @want: INSERT: errno; PLAN: errno or number of moves, which are made
 * @at: INSERT: where it must lie then; PLAN: where the object goes
 */
struct step {
	enum operation operation;
	u32 node;
	u64 bytes;
	int want;
	u64 at;
};

/* Objects lie in order, apart, and their sum is what is used. */
static void expect_sound(struct heddle_test *t, const struct heddle_mem *mem)
{
	const struct heddle_mem_node *node, *prev = NULL;
	u64 used = 0, end = 0;

	for (node = mem->first; node; node = node->next) {
		HEDDLE_EXPECT(t, node->prev == prev);
		HEDDLE_EXPECT(t, node->offset >= end);
		HEDDLE_EXPECT_EQ(t, node->offset % PAGE, 0);
		HEDDLE_EXPECT_EQ(t, node->size % PAGE, 0);
		end = node->offset + node->size;
		used += node->size;
		prev = node;
	}
	HEDDLE_EXPECT_EQ(t, mem->used, used);
}

static void do_sequence(struct heddle_test *t, u64 total, const struct step *s)
{
	struct heddle_mem_node nodes[NODES] = { { .size = 0 } };
	struct heddle_mem_move moves[NODES];
	struct heddle_mem mem;
	u64 number = 0;

	mem = (struct heddle_mem){ .total = total };
	for (; s->operation != STOP; s++) {
		struct heddle_mem_node *node = &nodes[s->node];
		int err;

		heddle_row(t, "step", number++);
		switch (s->operation) {
		case INSERT:
			err = heddle_mem_insert(&mem, node, s->bytes);
			HEDDLE_EXPECT_EQ(t, err, s->want);
			if (!err)
				HEDDLE_EXPECT_EQ(t, node->offset, s->at);
			break;
		case REMOVE:
			heddle_mem_remove(&mem, node);
			HEDDLE_EXPECT_EQ(t, node->size, 0);
			break;
		case RESIZE:
			mem.total = s->bytes;
			break;
		case AVAILABLE:
			HEDDLE_EXPECT_EQ(t, heddle_mem_available(&mem), s->bytes);
			break;
		case PLAN:
			err = heddle_mem_plan(&mem, s->bytes, moves, NODES);
			if (!HEDDLE_EXPECT_EQ(t, err, s->want) || err <= 0)
				break;
			HEDDLE_EXPECT(t, moves[0].node == node);
			HEDDLE_EXPECT_EQ(t, moves[0].from, node->offset);
			HEDDLE_EXPECT_EQ(t, moves[0].to, s->at);
			HEDDLE_EXPECT_EQ(t, moves[0].size, node->size);
			heddle_mem_apply(&mem);
			/* It ends when there is nothing left to do. */
			HEDDLE_EXPECT_EQ(t, heddle_mem_plan(&mem, s->bytes, moves, NODES), 0);
			HEDDLE_EXPECT(t, !mem.compacting);
			break;
		case STOP:
			break;
		}
		expect_sound(t, &mem);
	}
}

static void refuses_only_when_the_sum_exceeds_the_total(struct heddle_test *t)
{
	static const struct step steps[] = {
		{ INSERT, A, 1, 0, 0 },
		{ INSERT, B, 2 * PAGE + 1, -ENOSPC, 0 },
		{ INSERT, B, PAGE, 0, PAGE },
		{ INSERT, C, PAGE, 0, 2 * PAGE },
		{ AVAILABLE, A, 0, 0, 0 },
		{ INSERT, D, 1, -ENOSPC, 0 },
		{ REMOVE, A, 0, 0, 0 },
		/* Not placed: nothing happens. */
		{ REMOVE, A, 0, 0, 0 },
		{ REMOVE, C, 0, 0, 0 },
		{ AVAILABLE, A, 2 * PAGE, 0, 0 },
		{ INSERT, D, 2 * PAGE, -EAGAIN, 0 },
		{ PLAN, B, 3 * PAGE, -ENOSPC, 0 },
		{ PLAN, B, 2 * PAGE, 1, 0 },
		{ PLAN, B, 2 * PAGE, 0, 0 },
		{ INSERT, D, 2 * PAGE, 0, PAGE },
		{ STOP, 0, 0, 0, 0 },
	};

	do_sequence(t, 3 * PAGE, steps);
}

static void shrinking_refuses_new_objects_and_keeps_old(struct heddle_test *t)
{
	static const struct step steps[] = {
		{ INSERT, A, 6 * PAGE, 0, 0 },
		{ RESIZE, A, 4 * PAGE, 0, 0 },
		{ AVAILABLE, A, 0, 0, 0 },
		{ INSERT, B, 1, -ENOSPC, 0 },
		{ REMOVE, A, 0, 0, 0 },
		{ INSERT, B, 4 * PAGE, 0, 0 },
		{ STOP, 0, 0, 0, 0 },
	};

	do_sequence(t, 8 * PAGE, steps);
}

/* Of what lies above, nothing moves once the gap is there. */
static void compacts_no_more_than_it_must(struct heddle_test *t)
{
	static const struct step steps[] = {
		{ INSERT, A, PAGE, 0, 0 },
		{ INSERT, B, PAGE, 0, PAGE },
		{ INSERT, C, PAGE, 0, 2 * PAGE },
		{ REMOVE, A, 0, 0, 0 },
		{ INSERT, A, 2 * PAGE, 0, 3 * PAGE },
		{ INSERT, D, PAGE, 0, 0 },
		{ REMOVE, C, 0, 0, 0 },
		{ REMOVE, D, 0, 0, 0 },
		/* . B . A A . : one page is there, two need B to move. */
		{ AVAILABLE, A, 3 * PAGE, 0, 0 },
		{ PLAN, A, PAGE, 0, 0 },
		{ INSERT, C, 2 * PAGE, -EAGAIN, 0 },
		{ PLAN, B, 2 * PAGE, 1, 0 },
		{ PLAN, B, 2 * PAGE, 0, 0 },
		{ INSERT, C, 2 * PAGE, 0, PAGE },
		{ STOP, 0, 0, 0, 0 },
	};

	do_sequence(t, 6 * PAGE, steps);
}

static void plans_in_portions(struct heddle_test *t)
{
	struct heddle_mem_node nodes[3] = { { .size = 0 } };
	struct heddle_mem_move moves[3] = { { .size = 0 } };
	struct heddle_mem mem;
	u32 i;

	/* A gap of one page below each of two objects, and one above. */
	mem = (struct heddle_mem){ .total = 5 * PAGE };
	for (i = 0; i < 3; i++)
		HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[i], PAGE), 0);
	heddle_mem_remove(&mem, &nodes[0]);
	nodes[1].offset = PAGE;
	nodes[2].offset = 3 * PAGE;
	for (i = 1; i < 3; i++) {
		heddle_row(t, "portion", i);
		if (!HEDDLE_EXPECT_EQ(t, heddle_mem_plan(&mem, 3 * PAGE, moves, 1), 1))
			return;
		HEDDLE_EXPECT(t, moves[0].node == &nodes[i]);
		HEDDLE_EXPECT_EQ(t, moves[0].to, (i - 1) * PAGE);
		HEDDLE_EXPECT(t, !moves[1].node);
		heddle_mem_apply(&mem);
	}
	HEDDLE_EXPECT_EQ(t, heddle_mem_plan(&mem, 3 * PAGE, moves, 1), 0);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[0], 3 * PAGE), 0);
	expect_sound(t, &mem);
}

/*
 * . A B . C . with A and B being moved: what others do meanwhile neither gets in the way
 * of the card's copies nor takes the memory that the compaction counts on.
 */
static void objects_come_and_go_while_a_batch_is_carried_out(struct heddle_test *t)
{
	struct heddle_mem_node nodes[6] = { { .size = 0 } };
	struct heddle_mem_move moves[2];
	struct heddle_mem mem;
	u32 i;

	mem = (struct heddle_mem){ .total = 8 * PAGE };
	for (i = 0; i < 5; i++)
		HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[i], PAGE), 0);
	heddle_mem_remove(&mem, &nodes[0]);
	heddle_mem_remove(&mem, &nodes[3]);
	nodes[4].offset = 5 * PAGE; /* gaps of 1, 2 and 2 pages */
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[0], 4 * PAGE), -EAGAIN);
	HEDDLE_EXPECT_EQ(t, heddle_mem_plan(&mem, 4 * PAGE, moves, 2), 2);
	HEDDLE_EXPECT(t, moves[0].node == &nodes[1] && moves[1].node == &nodes[2]);

	/* One page may still be taken, above what moves; a second one must wait. */
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[0], PAGE), 0);
	HEDDLE_EXPECT_EQ(t, nodes[0].offset, 6 * PAGE);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[3], PAGE), -EAGAIN);

	/* An object that goes while it is moved leaves its place only afterwards. */
	heddle_mem_remove(&mem, &nodes[1]);
	HEDDLE_EXPECT(t, !moves[0].node);
	HEDDLE_EXPECT_EQ(t, moves[0].size, PAGE);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[1], PAGE), -EAGAIN);
	heddle_mem_apply(&mem);
	HEDDLE_EXPECT_EQ(t, nodes[2].offset, PAGE);
	expect_sound(t, &mem);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[1], PAGE), 0);
	HEDDLE_EXPECT_EQ(t, nodes[1].offset, 0);

	/* The one that would be moved next goes, too. */
	heddle_mem_remove(&mem, &nodes[4]);
	HEDDLE_EXPECT_EQ(t, heddle_mem_plan(&mem, 4 * PAGE, moves, 2), 0);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[3], 4 * PAGE), 0);
	HEDDLE_EXPECT_EQ(t, nodes[3].offset, 2 * PAGE);
	expect_sound(t, &mem);
}

static void a_compaction_that_nobody_wants_any_more_ends(struct heddle_test *t)
{
	struct heddle_mem_node nodes[4] = { { .size = 0 } };
	struct heddle_mem_move moves[1];
	struct heddle_mem mem;
	u32 i;

	mem = (struct heddle_mem){ .total = 4 * PAGE };
	for (i = 0; i < 4; i++)
		HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[i], PAGE), 0);
	heddle_mem_remove(&mem, &nodes[0]);
	heddle_mem_remove(&mem, &nodes[2]);
	HEDDLE_EXPECT_EQ(t, heddle_mem_plan(&mem, 2 * PAGE, moves, 1), 1);
	heddle_mem_apply(&mem);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[0], PAGE), -EAGAIN);
	heddle_mem_settle(&mem);
	HEDDLE_EXPECT_EQ(t, heddle_mem_insert(&mem, &nodes[0], 2 * PAGE), 0);
	HEDDLE_EXPECT_EQ(t, nodes[0].offset, PAGE);
	expect_sound(t, &mem);
}

static void takes_the_first_gap_that_is_large_enough(struct heddle_test *t)
{
	static const struct step steps[] = {
		{ INSERT, A, 2 * PAGE, 0, 0 },
		{ INSERT, B, PAGE, 0, 2 * PAGE },
		{ INSERT, C, PAGE, 0, 3 * PAGE },
		{ REMOVE, A, 0, 0, 0 },
		{ INSERT, D, 3 * PAGE, 0, 4 * PAGE },
		{ INSERT, A, PAGE, 0, 0 },
		{ REMOVE, B, 0, 0, 0 },
		{ INSERT, B, 2 * PAGE, 0, PAGE },
		{ INSERT, A, 0, -EINVAL, 0 },
		{ STOP, 0, 0, 0, 0 },
	};

	do_sequence(t, 8 * PAGE, steps);
}

static void hands_out_the_card_without_the_reserve(struct heddle_test *t)
{
	/* The size comes from the card. */
	static const u64 wrong[] = {
		0, HEDDLE_DEVICE_RESERVE_BYTES, HEDDLE_DRAM_BYTES_MAX + 1, ~0ULL,
	};
	u64 total = 0;
	u32 i;

	HEDDLE_EXPECT_EQ(t, heddle_mem_total(HEDDLE_DRAM_BYTES_MIN, &total), 0);
	HEDDLE_EXPECT_EQ(t, total, HEDDLE_DRAM_BYTES_MIN - HEDDLE_DEVICE_RESERVE_BYTES);
	HEDDLE_EXPECT_EQ(t, heddle_mem_total(HEDDLE_DRAM_BYTES_MIN + 5, &total), 0);
	HEDDLE_EXPECT_EQ(t, total % PAGE, 0);
	HEDDLE_EXPECT_EQ(t, heddle_mem_total(HEDDLE_DRAM_BYTES_MAX, &total), 0);
	HEDDLE_EXPECT_EQ(t, total, HEDDLE_DRAM_BYTES_MAX - HEDDLE_DEVICE_RESERVE_BYTES);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		heddle_row(t, "wrong size", wrong[i]);
		HEDDLE_EXPECT_EQ(t, heddle_mem_total(wrong[i], &total), -ERANGE);
	}
}

static void rounds_up_to_pages(struct heddle_test *t)
{
	static const struct {
		u64 size;
		int want;
		u64 rounded;
	} rows[] = {
		{ 0, -EINVAL, 0 },
		{ 1, 0, PAGE },
		{ PAGE, 0, PAGE },
		{ ~0ULL, -ENOSPC, 0 },
		{ ~0ULL - PAGE + 1, 0, ~0ULL - PAGE + 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 rounded = 0;

		heddle_row(t, "size", rows[i].size);
		HEDDLE_EXPECT_EQ(t, heddle_mem_round(rows[i].size, &rounded), rows[i].want);
		HEDDLE_EXPECT_EQ(t, rounded, rows[i].rounded);
	}
}

const struct heddle_case heddle_mem_cases[] = {
	{ "hands_out_the_card_without_the_reserve", hands_out_the_card_without_the_reserve },
	{ "rounds_up_to_pages", rounds_up_to_pages },
	{ "refuses_only_when_the_sum_exceeds_the_total",
	  refuses_only_when_the_sum_exceeds_the_total },
	{ "shrinking_refuses_new_objects_and_keeps_old",
	  shrinking_refuses_new_objects_and_keeps_old },
	{ "compacts_no_more_than_it_must", compacts_no_more_than_it_must },
	{ "plans_in_portions", plans_in_portions },
	{ "objects_come_and_go_while_a_batch_is_carried_out",
	  objects_come_and_go_while_a_batch_is_carried_out },
	{ "a_compaction_that_nobody_wants_any_more_ends",
	  a_compaction_that_nobody_wants_any_more_ends },
	{ "takes_the_first_gap_that_is_large_enough", takes_the_first_gap_that_is_large_enough },
	{ }
};
