/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What differs between kernels, by what Kbuild found in their headers (stable
 * series take over interfaces of later versions, so version numbers say nothing).
 */
#ifndef HEDDLE_COMPAT_H
#define HEDDLE_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/pm_runtime.h>

#include <drm/gpu_scheduler.h>

/* The scheduler's priorities, of priority 0 to 3. */
#ifdef HEDDLE_HAVE_SCHED_PRIORITY_LOW
#define HEDDLE_SCHED_PRIORITY_LAST DRM_SCHED_PRIORITY_LOW
#else
#define HEDDLE_SCHED_PRIORITY_LAST DRM_SCHED_PRIORITY_MIN
#endif

static inline int heddle_sched_setup(struct drm_gpu_scheduler *sched,
				     const struct drm_sched_backend_ops *ops, u32 depth,
				     const char *name, struct device *dev)
{
#if defined(HEDDLE_HAVE_SCHED_INIT_ARGS)
	const struct drm_sched_init_args args = {
		.ops = ops,
#ifdef HEDDLE_HAVE_SCHED_NUM_RQS
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = depth,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#elif defined(HEDDLE_HAVE_SCHED_CREDITS)
	return drm_sched_init(sched, ops, NULL, DRM_SCHED_PRIORITY_COUNT, depth, 0,
			      MAX_SCHEDULE_TIMEOUT, NULL, NULL, name, dev);
#else
	return drm_sched_init(sched, ops, depth, 0, MAX_SCHEDULE_TIMEOUT, NULL, NULL, name, dev);
#endif
}

static inline int heddle_sched_job_setup(struct drm_sched_job *job,
					 struct drm_sched_entity *entity, void *owner, u64 client)
{
#if defined(HEDDLE_HAVE_SCHED_CLIENT_ID)
	return drm_sched_job_init(job, entity, 1, owner, client);
#elif defined(HEDDLE_HAVE_SCHED_CREDITS)
	return drm_sched_job_init(job, entity, 1, owner);
#else
	return drm_sched_job_init(job, entity, owner);
#endif
}

/* No lock of the buffer is held. */
static inline void heddle_unmap_import(struct dma_buf_attachment *attach, struct sg_table *sgt)
{
#ifdef HEDDLE_HAVE_DMA_BUF_UNLOCKED
	dma_buf_unmap_attachment_unlocked(attach, sgt, DMA_BIDIRECTIONAL);
#else
	dma_buf_unmap_attachment(attach, sgt, DMA_BIDIRECTIONAL);
#endif
}

static inline int heddle_get_if_active(struct device *dev)
{
#ifdef HEDDLE_HAVE_PM_IGNORE_COUNT
	return pm_runtime_get_if_active(dev, true);
#else
	return pm_runtime_get_if_active(dev);
#endif
}

#endif
