/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Differences between kernels, as detected by Kbuild in their headers (stable
 * series backport interfaces of later versions, so version numbers say nothing).
 */
#ifndef HEDDLE_COMPAT_H
#define HEDDLE_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/hrtimer.h>
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>
#include <drm/gpu_scheduler.h>

/* The kind of a card's node: /dev/accel where the kernel has it. */
#if IS_ENABLED(CONFIG_DRM_ACCEL)
#include <drm/drm_accel.h>
#define HEDDLE_ACCEL
#define HEDDLE_NODE DRIVER_COMPUTE_ACCEL
#define HEDDLE_NODE_OPEN accel_open
#else
#define HEDDLE_NODE DRIVER_RENDER
#define HEDDLE_NODE_OPEN drm_open
#endif

/* Allocates an object of the type of `object`, all zero. */
#ifndef kzalloc_obj
#define kzalloc_obj(object, gfp) kzalloc(sizeof(object), gfp)
#endif

/* What newer kernels have, under its name there. */
#ifndef HEDDLE_HAVE_SCHED_PRIORITY_LOW
#define DRM_SCHED_PRIORITY_LOW DRM_SCHED_PRIORITY_MIN
#endif

#ifndef HEDDLE_HAVE_DMA_BUF_UNLOCKED
#define dma_buf_unmap_attachment_unlocked dma_buf_unmap_attachment
#endif

#ifdef HEDDLE_HAVE_PM_IGNORE_COUNT
#define pm_runtime_get_if_active(dev) pm_runtime_get_if_active(dev, true)
#endif

#ifndef HEDDLE_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* drm_sched_backend_ops: what else a job waits for. */
#ifdef HEDDLE_HAVE_SCHED_PREPARE_JOB
#define HEDDLE_SCHED_PREPARE_JOB prepare_job
/* The scheduler may take jobs by age, and asks only of one that it is about to take. */
#define HEDDLE_SCHED_BY_AGE true
#else
#define HEDDLE_SCHED_PREPARE_JOB dependency
#define HEDDLE_SCHED_BY_AGE false
#endif

static inline int heddle_sched_setup(struct drm_gpu_scheduler *sched,
				     const struct drm_sched_backend_ops *ops, u32 depth,
				     const char *name, struct device *dev,
				     struct workqueue_struct *timeout_wq)
{
#if defined(HEDDLE_HAVE_SCHED_INIT_ARGS)
	const struct drm_sched_init_args args = {
		.ops = ops,
#ifdef HEDDLE_HAVE_SCHED_NUM_RQS
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = depth,
		.timeout = MAX_SCHEDULE_TIMEOUT,
		.timeout_wq = timeout_wq,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
#elif defined(HEDDLE_HAVE_SCHED_CREDITS)
	return drm_sched_init(sched, ops, NULL, DRM_SCHED_PRIORITY_COUNT, depth, 0,
			      MAX_SCHEDULE_TIMEOUT, timeout_wq, NULL, name, dev);
#else
	return drm_sched_init(sched, ops, depth, 0, MAX_SCHEDULE_TIMEOUT, timeout_wq, NULL, name,
			      dev);
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

#endif
