/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The command-stream validator.
 *
 * Claim: a stream that the validator accepts makes the card access no byte of
 * region r at or beyond end[r], write to no region outside `written`, and raise
 * none of the faults that a stream alone can cause (illegal command, overrun,
 * SRAM bounds, semaphore overflow in program order). It cannot deadlock. Microprograms
 * and indices are data in SRAM: the card checks them at run time.
 *
 * Semaphores. A stream is accepted only if
 *   (1) no wait is unsatisfied when its commands are executed one after another, and
 *   (2) between two barriers all units of a semaphore are given by one engine at one
 *       point and taken by one engine (waits and signals of 0 units do not count).
 * At a barrier everything before it has ended, so semaphores hold what (1) says there,
 * and what lies between two barriers can be looked at alone. Engines start commands in
 * order, and reach each point in order.
 * No deadlock, whatever the depth of the queues: let c be the oldest command that has
 * not started when nothing moves. All before c have started, so have ended, and gave
 * all their units. So c is at the head of its engine's queue, or next to be put into
 * that queue, which is empty. Who took units of a semaphore that c waits for is, by
 * (2), c's engine, with commands before c; later ones have not started. So there are
 * at least as many units as in program order, and by (1) c can start.
 * No theft: units are given in stream order and taken in stream order, by (2), so the
 * n-th unit taken is the n-th given, and a wait means what it means in program order.
 *
 * Words are little-endian in memory and in CPU byte order here. The caller owns
 * a private copy of the stream: nobody can change it after it was looked at.
 */
#ifndef HEDDLE_VALIDATE_H
#define HEDDLE_VALIDATE_H

#include <linux/types.h>

#include <drm/heddle_drm.h>

#include "heddle_isa_fields.h"

/**
 * struct heddle_validate_result - what is known about a stream
 * @error: why it was refused; HEDDLE_VALIDATE_OK = accepted
 * @offset: byte offset of the refused command
 * @commands: number of commands (of an accepted stream, `end` included)
 * @used: bitmap of the regions that are read or written
 * @written: bitmap of the regions that are written
 * @max_cycles: upper bound of the cycles that the card takes for the stream; ~0 =
 *              no u64 holds it (see heddle_cycles.h)
 * @end: for a region in @used: one more than the largest byte offset touched
 */
struct heddle_validate_result {
	enum heddle_validate_error error;
	u32 offset;
	u32 commands;
	u32 used;
	u32 written;
	u64 max_cycles;
	u64 end[HEDDLE_REGIONS];
};

/* Commands that are looked at in less than a millisecond or two. */
#define HEDDLE_VALIDATE_CHUNK 256

/**
 * struct heddle_semaphore - a semaphore in program order
 * @value: units that it holds
 * @giver: who has given units since the last barrier: engine and point; 0 = nobody
 * @taker: who has taken units since the last barrier: engine; 0 = nobody
 */
struct heddle_semaphore {
	u16 value;
	u8 giver;
	u8 taker;
};

/**
 * struct heddle_validation - where a validation is; nothing in it needs to be released
 * @config: of the card
 * @words: the stream
 * @count: words of it
 * @at: word that is looked at next
 * @ended: `end` was seen
 * @semaphores: in program order
 * @result: where the verdict goes
 */
struct heddle_validation {
	const struct heddle_config *config;
	const u32 *words;
	size_t count;
	size_t at;
	bool ended;
	struct heddle_semaphore semaphores[HEDDLE_SEMAPHORES];
	struct heddle_validate_result *result;
};

/* Prepares to check a stream of @bytes bytes for a card of configuration @config. */
void heddle_validate_begin(struct heddle_validation *v, const struct heddle_config *config,
			   const u32 *words, size_t bytes, struct heddle_validate_result *result);

/*
 * Checks at most @commands further commands, so that the caller can let others run
 * in between (~0: no stream has as many). -EAGAIN: there are more. Otherwise it is
 * done: 0 or -ENOEXEC, and the result is filled in either way.
 */
int heddle_validate_step(struct heddle_validation *v, u32 commands);

/* The configuration with this value of the CONFIG register, or NULL. */
const struct heddle_config *heddle_find_config(u32 id);

/*
 * Whether the regions bound to a run step suffice for the stream: sizes in bytes
 * (0 = not bound) and a bitmap of those that may be written. -ERANGE otherwise.
 */
int heddle_validate_binding(const struct heddle_validate_result *result,
			    const u64 sizes[HEDDLE_REGIONS], u32 writable);

#endif
