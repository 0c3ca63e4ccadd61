/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Fair shares of a card whose jobs cannot be interrupted. Plain data; the caller
 * serialises all calls and owns the list of clients (open files).
 *
 * Taking turns alone is not fair: a client with jobs of one second would make every
 * job of one with jobs of a millisecond wait for a second. So a client whose job held
 * the card much longer than its rivals' jobs do leaves the card to them for as long,
 * times their number: each gets its share of the time, and waits for a long job only
 * once per share. Clients with jobs of similar length never rest, nor does a client
 * without rivals.
 *
 * A rival is a client with an unfinished job, or whose last job ended so recently
 * that another can be expected. While there is one, a client has one job on the card
 * at a time. A newly opened client inherits the longest rest still in force, so
 * nobody escapes a rest by closing and reopening.
 */
#ifndef HEDDLE_FAIR_H
#define HEDDLE_FAIR_H

#include <linux/types.h>

/**
 * struct heddle_fair - of a card
 * @rest_until_ns: the latest end of any rest
 * @compact_ns: memory is not compacted before, while clients want the card
 */
struct heddle_fair {
	u64 rest_until_ns;
	u64 compact_ns;
};

/**
 * struct heddle_fair_client - of a client
 * @rest_until_ns: it leaves the card to its rivals until then
 * @last_ns: when its last job ended
 * @typical_ns: how long its jobs hold the card, a running average; 0 = none has ended
 * @unfinished: jobs that have not ended
 * @with_card: of these, jobs that the card has
 */
struct heddle_fair_client {
	u64 rest_until_ns;
	u64 last_ns;
	u64 typical_ns;
	u32 unfinished;
	u32 with_card;
};

/**
 * struct heddle_fair_rivals - what a client competes with, gathered by heddle_fair_meet()
 * @count: how many
 * @shortest_ns: the smallest typical_ns among them; one that has shown no job counts as 20 ms
 */
struct heddle_fair_rivals {
	u32 count;
	u64 shortest_ns;
};

/* A new client. */
void heddle_fair_open(const struct heddle_fair *fair, struct heddle_fair_client *client,
		      u64 now_ns);

/* Counts @other among the rivals if it is one. Start with rivals = { 0 }. */
void heddle_fair_meet(struct heddle_fair_rivals *rivals, const struct heddle_fair_client *other,
		      u64 now_ns);

/* A job was queued. */
void heddle_fair_queue(struct heddle_fair_client *client);

/*
 * When the client's next job may start: @now_ns or earlier = now; ~0 = ask again when
 * one of its jobs has ended; otherwise ask again at that time, which comes early
 * enough to notice that the rivals have left.
 */
u64 heddle_fair_start_at(const struct heddle_fair_client *client,
			 const struct heddle_fair_rivals *rivals, u64 now_ns);

/* A job was given to the card. */
void heddle_fair_start(struct heddle_fair_client *client);

/*
 * A job ended. @held_ns: how long it kept the card from others; @started = false: it
 * never got there.
 */
void heddle_fair_end(struct heddle_fair *fair, struct heddle_fair_client *client,
		     const struct heddle_fair_rivals *rivals, bool started, u64 held_ns,
		     u64 now_ns);

/*
 * When device memory may be compacted, while @all clients want the card: as
 * heddle_fair_start_at(), but never ~0. A compaction holds the card; afterwards it is
 * its users' for several times as long, so whoever wants room again and again takes no
 * more than a quarter of it from them.
 */
u64 heddle_fair_compact_at(const struct heddle_fair *fair, const struct heddle_fair_rivals *all,
			   u64 now_ns);

/* A compaction is over; no job could start for @held_ns. */
void heddle_fair_compacted(struct heddle_fair *fair, u64 held_ns, u64 now_ns);

#endif
