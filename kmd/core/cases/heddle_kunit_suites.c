// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The cases of kmd/core within a kernel: heddle_kunit.ko. KUnit runs them when the module is
 * loaded, a suite for each unit and a parameter for each case; `must_fail` runs those that fail.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "heddle_cases.h"

static bool must_fail;
module_param(must_fail, bool, 0444);
MODULE_PARM_DESC(must_fail, "run the cases that must fail, too");

struct heddle_kunit {
	struct heddle_test test;
	struct kunit *kunit;
};

static void report(struct heddle_test *t, const struct heddle_failure *f)
{
	struct kunit *kunit = container_of(t, struct heddle_kunit, test)->kunit;

	if (t->row)
		kunit_err(kunit, "row: %s, %lld\n", t->row, t->number);
	if (f->has_values)
		KUNIT_FAIL(kunit, "%s:%d: %s\nleft: %lld (%#llx)\nright: %lld (%#llx)\n", f->file,
			   f->line, f->text, f->got, f->got, f->want, f->want);
	else
		KUNIT_FAIL(kunit, "%s:%d: %s\n", f->file, f->line, f->text);
}

static void *allocate(struct heddle_test *t, size_t bytes)
{
	return kunit_kmalloc(container_of(t, struct heddle_kunit, test)->kunit, bytes, GFP_KERNEL);
}

static void run(struct kunit *kunit)
{
	const struct heddle_case *c = kunit->param_value;
	struct heddle_kunit k = {
		.test = { .fail = report, .alloc = allocate },
		.kunit = kunit,
	};

	c->run(&k.test);
}

static const void *next_case(const struct heddle_case *first, const void *prev, char *desc)
{
	const struct heddle_case *c = prev ? (const struct heddle_case *)prev + 1 : first;

	if (!c->name)
		return NULL;
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
	return c;
}

#define HEDDLE_SUITE(unit)								\
	static const void *unit##_next(const void *prev, char *desc)			\
	{										\
		return next_case(heddle_##unit##_cases, prev, desc);			\
	}										\
	static struct kunit_case unit##_kunit_cases[] = {				\
		KUNIT_CASE_PARAM(run, unit##_next),					\
		{ }									\
	};										\
	static struct kunit_suite unit##_suite = {					\
		.name = "heddle_" #unit,						\
		.test_cases = unit##_kunit_cases,					\
	}

HEDDLE_SUITE(args);
HEDDLE_SUITE(check);
HEDDLE_SUITE(fair);
HEDDLE_SUITE(job);
HEDDLE_SUITE(limits);
HEDDLE_SUITE(mem);
HEDDLE_SUITE(ring);
HEDDLE_SUITE(sched);
HEDDLE_SUITE(state);
HEDDLE_SUITE(validate);

/* A suite of its own, because its cases run only when they are asked for. */
static void run_must_fail(struct kunit *kunit)
{
	if (!must_fail)
		kunit_skip(kunit, "loaded without must_fail=1");
	run(kunit);
}

static const void *must_fail_next(const void *prev, char *desc)
{
	return next_case(heddle_must_fail_cases, prev, desc);
}

static struct kunit_case must_fail_kunit_cases[] = {
	KUNIT_CASE_PARAM(run_must_fail, must_fail_next),
	{ }
};

static struct kunit_suite must_fail_suite = {
	.name = "heddle_must_fail",
	.test_cases = must_fail_kunit_cases,
};

kunit_test_suites(&args_suite, &check_suite, &fair_suite, &job_suite, &limits_suite, &mem_suite,
		  &ring_suite, &sched_suite, &state_suite, &validate_suite, &must_fail_suite);

MODULE_DESCRIPTION("KUnit tests of the Heddle driver's core");
MODULE_LICENSE("Dual MIT/GPL");
