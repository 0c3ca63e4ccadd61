// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Cases of heddle_fair.h: a card with one job at a time, and the clock of a simulation. */
#include "heddle_fair.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"

#define MS	1000000ULL
#define SECOND	(1000 * MS)
#define CLIENTS	3

/**
 * struct actor - a client that submits its next job as soon as the last has ended
 * @job_ns: how long its jobs hold the card; 0: it is not there
 * @think_ns: pause between two jobs
 * @submitted_ns: when the job that waits was queued; ~0: none waits
 * @next_ns: when it submits
 * @jobs: ended
 * @held_ns: sum over them
 * @slow: jobs that took more than twice @job_ns
 * @worst_ns: longest time from submission to end
 * @turn: when it was served last
 * @fair: what the unit under test knows of it
 */
struct actor {
	u64 job_ns;
	u64 think_ns;
	u64 submitted_ns;
	u64 next_ns;
	u64 jobs;
	u64 held_ns;
	u64 slow;
	u64 worst_ns;
	u64 turn;
	struct heddle_fair_client fair;
};

static u64 earlier(u64 a, u64 b)
{
	return a < b ? a : b;
}

static struct heddle_fair_rivals rivals_of(const struct actor *actors, u32 self, u64 now)
{
	struct heddle_fair_rivals rivals = { 0 };
	u32 i;

	for (i = 0; i < CLIENTS; i++)
		if (i != self && actors[i].job_ns)
			heddle_fair_meet(&rivals, &actors[i].fair, now);
	return rivals;
}

/* Queues the jobs that came until @now. */
static void submit_due(struct actor *actors, u64 now)
{
	u32 i;

	for (i = 0; i < CLIENTS; i++) {
		struct actor *a = &actors[i];

		if (a->job_ns && a->submitted_ns == ~0ULL && a->next_ns <= now) {
			a->submitted_ns = a->next_ns;
			heddle_fair_queue(&a->fair);
		}
	}
}

/* Serves whoever may go and waited longest for a turn; returns the time at the end of the job. */
static u64 serve(struct heddle_fair *fair, struct actor *actors, u64 now, u64 turn)
{
	u64 soonest = ~0ULL;
	struct actor *a;
	u32 best = CLIENTS;
	u32 i;

	for (i = 0; i < CLIENTS; i++) {
		struct heddle_fair_rivals rivals = rivals_of(actors, i, now);
		u64 at;

		a = &actors[i];
		if (!a->job_ns)
			continue;
		if (a->submitted_ns == ~0ULL) {
			soonest = earlier(soonest, a->next_ns);
			continue;
		}
		at = heddle_fair_start_at(&a->fair, &rivals, now);
		if (at > now)
			soonest = earlier(soonest, at);
		else if (best == CLIENTS || a->turn < actors[best].turn)
			best = i;
	}
	if (best == CLIENTS) {
		now = soonest;
	} else {
		struct heddle_fair_rivals rivals;
		u64 took;

		a = &actors[best];
		a->turn = turn;
		heddle_fair_start(&a->fair);
		now += a->job_ns;
		submit_due(actors, now);
		rivals = rivals_of(actors, best, now);
		heddle_fair_end(fair, &a->fair, &rivals, true, a->job_ns, now);
		took = now - a->submitted_ns;
		a->jobs++;
		a->held_ns += a->job_ns;
		a->slow += took > 2 * a->job_ns;
		if (took > a->worst_ns)
			a->worst_ns = took;
		a->submitted_ns = ~0ULL;
		a->next_ns = now + a->think_ns;
	}
	submit_due(actors, now);
	return now;
}

static void simulate(struct heddle_fair *fair, struct actor *actors, u64 from, u64 until)
{
	u64 turn = 1;
	u32 i;

	for (i = 0; i < CLIENTS; i++) {
		actors[i].submitted_ns = ~0ULL;
		actors[i].next_ns = from;
	}
	while (from < until)
		from = serve(fair, actors, from, turn++);
}

