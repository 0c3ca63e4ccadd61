// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Device memory: exact accounting by kmd/core, compaction by the copy engine.
 *
 * While objects move, no job is with the card and none starts; jobs learn
 * addresses only when they start, so none holds an old one.
 */
#include <linux/pm_runtime.h>
#include <linux/slab.h>

#include <drm/drm_drv.h>

#include "heddle_drv.h"
#include "heddle_trace.h"

/* What a compaction needs; allocated before the lock under which nobody allocates. */
struct heddle_compaction {
	struct heddle_area *area;
	struct heddle_outcome *outcome;
	struct heddle_mem_move moves[HEDDLE_STEPS_MAX];
};

static struct heddle_compaction *heddle_compaction_alloc(struct heddle_device *dev)
{
	struct heddle_compaction *c = kvzalloc(sizeof(*c), GFP_KERNEL);
	struct heddle_area *area;

	if (!c)
		return ERR_PTR(-ENOMEM);
	c->outcome = heddle_outcome_alloc(dev);
	area = c->outcome ? heddle_area_alloc(dev, HEDDLE_STEPS_MAX * HEDDLE_STEP_BYTES) :
			    ERR_PTR(-ENOMEM);
	if (IS_ERR(area)) {
		heddle_outcome_put(c->outcome);
		kvfree(c);
		return ERR_CAST(area);
	}
	c->area = area;
	return c;
}

static void heddle_compaction_free(struct heddle_device *dev, struct heddle_compaction *c)
{
	if (!c)
		return;
	heddle_area_free(dev, c->area);
	heddle_outcome_put(c->outcome);
	kvfree(c);
}

/* One batch of moves as a run of the driver's own. */
static int heddle_execute_moves(struct heddle_device *dev, struct heddle_compaction *c, int count)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct heddle_step *steps;
	struct heddle_run run = {
		.num_steps = count,
		.steps_dma = c->area->dma,
		.outcome = c->outcome,
		.done = &done,
	};
	int err;
	int idx;
	int i;

	INIT_LIST_HEAD(&run.link);
	c->outcome->state = HEDDLE_JOB_QUEUED;
	if (!drm_dev_enter(&dev->drm, &idx))
		return -ENODEV;
	steps = c->area->cpu;
	run.steps = steps;
	memset(steps, 0, count * sizeof(*steps));
	for (i = 0; i < count; i++) {
		steps[i].type = HEDDLE_STEP_TYPE_COPY;
		steps[i].device_address = c->moves[i].from;
		steps[i].destination = c->moves[i].to;
		steps[i].length = c->moves[i].size;
	}
	err = heddle_engine_start(dev, &run, true, NULL, 0);
	drm_dev_exit(idx);
	if (err)
		return err;
	/* Ends in any case: by the watch if the card makes no progress, or by removal. */
	wait_for_completion(&done);
	if (heddle_gone(dev))
		return -ENODEV;
	return c->outcome->result.status == HEDDLE_ERROR_OK ? 0 : -EIO;
}

static bool heddle_may_compact(struct heddle_device *dev)
{
	return heddle_device_gone(dev->state) ||
	       (list_empty(&dev->in_flight) && heddle_device_accepts_jobs(dev->state));
}

/* Lets nothing start, and waits until nothing runs and the card is ready. */
static int heddle_hold(struct heddle_device *dev)
{
	int err = 0;

	spin_lock_irq(&dev->lock);
	dev->hold = true;
	for (;;) {
		if (heddle_device_gone(dev->state)) {
			err = -ENODEV;
			break;
		}
		if (list_empty(&dev->in_flight) &&
		    !heddle_device_step(&dev->state, HEDDLE_DEVICE_COMPACT))
			break;
		err = wait_event_interruptible_lock_irq(dev->idle, heddle_may_compact(dev),
							dev->lock);
		if (err)
			break;
	}
	if (err)
		dev->hold = false;
	else
		dev->counters.compactions++;
	spin_unlock_irq(&dev->lock);
	return err;
}

static void heddle_release(struct heddle_device *dev)
{
	spin_lock_irq(&dev->lock);
	dev->hold = false;
	if (dev->state == HEDDLE_DEVICE_COMPACTING)
		heddle_device_step(&dev->state, HEDDLE_DEVICE_COMPACTED);
	spin_unlock_irq(&dev->lock);
	wake_up_all(&dev->idle);
}

