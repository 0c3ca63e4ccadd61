// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The job ring and the completion ring: jobs go to the card here, and end here.
 *
 * All jobs use ring 0. drm_gpu_scheduler decides the order, and the card runs jobs
 * in that order, HEDDLE_SCHED_DEPTH at a time, so that a late urgent job waits for
 * few others and the order in which jobs use SRAM is known.
 */
#include <linux/dma-mapping.h>

#include "heddle_drv.h"
#include "heddle_trace.h"

/* Of the driver, and of the timeline, which is every fence's own. */
static const char *heddle_fence_name(struct dma_fence *fence)
{
	return "heddle";
}

/* The module's end waits for these callbacks, so it is still there after module_put(). */
static void heddle_fence_free(struct rcu_head *rcu)
{
	struct heddle_fence *fence = container_of(rcu, struct heddle_fence, base.rcu);
	struct module *module = fence->module;

	heddle_scheduler_put(fence->sched);
	kfree(fence);
	module_put(module);
}

static void heddle_fence_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, heddle_fence_free);
}

static const struct dma_fence_ops heddle_fence_ops = {
	.get_driver_name = heddle_fence_name,
	.get_timeline_name = heddle_fence_name,
	.release = heddle_fence_release,
};

/*
 * @users: user space may get hold of it; the last one of the driver's own stays until the
 * card goes, with the module.
 */
struct heddle_fence *heddle_fence_alloc(struct heddle_scheduler *sched, bool users, gfp_t gfp)
{
	struct heddle_fence *fence = kzalloc_obj(*fence, gfp);

	if (!fence)
		return NULL;
	spin_lock_init(&fence->lock);
	kref_get(&sched->ref);
	fence->sched = sched;
	fence->module = users ? THIS_MODULE : NULL;
	__module_get(fence->module); /* an open file has another reference */
	dma_fence_init(&fence->base, &heddle_fence_ops, &fence->lock, dma_fence_context_alloc(1),
		       1);
	return fence;
}

struct heddle_outcome *heddle_outcome_alloc(struct heddle_device *dev)
{
	struct heddle_outcome *outcome = kzalloc_obj(*outcome, GFP_KERNEL_ACCOUNT);

	if (!outcome)
		return NULL;
	kref_init(&outcome->ref);
	outcome->dev = dev;
	outcome->state = HEDDLE_JOB_QUEUED;
	return outcome;
}

static void heddle_outcome_release(struct kref *ref)
{
	struct heddle_outcome *outcome = container_of(ref, struct heddle_outcome, ref);

	heddle_cmdtrace_free(outcome->dev, outcome->trace);
	dma_fence_put(outcome->finished);
	kfree(outcome);
}

void heddle_outcome_put(struct heddle_outcome *outcome)
{
	if (outcome)
		kref_put(&outcome->ref, heddle_outcome_release);
}

int heddle_engine_init(struct heddle_device *dev)
{
	BUILD_BUG_ON(HEDDLE_RECORDS < HEDDLE_RING_ENTRIES);
	BUILD_BUG_ON(HEDDLE_RING_ENTRIES < 2 * HEDDLE_SCHED_DEPTH);
	dev->rings = dmam_alloc_coherent(dev->drm.dev, sizeof(*dev->rings), &dev->rings_dma,
					 GFP_KERNEL);
	if (!dev->rings)
		return -ENOMEM;
	dev->next_fence = 1;
	return 0;
}

