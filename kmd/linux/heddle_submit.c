// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * SUBMIT: looks up the objects that a job names, checks bounds, and queues the job
 * in the form that heddle_steps.c gives it.
 */
#include <linux/uaccess.h>

#include <drm/drm_syncobj.h>

#include "heddle_args.h"
#include "heddle_drv.h"
#include "heddle_trace.h"

/* Element @index: what the caller knows of it, the rest zero. -E2BIG: it uses more than we know. */
static int heddle_copy_element(void *to, size_t size, const struct drm_heddle_array *array,
			       u32 index)
{
	u64 at = array->ptr + (u64)index * array->stride;
	int err = at < array->ptr ? -EFAULT :
		  copy_struct_from_user(to, size, u64_to_user_ptr(at), array->stride);

	if (err == -E2BIG)
		return heddle_refuse(err, "stride of an element that uses more than is known",
				     array->stride, size);
	return err ? heddle_refuse(err, "ptr of an element", at, TASK_SIZE_MAX) : 0;
}

int heddle_fill_element(const struct drm_heddle_array *array, u32 index, const void *from,
			size_t size)
{
	u64 at = array->ptr + (u64)index * array->stride;

	if (at < array->ptr ||
	    copy_to_user(u64_to_user_ptr(at), from, min_t(size_t, size, array->stride)))
		return heddle_refuse(-EFAULT, "ptr of an element", at, TASK_SIZE_MAX);
	return 0;
}

/* A submission on its way to become a job. */
struct heddle_submission {
	u32 num_steps;
	u32 num_patches;
	u32 card_steps;
	u32 list_entries;
	u64 cycles; /* at most */
	struct heddle_bound_step *steps;
	u32 entries[HEDDLE_STEPS_MAX]; /* of each step's scatter list */
	u32 num_out;
	struct heddle_out_sync {
		struct drm_syncobj *syncobj;
		struct dma_fence_chain *chain;
		u64 point;
	} *out;
};

static int heddle_bind_run(struct drm_file *file, struct heddle_bound_step *step)
{
	struct heddle_file *own = file->driver_priv;
	u64 sizes[HEDDLE_REGIONS] = {};
	u32 writable = 0;
	u32 used = 0;
	int err;
	u32 i;

	step->stream = heddle_find(&own->streams, step->in.stream);
	if (!step->stream)
		return heddle_refuse_unknown("stream", step->in.stream);
	for (i = 0; i < step->in.regions.count; i++) {
		struct heddle_bound_region *region = &step->region[i];
		struct drm_heddle_region *in = &region->in;

		step->regions++;
		err = heddle_copy_element(in, sizeof(*in), &step->in.regions, i) ?:
			heddle_check_region(in, &used) ?:
			heddle_gem_find(file, in->handle, DRM_HEDDLE_DEVICE, in->offset,
					in->size, &region->bo);
		if (err)
			return err;
		sizes[in->index] = in->size;
		if (in->flags & DRM_HEDDLE_REGION_WRITE)
			writable |= 1U << in->index;
	}
	return heddle_validate_binding(&step->stream->facts, sizes, writable);
}

/* The card can reach the range, by a list of *@entries. */
static int heddle_bind_host(struct heddle_file *file, const struct heddle_host_range *host,
			    u32 *entries)
{
	u64 length = host->length;
	int err;

	CLASS(heddle_presence, present)(file->dev);
	if (present < 0)
		return -ENODEV;
	err = heddle_host_map(host->bo, file);
	if (err)
		return err;
	*entries = heddle_host_entries(host->bo, host->offset, &length, NULL, U32_MAX);
	if (*entries > HEDDLE_SG_ENTRIES_MAX) /* more than one list takes */
		return heddle_refuse(-ENOMEM, "pieces of a buffer", *entries,
				     HEDDLE_SG_ENTRIES_MAX);
	return 0;
}

static int heddle_bind_step(struct drm_file *file, struct heddle_bound_step *step, u32 *entries)
{
	const struct drm_heddle_step *in = &step->in;
	bool out = in->type == DRM_HEDDLE_COPY_OUT;
	int err;

	if (in->type == DRM_HEDDLE_RUN)
		return heddle_bind_run(file, step);
	err = heddle_gem_find(file, in->dst, out ? DRM_HEDDLE_HOST : DRM_HEDDLE_DEVICE,
			      in->dst_offset, in->length, &step->dst);
	if (err || in->type == DRM_HEDDLE_FILL)
		return err;
	err = heddle_gem_find(file, in->src, in->type == DRM_HEDDLE_COPY_IN ? DRM_HEDDLE_HOST :
			      DRM_HEDDLE_DEVICE, in->src_offset, in->length, &step->src);
	if (err || in->type == DRM_HEDDLE_STEP_COPY)
		return err;
	step->host = (struct heddle_host_range) {
		out ? step->dst : step->src, out ? in->dst_offset : in->src_offset, in->length, out
	};
	return heddle_bind_host(file->driver_priv, &step->host, entries);
}

