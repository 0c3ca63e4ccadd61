// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The scheduler's side of a job.
 *
 * A job is created by SUBMIT (or here, for memory that must be prepared), waits in
 * its context's entity, is passed to the card by run_job() and ends when its fence
 * signals. The scheduler's own timeout is not used: a job may run as long as it
 * makes progress, which heddle_reset.c watches; an engine reset ends only the
 * guilty job and leaves the ring alone, so nothing needs to be resubmitted.
 */
#include <linux/delay.h>

#include <drm/drm_managed.h>

#include "heddle_drv.h"
#include "heddle_trace.h"

#define to_heddle_job(job) container_of(job, struct heddle_job, base)

/* The scheduler's fence has signalled. Any context. */
static void heddle_finished(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct heddle_outcome *outcome = container_of(cb, struct heddle_outcome, cb);
	struct heddle_context *context = outcome->context;
	struct heddle_device *dev = outcome->dev;

	if (!heddle_job_ended(outcome->state)) { /* it never ran */
		bool lost = heddle_gone(dev);

		heddle_job_step(&outcome->state, lost ? HEDDLE_JOB_LOST : HEDDLE_JOB_CANCEL);
		outcome->result.status = outcome->cause ?:
			heddle_job_status(outcome->state, 0, lost);
		outcome->result.error = heddle_job_errno(outcome->result.status);
	}
	smp_store_release(&outcome->ended, true); /* the result stands */
	atomic64_inc(&dev->ended);
	if (context) {
		scoped_guard(heddle_lock, &dev->lock)
			heddle_rest_end(outcome, false, 0, ktime_get_ns());
		heddle_file_uncharge(context->file, HEDDLE_JOBS, 1);
		atomic_dec(&context->unfinished);
		wake_up_all(&context->wq);
	}
	heddle_outcome_put(outcome);
}

