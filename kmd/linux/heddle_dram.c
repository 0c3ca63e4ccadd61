// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Device memory: exact accounting by kmd/core, compaction by the copy engine.
 *
 * Compaction is a work item. While objects move, no job is on the card and none
 * starts; jobs get addresses only when they start, so none holds a stale one. No
 * lock is held while waiting for jobs or moves: others allocate and free meanwhile,
 * and a caller that waits for room can be interrupted.
 */
#include "heddle_drv.h"
#include "heddle_trace.h"

/* Who waits for room; found in heddle_device.waiters, under mem_lock, while @err is -EAGAIN. */
struct heddle_waiter {
	struct list_head link;
	struct heddle_mem_node *node;
	u64 size;
	int err;
};

struct heddle_compaction {
	struct heddle_own own;
	struct heddle_mem_move moves[HEDDLE_STEPS_MAX];
};

/* heddle_own_fini() follows in any case. */
int heddle_own_init(struct heddle_device *dev, struct heddle_own *own, size_t bytes)
{
	struct heddle_area *area;

	own->area = NULL;
	own->outcome = heddle_outcome_alloc(dev);
	if (!own->outcome)
		return -ENOMEM;
	CLASS(heddle_presence, present)(dev);
	if (present < 0)
		return -ENODEV;
	area = heddle_area_alloc(dev, bytes);
	if (IS_ERR(area))
		return PTR_ERR(area);
	own->area = area;
	return 0;
}

void heddle_own_fini(struct heddle_device *dev, struct heddle_own *own)
{
	heddle_area_free(dev, own->area);
	heddle_outcome_put(own->outcome);
}

/* Steps as a run of the driver's own, while the card is held. Waits for its end. */
int heddle_own_run(struct heddle_device *dev, struct heddle_own *own, u32 steps)
{
	DECLARE_COMPLETION_ONSTACK(done);
	struct heddle_run run = {
		.num_steps = steps,
		.steps = own->area->cpu,
		.steps_dma = own->area->dma,
		.outcome = own->outcome,
		.done = &done,
	};
	unsigned long limit;
	int err;
	int idx;

	INIT_LIST_HEAD(&run.link);
	own->outcome->state = HEDDLE_JOB_QUEUED;
	if (!drm_dev_enter(&dev->drm, &idx))
		return -ENODEV;
	err = heddle_engine_start(dev, &run);
	drm_dev_exit(idx);
	if (err)
		return err;
	/*
	 * Ends in any case: by the watchdog if the card makes no progress, or by removal. While
	 * the system sleeps and wakes up there is no watch.
	 */
	limit = jiffies + nsecs_to_jiffies(dev->timeout_ns);
	while (!wait_for_completion_timeout(&done, HZ / 2)) {
		if (!dev->asleep)
			continue;
		heddle_engine_reap(dev); /* an interrupt may have been lost */
		if (time_after(jiffies, limit))
			heddle_mark_lost(dev, "it does not copy its memory");
	}
	if (heddle_gone(dev))
		return -ENODEV;
	return own->outcome->result.status == HEDDLE_ERROR_OK ? 0 : -EIO;
}

static int heddle_write_moves(struct heddle_device *dev, struct heddle_compaction *c, int count)
{
	struct heddle_step *steps;
	int i;

	CLASS(heddle_presence, present)(dev);
	if (present < 0)
		return -ENODEV;
	steps = c->own.area->cpu;
	memset(steps, 0, count * sizeof(*steps));
	for (i = 0; i < count; i++) {
		steps[i].type = cpu_to_le32(HEDDLE_STEP_TYPE_COPY);
		steps[i].device_address = cpu_to_le64(c->moves[i].from);
		steps[i].destination = cpu_to_le64(c->moves[i].to);
		steps[i].length = cpu_to_le64(c->moves[i].size);
	}
	return 0;
}

/* Whether the wait for the card's jobs is over: *@err is 0 and the card is ours, or why not. */
static bool heddle_try_hold(struct heddle_device *dev, bool (*wanted)(struct heddle_device *dev),
			    int *err)
{
	guard(heddle_lock)(&dev->lock);
	*err = 0;
	if (heddle_device_gone(dev->state))
		*err = -ENODEV;
	else if (wanted && !wanted(dev))
		*err = -ECANCELED;
	else
		return list_empty(&dev->in_flight) && !heddle_step(dev, HEDDLE_DEVICE_COMPACT);
	return true;
}

