/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long the card can take for a command.
 *
 * An upper bound, in core cycles, on what the command adds to the time of a stream,
 * whatever the other engines do meanwhile. Every access to SRAM and every beat of
 * device memory counts as if nothing else happened in its cycle, so the sum over a
 * stream holds however the engines interfere: a cycle in which one is held up is a
 * cycle charged to another's access.
 *
 * Data-dependent costs count at their worst (each micro-instruction a division). Not
 * covered: memory slower than the configuration says, a card busy with other work,
 * and what comes before and after the stream (copies, the region table).
 */
#ifndef HEDDLE_CYCLES_H
#define HEDDLE_CYCLES_H

#include <linux/types.h>

#include "heddle_isa_fields.h"

/* Of the stream itself: from its first fetch, and until `end` is seen to be reached. */
#define HEDDLE_STREAM_CYCLES 1000

/* The words of a command that was found to be legal. ~0 when no u64 holds the bound. */
u64 heddle_command_cycles(const struct heddle_config *config, const u32 *w);

/* a + b, or ~0. */
u64 heddle_cycles_add(u64 a, u64 b);

#endif