static void long_jobs_leave_others_their_latency(struct heddle_test *t)
{
	static const u64 lengths[] = { 2 * MS, 10 * MS, 100 * MS, SECOND };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct actor actors[CLIENTS] = {
			{ .job_ns = MS / 2, .think_ns = MS / 10 },
			{ .job_ns = lengths[i] },
		};
		struct heddle_fair fair = { 0 };

		simulate(&fair, actors, SECOND, 41 * SECOND);
		heddle_row(t, "length of the attacker's jobs, ns", lengths[i]);
		HEDDLE_EXPECT(t, actors[0].slow * 2 < actors[0].jobs);
		HEDDLE_EXPECT(t, actors[0].worst_ns <= lengths[i] + 2 * actors[0].job_ns);
		/* And the attacker still has about half of the card. */
		HEDDLE_EXPECT(t, actors[1].held_ns >= 15 * SECOND);
	}
}

static void equal_jobs_never_rest(struct heddle_test *t)
{
	struct actor actors[CLIENTS] = {
		{ .job_ns = 10 * MS }, { .job_ns = 12 * MS }, { .job_ns = 9 * MS },
	};
	struct heddle_fair fair = { 0 };
	u64 held;

	simulate(&fair, actors, SECOND, 11 * SECOND);
	held = actors[0].held_ns + actors[1].held_ns + actors[2].held_ns;
	HEDDLE_EXPECT(t, held >= 9900 * MS);
	HEDDLE_EXPECT(t, actors[2].jobs * 10 >= actors[1].jobs * 9);
}

static void who_is_alone_never_rests(struct heddle_test *t)
{
	struct actor actors[CLIENTS] = { { .job_ns = 50 * MS } };
	struct heddle_fair fair = { 0 };

	simulate(&fair, actors, SECOND, 11 * SECOND);
	HEDDLE_EXPECT(t, actors[0].held_ns >= 9900 * MS);
}

static void a_rare_rival_costs_little(struct heddle_test *t)
{
	struct actor actors[CLIENTS] = {
		{ .job_ns = 50 * MS }, { .job_ns = MS, .think_ns = 2 * SECOND },
	};
	struct heddle_fair fair = { 0 };

	simulate(&fair, actors, SECOND, 21 * SECOND);
	HEDDLE_EXPECT(t, actors[0].held_ns >= 18 * SECOND);
}

static void opening_anew_does_not_end_a_rest(struct heddle_test *t)
{
	struct heddle_fair_rivals rivals = { .count = 1, .shortest_ns = MS };
	struct heddle_fair_client old, fresh;
	struct heddle_fair fair = { 0 };

	heddle_fair_open(&fair, &old, SECOND);
	heddle_fair_queue(&old);
	HEDDLE_EXPECT_EQ(t, heddle_fair_start_at(&old, &rivals, SECOND), SECOND);
	heddle_fair_start(&old);
	heddle_fair_end(&fair, &old, &rivals, true, SECOND, 2 * SECOND);
	heddle_fair_open(&fair, &fresh, 2 * SECOND);
	HEDDLE_EXPECT(t, heddle_fair_start_at(&fresh, &rivals, 2 * SECOND) > 2 * SECOND);
	HEDDLE_EXPECT(t, heddle_fair_start_at(&fresh, &rivals, 3 * SECOND - 1) > 3 * SECOND - 1);
	HEDDLE_EXPECT_EQ(t, heddle_fair_start_at(&fresh, &rivals, 3 * SECOND), 3 * SECOND);
}

