// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Argument checks; see heddle_args.h. */
#include "heddle_args.h"

#include <asm/byteorder.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/overflow.h>

#include "heddle_hw.h"
#include "heddle_refuse.h"

/* More sync points or events than anybody needs in one call. */
#define MAX_LIST 1024

static int at_most(const char *field, u64 value, u64 limit)
{
	return value > limit ? heddle_refuse(-EINVAL, field, value, limit) : 0;
}

static int no_less(const char *field, u64 value, u64 limit)
{
	return value < limit ? heddle_refuse(-EINVAL, field, value, limit) : 0;
}

static int within(const char *field, u64 value, u64 low, u64 high)
{
	return no_less(field, value, low) ?: at_most(field, value, high);
}

static int zero(const char *field, u64 value)
{
	return at_most(field, value, 0);
}

static int multiple(const char *field, u64 value, u32 unit)
{
	return value % unit ? heddle_refuse(-EINVAL, field, value, unit) : 0;
}

int heddle_check_pad(u32 pad)
{
	return zero("pad", pad);
}

/* An array that is filled: nothing of it is looked at, so any larger stride will do. */
static int check_filled(const struct drm_heddle_array *array, u32 first, u32 max)
{
	if (!array->count)
		return 0;
	return at_most("count", array->count, max) ?: no_less("stride", array->stride, first);
}

int heddle_check_array(const struct drm_heddle_array *array, u32 first, u32 max)
{
	int err = check_filled(array, first, max);

	if (err || !array->count)
		return err;
	return at_most("stride", array->stride, DRM_HEDDLE_STRIDE_MAX);
}

u32 heddle_query_size(u32 type)
{
	static const u32 sizes[] = {
		[DRM_HEDDLE_QUERY_DEVICE] = sizeof(struct drm_heddle_device_info),
		[DRM_HEDDLE_QUERY_MEMORY] = sizeof(struct drm_heddle_memory_info),
		[DRM_HEDDLE_QUERY_COUNTERS] = sizeof(struct drm_heddle_counters),
		[DRM_HEDDLE_QUERY_LIMITS] = sizeof(struct drm_heddle_limits),
	};

	return type < ARRAY_SIZE(sizes) ? sizes[type] : 0;
}

int heddle_check_query(const struct drm_heddle_query *args)
{
	int err = zero("pad", args->pad) ?:
		  at_most("type", args->type, DRM_HEDDLE_QUERY_LIMITS);

	/* With stride 0 only the size is asked for. */
	return err || !args->data.stride ? err : within("count", args->data.count, 1, 1);
}

int heddle_check_context_create(const struct drm_heddle_context_create *args, bool may_raise)
{
	int err = zero("flags", args->flags) ?: zero("pad", args->pad) ?:
		  at_most("priority", args->priority, HEDDLE_RINGS - 1);

	if (!err && args->priority < HEDDLE_PRIORITY_NORMAL && !may_raise)
		return heddle_refuse(-EACCES, "priority", args->priority, HEDDLE_PRIORITY_NORMAL);
	return err;
}

int heddle_check_context_control(const struct drm_heddle_context_control *args, u64 run_cycles,
				 bool may_raise)
{
	int err = at_most("flags", args->flags, DRM_HEDDLE_CONTROL_RUN_CYCLES) ?:
		  zero("state", args->state) ?: zero("hangs", args->hangs);

	if (err)
		return err;
	if (!args->flags)
		return zero("run_cycles", args->run_cycles);
	if (args->run_cycles > run_cycles && !may_raise)
		return heddle_refuse(-EACCES, "run_cycles", args->run_cycles, run_cycles);
	return 0;
}

int heddle_check_bo_create(const struct drm_heddle_bo_create *args)
{
	return zero("flags", args->flags) ?: zero("pad", args->pad) ?:
	       no_less("size", args->size, 1) ?:
	       at_most("placement", args->placement, DRM_HEDDLE_DEVICE);
}

int heddle_check_stream_create(const struct drm_heddle_stream_create *args)
{
	return zero("flags", args->flags) ?:
	       within("stride", args->data.stride, 1, 1) ?:
	       within("count", args->data.count, 1, HEDDLE_STREAM_BYTES_MAX) ?:
	       multiple("count", args->data.count, HEDDLE_WORD_BYTES);
}

/* Whether a card of this version has what the contract has since minor version @since. */
static bool has(u32 hw_version, u32 since)
{
	return (hw_version & HEDDLE_VERSION_MINOR_MASK) >= since;
}

int heddle_check_submit(const struct drm_heddle_submit *args, u32 hw_version)
{
	int err = at_most("flags", args->flags, DRM_HEDDLE_SUBMIT_TRACE) ?:
		  zero("pad", args->pad) ?:
		  within("trace_entries", args->trace_entries, args->flags,
			 args->flags * DRM_HEDDLE_TRACE_ENTRIES_MAX) ?:
		  no_less("steps", args->steps.count, 1) ?:
		  heddle_check_array(&args->steps, sizeof(struct drm_heddle_step),
				     HEDDLE_STEPS_MAX) ?:
		  heddle_check_array(&args->in_syncs, sizeof(struct drm_heddle_sync), MAX_LIST) ?:
		  heddle_check_array(&args->out_syncs, sizeof(struct drm_heddle_sync), MAX_LIST);

	if (!err && args->flags && !has(hw_version, HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_SINCE))
		return heddle_refuse(-EOPNOTSUPP, "flags, of a card that has no trace,",
				     args->flags, 0);
	return err;
}

