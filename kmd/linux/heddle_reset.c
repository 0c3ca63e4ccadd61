// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The watch: finds jobs that make no progress and cards that do not answer.
 *
 *   no progress for the job's limit -> ABORT (it ends at a command boundary)
 *   it does not end in time         -> RESET.engine (only that job fails)
 *   the engine does not come back   -> RESET.card (all jobs with the card fail)
 *   that does not help either       -> the card is given up, as if unplugged
 *
 * The states are those of kmd/core/heddle_state.c. Everything here runs in one
 * work item, which also takes completion records whose interrupt was lost.
 */
#include <linux/delay.h>
#include <linux/pm_runtime.h>

#include <drm/drm_drv.h>

#include "heddle_compat.h"
#include "heddle_drv.h"
#include "heddle_trace.h"

#define HEDDLE_ABORT_GRACE_MS	500
#define HEDDLE_RESET_GRACE_MS	10000
#define HEDDLE_BUSY_MS		50
#define HEDDLE_OPEN_MS		500
#define HEDDLE_ENDING_MS	5

/* Whether the registers read as those of a card that is not there. */
bool heddle_card_lost(struct heddle_device *dev)
{
	return dev->regs && heddle_read(dev, HEDDLE_REG_ID) != HEDDLE_REG_ID_RESET;
}

/* Gives the card up. May be called more than once, and with the card in any condition. */
void heddle_lose(struct heddle_device *dev, const char *why)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&dev->lock, flags);
	err = heddle_device_step(&dev->state, HEDDLE_DEVICE_LOST);
	dev->guilty = NULL;
	spin_unlock_irqrestore(&dev->lock, flags);
	if (err)
		return;
	dev_warn(dev->drm.dev, "card %llx is gone: %s\n", dev->info.unique, why);
	trace_heddle_lost(dev, dev->counters.jobs);
	heddle_engine_end_all(dev, HEDDLE_JOB_LOST);
	heddle_notify(dev, DRM_HEDDLE_EVENT_REMOVED, 0, 0, 0);
	heddle_contexts_wake(dev);
}

void heddle_schedule_watch(struct heddle_device *dev)
{
	if (dev->regs)
		queue_delayed_work(system_wq, &dev->watch_work, msecs_to_jiffies(HEDDLE_BUSY_MS));
}

static void heddle_begin_reset(struct heddle_device *dev, u32 mask, u64 now)
{
	dev->ready_seen = false;
	dev->deadline_ns = now + HEDDLE_RESET_GRACE_MS * NSEC_PER_MSEC;
	spin_lock_irq(&dev->lock);
	dev->counters.resets++;
	spin_unlock_irq(&dev->lock);
	trace_heddle_reset(dev, mask);
	heddle_write(dev, HEDDLE_REG_RESET, mask);
}

static void heddle_watch_abort(struct heddle_device *dev, u64 now)
{
	bool halted = heddle_read(dev, HEDDLE_REG_STATUS) & HEDDLE_STATUS_HALTED_MASK;

	spin_lock_irq(&dev->lock);
	if (dev->guilty_ended && !halted) {
		heddle_device_step(&dev->state, HEDDLE_DEVICE_ABORTED);
		dev->guilty = NULL;
		spin_unlock_irq(&dev->lock);
		wake_up_all(&dev->idle);
		return;
	}
	spin_unlock_irq(&dev->lock);
	if (!halted && now < dev->deadline_ns)
		return;
	spin_lock_irq(&dev->lock);
	heddle_device_step(&dev->state, HEDDLE_DEVICE_STUCK);
	spin_unlock_irq(&dev->lock);
	dev->card_reset = false;
	heddle_begin_reset(dev, HEDDLE_RESET_ENGINE_MASK, now);
}

static void heddle_watch_reset(struct heddle_device *dev, u64 now)
{
	if (heddle_read(dev, HEDDLE_REG_STATUS) & HEDDLE_STATUS_READY_MASK)
		dev->ready_seen = true;
	if (dev->ready_seen && dev->card_reset) {
		/* The card has forgotten its rings, and all that was in them. */
		heddle_engine_end_all(dev, HEDDLE_JOB_LOST);
		spin_lock_irq(&dev->lock);
		heddle_engine_rings(dev);
		spin_unlock_irq(&dev->lock);
	}
	if (dev->ready_seen && READ_ONCE(dev->guilty_ended)) {
		spin_lock_irq(&dev->lock);
		heddle_sched_reset(&dev->order);
		heddle_watch_idle(&dev->watch);
		dev->guilty = NULL;
		heddle_device_step(&dev->state, HEDDLE_DEVICE_RESET_DONE);
		spin_unlock_irq(&dev->lock);
		wake_up_all(&dev->idle);
		heddle_notify(dev, DRM_HEDDLE_EVENT_RESET, dev->guilty_context,
			      dev->guilty_client, dev->guilty_seqno);
		return;
	}
	if (now < dev->deadline_ns)
		return;
	if (dev->card_reset) {
		heddle_lose(dev, "it cannot be reset");
		return;
	}
	dev_warn(dev->drm.dev, "the engine does not come back: resetting the card\n");
	dev->card_reset = true;
	heddle_begin_reset(dev, HEDDLE_RESET_CARD_MASK, now);
}

