// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Open files and their contexts, each a queue of jobs. */
#include <linux/capability.h>

#include "heddle_args.h"
#include "heddle_drv.h"

static atomic64_t heddle_clients = ATOMIC64_INIT(0);

/* Contexts that exist, dead ones included: the module must not go before them. */
static atomic_t heddle_num_contexts = ATOMIC_INIT(0);

/* At the module's end: jobs that waited for other drivers may still hold contexts. */
void heddle_contexts_drain(void)
{
	wait_var_event(&heddle_num_contexts, !atomic_read(&heddle_num_contexts));
}

static void heddle_file_release(struct kref *ref)
{
	struct heddle_file *file = container_of(ref, struct heddle_file, ref);

	heddle_rest_close(file);
	kfifo_free(&file->events);
	kfree(file);
}

int heddle_file_charge(struct heddle_file *file, enum heddle_resource what, u64 amount)
{
	guard(heddle_lock)(&file->lock);
	return heddle_usage_charge(&file->usage, &file->dev->limits, what, amount);
}

void heddle_file_uncharge(struct heddle_file *file, enum heddle_resource what, u64 amount)
{
	guard(heddle_lock)(&file->lock);
	heddle_usage_release(&file->usage, what, amount);
}

/* An object of the kind @what, with its @bytes of the card's memory: both or nothing. */
int heddle_file_charge_object(struct heddle_file *file, enum heddle_resource what, u64 bytes)
{
	int err = heddle_file_charge(file, what, 1);

	if (err || !bytes)
		return err;
	err = heddle_file_charge(file, HEDDLE_DEVICE_BYTES, bytes);
	if (err)
		heddle_file_uncharge(file, what, 1);
	return err;
}

void heddle_file_uncharge_object(struct heddle_file *file, enum heddle_resource what, u64 bytes)
{
	heddle_file_uncharge(file, HEDDLE_DEVICE_BYTES, bytes);
	heddle_file_uncharge(file, what, 1);
}

/* Its jobs hung too often: it gets no more. */
static bool heddle_file_banned(struct heddle_file *file)
{
	guard(heddle_lock)(&file->lock);
	return heddle_usage_banned(&file->usage, &file->dev->limits);
}

int heddle_file_check_banned(struct heddle_file *file)
{
	return !heddle_file_banned(file) ? 0 :
	       heddle_refuse(-EIO, "hangs", READ_ONCE(file->usage.hangs),
			     file->dev->limits.hangs - 1);
}

void heddle_file_put(struct heddle_file *file)
{
	kref_put(&file->ref, heddle_file_release);
}

static void heddle_context_release(struct kref *ref)
{
	struct heddle_context *context = container_of(ref, struct heddle_context, ref);
	struct heddle_outcome *outcome;
	unsigned long seqno;

	xa_for_each(&context->outcomes, seqno, outcome)
		heddle_outcome_put(outcome);
	xa_destroy(&context->outcomes);
	heddle_file_uncharge(context->file, HEDDLE_CONTEXTS, 1);
	heddle_file_put(context->file);
	mutex_destroy(&context->lock);
	kfree_rcu(context, rcu); /* a fence that signals may just have woken its entity */
	if (atomic_dec_and_test(&heddle_num_contexts))
		wake_up_var(&heddle_num_contexts);
}

void heddle_context_put(struct heddle_context *context)
{
	if (context)
		kref_put(&context->ref, heddle_context_release);
}

/* A context or a stream of a file's: they begin with their reference count. Put it after use. */
void *heddle_find(struct xarray *objects, u32 id)
{
	struct kref *ref;

	guard(heddle_lock)(&objects->xa_lock);
	ref = xa_load(objects, id);
	if (ref)
		kref_get(ref);
	return ref;
}

/* What has not started never will; what runs is aborted, and nobody waits for that here. */
static void heddle_context_kill(struct heddle_context *context)
{
	struct heddle_device *dev = context->file->dev;
	bool dead;

	scoped_guard(mutex, &context->lock) {
		guard(heddle_lock)(&dev->lock);
		dead = context->dead;
		WRITE_ONCE(context->dead, true);
	}
	if (!dead) {
		wake_up_all(&dev->idle); /* a job of it that is about to start, or */
		heddle_rest_check(dev);  /* rests */
		heddle_exec_settle(context);
		drm_sched_entity_fini(&context->entity);
		heddle_exec_taken_back(context->stands_in);
		heddle_engine_cancel(dev, context);
		if (atomic_dec_and_test(&dev->entities))
			wake_up_all(&dev->idle);
	}
	wake_up_all(&context->wq);
}

/* Makes a new context known to the scheduler and, by its number, to the file. */
static int heddle_context_enter(struct heddle_context *context,
				struct drm_heddle_context_create *args)
{
	static const enum drm_sched_priority priorities[HEDDLE_RINGS] = {
		DRM_SCHED_PRIORITY_KERNEL,
		DRM_SCHED_PRIORITY_HIGH,
		DRM_SCHED_PRIORITY_NORMAL,
		DRM_SCHED_PRIORITY_LOW,
	};
	struct heddle_file *file = context->file;
	struct heddle_device *dev = file->dev;
	struct drm_gpu_scheduler *sched = &dev->sched->base;
	int err;

	/* The lock that removal takes to find all contexts. */
	guard(mutex)(&dev->files_lock);
	if (heddle_gone(dev))
		return -ENODEV;
	err = drm_sched_entity_init(&context->entity, priorities[args->priority], &sched, 1, NULL);
	if (err)
		return err;
	atomic_inc(&dev->entities);
	/* Who guesses the number finds a context that knows it. */
	err = xa_alloc_cyclic(&file->contexts, &context->id, context, XA_LIMIT(1, U32_MAX),
			      &file->next_context, GFP_KERNEL_ACCOUNT);
	args->context = context->id;
	if (err >= 0)
		return 0;
	heddle_context_kill(context);
	return err;
}