/* Tells a card that has just been reset where the rings are. Nothing is in flight. */
void heddle_engine_rings(struct heddle_device *dev)
{
	u64 records = dev->rings_dma + offsetof(struct heddle_rings, records);
	u64 descriptors = dev->rings_dma + offsetof(struct heddle_rings, descriptors);

	guard(heddle_lock)(&dev->lock);
	memset(dev->rings->records, 0, sizeof(dev->rings->records));
	heddle_completion_init(&dev->completions, HEDDLE_RECORDS);
	heddle_ring_init(&dev->ring, HEDDLE_RING_ENTRIES);
	dev->sram_owner = 0;
	if (dev->regs) {
		heddle_write(dev, HEDDLE_REG_COMPLETION_BASE_LO, lower_32_bits(records));
		heddle_write(dev, HEDDLE_REG_COMPLETION_BASE_HI, upper_32_bits(records));
		heddle_write(dev, HEDDLE_REG_COMPLETION_SIZE, HEDDLE_RECORDS);
		heddle_write(dev, HEDDLE_REG_RING_BASE_LO(0), lower_32_bits(descriptors));
		heddle_write(dev, HEDDLE_REG_RING_BASE_HI(0), upper_32_bits(descriptors));
		heddle_write(dev, HEDDLE_REG_RING_SIZE(0), HEDDLE_RING_ENTRIES);
		heddle_write(dev, HEDDLE_REG_INT_STATUS, HEDDLE_INT_ENABLE_MASK_MASK);
		heddle_write(dev, HEDDLE_REG_INT_ENABLE, HEDDLE_INT_ENABLE_MASK_MASK);
	}
}

/*
 * Gives a run to the card. One that completes run->done is the driver's, and moves memory
 * while all others are held back. Addresses are filled in here, under the lock that keeps
 * objects where they are. -EAGAIN: not now, wait on dev->idle; -ENODEV.
 */
int heddle_engine_start(struct heddle_device *dev, struct heddle_run *run)
{
	const struct heddle_patch *patch;
	struct heddle_job_descriptor *d;
	bool clear;
	u32 index;

	guard(heddle_lock)(&dev->lock);
	if (heddle_device_gone(dev->state))
		return -ENODEV;
	if (!dev->regs) { /* null_hw: moving memory that is not there is done */
		complete(run->done);
		return 0;
	}
	if (run->done ? dev->state != HEDDLE_DEVICE_COMPACTING :
			dev->hold || !heddle_device_accepts_jobs(dev->state))
		return -EAGAIN;
	if (heddle_ring_push(&dev->ring, &index))
		return -EAGAIN; /* the scheduler's depth is far below the ring's */
	run->id = dev->next_fence++;
	run->start_ns = ktime_get_ns();
	for (patch = run->patches; patch < run->patches + run->num_patches; patch++)
		*patch->where = cpu_to_le64(patch->alloc->node.offset + patch->offset);
	clear = heddle_sram_take(&dev->sram_owner, run->client, run->uses_sram);

	d = &dev->rings->descriptors[index];
	memset(d, 0, sizeof(*d));
	d->fence = cpu_to_le64(run->id);
	d->steps_iova = cpu_to_le64(run->steps_dma);
	d->step_count = cpu_to_le32(run->num_steps);
	d->flags = cpu_to_le32(HEDDLE_JOB_DESCRIPTOR_FLAGS_INTERRUPT_MASK |
			       (clear ? HEDDLE_JOB_DESCRIPTOR_FLAGS_CLEAR_SRAM_MASK : 0));
	d->context_id = cpu_to_le32((u32)run->client);
	if (run->outcome->trace) {
		d->flags |= cpu_to_le32(HEDDLE_JOB_DESCRIPTOR_FLAGS_TRACE_MASK);
		d->trace_iova = cpu_to_le64(run->outcome->trace->area->dma);
		d->trace_entries = cpu_to_le32(run->outcome->trace->entries);
	}
	heddle_job_step(&run->outcome->state, HEDDLE_JOB_START);
	if (run->outcome->context)
		heddle_fair_start(&run->outcome->context->file->fair);
	list_add_tail(&run->link, &dev->in_flight);
	trace_heddle_start(dev, run);
	dma_wmb(); /* the descriptor before the doorbell */
	heddle_write(dev, HEDDLE_REG_RING_HEAD(0), dev->ring.head);
	heddle_queue_watch(dev, HEDDLE_BUSY_MS);
	return 0;
}