/* With room for a fence of each of @num_syncs and of what each of @num_patches touches. */
struct heddle_job *heddle_job_alloc(struct heddle_device *dev, struct heddle_context *context,
				    u32 num_patches, u32 num_hosts, u32 num_syncs)
{
	struct heddle_job *job = kzalloc_obj(*job, GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	job->dev = dev;
	INIT_LIST_HEAD(&job->run.link);
	job->run.patches = kvcalloc(num_patches, sizeof(*job->run.patches), GFP_KERNEL_ACCOUNT);
	job->hosts = kvcalloc(num_hosts, sizeof(*job->hosts), GFP_KERNEL_ACCOUNT);
	job->fences = kvcalloc(num_patches + num_syncs, sizeof(*job->fences), GFP_KERNEL_ACCOUNT);
	job->run.fence = heddle_fence_alloc(dev->sched, context, GFP_KERNEL_ACCOUNT);
	job->run.outcome = heddle_outcome_alloc(dev);
	drm_dev_get(&dev->drm);
	job->context = context;
	if (context)
		kref_get(&context->ref);
	if (!job->run.patches || !job->hosts || !job->fences || !job->run.fence ||
	    !job->run.outcome) {
		heddle_job_free(job);
		return NULL;
	}
	job->run.outcome->context = context;
	return job;
}

/* Everything but what the scheduler holds. */
void heddle_job_free(struct heddle_job *job)
{
	struct heddle_device *dev = job->dev;
	u32 i;

	if (job->run.prepares && READ_ONCE(job->run.prepares->prepared))
		heddle_alloc_unstage(job->run.prepares);
	for (i = 0; i < job->run.num_patches; i++)
		heddle_alloc_put(job->run.patches[i].alloc);
	for (i = 0; i < job->num_hosts; i++)
		drm_gem_object_put(&job->hosts[i].bo->shmem.base);
	for (i = 0; i < job->num_fences; i++)
		dma_fence_put(job->fences[i]);
	heddle_area_free(dev, job->area);
	if (job->run.fence)
		dma_fence_put(&job->run.fence->base);
	if (job->run.outcome && job->run.outcome->finished)
		/* Waits for heddle_finished(), which may still be at it. */
		dma_fence_remove_callback(job->run.outcome->finished, &job->run.outcome->cb);
	if (job->run.outcome)
		job->run.outcome->context = NULL;
	heddle_outcome_put(job->run.outcome);
	kvfree(job->run.patches);
	kvfree(job->hosts);
	kvfree(job->fences);
	heddle_context_put(job->context);
	kfree(job);
	drm_dev_put(&dev->drm);
}

/* The memory that the job touches is as it should be. */
static bool heddle_job_prepared(const struct heddle_job *job)
{
	u32 i;

	for (i = 0; i < job->run.num_patches; i++)
		if (job->run.patches[i].alloc != job->run.prepares &&
		    !READ_ONCE(job->run.patches[i].alloc->prepared))
			return false;
	return true;
}

static struct dma_fence *heddle_never_run(struct heddle_job *job, u32 status)
{
	job->run.outcome->cause = status;
	return ERR_PTR(-(int)heddle_job_errno(status));
}

/* null_submission and null_hw: everything is done but the work. */
static struct dma_fence *heddle_run_null(struct heddle_job *job)
{
	struct heddle_device *dev = job->dev;

	guard(heddle_lock)(&dev->lock);
	heddle_job_step(&job->run.outcome->state, HEDDLE_JOB_START);
	heddle_job_step(&job->run.outcome->state, HEDDLE_JOB_COMPLETE);
	if (job->run.prepares)
		WRITE_ONCE(job->run.prepares->prepared, true);
	if (job->context) {
		dev->counters.jobs++;
		job->context->file->counters.jobs++;
	}
	return NULL;
}

/*
 * A scheduler that takes jobs by age enters an entity anew when it has taken a job of it and
 * there is another, also if drm_sched_entity_fini() has just removed it; then it looks at the
 * entity when that is free memory. So no job of a dead context leaves its queue: it waits for
 * itself, for a fence that never signals.
 */
static struct dma_fence *heddle_job_leaves(struct heddle_job *job)
{
	struct heddle_context *context = job->context;

	guard(heddle_lock)(&context->settle_lock);
	context->settled = READ_ONCE(context->dead);
	return context->settled ? dma_fence_get(&job->run.fence->base) : NULL;
}

/*
 * @context is dead. Waits until the scheduler has dealt with the job that it may be taking of
 * it, and lets go of what the next one waits for: drm_sched_entity_fini() does that, too, but
 * puts the fence twice if it signals meanwhile.
 */
void heddle_exec_settle(struct heddle_context *context)
{
	struct drm_sched_entity *entity = &context->entity;
	struct dma_fence *fence;

	smp_mb(); /* pairs with heddle_dependency(): it sees that the context is dead, or: */
	while (!completion_done(&entity->entity_idle))
		usleep_range(10, 100);
	/* RCU keeps the fence until the lock is free. */
	guard(heddle_lock)(&context->settle_lock);
	fence = context->settled ? NULL : READ_ONCE(entity->dependency);
	if (fence && dma_fence_remove_callback(fence, &entity->cb)) {
		WRITE_ONCE(entity->dependency, NULL);
		dma_fence_put(fence);
	}
}

static int heddle_give_job(struct heddle_job *job)
{
	CLASS(heddle_presence, present)(job->dev);
	if (present < 0)
		return -ENODEV;
	heddle_host_sync(job, true);
	return heddle_engine_start(job->dev, &job->run);
}

static struct dma_fence *heddle_run_job(struct drm_sched_job *sched_job)
{
	struct heddle_job *job = to_heddle_job(sched_job);
	struct heddle_device *dev = job->dev;
	int err;

	guard(heddle_signalling)();
	job->counted = true;
	atomic_inc(&dev->started);
	/* Unplugged comes first, and lets no job prepare the memory of another one. */
	if (heddle_gone(dev) || drm_dev_is_unplugged(&dev->drm))
		return heddle_never_run(job, HEDDLE_ERROR_DEVICE_LOST);
	if (heddle_context_stopped(job->context))
		return heddle_never_run(job, HEDDLE_ERROR_ABORTED);
	if (!heddle_job_prepared(job))
		return heddle_never_run(job, HEDDLE_ERROR_BUS_ERROR);
	if (heddle_null_submission || !dev->regs)
		return heddle_run_null(job);
	do {
		/* Who closes a file waits for this call, but for nobody else's job. */
		wait_event(dev->idle, heddle_gone(dev) || heddle_context_stopped(job->context) ||
				      (!READ_ONCE(dev->hold) &&
				       heddle_device_accepts_jobs(READ_ONCE(dev->state))));
		if (heddle_context_stopped(job->context))
			return heddle_never_run(job, HEDDLE_ERROR_ABORTED);
		err = heddle_give_job(job);
	} while (err == -EAGAIN);
	if (err)
		return heddle_never_run(job, HEDDLE_ERROR_DEVICE_LOST);
	return dma_fence_get(&job->run.fence->base);
}

/*
 * Older schedulers, when they take the jobs of an entity back, leak a reference to the last
 * one that was scheduled if it has ended. They ask prepare_job() of each before, not in their
 * own thread: there a fence that cannot signal before all are taken back takes its place.
 */
static void heddle_replace_last(struct heddle_job *job, struct drm_sched_entity *entity)
{
#ifndef HEDDLE_HAVE_SCHED_RCU_LAST
	struct dma_fence *last = entity->last_scheduled, *fence = &job->run.fence->base;

	if (!last || last->ops == fence->ops || entity->rq->sched->thread == current)
		return;
	job->last = last;
	*(job->context ? &job->context->stands_in : &job->dev->stands_in) = job;
	entity->last_scheduled = dma_fence_get(fence);
#endif
}

static void heddle_last_ended(struct dma_fence *last, struct dma_fence_cb *cb)
{
	dma_fence_signal(&container_of(cb, struct heddle_job, last_cb)->run.fence->base);
}

/*
 * All jobs of an entity are taken back. @job, if there is one, lives until its fence signals,
 * and so do all others: when the last one that was scheduled ends.
 */
void heddle_exec_taken_back(struct heddle_job *job)
{
	struct dma_fence *last = job ? job->last : NULL;

	if (last && dma_fence_add_callback(last, &job->last_cb, heddle_last_ended))
		heddle_last_ended(last, &job->last_cb);
	dma_fence_put(last);
}

/*
 * Asked what a job waits for until the answer is NULL. The scheduler is not given the fences
 * before: those of 6.1 wait for them, uninterruptibly, when a context goes whose jobs do.
 */
static struct dma_fence *heddle_dependency(struct drm_sched_job *sched_job,
					   struct drm_sched_entity *entity)
{
	struct heddle_job *job = to_heddle_job(sched_job);
	struct dma_fence *fence = NULL;

	guard(heddle_signalling)();
	smp_mb(); /* entity_idle is not complete: pairs with heddle_exec_settle() */
	if (!job->context || heddle_context_stopped(job->context))
		heddle_replace_last(job, entity);
	else if (job->next_fence < job->num_fences)
		fence = dma_fence_get(job->fences[job->next_fence++]);
	else if (job->context && job->dev->regs)
		fence = heddle_rest(job->dev, job->run.outcome);
	if (HEDDLE_SCHED_BY_AGE && job->context && !fence)
		fence = heddle_job_leaves(job);
	return fence;
}

/* What a job holds may take locks under which others allocate. */
static void heddle_free_work(struct work_struct *work)
{
	struct heddle_job *job = container_of(work, struct heddle_job, free_work);
	struct heddle_device *dev = job->dev;
	bool counted = job->counted;

	drm_dev_get(&dev->drm);
	heddle_job_free(job);
	if (counted)
		atomic_dec(&dev->started);
	atomic64_inc(&dev->freed);
	wake_up_all(&dev->idle);
	drm_dev_put(&dev->drm);
}

static void heddle_free_job(struct drm_sched_job *sched_job)
{
	struct heddle_job *job = to_heddle_job(sched_job);

	guard(heddle_signalling)();
	/* The scheduler's fence lives on where it was exported; what it needs must, too. */
	if (!sched_job->s_fence->parent) /* it never ran */
		/* Pairs with the acquire of who hands a deadline on. */
		smp_store_release(&sched_job->s_fence->parent,
				  dma_fence_get(&job->run.fence->base));
	drm_sched_job_cleanup(sched_job);
	INIT_WORK(&job->free_work, heddle_free_work);
	queue_work(heddle_report_wq, &job->free_work);
}

/* Without timedout_job: the scheduler is told never to time out. */
static const struct drm_sched_backend_ops heddle_sched_ops = {
	.HEDDLE_SCHED_PREPARE_JOB = heddle_dependency,
	.run_job = heddle_run_job,
	.free_job = heddle_free_job,
};

/* Gives an armed job to the scheduler. The caller keeps the order of the entity. */
void heddle_job_push(struct heddle_job *job)
{
	struct heddle_outcome *outcome = job->run.outcome;

	outcome->finished = dma_fence_get(&job->base.s_fence->finished);
	kref_get(&outcome->ref);
	if (job->context)
		atomic_inc(&job->context->unfinished);
	dma_fence_add_callback(outcome->finished, &outcome->cb, heddle_finished);
	drm_sched_entity_push_job(&job->base);
}

/* The job that makes @alloc ready: zero, or its staged bytes. */
static struct heddle_job *heddle_prepare_job(struct heddle_alloc *alloc)
{
	struct heddle_host_range host = { .bo = alloc->staging, .length = alloc->staged_bytes };
	const struct drm_heddle_step zero = { .length = alloc->node.size };
	struct heddle_job *job;
	u32 entries = 0, steps, most;
	int err;

	if (host.bo)
		entries = heddle_host_entries(host.bo, 0, &host.length, NULL, U32_MAX);
	most = heddle_list_entries(&entries, 1, &steps);
	job = heddle_job_alloc(alloc->dev, NULL, steps, 1, 0);
	if (!job)
		return ERR_PTR(-ENOMEM);
	err = heddle_steps_alloc(job, steps);
	if (!err && host.bo)
		err = heddle_write_copy(job, 0, &host, alloc, 0, most);
	else if (!err)
		heddle_write_fill(job, 0, alloc, &zero);
	if (err) {
		heddle_job_free(job);
		return ERR_PTR(err);
	}
	job->run.prepares = alloc;
	return job;
}

/*
 * Has @alloc made ready for use, if nobody has before; @ready is the fence to wait
 * for, or NULL. Such jobs are the driver's own and go before all others. One that
 * failed, because the card was reset meanwhile, is tried again.
 */
int heddle_exec_prepare(struct heddle_alloc *alloc, struct dma_fence **ready)
{
	struct heddle_device *dev = alloc->dev;
	struct heddle_job *job;
	int err;

	*ready = NULL;
	guard(mutex)(&dev->own_lock);
	if (alloc->ready && !dma_fence_is_signaled(alloc->ready)) {
		*ready = dma_fence_get(alloc->ready);
		return 0;
	}
	smp_rmb(); /* what the job achieved was written before its fence signalled */
	if (READ_ONCE(alloc->prepared))
		return 0;
	job = dev->own_closed ? ERR_PTR(-ENODEV) : heddle_prepare_job(alloc);
	if (IS_ERR(job))
		return PTR_ERR(job);
	err = heddle_sched_job_setup(&job->base, &dev->own, NULL, 0);
	if (err) {
		heddle_job_free(job);
		return err;
	}
	drm_sched_job_arm(&job->base);
	dma_fence_put(alloc->ready);
	alloc->ready = dma_fence_get(&job->base.s_fence->finished);
	/* Who waits for it looks at how it ended: being with the card is not enough. */
	set_bit(DRM_SCHED_FENCE_DONT_PIPELINE, &alloc->ready->flags);
	heddle_job_push(job);
	*ready = dma_fence_get(alloc->ready);
	return 0;
}

static void heddle_scheduler_release(struct kref *ref)
{
	kfree(container_of(ref, struct heddle_scheduler, ref));
}

void heddle_scheduler_put(struct heddle_scheduler *sched)
{
	kref_put(&sched->ref, heddle_scheduler_release);
}

static void heddle_scheduler_drop(struct drm_device *drm, void *sched)
{
	heddle_scheduler_put(sched);
}

int heddle_exec_init(struct heddle_device *dev)
{
	struct drm_gpu_scheduler *sched;
	int err;

	dev->sched = kzalloc_obj(*dev->sched, GFP_KERNEL);
	if (!dev->sched)
		return -ENOMEM;
	kref_init(&dev->sched->ref);
	sched = &dev->sched->base;
	err = drmm_add_action_or_reset(&dev->drm, heddle_scheduler_drop, dev->sched) ?:
		heddle_sched_setup(sched, &heddle_sched_ops, HEDDLE_SCHED_DEPTH, "heddle",
				   dev->drm.dev, heddle_signal_wq);
	if (err)
		return err;
	err = drm_sched_entity_init(&dev->own, DRM_SCHED_PRIORITY_KERNEL, &sched, 1, NULL);
	if (err)
		drm_sched_fini(sched);
	return err;
}

/* The card is gone for the driver; all that was queued ends, and then the scheduler. */
void heddle_exec_fini(struct heddle_device *dev)
{
	scoped_guard(mutex, &dev->own_lock)
		dev->own_closed = true;
	drm_sched_entity_destroy(&dev->own);
	heddle_exec_taken_back(dev->stands_in);
	/* Files that close just now finish their contexts themselves. */
	wait_event(dev->idle, !atomic_read(&dev->entities));
	wait_event(dev->idle, !atomic_read(&dev->started));
	synchronize_rcu(); /* fences that wake an entity, which names the scheduler */
	drm_sched_fini(&dev->sched->base);
}