int heddle_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	struct drm_heddle_context_create *args = data;
	bool may_raise = args->priority >= HEDDLE_PRIORITY_NORMAL || capable(CAP_SYS_NICE);
	struct heddle_context *context;
	int err;

	err = heddle_check_context_create(args, may_raise) ?: heddle_file_check_banned(file) ?:
		heddle_file_charge(file, HEDDLE_CONTEXTS, 1);
	if (err)
		return err;
	context = kzalloc_obj(*context, GFP_KERNEL_ACCOUNT);
	if (!context) {
		heddle_file_uncharge(file, HEDDLE_CONTEXTS, 1);
		return -ENOMEM;
	}
	kref_init(&context->ref);
	mutex_init(&context->lock);
	spin_lock_init(&context->settle_lock);
	xa_init_flags(&context->outcomes, XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&context->wq);
	context->next_seqno = 1;
	context->oldest = 1;
	context->run_cycles = file->dev->limits.run_cycles;
	context->file = file;
	kref_get(&file->ref);
	atomic_inc(&heddle_num_contexts);

	err = heddle_context_enter(context, args);
	if (err)
		heddle_context_put(context);
	return err;
}

/* Its jobs do not start any more. The driver's own, which have none, do. */
bool heddle_context_stopped(const struct heddle_context *context)
{
	return context && (READ_ONCE(context->dead) || heddle_file_banned(context->file));
}

int heddle_context_control_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_context *context __free(heddle_context) = NULL;
	struct heddle_file *file = drm_file->driver_priv;
	struct drm_heddle_context_control *args = data;
	u64 limit = file->dev->limits.run_cycles;
	bool may_raise = args->run_cycles <= limit || capable(CAP_SYS_ADMIN);
	int err;

	err = heddle_check_context_control(args, limit, may_raise);
	if (err)
		return err;
	context = heddle_find(&file->contexts, args->context);
	if (!context)
		return heddle_refuse_unknown("context", args->context);
	if (args->flags & DRM_HEDDLE_CONTROL_RUN_CYCLES)
		WRITE_ONCE(context->run_cycles, args->run_cycles ?: limit);
	args->run_cycles = READ_ONCE(context->run_cycles);
	args->state = heddle_file_banned(file) ? DRM_HEDDLE_CONTEXT_BANNED :
						 DRM_HEDDLE_CONTEXT_USABLE;
	args->hangs = READ_ONCE(context->hangs);
	return 0;
}

int heddle_context_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	struct drm_heddle_context_destroy *args = data;
	struct heddle_context *context;
	int err;

	err = heddle_check_pad(args->pad);
	if (err)
		return err;
	scoped_guard(mutex, &file->dev->files_lock)
		context = xa_erase(&file->contexts, args->context);
	if (!context)
		return heddle_refuse_unknown("context", args->context);
	heddle_context_kill(context);
	heddle_context_put(context);
	return 0;
}

/* At removal: no job of any file is queued any more, and none will be. */
void heddle_contexts_kill(struct heddle_device *dev)
{
	struct heddle_context *context;
	struct heddle_file *file;
	unsigned long id;

	guard(mutex)(&dev->files_lock);
	list_for_each_entry(file, &dev->files, link)
		xa_for_each(&file->contexts, id, context)
			heddle_context_kill(context);
}

/* Those who sleep for a job that waits for another driver look at the card again. */
void heddle_contexts_wake(struct heddle_device *dev)
{
	struct heddle_context *context;
	struct heddle_file *file;
	unsigned long id;

	guard(mutex)(&dev->files_lock);
	list_for_each_entry(file, &dev->files, link) {
		wake_up_all(&file->wq);
		xa_for_each(&file->contexts, id, context)
			wake_up_all(&context->wq);
	}
}

int heddle_open(struct drm_device *drm, struct drm_file *drm_file)
{
	struct heddle_device *dev = to_heddle(drm);
	struct heddle_file *file;
	int err;

	file = kzalloc_obj(*file, GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	err = kfifo_alloc(&file->events, HEDDLE_EVENTS_KEPT, GFP_KERNEL_ACCOUNT);
	if (err) {
		kfree(file);
		return err;
	}
	kref_init(&file->ref);
	file->dev = dev;
	file->client = atomic64_inc_return(&heddle_clients);
	xa_init_flags(&file->contexts, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&file->streams, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	spin_lock_init(&file->lock);
	init_waitqueue_head(&file->wq);
	heddle_rest_open(file);
	drm_file->driver_priv = file;
	scoped_guard(mutex, &dev->files_lock) {
		if (heddle_gone(dev)) {
			heddle_file_put(file);
			return -ENODEV;
		}
		list_add_tail(&file->link, &dev->files);
	}
	heddle_schedule_watch(dev);
	return 0;
}

void heddle_postclose(struct drm_device *drm, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	struct heddle_device *dev = file->dev;
	struct heddle_context *context;
	struct heddle_stream *stream;
	unsigned long id;

	scoped_guard(mutex, &dev->files_lock)
		list_del(&file->link);
	xa_for_each(&file->contexts, id, context) {
		heddle_context_kill(context);
		heddle_context_put(context);
	}
	xa_destroy(&file->contexts);
	xa_for_each(&file->streams, id, stream)
		heddle_stream_put(stream);
	xa_destroy(&file->streams);
	heddle_file_put(file);
}
