/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The tests of kmd/core. A unit's cases are a table in heddle_<unit>_cases.c, plain C that knows
 * nothing of what runs it: in user space that is ../cases_test.cc (GoogleTest), in a kernel
 * heddle_kunit_suites.c (KUnit).
 *
 * An expectation that fails is reported and the case goes on; it returns whether it held, so a
 * case can leave by itself where going on makes no sense.
 */
#ifndef HEDDLE_CASES_H
#define HEDDLE_CASES_H

#include <linux/types.h>

/**
 * struct heddle_failure - an expectation that did not hold
 * @file: where it is written
 * @line: where it is written
 * @text: its source text
 * @has_values: it compares, and the fields below say what
 * @got: left side, sign-extended
 * @want: right side, sign-extended
 */
struct heddle_failure {
	const char *file;
	int line;
	const char *text;
	bool has_values;
	u64 got;
	u64 want;
};

/**
 * struct heddle_test - what runs a case
 * @fail: takes note of a failure; the case goes on
 * @alloc: memory of exactly that size, until the case ends; NULL: there is none
 * @row: row of a table that is looked at, to be reported with a failure; NULL: none
 * @number: which one, in a loop over numbers or over the rows of a table
 */
struct heddle_test {
	void (*fail)(struct heddle_test *t, const struct heddle_failure *failure);
	void *(*alloc)(struct heddle_test *t, size_t bytes);
	const char *row;
	u64 number;
};

/* @name: NULL in the last element of a table. */
struct heddle_case {
	const char *name;
	void (*run)(struct heddle_test *t);
};

static inline bool heddle_expect(struct heddle_test *t, const char *file, int line,
				 const char *text, bool held)
{
	struct heddle_failure failure = { file, line, text, false, 0, 0 };

	if (!held)
		t->fail(t, &failure);
	return held;
}

static inline bool heddle_expect_eq(struct heddle_test *t, const char *file, int line,
				    const char *text, u64 got, u64 want)
{
	struct heddle_failure failure = { file, line, text, true, got, want };

	if (got != want)
		t->fail(t, &failure);
	return got == want;
}

/* What follows is about this row, until another one is named. */
static inline void heddle_row(struct heddle_test *t, const char *row, u64 number)
{
	t->row = row;
	t->number = number;
}

#define HEDDLE_EXPECT(t, condition) \
	heddle_expect(t, __FILE__, __LINE__, #condition, condition)

/* Integers of any type; a negative number equals no positive one. */
#define HEDDLE_EXPECT_EQ(t, got, want) \
	heddle_expect_eq(t, __FILE__, __LINE__, #got " == " #want, got, want)

extern const struct heddle_case heddle_args_cases[];
extern const struct heddle_case heddle_check_cases[];
extern const struct heddle_case heddle_fair_cases[];
extern const struct heddle_case heddle_job_cases[];
extern const struct heddle_case heddle_limits_cases[];
extern const struct heddle_case heddle_mem_cases[];
extern const struct heddle_case heddle_ring_cases[];
extern const struct heddle_case heddle_sched_cases[];
extern const struct heddle_case heddle_state_cases[];
extern const struct heddle_case heddle_validate_cases[];

/* Every one of these fails, exactly once: what runs the others must say so. */
extern const struct heddle_case heddle_must_fail_cases[];

#endif