/* Makes a gap of @need bytes. Holds mem_lock. */
static int heddle_compact(struct heddle_device *dev, u64 need, struct heddle_compaction *c)
{
	int err = heddle_hold(dev);
	int count;

	if (err) {
		wake_up_all(&dev->idle);
		return err;
	}
	trace_heddle_compact(dev, need);
	for (;;) {
		count = heddle_mem_plan(&dev->mem, need, c->moves, HEDDLE_STEPS_MAX);
		if (count <= 0) {
			err = count;
			break;
		}
		err = heddle_execute_moves(dev, c, count);
		if (err) {
			heddle_lose(dev, "compaction failed; device memory is not to be trusted");
			err = -ENODEV;
			break;
		}
		heddle_mem_apply(c->moves, count);
	}
	heddle_release(dev);
	return err;
}

/* A card that holds somebody's memory stays awake; jobs always have some. */
static int heddle_power_get(struct heddle_device *dev)
{
	return dev->regs ? pm_runtime_resume_and_get(dev->drm.dev) : 0;
}

static void heddle_power_put(struct heddle_device *dev)
{
	if (!dev->regs)
		return;
	if (heddle_gone(dev)) {
		pm_runtime_put_noidle(dev->drm.dev);
	} else {
		pm_runtime_mark_last_busy(dev->drm.dev);
		pm_runtime_put_autosuspend(dev->drm.dev);
	}
}

/* Memory of jobs that have ended is free when the scheduler has freed the jobs, a moment later. */
static int heddle_await_freed(struct heddle_device *dev)
{
	s64 ended = atomic64_read(&dev->ended);
	long left = wait_event_interruptible_timeout(dev->idle,
						     atomic64_read(&dev->freed) >= ended, HZ);

	return left < 0 ? left : 0;
}

/*
 * A piece of device memory of @size bytes. -ENOSPC: the page-rounded sum would not
 * fit. It is made ready for use when a job needs it: heddle_exec_prepare().
 */
int heddle_alloc_create(struct heddle_device *dev, u64 size, struct heddle_alloc **out)
{
	struct heddle_alloc *alloc = kzalloc(sizeof(*alloc), GFP_KERNEL);
	struct heddle_compaction *c = NULL;
	bool waited = false;
	u64 need;
	int err;

	if (!alloc)
		return -ENOMEM;
	kref_init(&alloc->ref);
	alloc->dev = dev;
	err = heddle_power_get(dev);
	if (err) {
		kfree(alloc);
		return err;
	}
	for (;;) {
		mutex_lock(&dev->mem_lock);
		err = heddle_mem_insert(&dev->mem, &alloc->node, size);
		if (err == -EAGAIN && c) {
			err = heddle_mem_round(size, &need);
			if (!err)
				err = heddle_compact(dev, need, c);
			if (!err)
				err = heddle_mem_insert(&dev->mem, &alloc->node, size);
		}
		mutex_unlock(&dev->mem_lock);
		if (err == -ENOSPC && !waited) {
			waited = true;
			err = heddle_await_freed(dev);
			if (!err)
				continue;
		}
		if (err != -EAGAIN || c)
			break;
		c = heddle_compaction_alloc(dev);
		if (IS_ERR(c)) {
			err = PTR_ERR(c);
			c = NULL;
			break;
		}
	}
	heddle_compaction_free(dev, c);
	if (err) {
		heddle_power_put(dev);
		kfree(alloc);
		return err;
	}
	drm_dev_get(&dev->drm);
	*out = alloc;
	return 0;
}

/* The staged bytes are on the card, or nobody wants them any more. */
void heddle_alloc_unstage(struct heddle_alloc *alloc)
{
	struct heddle_bo *staging = xchg(&alloc->staging, NULL);

	if (staging)
		drm_gem_object_put(&staging->shmem.base);
}

static void heddle_alloc_release(struct kref *ref)
{
	struct heddle_alloc *alloc = container_of(ref, struct heddle_alloc, ref);
	struct heddle_device *dev = alloc->dev;

	mutex_lock(&dev->mem_lock);
	heddle_mem_remove(&dev->mem, &alloc->node);
	mutex_unlock(&dev->mem_lock);
	heddle_power_put(dev);
	heddle_alloc_unstage(alloc);
	dma_fence_put(alloc->ready);
	kfree(alloc);
	drm_dev_put(&dev->drm);
}

void heddle_alloc_put(struct heddle_alloc *alloc)
{
	if (alloc)
		kref_put(&alloc->ref, heddle_alloc_release);
}

u64 heddle_dram_available(struct heddle_device *dev)
{
	u64 available;

	mutex_lock(&dev->mem_lock);
	available = heddle_mem_available(&dev->mem);
	mutex_unlock(&dev->mem_lock);
	return available;
}
