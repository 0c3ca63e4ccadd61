// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Command-stream validator; see heddle_validate.h. */
#include "heddle_validate.h"

#include <linux/errno.h>

#include "heddle_bounds.h"
#include "heddle_cycles.h"
#include "heddle_refuse.h"

/* Whether @raw, the bits of @f, is a value that it may have. */
static bool field_ok(const struct heddle_isa_field *f, u32 raw)
{
	s64 value = raw;

	if (f->flags & HEDDLE_FIELD_SIGNED && raw >> (f->bits - 1))
		value -= 1LL << f->bits;
	if (f->flags & HEDDLE_FIELD_NONZERO && !raw)
		return false;
	if (f->kind == HEDDLE_KIND_F32)
		return true;
	if (f->kind == HEDDLE_KIND_ENUM)
		return raw < 64 && f->legal >> raw & 1;
	return value >= f->min && value <= f->max;
}

/* Whether every field lies in its range and no reserved bit is set. */
static enum heddle_validate_error check_fields(const struct heddle_isa_command *command,
					       const u32 *w)
{
	u32 i;

	for (i = 0; i < command->words; i++) {
		if (w[i] & command->reserved[i]) {
			heddle_say_refused("word with reserved bits", w[i], ~command->reserved[i]);
			return HEDDLE_VALIDATE_RESERVED;
		}
	}
	for (i = 0; i < command->num_fields; i++) {
		const struct heddle_isa_field *f = &command->fields[i];
		u32 raw = w[f->word] >> f->lsb;

		if (f->bits < 32)
			raw &= (1U << f->bits) - 1;
		if (!field_ok(f, raw)) {
			heddle_say_refused(f->name, raw, raw ? f->max : f->min);
			return HEDDLE_VALIDATE_FIELD;
		}
	}
	return HEDDLE_VALIDATE_OK;
}

/* What one wait or signal of a command asks. */
struct units {
	bool enabled;
	u32 semaphore;
	u32 count;
	u32 point;
};

/* @who, not 0, is the only one there since the last barrier, or the first. */
static bool alone(u8 *owner, u32 who)
{
	if (*owner && *owner != who)
		return false;
	*owner = who;
	return true;
}

static enum heddle_validate_error take(struct heddle_semaphore *semaphores, u32 engine,
				       const struct units *wait)
{
	struct heddle_semaphore *s = &semaphores[wait->semaphore];

	if (!wait->enabled || !wait->count)
		return HEDDLE_VALIDATE_OK;
	if (!alone(&s->taker, 1 + engine))
		return HEDDLE_VALIDATE_SEMAPHORE;
	if (s->value < wait->count)
		return HEDDLE_VALIDATE_WAIT;
	s->value -= wait->count;
	return HEDDLE_VALIDATE_OK;
}

static enum heddle_validate_error give(struct heddle_semaphore *semaphores, u32 engine,
				       const struct units *signal)
{
	struct heddle_semaphore *s = &semaphores[signal->semaphore];

	if (!signal->enabled || !signal->count)
		return HEDDLE_VALIDATE_OK;
	if (!alone(&s->giver, 1 + 2 * engine + signal->point))
		return HEDDLE_VALIDATE_SEMAPHORE;
	s->value += signal->count;
	return s->value > HEDDLE_SEMAPHORE_MAX ? HEDDLE_VALIDATE_SIGNAL : HEDDLE_VALIDATE_OK;
}

/* Waits are taken, then signals given: what running in stream order would do. */
static enum heddle_validate_error step_semaphores(const struct heddle_isa_command *command,
						  const u32 *w, struct heddle_semaphore *s)
{
	const struct units wait0 = { heddle_header_wait0_enable(w), heddle_header_wait0_sem(w),
				     heddle_header_wait0_count(w), 0 };
	const struct units wait1 = { heddle_header_wait1_enable(w), heddle_header_wait1_sem(w),
				     heddle_header_wait1_count(w), 0 };
	const struct units signal0 = { heddle_header_signal0_enable(w),
				       heddle_header_signal0_sem(w),
				       heddle_header_signal0_count(w),
				       heddle_header_signal0_point(w) };
	const struct units signal1 = { heddle_header_signal1_enable(w),
				       heddle_header_signal1_sem(w),
				       heddle_header_signal1_count(w),
				       heddle_header_signal1_point(w) };
	u32 i;

	if (command->engine == HEDDLE_ENGINE_CONTROL &&
	    (wait0.enabled || wait1.enabled || signal0.enabled || signal1.enabled))
		return HEDDLE_VALIDATE_RULE;
	if ((wait0.enabled && wait1.enabled && wait0.semaphore == wait1.semaphore) ||
	    (signal0.enabled && signal1.enabled && signal0.semaphore == signal1.semaphore))
		return HEDDLE_VALIDATE_RULE;
	/* All before it has ended, so who comes next may be another. */
	if (command->opcode == HEDDLE_OP_BARRIER)
		for (i = 0; i < HEDDLE_SEMAPHORES; i++)
			s[i].giver = s[i].taker = 0;
	return take(s, command->engine, &wait0) ?: take(s, command->engine, &wait1) ?:
	       give(s, command->engine, &signal0) ?: give(s, command->engine, &signal1);
}

