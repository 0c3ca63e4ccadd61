/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The command-stream validator.
 *
 * Claim: a stream that heddle_validate() accepts makes the card touch no byte of
 * region r at or beyond end[r], write to no region outside `written`, and raise
 * none of the faults that a stream alone can cause (illegal command, overrun,
 * SRAM bounds, semaphore overflow in program order). Microprograms and indices
 * are data in SRAM: the card checks them when it runs.
 *
 * Words are little-endian in memory and in CPU byte order here. The caller owns
 * a private copy of the stream: nobody can change it after it was looked at.
 */
#ifndef HEDDLE_VALIDATE_H
#define HEDDLE_VALIDATE_H

#include <linux/types.h>

#include <drm/heddle_drm.h>

#include "heddle_isa_fields.h"

/* Only the tests of the validator's oracle build with a bug put in on purpose. */
#ifndef HEDDLE_SEEDED_BUG
#define HEDDLE_SEEDED_BUG 0
#endif
#if HEDDLE_SEEDED_BUG == 1
#define HEDDLE_EXTENTS 128 /* contains the damage of the bug */
#else
#define HEDDLE_EXTENTS HEDDLE_REGIONS
#endif

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
	u64 end[HEDDLE_EXTENTS];
};

/* Commands that are looked at in less than a millisecond or two. */
#define HEDDLE_VALIDATE_CHUNK 256

/**
 * struct heddle_validation - where a validation is; nothing in it needs to be released
 * @config: of the card
 * @words: the stream
 * @count: words of it
 * @at: word that is looked at next
 * @ended: `end` was seen
 * @semaphores: value of each in program order
 * @result: where the verdict goes
 */
struct heddle_validation {
	const struct heddle_config *config;
	const u32 *words;
	size_t count;
	size_t at;
	bool ended;
	u32 semaphores[HEDDLE_SEMAPHORES];
	struct heddle_validate_result *result;
};

/* Prepares to check a stream of @bytes bytes for a card of configuration @config. */
void heddle_validate_begin(struct heddle_validation *v, const struct heddle_config *config,
			   const u32 *words, size_t bytes, struct heddle_validate_result *result);

/*
 * Checks at most @commands further commands, so that the caller can let others run
 * in between. -EAGAIN: there are more. Otherwise it is done: 0 or -ENOEXEC, and the
 * result is filled in either way.
 */
int heddle_validate_step(struct heddle_validation *v, u32 commands);

/* All of it at once. */
int heddle_validate(const struct heddle_config *config, const u32 *words, size_t bytes,
		    struct heddle_validate_result *result);

/* The configuration with this value of the CONFIG register, or NULL. */
const struct heddle_config *heddle_find_config(u32 id);

/*
 * Whether the regions bound to a run step suffice for the stream: sizes in bytes
 * (0 = not bound) and a bitmap of those that may be written. -ERANGE otherwise.
 */
int heddle_validate_binding(const struct heddle_validate_result *result,
			    const u64 sizes[HEDDLE_REGIONS], u32 writable);

#endif
