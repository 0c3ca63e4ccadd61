// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Fair shares; see heddle_fair.h. */
#include "heddle_fair.h"

#include <linux/minmax.h>
#include <linux/overflow.h>

#define MS			1000000ULL

/* How long after its last job a client's next one is expected: at least, in its jobs, at most. */
#define EXPECTED_MIN_NS		(20 * MS)
#define EXPECTED_JOBS		8
#define EXPECTED_MAX_NS		(1000 * MS)

/*
 * What the jobs of a client are taken for of which none has ended. Were it nothing, every job
 * would be long beside it, and whoever opens a file for each job would halve the card for all.
 */
#define UNKNOWN_NS		(20 * MS)

/* A job is long if it takes more than so many times its rivals' shortest. */
#define LONG_RATIO		2

/* How often the time of a compaction is the card's users' afterwards. */
#define COMPACTION_REST		3

/* The average moves by 1 / 2^n of the difference. */
#define AVERAGE_SHIFT		3

static bool is_rival(const struct heddle_fair_client *client, u64 now_ns)
{
	u64 expected = min(client->typical_ns, EXPECTED_MAX_NS) * EXPECTED_JOBS;

	expected = clamp(expected, EXPECTED_MIN_NS, EXPECTED_MAX_NS);
	return client->unfinished ||
	       (client->typical_ns && now_ns - client->last_ns < expected);
}

void heddle_fair_open(const struct heddle_fair *fair, struct heddle_fair_client *client,
		      u64 now_ns)
{
	*client = (struct heddle_fair_client){ 0 };
	if (fair->rest_until_ns > now_ns)
		client->rest_until_ns = fair->rest_until_ns;
}

void heddle_fair_meet(struct heddle_fair_rivals *rivals, const struct heddle_fair_client *other,
		      u64 now_ns)
{
	u64 typical = other->typical_ns ?: UNKNOWN_NS;

	if (!is_rival(other, now_ns))
		return;
	rivals->shortest_ns = rivals->count ? min(rivals->shortest_ns, typical) : typical;
	rivals->count++;
}

void heddle_fair_queue(struct heddle_fair_client *client)
{
	client->unfinished++;
}

/* @until_ns, unless @rivals leave: to be asked again by then. */
static u64 rest_until(u64 until_ns, const struct heddle_fair_rivals *rivals, u64 now_ns)
{
	if (!rivals->count || until_ns <= now_ns)
		return now_ns;
	return min(until_ns, now_ns + EXPECTED_MIN_NS);
}

u64 heddle_fair_start_at(const struct heddle_fair_client *client,
			 const struct heddle_fair_rivals *rivals, u64 now_ns)
{
	if (rivals->count && client->with_card)
		return ~0ULL;
	return rest_until(client->rest_until_ns, rivals, now_ns);
}

void heddle_fair_start(struct heddle_fair_client *client)
{
	client->with_card++;
}

/* How long a client rests after a job of @held_ns. */
static u64 rest_of(u64 held_ns, const struct heddle_fair_rivals *rivals)
{
	u64 rest;

	if (!rivals->count || held_ns / LONG_RATIO <= rivals->shortest_ns)
		return 0;
	if (check_mul_overflow(held_ns, (u64)rivals->count, &rest))
		return ~0ULL;
	return rest;
}

void heddle_fair_end(struct heddle_fair *fair, struct heddle_fair_client *client,
		     const struct heddle_fair_rivals *rivals, bool started, u64 held_ns,
		     u64 now_ns)
{
	u64 until, typical = held_ns;

	if (client->unfinished)
		client->unfinished--;
	client->last_ns = now_ns;
	if (!started)
		return;
	if (client->with_card)
		client->with_card--;
	if (client->typical_ns)
		typical = client->typical_ns + (held_ns >> AVERAGE_SHIFT) -
			  (client->typical_ns >> AVERAGE_SHIFT);
	client->typical_ns = max(typical, 1ULL);
	if (check_add_overflow(now_ns, rest_of(held_ns, rivals), &until))
		until = ~0ULL;
	client->rest_until_ns = max(client->rest_until_ns, until);
	fair->rest_until_ns = max(fair->rest_until_ns, until);
}

u64 heddle_fair_compact_at(const struct heddle_fair *fair, const struct heddle_fair_rivals *all,
			   u64 now_ns)
{
	return rest_until(fair->compact_ns, all, now_ns);
}

void heddle_fair_compacted(struct heddle_fair *fair, u64 held_ns, u64 now_ns)
{
	u64 rest;

	if (check_mul_overflow(held_ns, (u64)COMPACTION_REST, &rest) ||
	    check_add_overflow(now_ns, rest, &fair->compact_ns))
		fair->compact_ns = ~0ULL;
}