int heddle_check_step(const struct drm_heddle_step *step, bool joins)
{
	int err = at_most("flags", step->flags, joins ? DRM_HEDDLE_STEP_OVERLAP : 0);

	if (err)
		return err;
	switch (step->type) {
	case DRM_HEDDLE_RUN:
		return zero("flags", step->flags) ?:
		       heddle_check_array(&step->regions, sizeof(struct drm_heddle_region),
					  HEDDLE_REGIONS);
	case DRM_HEDDLE_FILL:
		err = multiple("length", step->length, sizeof(u32));
		break;
	case DRM_HEDDLE_COPY_IN:
	case DRM_HEDDLE_COPY_OUT:
	case DRM_HEDDLE_STEP_COPY:
		break;
	default:
		return heddle_refuse(-EINVAL, "type", step->type, DRM_HEDDLE_FILL);
	}
	return err ?: zero("regions", step->regions.count) ?: no_less("length", step->length, 1);
}

int heddle_check_region(const struct drm_heddle_region *region, u32 *used)
{
	int err = zero("pad", region->pad) ?:
		  at_most("flags", region->flags, DRM_HEDDLE_REGION_WRITE) ?:
		  at_most("index", region->index, HEDDLE_REGIONS - 1) ?:
		  no_less("size", region->size, 1) ?:
		  multiple("offset", region->offset, HEDDLE_REGION_ALIGN);

	if (err)
		return err;
	if (*used & (1U << region->index))
		return heddle_refuse(-EINVAL, "times that the region is bound", 2, 1);
	*used |= 1U << region->index;
	return 0;
}

int heddle_check_overlap(const struct drm_heddle_region *region, u64 offset, u64 length,
			 bool writes)
{
	const char *field = writes ? "dst_offset, where the run reads or writes," :
				     "src_offset, where the run writes,";
	bool apart = offset >= region->offset + region->size || region->offset >= offset + length;

	return apart || !(writes || region->flags) ? 0 :
	       heddle_refuse(-EINVAL, field, offset, region->offset);
}

int heddle_check_wait(const struct drm_heddle_wait *args)
{
	return zero("pad", args->pad) ?: zero("reserved", args->reserved) ?:
	       no_less("seqno", args->seqno, 1) ?:
	       check_filled(&args->result, sizeof(struct drm_heddle_result), 1) ?:
	       check_filled(&args->trace, sizeof(struct drm_heddle_trace_entry),
			    DRM_HEDDLE_TRACE_ENTRIES_MAX);
}

int heddle_check_events(const struct drm_heddle_events *args)
{
	return no_less("events", args->events.count, 1) ?:
	       check_filled(&args->events, sizeof(struct drm_heddle_event), MAX_LIST);
}

int heddle_check_range(u64 offset, u64 length, u64 size)
{
	u64 end;

	if (check_add_overflow(offset, length, &end))
		return heddle_refuse(-ERANGE, "offset", offset, size);
	return end > size ? heddle_refuse(-ERANGE, "offset + length", end, size) : 0;
}

u32 heddle_step_flags(u32 flags, u32 hw_version)
{
	if (!has(hw_version, HEDDLE_STEP_FLAGS_OVERLAP_SINCE))
		return 0;
	return flags & DRM_HEDDLE_STEP_OVERLAP ? HEDDLE_STEP_FLAGS_OVERLAP_MASK : 0;
}

void heddle_trace_tell(struct drm_heddle_trace_entry *to, const struct heddle_trace_entry *from,
		       const u8 *step_of)
{
	u32 flags = le32_to_cpu(from->flags);
	u32 step = (flags & HEDDLE_TRACE_ENTRY_FLAGS_STEP_MASK) >>
		   HEDDLE_TRACE_ENTRY_FLAGS_STEP_SHIFT;

	*to = (struct drm_heddle_trace_entry) {
		.begin = le32_to_cpu(from->begin),
		.end = le32_to_cpu(from->end),
		.offset = le32_to_cpu(from->offset),
		.tag = le32_to_cpu(from->tag),
		.engine = flags & HEDDLE_TRACE_ENTRY_FLAGS_ENGINE_MASK,
		.step = step_of[step],
		.flags = flags >> HEDDLE_TRACE_ENTRY_FLAGS_ESTIMATED_SHIFT &
			 (DRM_HEDDLE_TRACE_ESTIMATED | DRM_HEDDLE_TRACE_VALID),
		.stall0 = le32_to_cpu(from->stall[0]),
		.stall1 = le32_to_cpu(from->stall[1]),
		.stall2 = le32_to_cpu(from->stall[2]),
	};
}