/* Copies what the card says of a job, each value within its bounds. */
static void heddle_take_record(struct drm_heddle_result *result,
			       const struct heddle_completion *record)
{
	result->fault_step = min(le32_to_cpu(record->fault_step), HEDDLE_STEPS_MAX - 1);
	result->fault_offset = min(le32_to_cpu(record->fault_offset), HEDDLE_STREAM_BYTES_MAX);
	result->fault_tag = le32_to_cpu(record->fault_tag);
	result->fault_region = min(le32_to_cpu(record->fault_region), HEDDLE_REGIONS - 1);
	result->fault_address = le64_to_cpu(record->fault_address);
	result->cycles = le64_to_cpu(record->cycles);
	result->macs = le64_to_cpu(record->macs);
	result->commands = le64_to_cpu(record->commands);
	result->bytes_loaded = le64_to_cpu(record->bytes_loaded);
	result->bytes_stored = le64_to_cpu(record->bytes_stored);
	result->matrix_busy = le64_to_cpu(record->matrix_busy);
	result->vector_busy = le64_to_cpu(record->vector_busy);
	result->dma_busy = le64_to_cpu(record->dma_busy);
}

/* A run that has ended, in the sums of all or of one file; @jobs: whether it is a client's. */
static void heddle_count(struct drm_heddle_counters *counters, u32 status, bool jobs,
			 const struct heddle_completion *record)
{
	counters->jobs += jobs;
	counters->faults += jobs && status != HEDDLE_ERROR_OK;
	if (!record)
		return;
	counters->cycles += le64_to_cpu(record->cycles);
	counters->macs += le64_to_cpu(record->macs);
	counters->bytes_copied += le64_to_cpu(record->bytes_copied);
}

static void heddle_note_hang(struct heddle_device *dev, struct heddle_context *context)
{
	struct heddle_file *file = context->file;

	WRITE_ONCE(context->hangs, context->hangs + 1);
	spin_lock(&file->lock);
	heddle_usage_hang(&file->usage, &dev->limits);
	spin_unlock(&file->lock);
}

/* The card no longer has @run: its result, and off to @ended. Holds dev->lock. */
static void heddle_end_run(struct heddle_device *dev, struct heddle_run *run,
			   enum heddle_job_event event, const struct heddle_completion *record,
			   struct list_head *ended)
{
	struct heddle_outcome *outcome = run->outcome;
	struct drm_heddle_result *result = &outcome->result;
	bool lost = heddle_device_gone(dev->state);
	u64 now = ktime_get_ns();
	u64 held = now - max(run->start_ns, dev->last_end_ns);

	lockdep_assert_held(&dev->lock);
	heddle_job_step(&outcome->state, event);
	if (record)
		heddle_take_record(result, record);
	if (record && outcome->trace)
		outcome->trace->count = le32_to_cpu(record->trace_count);
	if (record && run->step_of)
		result->fault_step = run->step_of[result->fault_step];
	result->status = heddle_job_status(outcome->state,
					   record ? le32_to_cpu(record->status) : 0, lost);
	result->error = heddle_job_errno(result->status);
	if (run->prepares && result->status == HEDDLE_ERROR_OK)
		WRITE_ONCE(run->prepares->prepared, true);
	heddle_count(&dev->counters, result->status, outcome->context && !lost, record);
	if (outcome->context) {
		struct heddle_file *file = outcome->context->file;

		heddle_rest_end(outcome, true, held, now);
		if (event == HEDDLE_JOB_HANG)
			heddle_note_hang(dev, outcome->context);
		atomic64_add(held, &file->busy_ns);
		heddle_count(&file->counters, result->status, !lost, record);
	}
	dev->last_end_ns = now;
	if (run == dev->guilty)
		WRITE_ONCE(dev->guilty_ended, true);
	heddle_ring_retire(&dev->ring);
	list_move_tail(&run->link, ended);
	if (list_empty(&dev->in_flight))
		heddle_watch_idle(&dev->watch);
	trace_heddle_end(dev, run);
}