static enum heddle_validate_error check_bounds(const struct heddle_config *config, const u32 *w,
					       struct heddle_validate_result *result)
{
	/* Nothing but a header touches nothing. */
	if (heddle_header_words(w) == HEDDLE_HEADER_WORDS)
		return HEDDLE_VALIDATE_OK;
	switch (heddle_header_opcode(w)) {
	case HEDDLE_OP_LOAD:
	case HEDDLE_OP_STORE:
		return heddle_bounds_copy(config, w, result);
	case HEDDLE_OP_FILL:
		return heddle_bounds_fill(config, w);
	case HEDDLE_OP_LOAD_GATHER:
	case HEDDLE_OP_STORE_SCATTER:
		return heddle_bounds_indexed(config, w, result);
	case HEDDLE_OP_CONV:
		return heddle_bounds_conv(config, w);
	case HEDDLE_OP_VRUN:
		return heddle_bounds_vrun(config, w);
	case HEDDLE_OP_VMAC:
		return heddle_bounds_vmac(config, w);
	}
	/* An instruction that the tables know and this function does not. */
	return HEDDLE_VALIDATE_OPCODE;
}

/*
 * One command at @w, with @left words up to the stream's end; its length goes to
 * @words. Never looks beyond @left.
 */
static enum heddle_validate_error check_command(const struct heddle_config *config, const u32 *w,
						size_t left, struct heddle_semaphore *semaphores,
						struct heddle_validate_result *result, u32 *words)
{
	const struct heddle_isa_command *command;
	u32 index;

	index = heddle_isa_by_opcode[heddle_header_opcode(w)];
	if (!index)
		return HEDDLE_VALIDATE_OPCODE;
	command = &heddle_isa_commands[index - 1];
	if (heddle_header_words(w) != command->words)
		return HEDDLE_VALIDATE_LENGTH;
	*words = command->words;
	if (command->words > left)
		return HEDDLE_VALIDATE_TRUNCATED;
	return check_fields(command, w) ?: step_semaphores(command, w, semaphores) ?:
	       check_bounds(config, w, result);
}

/* The command at the place that has been reached. */
static enum heddle_validate_error check_next(struct heddle_validation *v)
{
	struct heddle_validate_result *result = v->result;
	const u32 *w = v->words + v->at;
	size_t left = v->count - v->at;
	enum heddle_validate_error error;
	u32 length = 0;

	result->offset = v->at * sizeof(u32);
	if (v->ended)
		return HEDDLE_VALIDATE_END;
	if (left < HEDDLE_HEADER_WORDS)
		return HEDDLE_VALIDATE_TRUNCATED;
	error = check_command(v->config, w, left, v->semaphores, result, &length);
	if (error)
		return error;
	v->ended = heddle_header_opcode(w) == HEDDLE_OP_END;
	result->commands++;
	result->max_cycles = heddle_cycles_add(result->max_cycles,
					       heddle_command_cycles(v->config, w));
	v->at += length;
	return HEDDLE_VALIDATE_OK;
}

void heddle_validate_begin(struct heddle_validation *v, const struct heddle_config *config,
			   const u32 *words, size_t bytes, struct heddle_validate_result *result)
{
	*v = (struct heddle_validation) {
		.config = config,
		.words = words,
		.count = bytes / sizeof(u32),
		.result = result,
	};
	*result = (struct heddle_validate_result) { .max_cycles = HEDDLE_STREAM_CYCLES };
	if (!bytes || bytes > HEDDLE_STREAM_BYTES_MAX || bytes % HEDDLE_WORD_BYTES)
		result->error = HEDDLE_VALIDATE_SIZE;
}

int heddle_validate_step(struct heddle_validation *v, u32 commands)
{
	struct heddle_validate_result *result = v->result;

	while (!result->error && v->at < v->count) {
		if (!commands--)
			return -EAGAIN;
		result->error = check_next(v);
	}
	if (!result->error && !v->ended)
		result->error = HEDDLE_VALIDATE_END;
	return result->error ? -ENOEXEC : 0;
}

const struct heddle_config *heddle_find_config(u32 id)
{
	u32 i;

	for (i = 0; i < HEDDLE_NUM_CONFIGS; i++)
		if (heddle_configs[i].id == id)
			return &heddle_configs[i];
	return NULL;
}

int heddle_validate_binding(const struct heddle_validate_result *result,
			    const u64 sizes[HEDDLE_REGIONS], u32 writable)
{
	u32 i;

	for (i = 0; i < HEDDLE_REGIONS; i++)
		if (result->used >> i & 1 && result->end[i] > sizes[i])
			return heddle_refuse(-ERANGE, "end of what the stream touches of a region",
					     result->end[i], sizes[i]);
	if (result->written & ~writable)
		return heddle_refuse(-ERANGE, "regions written", result->written, writable);
	return 0;
}
