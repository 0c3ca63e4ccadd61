// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of the expectations themselves: one that must fail does, and says how. */
#include "heddle_cases.h"

#include <linux/errno.h>

/* Instead of what runs this case: remembers failures. The test comes first, see remember(). */
struct memory {
	struct heddle_test test;
	struct heddle_failure last;
	u32 failures;
	u64 number;
};

static void remember(struct heddle_test *t, const struct heddle_failure *failure)
{
	struct memory *memory = (struct memory *)t;

	memory->last = *failure;
	memory->number = t->number;
	memory->failures++;
}

static void what_must_fail_fails_once(struct heddle_test *t)
{
	const struct heddle_case *c;
	u32 cases = 0;

	for (c = heddle_must_fail_cases; c->name; c++) {
		struct memory memory = { .test = { .fail = remember } };

		heddle_row(t, c->name, cases++);
		c->run(&memory.test);
		HEDDLE_EXPECT_EQ(t, memory.failures, 1);
		HEDDLE_EXPECT(t, memory.last.file && memory.last.line > 0 && memory.last.text);
	}
	HEDDLE_EXPECT_EQ(t, cases, 4);
}

static void a_failure_has_its_values(struct heddle_test *t)
{
	struct memory memory = { .test = { .fail = remember } };
	int line = __LINE__ + 3;

	heddle_row(&memory.test, "row", 5);
	HEDDLE_EXPECT(t, !HEDDLE_EXPECT_EQ(&memory.test, 1 + 1, -EINVAL));
	HEDDLE_EXPECT_EQ(t, memory.last.line, line);
	HEDDLE_EXPECT(t, memory.last.has_values);
	HEDDLE_EXPECT_EQ(t, memory.last.got, 2);
	HEDDLE_EXPECT_EQ(t, memory.last.want, -EINVAL);
	HEDDLE_EXPECT_EQ(t, memory.number, 5);
	HEDDLE_EXPECT(t, !HEDDLE_EXPECT(&memory.test, line < 0));
	HEDDLE_EXPECT(t, !memory.last.has_values);
	HEDDLE_EXPECT_EQ(t, memory.failures, 2);
}

static void what_holds_is_silent(struct heddle_test *t)
{
	struct memory memory = { .test = { .fail = remember } };

	HEDDLE_EXPECT(t, HEDDLE_EXPECT_EQ(&memory.test, ~0ULL, -1));
	HEDDLE_EXPECT(t, HEDDLE_EXPECT(&memory.test, t));
	HEDDLE_EXPECT_EQ(t, memory.failures, 0);
}

static void memory_can_be_had(struct heddle_test *t)
{
	u8 *a = t->alloc(t, 1), *b = t->alloc(t, 4096);

	if (!HEDDLE_EXPECT(t, a && b && a != b))
		return;
	a[0] = 1;
	b[0] = 2;
	b[4095] = 3;
	HEDDLE_EXPECT_EQ(t, a[0], 1);
}

const struct heddle_case heddle_check_cases[] = {
	{ "what_must_fail_fails_once", what_must_fail_fails_once },
	{ "a_failure_has_its_values", a_failure_has_its_values },
	{ "what_holds_is_silent", what_holds_is_silent },
	{ "memory_can_be_had", memory_can_be_had },
	{ }
};