/* Without dev->lock: what waits for these runs goes on. They may be gone afterwards. */
static void heddle_signal(struct heddle_device *dev, struct list_head *ended)
{
	struct heddle_run *run, *next;

	list_for_each_entry_safe(run, next, ended, link) {
		struct dma_fence *fence = run->fence ? dma_fence_get(&run->fence->base) : NULL;
		struct heddle_outcome *outcome = run->outcome;
		struct completion *completed = run->done;
		int error = -(int)outcome->result.error;

		list_del_init(&run->link);
		if (completed) {
			complete(completed);
			continue;
		}
		heddle_host_sync(container_of(run, struct heddle_job, run), false);
		if (error) {
			dma_fence_set_error(fence, error);
			/* Some schedulers do not pass the error on. */
			if (!dma_fence_is_signaled(outcome->finished))
				dma_fence_set_error(outcome->finished, error);
		}
		dma_fence_signal(fence);
		dma_fence_put(fence);
	}
	heddle_rest_check(dev);
	wake_up_all(&dev->idle);
}

static struct heddle_run *heddle_find_run(struct heddle_device *dev, u64 id)
{
	struct heddle_run *run;

	list_for_each_entry(run, &dev->in_flight, link)
		if (run->id == id)
			return run;
	return NULL;
}

/* Takes the next completion record; false: there is none. Holds dev->lock. */
static bool heddle_take_completion(struct heddle_device *dev, struct list_head *ended)
{
	u32 index = heddle_completion_index(&dev->completions);
	__le32 sequence = READ_ONCE(dev->rings->records[index].sequence);
	struct heddle_completion record;
	struct heddle_run *run;
	bool hung;

	if (heddle_device_gone(dev->state) ||
	    !heddle_completion_ready(&dev->completions, le32_to_cpu(sequence)))
		return false;
	dma_rmb(); /* the sequence number before the rest */
	record = dev->rings->records[index];
	heddle_completion_advance(&dev->completions);
	run = heddle_find_run(dev, le64_to_cpu(record.fence));
	if (!run) {
		dev_warn_ratelimited(dev->drm.dev, "completion of an unknown job %llu\n",
				     le64_to_cpu(record.fence));
		return true;
	}
	hung = run == dev->guilty && le32_to_cpu(record.status) == HEDDLE_ERROR_ABORTED;
	heddle_end_run(dev, run, hung ? dev->guilty_event : HEDDLE_JOB_COMPLETE, &record, ended);
	return true;
}

/* Takes all new completion records. Any context. */
void heddle_engine_reap(struct heddle_device *dev)
{
	LIST_HEAD(ended);

	guard(heddle_signalling)();
	scoped_guard(heddle_lock, &dev->lock)
		while (heddle_take_completion(dev, &ended))
			;
	heddle_signal(dev, &ended);
}

/* Ends everything in flight: the card is gone, or was reset as a whole. */
void heddle_engine_end_all(struct heddle_device *dev, enum heddle_job_event event)
{
	struct heddle_run *run, *next;
	LIST_HEAD(ended);

	scoped_guard(heddle_lock, &dev->lock)
		list_for_each_entry_safe(run, next, &dev->in_flight, link)
			heddle_end_run(dev, run, run == dev->guilty ? dev->guilty_event : event,
				       NULL, &ended);
	heddle_signal(dev, &ended);
}

/* Has the jobs of @context that are with the card aborted: by the watchdog, when they run. */
void heddle_engine_cancel(struct heddle_device *dev, const struct heddle_context *context)
{
	struct heddle_run *run;

	guard(heddle_lock)(&dev->lock);
	list_for_each_entry(run, &dev->in_flight, link) {
		if (run->outcome->context != context)
			continue;
		run->cancelled = true;
		heddle_queue_watch(dev, 0);
	}
}