/*
 * Whether the job that the card runs has been silent for too long, or the engine
 * has halted by itself; the job is then dev->guilty.
 */
static bool heddle_find_stuck(struct heddle_device *dev, u64 now)
{
	u64 fence = heddle_read64(dev, HEDDLE_REG_RUNNING_LO, HEDDLE_REG_RUNNING_HI);
	u32 progress = heddle_read(dev, HEDDLE_REG_PROGRESS);
	bool halted = heddle_read(dev, HEDDLE_REG_STATUS) & HEDDLE_STATUS_HALTED_MASK;
	struct heddle_run *suspect = NULL;
	struct heddle_run *run;
	bool stuck = false;

	spin_lock_irq(&dev->lock);
	list_for_each_entry(run, &dev->in_flight, link)
		if (!suspect || run->id == fence)
			suspect = run;
	if (suspect) {
		u64 limit = heddle_job_timeout(suspect->timeout_ns, dev->timeout_ns);

		stuck = heddle_watch_stuck(&dev->watch, suspect->id, progress, now, limit) ||
			halted;
		if (stuck) {
			dev->guilty = suspect;
			dev->guilty_ended = false;
			dev->guilty_client = suspect->client;
			dev->guilty_seqno = suspect->seqno;
			dev->guilty_context = suspect->outcome->context ?
				suspect->outcome->context->id : 0;
		}
	}
	spin_unlock_irq(&dev->lock);
	return stuck;
}

static void heddle_hang(struct heddle_device *dev, u64 now)
{
	bool compacting;
	u32 fence = 0;

	heddle_coredump(dev, "hang");
	spin_lock_irq(&dev->lock);
	compacting = dev->state == HEDDLE_DEVICE_COMPACTING;
	if (!compacting && !heddle_device_gone(dev->state)) {
		if (!dev->guilty_ended)
			fence = (u32)dev->guilty->id;
		heddle_device_step(&dev->state, HEDDLE_DEVICE_HANG);
	}
	spin_unlock_irq(&dev->lock);
	if (compacting) {
		heddle_lose(dev, "compaction hangs; device memory is not to be trusted");
		return;
	}
	dev_warn(dev->drm.dev, "job %llu of client %llu makes no progress: aborting it\n",
		 dev->guilty_seqno, dev->guilty_client);
	dev->deadline_ns = now + HEDDLE_ABORT_GRACE_MS * NSEC_PER_MSEC;
	if (fence)
		heddle_write(dev, HEDDLE_REG_ABORT, fence);
}

static unsigned int heddle_watch_once(struct heddle_device *dev)
{
	u64 now = ktime_get_ns();
	bool busy;

	heddle_engine_reap(dev); /* an interrupt may have been lost */
	if (heddle_gone(dev))
		return 0;
	if (heddle_card_lost(dev)) {
		heddle_lose(dev, "it does not answer");
		return 0;
	}
	switch (READ_ONCE(dev->state)) {
	case HEDDLE_DEVICE_ABORTING:
		heddle_watch_abort(dev, now);
		break;
	case HEDDLE_DEVICE_RESETTING:
		heddle_watch_reset(dev, now);
		break;
	default:
		if (heddle_find_stuck(dev, now))
			heddle_hang(dev, now);
	}
	switch (READ_ONCE(dev->state)) {
	case HEDDLE_DEVICE_REMOVED:
		return 0;
	case HEDDLE_DEVICE_ABORTING:
	case HEDDLE_DEVICE_RESETTING:
		return HEDDLE_ENDING_MS;
	default:
		spin_lock_irq(&dev->lock);
		busy = !list_empty(&dev->in_flight);
		spin_unlock_irq(&dev->lock);
		if (busy)
			return HEDDLE_BUSY_MS;
		return READ_ONCE(dev->num_files) ? HEDDLE_OPEN_MS : 0;
	}
}

void heddle_watch(struct work_struct *work)
{
	struct heddle_device *dev = container_of(to_delayed_work(work), struct heddle_device,
						 watch_work);
	unsigned int again = HEDDLE_OPEN_MS;
	int idx;

	if (!drm_dev_enter(&dev->drm, &idx))
		return;
	/* A card that sleeps has nothing to do. */
	if (heddle_get_if_active(dev->drm.dev) > 0) {
		again = heddle_watch_once(dev);
		pm_runtime_put_autosuspend(dev->drm.dev);
	}
	if (again)
		queue_delayed_work(system_wq, &dev->watch_work, msecs_to_jiffies(again));
	drm_dev_exit(idx);
}
