// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Argument checks; see heddle_args.h. */
#include "heddle_args.h"

#include <linux/errno.h>
#include <linux/overflow.h>

#include "heddle_hw.h"

/* More sync points or events than anybody needs in one call. */
#define MAX_SYNCS 1024
#define MAX_EVENTS 1024

int heddle_check_array(const struct drm_heddle_array *array, u32 first, u32 max)
{
	if (!array->count)
		return 0;
	if (array->count > max || array->stride < first || array->stride > DRM_HEDDLE_STRIDE_MAX)
		return -EINVAL;
	return 0;
}

/* An array that is filled: nothing of it is looked at, so any larger stride will do. */
static int check_filled(const struct drm_heddle_array *array, u32 first, u32 max)
{
	struct drm_heddle_array known = *array;

	if (known.stride > DRM_HEDDLE_STRIDE_MAX)
		known.stride = DRM_HEDDLE_STRIDE_MAX;
	return heddle_check_array(&known, first, max);
}

u32 heddle_query_size(u32 type)
{
	switch (type) {
	case DRM_HEDDLE_QUERY_DEVICE:
		return sizeof(struct drm_heddle_device_info);
	case DRM_HEDDLE_QUERY_MEMORY:
		return sizeof(struct drm_heddle_memory_info);
	case DRM_HEDDLE_QUERY_COUNTERS:
		return sizeof(struct drm_heddle_counters);
	case DRM_HEDDLE_QUERY_LIMITS:
		return sizeof(struct drm_heddle_limits);
	default:
		return 0;
	}
}

int heddle_check_query(const struct drm_heddle_query *args)
{
	if (args->pad || !heddle_query_size(args->type))
		return -EINVAL;
	/* With stride 0 only the size is asked for. */
	if (args->data.stride && args->data.count != 1)
		return -EINVAL;
	return 0;
}

int heddle_check_context_create(const struct drm_heddle_context_create *args, bool may_raise)
{
	if (args->flags || args->pad || args->priority >= HEDDLE_RINGS)
		return -EINVAL;
	if (args->priority < HEDDLE_PRIORITY_NORMAL && !may_raise)
		return -EACCES;
	return 0;
}

int heddle_check_context_control(const struct drm_heddle_context_control *args, u64 run_cycles,
				 bool may_raise)
{
	if (args->flags & ~DRM_HEDDLE_CONTROL_RUN_CYCLES || args->state || args->hangs)
		return -EINVAL;
	if (!(args->flags & DRM_HEDDLE_CONTROL_RUN_CYCLES))
		return args->run_cycles ? -EINVAL : 0;
	if (args->run_cycles > run_cycles && !may_raise)
		return -EACCES;
	return 0;
}

int heddle_check_context_destroy(const struct drm_heddle_context_destroy *args)
{
	return args->pad ? -EINVAL : 0;
}

int heddle_check_bo_create(const struct drm_heddle_bo_create *args)
{
	if (args->flags || args->pad || !args->size)
		return -EINVAL;
	if (args->placement != DRM_HEDDLE_HOST && args->placement != DRM_HEDDLE_DEVICE)
		return -EINVAL;
	return 0;
}

int heddle_check_stream_create(const struct drm_heddle_stream_create *args)
{
	if (args->flags || args->data.stride != 1)
		return -EINVAL;
	if (!args->data.count || args->data.count > HEDDLE_STREAM_BYTES_MAX)
		return -EINVAL;
	if (args->data.count % HEDDLE_WORD_BYTES)
		return -EINVAL;
	return 0;
}

int heddle_check_stream_destroy(const struct drm_heddle_stream_destroy *args)
{
	return args->pad ? -EINVAL : 0;
}

int heddle_check_submit(const struct drm_heddle_submit *args)
{
	int err;

	if (args->flags || !args->steps.count)
		return -EINVAL;
	err = heddle_check_array(&args->steps, sizeof(struct drm_heddle_step), HEDDLE_STEPS_MAX);
	if (err)
		return err;
	err = heddle_check_array(&args->in_syncs, sizeof(struct drm_heddle_sync), MAX_SYNCS);
	if (err)
		return err;
	return heddle_check_array(&args->out_syncs, sizeof(struct drm_heddle_sync), MAX_SYNCS);
}

int heddle_check_step(const struct drm_heddle_step *step)
{
	if (step->pad)
		return -EINVAL;
	switch (step->type) {
	case DRM_HEDDLE_RUN:
		return heddle_check_array(&step->regions, sizeof(struct drm_heddle_region),
					  HEDDLE_REGIONS);
	case DRM_HEDDLE_FILL:
		if (step->length % sizeof(u32))
			return -EINVAL;
		break;
	case DRM_HEDDLE_COPY_IN:
	case DRM_HEDDLE_COPY_OUT:
		break;
	default:
		return -EINVAL;
	}
	if (step->regions.count || !step->length)
		return -EINVAL;
	return 0;
}

int heddle_check_region(const struct drm_heddle_region *region, u32 *used)
{
	if (region->pad || region->flags & ~DRM_HEDDLE_REGION_WRITE)
		return -EINVAL;
	if (region->index >= HEDDLE_REGIONS || *used & (1U << region->index))
		return -EINVAL;
	if (!region->size || region->offset % HEDDLE_REGION_ALIGN)
		return -EINVAL;
	*used |= 1U << region->index;
	return 0;
}

int heddle_check_sync(const struct drm_heddle_sync *sync)
{
	return sync->pad ? -EINVAL : 0;
}

int heddle_check_wait(const struct drm_heddle_wait *args)
{
	if (args->pad || !args->seqno)
		return -EINVAL;
	return check_filled(&args->result, sizeof(struct drm_heddle_result), 1);
}

int heddle_check_events(const struct drm_heddle_events *args)
{
	if (!args->events.count)
		return -EINVAL;
	return check_filled(&args->events, sizeof(struct drm_heddle_event), MAX_EVENTS);
}

int heddle_check_range(u64 offset, u64 length, u64 size)
{
	u64 end;

	if (check_add_overflow(offset, length, &end) || end > size)
		return -ERANGE;
	return 0;
}
