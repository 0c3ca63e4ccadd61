// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases that fail: the test of what runs the cases. */
#include "heddle_cases.h"

#include <linux/errno.h>

static void a_condition_does_not_hold(struct heddle_test *t)
{
	HEDDLE_EXPECT(t, true);
	HEDDLE_EXPECT(t, !t);
}

static void values_differ(struct heddle_test *t)
{
	HEDDLE_EXPECT_EQ(t, 7, 7);
	HEDDLE_EXPECT_EQ(t, 7, -EINVAL);
}

static void a_number_is_not_its_complement(struct heddle_test *t)
{
	u32 all = ~0U;

	HEDDLE_EXPECT_EQ(t, all, -1);
}

static void a_row_of_a_table_is_wrong(struct heddle_test *t)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		heddle_row(t, "third of three", i);
		HEDDLE_EXPECT(t, i < 2);
	}
}

const struct heddle_case heddle_must_fail_cases[] = {
	{ "a_condition_does_not_hold", a_condition_does_not_hold },
	{ "values_differ", values_differ },
	{ "a_number_is_not_its_complement", a_number_is_not_its_complement },
	{ "a_row_of_a_table_is_wrong", a_row_of_a_table_is_wrong },
	{ }
};
