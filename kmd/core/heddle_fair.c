// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Fair shares; see heddle_fair.h. */
#include "heddle_fair.h"

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
	u64 expected = client->typical_ns * EXPECTED_JOBS;

	if (client->unfinished)
		return true;
	if (!client->typical_ns)
		return false;
	if (client->typical_ns > EXPECTED_MAX_NS || expected > EXPECTED_MAX_NS)
		expected = EXPECTED_MAX_NS;
	if (expected < EXPECTED_MIN_NS)
		expected = EXPECTED_MIN_NS;
	return now_ns - client->last_ns < expected;
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
	u64 typical = other->typical_ns ? other->typical_ns : UNKNOWN_NS;

	if (!is_rival(other, now_ns))
		return;
	if (!rivals->count || typical < rivals->shortest_ns)
		rivals->shortest_ns = typical;
	rivals->count++;
}

void heddle_fair_queue(struct heddle_fair_client *client)
{
	client->unfinished++;
}

/* @until_ns, unless @rivals leave: to be asked again by then. */
static u64 rest_until(u64 until_ns, const struct heddle_fair_rivals *rivals, u64 now_ns)
{
	u64 again = now_ns + EXPECTED_MIN_NS;

	if (!rivals->count || until_ns <= now_ns)
		return now_ns;
	return until_ns < again ? until_ns : again;
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
	if (__builtin_mul_overflow(held_ns, (u64)rivals->count, &rest))
		return ~0ULL;
	return rest;
}

void heddle_fair_end(struct heddle_fair *fair, struct heddle_fair_client *client,
		     const struct heddle_fair_rivals *rivals, bool started, u64 held_ns,
		     u64 now_ns)
{
	u64 until;

	if (client->unfinished)
		client->unfinished--;
	client->last_ns = now_ns;
	if (!started)
		return;
	if (client->with_card)
		client->with_card--;
	if (!client->typical_ns)
		client->typical_ns = held_ns ? held_ns : 1;
	else
		client->typical_ns += (held_ns >> AVERAGE_SHIFT) -
				      (client->typical_ns >> AVERAGE_SHIFT);
	if (!client->typical_ns)
		client->typical_ns = 1;
	if (__builtin_add_overflow(now_ns, rest_of(held_ns, rivals), &until))
		until = ~0ULL;
	if (until > client->rest_until_ns)
		client->rest_until_ns = until;
	if (until > fair->rest_until_ns)
		fair->rest_until_ns = until;
}

u64 heddle_fair_compact_at(const struct heddle_fair *fair, const struct heddle_fair_rivals *all,
			   u64 now_ns)
{
	return rest_until(fair->compact_ns, all, now_ns);
}

void heddle_fair_compacted(struct heddle_fair *fair, u64 held_ns, u64 now_ns)
{
	u64 rest;

	if (__builtin_mul_overflow(held_ns, (u64)COMPACTION_REST, &rest) ||
	    __builtin_add_overflow(now_ns, rest, &fair->compact_ns))
		fair->compact_ns = ~0ULL;
}