/* A step that overlaps @run: neither writes what the other touches. */
static int heddle_bind_overlap(const struct heddle_bound_step *run,
			       const struct heddle_bound_step *step)
{
	const struct drm_heddle_step *in = &step->in;
	int err = 0;
	u32 i;

	for (i = 0; in->flags && i < run->regions && !err; i++) {
		const struct heddle_bound_region *region = &run->region[i];

		if (region->bo == step->dst)
			err = heddle_check_overlap(&region->in, in->dst_offset, in->length, true);
		if (region->bo == step->src && !err)
			err = heddle_check_overlap(&region->in, in->src_offset, in->length, false);
	}
	return err;
}

static int heddle_bind(struct drm_file *file, const struct drm_heddle_submit *args,
		       struct heddle_submission *s)
{
	const struct heddle_bound_step *run = NULL; /* that the next step may overlap */
	int err;
	u32 i;

	s->steps = kvcalloc(args->steps.count, sizeof(*s->steps), GFP_KERNEL_ACCOUNT);
	if (!s->steps)
		return -ENOMEM;
	for (i = 0; i < args->steps.count; i++) {
		struct heddle_bound_step *step = &s->steps[i];

		s->num_steps = i + 1;
		err = heddle_copy_element(&step->in, sizeof(step->in), &args->steps, i) ?:
			heddle_check_step(&step->in, run) ?:
			heddle_bind_step(file, step, &s->entries[i]) ?:
			heddle_bind_overlap(run, step);
		if (err)
			return heddle_refuse(err, "step that is refused", i, args->steps.count);
		run = step->stream ? step : step->in.flags ? run : NULL;
		s->num_patches += step->regions + (step->in.type == DRM_HEDDLE_STEP_COPY);
		s->cycles = heddle_cycles_add(s->cycles,
					      step->stream ? step->stream->facts.max_cycles :
					      heddle_copy_cycles(step->in.length));
	}
	s->list_entries = heddle_list_entries(s->entries, s->num_steps, &s->card_steps);
	s->num_patches += s->card_steps;
	return 0;
}

static int heddle_take_out_syncs(struct drm_file *file, const struct drm_heddle_submit *args,
				 struct heddle_submission *s)
{
	struct drm_heddle_sync sync;
	int err;
	u32 i;

	s->out = kvcalloc(args->out_syncs.count, sizeof(*s->out), GFP_KERNEL_ACCOUNT);
	if (!s->out)
		return -ENOMEM;
	for (i = 0; i < args->out_syncs.count; i++) {
		struct heddle_out_sync *out = &s->out[i];

		err = heddle_copy_element(&sync, sizeof(sync), &args->out_syncs, i) ?:
			heddle_check_pad(sync.pad);
		if (err)
			return err;
		out->syncobj = drm_syncobj_find(file, sync.handle);
		if (!out->syncobj)
			return heddle_refuse_unknown("syncobj", sync.handle);
		s->num_out = i + 1;
		out->point = sync.point;
		if (sync.point) {
			out->chain = dma_fence_chain_alloc();
			if (!out->chain)
				return -ENOMEM;
		}
	}
	return 0;
}

static int heddle_add_in_syncs(struct drm_file *file, const struct drm_heddle_submit *args,
			       struct heddle_job *job)
{
	struct drm_heddle_sync sync;
	struct dma_fence *fence;
	int err;
	u32 i;

	for (i = 0; i < args->in_syncs.count; i++) {
		err = heddle_copy_element(&sync, sizeof(sync), &args->in_syncs, i) ?:
			heddle_check_pad(sync.pad);
		if (err)
			return err;
		err = drm_syncobj_find_fence(file, sync.handle, sync.point, 0, &fence);
		if (err) /* no syncobj, or no fence in it */
			return heddle_refuse(err, "point of an in_sync", sync.point, sync.handle);
		job->waits = job->waits || !dma_fence_is_signaled(fence);
		job->fences[job->num_fences++] = fence;
	}
	return 0;
}

static int heddle_write_job(struct heddle_job *job, struct heddle_submission *s)
{
	int err = heddle_steps_alloc(job, s->card_steps);
	u32 i;

	for (i = 0; i < s->num_steps && !err; i++)
		err = heddle_write_step(job, i, &s->steps[i], s->list_entries);
	for (i = 0; i < job->run.num_steps; i++)
		job->run.steps[i].flags =
			cpu_to_le32(heddle_step_flags(s->steps[job->step_of[i]].in.flags,
						      job->dev->info.hw_version));
	return err;
}

/* The job may start when all memory that it touches has been made ready. */
static int heddle_add_ready(struct heddle_job *job)
{
	struct dma_fence *ready;
	int err;
	u32 i;

	for (i = 0; i < job->run.num_patches; i++) {
		struct heddle_alloc *alloc = job->run.patches[i].alloc;

		if (READ_ONCE(alloc->prepared))
			continue;
		err = heddle_exec_prepare(alloc, &ready);
		if (err)
			return err;
		if (ready)
			job->fences[job->num_fences++] = ready;
	}
	return 0;
}

/* Everything of a job that lies in memory that is taken back from a removed card. */
static int heddle_make_job(struct heddle_job *job, struct heddle_submission *s, u32 trace_entries)
{
	CLASS(heddle_presence, present)(job->dev);
	if (present < 0)
		return -ENODEV;
	return heddle_write_job(job, s) ?: heddle_cmdtrace_alloc(job, trace_entries) ?:
	       heddle_add_ready(job);
}

