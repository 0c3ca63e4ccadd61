// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Fair shares of the card among files, as in kmd/core/heddle_fair.h: a file whose jobs
 * hold the card for long leaves it to others for a while. Its next job then waits for
 * a fence, so the scheduler continues with the jobs of others.
 *
 * Only jobs that could start count: a job that waits for a fence of user space keeps
 * nobody from the card, and nobody has to rest for it.
 */
#include "heddle_drv.h"

/*
 * Counts all rivals for the card; heddle_file.rival says which files are among them.
 * Files that want it no more leave the list. Holds dev->lock.
 */
static struct heddle_fair_rivals heddle_count_rivals(struct heddle_device *dev, u64 now)
{
	struct heddle_fair_rivals rivals = {};
	struct heddle_file *file, *next;

	lockdep_assert_held(&dev->lock);
	list_for_each_entry_safe(file, next, &dev->active, active) {
		u32 before = rivals.count;

		heddle_fair_meet(&rivals, &file->fair, now);
		file->rival = rivals.count != before;
		if (!file->rival)
			list_del_init(&file->active);
	}
	return rivals;
}

/* When the next job of @file may start. Holds dev->lock, @all is new. */
static u64 heddle_start_at(const struct heddle_file *file, struct heddle_fair_rivals all, u64 now)
{
	all.count -= file->rival;
	return heddle_fair_start_at(&file->fair, &all, now);
}

/*
 * Moves the fences of jobs whose time has come to @due; looks again when the next one's
 * comes. Of a file with rivals that is one: after it the others have to ask anew.
 */
static void heddle_rest_find_due(struct heddle_device *dev, struct list_head *due)
{
	struct heddle_fair_rivals rivals;
	struct heddle_fence *fence, *next_fence;
	struct heddle_file *file, *next_file;
	u64 now = ktime_get_ns();
	u64 again = ~0ULL;

	guard(heddle_lock)(&dev->lock);
	if (list_empty(&dev->resting))
		return;
	rivals = heddle_count_rivals(dev, now);
	list_for_each_entry_safe(file, next_file, &dev->resting, resting) {
		u64 at = heddle_device_gone(dev->state) ? now : heddle_start_at(file, rivals, now);
		bool all = heddle_device_gone(dev->state) || rivals.count <= file->rival;
		bool one = false;

		list_for_each_entry_safe(fence, next_fence, &file->rests, rest) {
			if (!all && !heddle_context_stopped(fence->context) && (one || at > now))
				continue;
			one = one || !heddle_context_stopped(fence->context);
			list_move_tail(&fence->rest, due);
		}
		if (list_empty(&file->rests))
			list_del_init(&file->resting);
		else if (at > now)
			again = min(again, at);
	}
	if (again != ~0ULL)
		hrtimer_start(&dev->rest_timer, ns_to_ktime(again), HRTIMER_MODE_ABS);
}

/* Lets the jobs go on whose time has come. */
void heddle_rest_check(struct heddle_device *dev)
{
	struct heddle_fence *fence, *next;
	LIST_HEAD(due);

	heddle_rest_find_due(dev, &due);
	list_for_each_entry_safe(fence, next, &due, rest) {
		list_del_init(&fence->rest);
		dma_fence_signal(&fence->base);
		dma_fence_put(&fence->base);
	}
}

/* When device memory may be compacted: now or earlier, or ask again then. */
u64 heddle_rest_compact_at(struct heddle_device *dev, u64 now)
{
	struct heddle_fair_rivals all;

	guard(heddle_lock)(&dev->lock);
	all = heddle_count_rivals(dev, now);
	return heddle_fair_compact_at(&dev->fair, &all, now);
}

static enum hrtimer_restart heddle_rest_timer(struct hrtimer *timer)
{
	guard(heddle_signalling)();
	heddle_rest_check(container_of(timer, struct heddle_device, rest_timer));
	return HRTIMER_NORESTART;
}