/* Whoever opens a file for every job must not make others rest behind each of theirs. */
static void who_has_shown_no_job_makes_only_long_jobs_rest(struct heddle_test *t)
{
	static const struct {
		const char *row;
		u64 held_ms;
		bool rests;
	} rows[] = {
		{ "short", 1, false },
		{ "a frame", 13, false },
		{ "at the bound", 40, false },
		{ "long", 100, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct heddle_fair_client old, fresh;
		struct heddle_fair_rivals rivals = { 0 };
		struct heddle_fair fair = { 0 };

		heddle_row(t, rows[i].row, i);
		heddle_fair_open(&fair, &old, SECOND);
		heddle_fair_open(&fair, &fresh, SECOND);
		heddle_fair_queue(&fresh);
		heddle_fair_meet(&rivals, &fresh, SECOND);
		HEDDLE_EXPECT_EQ(t, rivals.count, 1);
		heddle_fair_queue(&old);
		heddle_fair_start(&old);
		heddle_fair_end(&fair, &old, &rivals, true, rows[i].held_ms * MS, SECOND);
		HEDDLE_EXPECT_EQ(t, heddle_fair_start_at(&old, &rivals, SECOND) > SECOND,
				 rows[i].rests);
	}
}

static void one_job_with_the_card_while_there_are_rivals(struct heddle_test *t)
{
	struct heddle_fair_rivals rivals = { .count = 1, .shortest_ns = MS };
	struct heddle_fair_rivals none = { 0 };
	struct heddle_fair_client c;
	struct heddle_fair fair = { 0 };

	heddle_fair_open(&fair, &c, 0);
	heddle_fair_queue(&c);
	heddle_fair_queue(&c);
	heddle_fair_start(&c);
	HEDDLE_EXPECT_EQ(t, heddle_fair_start_at(&c, &rivals, 5), ~0ULL);
	HEDDLE_EXPECT_EQ(t, heddle_fair_start_at(&c, &none, 5), 5);
	heddle_fair_end(&fair, &c, &rivals, true, MS, 5);
	HEDDLE_EXPECT_EQ(t, heddle_fair_start_at(&c, &rivals, 5), 5);
	heddle_fair_end(&fair, &c, &rivals, false, 0, 6);
	HEDDLE_EXPECT_EQ(t, c.unfinished, 0);
}

static void numbers_at_their_ends(struct heddle_test *t)
{
	struct heddle_fair_rivals rivals = { .count = ~0U, .shortest_ns = 0 };
	struct heddle_fair_client c = { 0 };
	struct heddle_fair fair = { 0 };

	heddle_fair_end(&fair, &c, &rivals, true, ~0ULL >> 1, ~0ULL - 5);
	HEDDLE_EXPECT_EQ(t, c.rest_until_ns, ~0ULL);
	HEDDLE_EXPECT_EQ(t, c.unfinished, 0);
	HEDDLE_EXPECT_EQ(t, c.with_card, 0);
	heddle_fair_end(&fair, &c, &rivals, true, 0, ~0ULL - 4);
	HEDDLE_EXPECT(t, c.typical_ns != 0);
}

static void compactions_leave_the_card_to_its_users(struct heddle_test *t)
{
	static const struct {
		const char *row;
		u32 users;
		u64 now_ms;
		u64 want_ms;
	} rows[] = {
		{ "nobody wants the card", 0, 1000, 1000 },
		{ "asks again soon", 1, 1000, 1020 },
		{ "two of three times its length later", 5, 1200, 1220 },
		{ "the end of the rest comes first", 1, 1295, 1300 },
		{ "three times its length", 1, 1300, 1300 },
		{ "later", 1, 5000, 5000 },
	};
	struct heddle_fair fair = { .rest_until_ns = ~0ULL };
	struct heddle_fair_rivals users = { .count = 1 };
	u32 i;

	heddle_row(t, "the first one", 0);
	HEDDLE_EXPECT_EQ(t, heddle_fair_compact_at(&fair, &users, MS), MS);
	heddle_fair_compacted(&fair, 100 * MS, 1000 * MS);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		heddle_row(t, rows[i].row, i);
		users.count = rows[i].users;
		HEDDLE_EXPECT_EQ(t, heddle_fair_compact_at(&fair, &users, rows[i].now_ms * MS),
				 rows[i].want_ms * MS);
	}
	heddle_row(t, "a time that no u64 holds", 0);
	heddle_fair_compacted(&fair, ~0ULL / 2, 1);
	HEDDLE_EXPECT_EQ(t, fair.compact_ns, ~0ULL);
}

const struct heddle_case heddle_fair_cases[] = {
	{ "long_jobs_leave_others_their_latency", long_jobs_leave_others_their_latency },
	{ "equal_jobs_never_rest", equal_jobs_never_rest },
	{ "who_is_alone_never_rests", who_is_alone_never_rests },
	{ "a_rare_rival_costs_little", a_rare_rival_costs_little },
	{ "opening_anew_does_not_end_a_rest", opening_anew_does_not_end_a_rest },
	{ "who_has_shown_no_job_makes_only_long_jobs_rest",
	  who_has_shown_no_job_makes_only_long_jobs_rest },
	{ "one_job_with_the_card_while_there_are_rivals",
	  one_job_with_the_card_while_there_are_rivals },
	{ "numbers_at_their_ends", numbers_at_their_ends },
	{ "compactions_leave_the_card_to_its_users", compactions_leave_the_card_to_its_users },
	{ NULL, NULL },
};
