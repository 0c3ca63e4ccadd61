// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Begin and end of a job's commands, as recorded by the card. Their memory belongs to the
 * driver and is part of the job's outcome, which the job holds as long as the card may
 * write; user space gets copies through WAIT.
 */
#include "heddle_args.h"
#include "heddle_drv.h"

/* Room for @entries commands of a job whose steps have been written; 0: none is wanted. */
int heddle_cmdtrace_alloc(struct heddle_job *job, u32 entries)
{
	struct heddle_file *file = job->context->file;
	struct heddle_cmdtrace *trace;
	struct heddle_area *area;
	int err;

	if (!entries)
		return 0;
	trace = kzalloc_obj(*trace, GFP_KERNEL_ACCOUNT);
	if (!trace)
		return -ENOMEM;
	job->run.outcome->trace = trace;
	area = heddle_area_alloc(job->dev, entries * sizeof(struct heddle_trace_entry));
	if (IS_ERR(area))
		return PTR_ERR(area);
	trace->area = area;
	trace->entries = entries;
	memcpy(trace->step_of, job->step_of, sizeof(trace->step_of));
	err = heddle_file_charge(file, HEDDLE_PINNED_BYTES, area->size);
	if (err)
		return err;
	kref_get(&file->ref);
	trace->file = file;
	return 0;
}

/* Nobody can ask for it any more, and the card is done with it. */
void heddle_cmdtrace_free(struct heddle_device *dev, struct heddle_cmdtrace *trace)
{
	if (!trace)
		return;
	if (trace->file) {
		heddle_file_uncharge(trace->file, HEDDLE_PINNED_BYTES, trace->area->size);
		heddle_file_put(trace->file);
	}
	heddle_area_free(dev, trace->area);
	kfree(trace);
}

/* What WAIT says of a job that has ended and whose trace is wanted. */
int heddle_cmdtrace_fill(const struct heddle_outcome *outcome, struct drm_heddle_wait *args)
{
	const struct heddle_cmdtrace *trace = outcome->trace;
	u32 entries = trace ? trace->entries : 0;
	const struct heddle_trace_entry *from;
	struct drm_heddle_trace_entry entry;
	int err = 0;
	u32 i;

	if (args->trace.count > entries)
		return heddle_refuse(-EINVAL, "count of trace", args->trace.count, entries);
	args->trace_count = trace->count;
	for (i = 0; i < args->trace.count && !err; i++) {
		scoped_guard(mutex, &outcome->dev->host_lock) {
			from = trace->area->cpu;
			if (!from) /* taken back from a card that is gone */
				return -ENODEV;
			heddle_trace_tell(&entry, &from[i], trace->step_of);
		}
		err = heddle_fill_element(&args->trace, i, &entry, sizeof(entry));
	}
	return err;
}
