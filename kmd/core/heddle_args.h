/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Checks of every uAPI structure, before anything is looked up or changed. They
 * look at the structure alone; checks that involve objects (handles, buffer sizes)
 * take plain numbers. All return 0 or a negative errno as in the uAPI header.
 */
#ifndef HEDDLE_ARGS_H
#define HEDDLE_ARGS_H

#include <linux/types.h>

#include <drm/heddle_drm.h>

#include "heddle_hw.h"

/*
 * An array in user memory: at most @max elements (-EINVAL) of at least @first
 * bytes each, the element's first published size, and at most
 * DRM_HEDDLE_STRIDE_MAX (-EINVAL): all bytes of an element are looked at.
 */
int heddle_check_array(const struct drm_heddle_array *array, u32 first, u32 max);

/* Of CONTEXT_DESTROY, STREAM_DESTROY and a sync, of which nothing else can be wrong by itself. */
int heddle_check_pad(u32 pad);

/* The known size of what a query of this type returns; 0 = unknown type. */
u32 heddle_query_size(u32 type);

int heddle_check_query(const struct drm_heddle_query *args);
/* The priority of who asks for nothing; smaller numbers go first and need a privilege. */
#define HEDDLE_PRIORITY_NORMAL	2

/* @may_raise: the caller may use a priority above the normal one. */
int heddle_check_context_create(const struct drm_heddle_context_create *args, bool may_raise);
/* @run_cycles: the limit that needs no privilege; @may_raise: the caller may exceed it. */
int heddle_check_context_control(const struct drm_heddle_context_control *args, u64 run_cycles,
				 bool may_raise);
int heddle_check_bo_create(const struct drm_heddle_bo_create *args);
int heddle_check_stream_create(const struct drm_heddle_stream_create *args);
/* -EOPNOTSUPP: a card of @hw_version lacks what is asked for. */
int heddle_check_submit(const struct drm_heddle_submit *args, u32 hw_version);
/* @joins: the step before is a run, or overlaps one; without, this one must not overlap. */
int heddle_check_step(const struct drm_heddle_step *step, bool joins);
/* @used: bitmap of the indices seen so far; bound twice gives -EINVAL. */
int heddle_check_region(const struct drm_heddle_region *region, u32 *used);
/*
 * Of a step that overlaps a run: the @length bytes from @offset that it reads, or @writes, of
 * the buffer that @region of that run is bound to, both within the buffer. -EINVAL: step and
 * region have a byte in common, and one of them is for writing.
 */
int heddle_check_overlap(const struct drm_heddle_region *region, u64 offset, u64 length,
			 bool writes);
int heddle_check_wait(const struct drm_heddle_wait *args);
int heddle_check_events(const struct drm_heddle_events *args);

/* -ERANGE: @length bytes from @offset do not lie within @size bytes. */
int heddle_check_range(u64 offset, u64 length, u64 size);

/* The flags of a card's step for those of a submitted one: no more than its version knows. */
u32 heddle_step_flags(u32 flags, u32 hw_version);

/*
 * What the card wrote of a command, in the terms of the submission: @step_of says for each of
 * the card's steps which of its steps that was. The card may have written anything.
 */
void heddle_trace_tell(struct drm_heddle_trace_entry *to, const struct heddle_trace_entry *from,
		       const u8 *step_of);

#endif