void heddle_rest_init(struct heddle_device *dev)
{
	INIT_LIST_HEAD(&dev->active);
	INIT_LIST_HEAD(&dev->resting);
	hrtimer_setup(&dev->rest_timer, heddle_rest_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}

void heddle_rest_open(struct heddle_file *file)
{
	struct heddle_device *dev = file->dev;

	INIT_LIST_HEAD(&file->active);
	INIT_LIST_HEAD(&file->rests);
	INIT_LIST_HEAD(&file->resting);
	guard(heddle_lock)(&dev->lock);
	heddle_fair_open(&dev->fair, &file->fair, ktime_get_ns());
}

/* The last reference: no job of it is left. */
void heddle_rest_close(struct heddle_file *file)
{
	guard(heddle_lock)(&file->dev->lock);
	list_del(&file->active);
}

/* From now on @outcome's job wants the card. Holds dev->lock. */
static void heddle_want(struct heddle_device *dev, struct heddle_outcome *outcome)
{
	struct heddle_file *file = outcome->context->file;

	if (outcome->wants)
		return;
	outcome->wants = true;
	heddle_fair_queue(&file->fair);
	if (list_empty(&file->active))
		list_add_tail(&file->active, &dev->active);
}

/*
 * A job is about to be queued that could start. The scheduler asks for it when it comes to
 * it: behind jobs of others, who would have to rest for it.
 */
void heddle_rest_queue(struct heddle_device *dev, struct heddle_outcome *outcome)
{
	guard(heddle_lock)(&dev->lock);
	if (!heddle_device_gone(dev->state))
		heddle_want(dev, outcome);
}

/*
 * What a job that could start has to wait for: NULL, or a fence, whose reference is the
 * caller's. The scheduler's thread: nothing may wait for memory here. Without any the
 * job starts at once.
 */
struct dma_fence *heddle_rest(struct heddle_device *dev, struct heddle_outcome *outcome)
{
	struct heddle_context *context = outcome->context;
	struct heddle_file *file = context->file;
	struct heddle_fence *fence;
	u64 now = ktime_get_ns();
	u64 at;

	guard(heddle_lock)(&dev->lock);
	if (heddle_device_gone(dev->state) || heddle_context_stopped(context))
		return NULL;
	heddle_want(dev, outcome);
	at = heddle_start_at(file, heddle_count_rivals(dev, now), now);
	if (at <= now)
		return NULL;
	fence = heddle_fence_alloc(dev->sched, true, GFP_NOWAIT | __GFP_NOWARN);
	if (!fence)
		return NULL;
	fence->context = context;
	list_add_tail(&fence->rest, &file->rests);
	dma_fence_get(&fence->base);
	if (list_empty(&file->resting))
		list_add_tail(&file->resting, &dev->resting);
	if (at != ~0ULL && (!hrtimer_is_queued(&dev->rest_timer) ||
			    ktime_to_ns(hrtimer_get_expires(&dev->rest_timer)) > (s64)at))
		hrtimer_start(&dev->rest_timer, ns_to_ktime(at), HRTIMER_MODE_ABS);
	return &fence->base;
}

/* A job that had asked has ended. Holds dev->lock. */
void heddle_rest_end(struct heddle_outcome *outcome, bool started, u64 held_ns, u64 now_ns)
{
	struct heddle_file *file = outcome->context->file;
	struct heddle_device *dev = outcome->dev;
	struct heddle_fair_rivals rivals = {};
	struct heddle_file *other;

	lockdep_assert_held(&dev->lock);
	if (!outcome->wants)
		return;
	outcome->wants = false;
	list_for_each_entry(other, &dev->active, active)
		if (other != file)
			heddle_fair_meet(&rivals, &other->fair, now_ns);
	heddle_fair_end(&dev->fair, &file->fair, &rivals, started, held_ns, now_ns);
}