/* Room for the outcome of a new job; the oldest that have ended go. Holds context->lock. */
static int heddle_keep_outcome(struct heddle_context *context, struct heddle_job *job)
{
	struct heddle_outcome *old;
	int err;

	while (context->next_seqno - context->oldest >= HEDDLE_RESULTS_KEPT) {
		old = xa_load(&context->outcomes, context->oldest);
		if (old && !heddle_outcome_ended(old))
			break;
		xa_erase(&context->outcomes, context->oldest++);
		heddle_outcome_put(old);
	}
	err = xa_err(xa_store(&context->outcomes, context->next_seqno, job->run.outcome,
			      GFP_KERNEL_ACCOUNT));
	if (err)
		return err;
	kref_get(&job->run.outcome->ref);
	job->run.seqno = context->next_seqno++;
	return 0;
}

static int heddle_queue(struct heddle_context *context, struct heddle_job *job,
			struct heddle_submission *s, u64 *seqno)
{
	u32 unfinished;
	int err;
	u32 i;

	guard(mutex)(&context->lock);
	unfinished = atomic_read(&context->unfinished);
	if (context->dead)
		return heddle_gone(job->dev) ? -ENODEV :
					       heddle_refuse_unknown("context", context->id);
	err = heddle_file_check_banned(context->file);
	if (err)
		return err;
	if (unfinished >= HEDDLE_JOBS_QUEUED_MAX)
		return heddle_refuse(-EAGAIN, "jobs of the context", unfinished,
				     HEDDLE_JOBS_QUEUED_MAX);
	err = heddle_file_charge(context->file, HEDDLE_JOBS, 1);
	if (err)
		return err;
	err = heddle_keep_outcome(context, job);
	if (err) {
		heddle_file_uncharge(context->file, HEDDLE_JOBS, 1);
		return err;
	}
	/* Nothing can fail from here on. */
	drm_sched_job_arm(&job->base);
	*seqno = job->run.seqno;
	trace_heddle_submit(job->dev, &job->run);
	for (i = 0; i < s->num_out; i++) {
		struct heddle_out_sync *out = &s->out[i];
		struct dma_fence *fence = &job->base.s_fence->finished;

		if (out->chain) {
			drm_syncobj_add_point(out->syncobj, out->chain, fence, out->point);
			out->chain = NULL;
		} else {
			drm_syncobj_replace_fence(out->syncobj, fence);
		}
	}
	if (!unfinished && !job->waits && job->dev->regs)
		heddle_rest_queue(job->dev, job->run.outcome);
	heddle_job_push(job);
	return 0;
}

static void heddle_submission_free(struct heddle_submission *s)
{
	u32 i, r;

	for (i = 0; i < s->num_steps; i++) {
		struct heddle_bound_step *step = &s->steps[i];

		heddle_bo_put(step->src);
		heddle_bo_put(step->dst);
		heddle_stream_put(step->stream);
		for (r = 0; r < step->regions; r++)
			heddle_bo_put(step->region[r].bo);
	}
	kvfree(s->steps);
	for (i = 0; i < s->num_out; i++) {
		drm_syncobj_put(s->out[i].syncobj);
		dma_fence_chain_free(s->out[i].chain);
	}
	kvfree(s->out);
}
DEFINE_FREE(heddle_submission, struct heddle_submission, heddle_submission_free(&_T))

int heddle_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct heddle_context *context __free(heddle_context) = NULL;
	struct heddle_file *own = file->driver_priv;
	struct drm_heddle_submit *args = data;
	struct heddle_submission s __free(heddle_submission) = {};
	struct heddle_job *job;
	u64 run_cycles;
	int err;

	err = heddle_check_submit(args, own->dev->info.hw_version);
	if (err)
		return err;
	context = heddle_find(&own->contexts, args->context);
	if (!context)
		return heddle_refuse_unknown("context", args->context);
	run_cycles = READ_ONCE(context->run_cycles);
	err = heddle_bind(file, args, &s);
	if (!err && s.cycles > run_cycles)
		err = heddle_refuse(-EFBIG, "cycles that the job may take", s.cycles, run_cycles);
	err = err ?: heddle_take_out_syncs(file, args, &s);
	if (err)
		return err;
	job = heddle_job_alloc(own->dev, context, s.num_patches, s.num_steps,
			       args->in_syncs.count);
	if (!job)
		return -ENOMEM;
	job->run.client = own->client;
	job->run.timeout_ns = args->timeout_ns;
	job->run.run_cycles = run_cycles;
	err = heddle_sched_job_setup(&job->base, &context->entity, file, job->run.client);
	if (err)
		goto free;
	err = heddle_add_in_syncs(file, args, job) ?:
		heddle_make_job(job, &s, args->trace_entries) ?:
		heddle_queue(context, job, &s, &args->seqno);
	if (!err)
		return 0;
	drm_sched_job_cleanup(&job->base);
free:
	heddle_job_free(job);
	return err;
}