/*
 * Lets nothing start, and waits until nothing runs and the card is ready: then it is
 * the caller's. -ECANCELED: nobody @wanted it any more (NULL: somebody does). -EBUSY:
 * not within @timeout. heddle_release() follows in any case.
 */
int heddle_hold(struct heddle_device *dev, bool (*wanted)(struct heddle_device *dev),
		long timeout)
{
	int err;

	scoped_guard(heddle_lock, &dev->lock)
		WRITE_ONCE(dev->hold, true);
	/* As long as the jobs take: an idle task is no hung one. */
	if (!wait_event_idle_timeout(dev->idle, heddle_try_hold(dev, wanted, &err), timeout))
		return -EBUSY;
	return err;
}

void heddle_release(struct heddle_device *dev)
{
	scoped_guard(heddle_lock, &dev->lock) {
		WRITE_ONCE(dev->hold, false);
		if (dev->state == HEDDLE_DEVICE_COMPACTING)
			heddle_step(dev, HEDDLE_DEVICE_COMPACTED);
	}
	wake_up_all(&dev->idle);
}

static bool heddle_room_wanted(struct heddle_device *dev)
{
	return !list_empty(&dev->waiters);
}

/* The waiter is told how it ended. Holds mem_lock. */
static void heddle_end_waiter(struct heddle_device *dev, struct heddle_waiter *waiter, int err)
{
	list_del_init(&waiter->link);
	WRITE_ONCE(waiter->err, err);
	wake_up_all(&dev->idle);
}

/* Enters the last batch, places who waits, in order. The next batch's moves; 0: nobody waits. */
static int heddle_next_moves(struct heddle_device *dev, struct heddle_compaction *c)
{
	struct heddle_waiter *waiter;
	int count = 0;
	u64 need;
	int err;

	guard(mutex)(&dev->mem_lock);
	heddle_mem_apply(&dev->mem);
	while (!count && !list_empty(&dev->waiters)) {
		bool begun = dev->mem.compacting;

		waiter = list_first_entry(&dev->waiters, struct heddle_waiter, link);
		err = begun ? -EAGAIN :
			      heddle_mem_insert(&dev->mem, waiter->node, waiter->size);
		if (err == -EAGAIN) {
			err = heddle_mem_round(waiter->size, &need);
			count = err ?: heddle_mem_plan(&dev->mem, need, c->moves, HEDDLE_STEPS_MAX);
			if (count > 0 && !begun)
				trace_heddle_compact(dev, need);
			if (count >= 0)
				continue;
			err = count;
			count = 0;
		}
		heddle_end_waiter(dev, waiter, err);
	}
	if (!count)
		heddle_mem_settle(&dev->mem);
	return count;
}

/* Nobody waits any longer. */
static void heddle_end_waiters(struct heddle_device *dev, int err)
{
	struct heddle_waiter *waiter, *next;

	guard(mutex)(&dev->mem_lock);
	heddle_mem_settle(&dev->mem);
	list_for_each_entry_safe(waiter, next, &dev->waiters, link)
		heddle_end_waiter(dev, waiter, err);
}

