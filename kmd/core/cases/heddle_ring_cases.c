// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_ring.h. */
#include "heddle_ring.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"
#include "heddle_hw.h"

static void takes_only_powers_of_two_up_to_the_limit(struct heddle_test *t)
{
	static const u32 wrong[] = {
		0, 3, HEDDLE_RING_ENTRIES_MAX + 1, HEDDLE_RING_ENTRIES_MAX * 2, ~0U,
	};
	struct heddle_completion_ring completions;
	struct heddle_ring ring;
	u32 i, size;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		heddle_row(t, "wrong size", wrong[i]);
		HEDDLE_EXPECT_EQ(t, heddle_ring_init(&ring, wrong[i]), -EINVAL);
		HEDDLE_EXPECT_EQ(t, heddle_completion_init(&completions, wrong[i]), -EINVAL);
	}
	for (size = 1; size <= HEDDLE_RING_ENTRIES_MAX; size *= 2) {
		heddle_row(t, "size", size);
		HEDDLE_EXPECT_EQ(t, heddle_ring_init(&ring, size), 0);
		HEDDLE_EXPECT_EQ(t, heddle_completion_init(&completions, size), 0);
	}
}

static void counts_across_the_wrap_of_32_bits(struct heddle_test *t)
{
	struct heddle_ring ring;
	u32 i, index = 0;

	HEDDLE_EXPECT_EQ(t, heddle_ring_init(&ring, 4), 0);
	ring.head = 0xfffffffe;
	ring.tail = 0xfffffffe;
	for (i = 0; i < 4; i++) {
		heddle_row(t, "descriptor", i);
		HEDDLE_EXPECT_EQ(t, heddle_ring_push(&ring, &index), 0);
		HEDDLE_EXPECT_EQ(t, index, (0xfffffffe + i) % 4);
	}
	heddle_row(t, NULL, 0);
	HEDDLE_EXPECT_EQ(t, heddle_ring_push(&ring, &index), -ENOSPC);
	HEDDLE_EXPECT_EQ(t, ring.head, 2);
	for (i = 0; i < 4; i++) {
		heddle_row(t, "retired", i);
		HEDDLE_EXPECT_EQ(t, heddle_ring_retire(&ring), 0);
		HEDDLE_EXPECT_EQ(t, heddle_ring_push(&ring, &index), 0);
		HEDDLE_EXPECT_EQ(t, index, (2 + i) % 4);
		HEDDLE_EXPECT_EQ(t, heddle_ring_push(&ring, &index), -ENOSPC);
	}
}

static void retires_no_more_than_there_are(struct heddle_test *t)
{
	struct heddle_ring ring;
	u32 i, index;

	HEDDLE_EXPECT_EQ(t, heddle_ring_init(&ring, 8), 0);
	HEDDLE_EXPECT_EQ(t, heddle_ring_retire(&ring), -EIO);
	for (i = 0; i < 3; i++)
		HEDDLE_EXPECT_EQ(t, heddle_ring_push(&ring, &index), 0);
	for (i = 0; i < 3; i++)
		HEDDLE_EXPECT_EQ(t, heddle_ring_retire(&ring), 0);
	HEDDLE_EXPECT_EQ(t, heddle_ring_retire(&ring), -EIO);
	HEDDLE_EXPECT_EQ(t, ring.tail, 3);
}

static void knows_the_next_completion_by_its_number(struct heddle_test *t)
{
	struct heddle_completion_ring ring = { 0, 0 };
	u32 i;

	heddle_row(t, "disabled", 0);
	HEDDLE_EXPECT(t, !heddle_completion_ready(&ring, 0));
	HEDDLE_EXPECT_EQ(t, heddle_completion_init(&ring, 4), 0);
	heddle_row(t, "another number", 0);
	HEDDLE_EXPECT(t, !heddle_completion_ready(&ring, 0));
	HEDDLE_EXPECT(t, !heddle_completion_ready(&ring, 2));
	for (i = 0; i < 10; i++) {
		heddle_row(t, "record", i);
		HEDDLE_EXPECT_EQ(t, heddle_completion_index(&ring), i % 4);
		HEDDLE_EXPECT(t, heddle_completion_ready(&ring, i + 1));
		heddle_completion_advance(&ring);
		HEDDLE_EXPECT(t, !heddle_completion_ready(&ring, i + 1));
	}
	heddle_row(t, "modulo 2^32", 0);
	ring.next = ~0U;
	heddle_completion_advance(&ring);
	HEDDLE_EXPECT(t, heddle_completion_ready(&ring, 0));
}

const struct heddle_case heddle_ring_cases[] = {
	{ "takes_only_powers_of_two_up_to_the_limit", takes_only_powers_of_two_up_to_the_limit },
	{ "counts_across_the_wrap_of_32_bits", counts_across_the_wrap_of_32_bits },
	{ "retires_no_more_than_there_are", retires_no_more_than_there_are },
	{ "knows_the_next_completion_by_its_number", knows_the_next_completion_by_its_number },
	{ }
};