static void heddle_compact(struct work_struct *work)
{
	struct heddle_device *dev = container_of(to_delayed_work(work), struct heddle_device,
						 compact_work);
	u64 now = ktime_get_ns();
	u64 at = heddle_rest_compact_at(dev, now);
	struct heddle_compaction *c;
	int count;
	int err;

	if (!heddle_room_wanted(dev))
		return;
	if (at > now) { /* the last one is not long ago: others first */
		queue_delayed_work(system_freezable_wq, &dev->compact_work,
				   nsecs_to_jiffies(at - now) + 1);
		return;
	}
	c = kvzalloc(sizeof(*c), GFP_KERNEL);
	if (!c) {
		heddle_end_waiters(dev, -ENOMEM);
		return;
	}
	err = heddle_own_init(dev, &c->own, HEDDLE_STEPS_MAX * HEDDLE_STEP_BYTES);
	if (err) {
		heddle_end_waiters(dev, err);
		goto free;
	}
	err = heddle_hold(dev, heddle_room_wanted, MAX_SCHEDULE_TIMEOUT);
	if (err)
		goto release;
	scoped_guard(heddle_lock, &dev->lock)
		dev->counters.compactions++;
	while ((count = heddle_next_moves(dev, c)) > 0) {
		err = heddle_write_moves(dev, c, count) ?: heddle_own_run(dev, &c->own, count);
		if (err) {
			heddle_mark_lost(dev, "compaction failed; its memory is not to be trusted");
			err = -ENODEV;
			break;
		}
	}
release:
	scoped_guard(heddle_lock, &dev->lock)
		heddle_fair_compacted(&dev->fair, ktime_get_ns() - now, ktime_get_ns());
	heddle_release(dev);
	if (err && err != -ECANCELED)
		heddle_end_waiters(dev, err);
free:
	heddle_own_fini(dev, &c->own);
	kvfree(c);
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

/* Room for @node, which the compaction makes. -ERESTARTSYS: a signal came first. */
static int heddle_wait_for_room(struct heddle_device *dev, struct heddle_waiter *waiter)
{
	int err = wait_event_interruptible(dev->idle, READ_ONCE(waiter->err) != -EAGAIN ||
						      heddle_gone(dev));

	guard(mutex)(&dev->mem_lock);
	if (waiter->err == -EAGAIN)
		heddle_end_waiter(dev, waiter, err ?: -ENODEV);
	return waiter->err;
}

static int heddle_place(struct heddle_device *dev, struct heddle_mem_node *node, u64 size)
{
	struct heddle_waiter waiter = { .node = node, .size = size };

	scoped_guard(mutex, &dev->mem_lock) {
		waiter.err = heddle_mem_insert(&dev->mem, node, size);
		if (waiter.err != -EAGAIN)
			return waiter.err;
		/* Removal ends the work after those who are in here. */
		CLASS(heddle_presence, present)(dev);
		if (present < 0)
			return -ENODEV;
		list_add_tail(&waiter.link, &dev->waiters);
		mod_delayed_work(system_freezable_wq, &dev->compact_work, 0);
	}
	return heddle_wait_for_room(dev, &waiter);
}

/*
 * A piece of device memory of @size bytes. -ENOSPC: the page-rounded sum would not
 * fit. It is made ready for use when a job needs it: heddle_exec_prepare().
 */
int heddle_alloc_create(struct heddle_device *dev, u64 size, struct heddle_alloc **out)
{
	struct heddle_alloc *alloc = kzalloc_obj(*alloc, GFP_KERNEL_ACCOUNT);
	int err;

	if (!alloc)
		return -ENOMEM;
	kref_init(&alloc->ref);
	alloc->dev = dev;
	err = heddle_power_get(dev);
	if (err)
		goto free;
	err = heddle_place(dev, &alloc->node, size);
	if (err == -ENOSPC)
		err = heddle_await_freed(dev) ?: heddle_place(dev, &alloc->node, size);
	if (err)
		goto power;
	drm_dev_get(&dev->drm);
	*out = alloc;
	return 0;
power:
	heddle_power_put(dev);
free:
	kfree(alloc);
	return err;
}

/* The staged bytes are on the card, or nobody wants them any more. */
void heddle_alloc_unstage(struct heddle_alloc *alloc)
{
	heddle_bo_put(xchg(&alloc->staging, NULL));
}

static void heddle_alloc_release(struct kref *ref)
{
	struct heddle_alloc *alloc = container_of(ref, struct heddle_alloc, ref);
	struct heddle_device *dev = alloc->dev;

	scoped_guard(mutex, &dev->mem_lock)
		heddle_mem_remove(&dev->mem, &alloc->node);
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
	guard(mutex)(&dev->mem_lock);
	return heddle_mem_available(&dev->mem);
}

void heddle_dram_init(struct heddle_device *dev)
{
	mutex_init(&dev->mem_lock);
	INIT_LIST_HEAD(&dev->waiters);
	INIT_DELAYED_WORK(&dev->compact_work, heddle_compact);
	dev->mem_generation = 1;
}
