// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* WAIT: sleeps until a job has ended, and returns its result. */
#include <linux/sched/signal.h>

#include "heddle_args.h"
#include "heddle_drv.h"

/* Until an absolute CLOCK_MONOTONIC time: KTIME_MAX = no limit, 0 = do not wait. */
ktime_t heddle_time_left(u64 deadline_ns)
{
	u64 now = ktime_get_ns();

	if (deadline_ns == ~0ULL)
		return KTIME_MAX;
	if (deadline_ns <= now)
		return 0;
	return ns_to_ktime(min_t(u64, deadline_ns - now, KTIME_MAX - 1));
}

static struct heddle_outcome *heddle_outcome_find(struct heddle_context *context, u64 seqno)
{
	struct heddle_outcome *outcome = NULL;

	guard(mutex)(&context->lock);
	if (seqno >= context->oldest && seqno < context->next_seqno)
		outcome = xa_load(&context->outcomes, seqno);
	/* One that was never queued has no fence. */
	if (!outcome || !outcome->finished)
		return NULL;
	kref_get(&outcome->ref);
	return outcome;
}

int heddle_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_context *context __free(heddle_context) = NULL;
	struct heddle_outcome *outcome __free(heddle_outcome) = NULL;
	struct heddle_file *file = drm_file->driver_priv;
	struct heddle_device *dev = to_heddle(drm);
	struct drm_heddle_wait *args = data;
	int err;

	err = heddle_check_wait(args);
	if (err)
		return err;
	context = heddle_find(&file->contexts, args->context);
	if (!context)
		return heddle_refuse_unknown("context", args->context);
	outcome = heddle_outcome_find(context, args->seqno);
	if (!outcome)
		return heddle_refuse(-ENOENT, "seqno", args->seqno,
				     READ_ONCE(context->next_seqno) - 1);
	err = heddle_wait_until(context->wq, heddle_outcome_ended(outcome) || heddle_gone(dev),
				args->deadline_ns);
	if (heddle_gone(dev))
		return -ENODEV;
	if (!err && args->result.count)
		err = heddle_fill_element(&args->result, 0, &outcome->result,
					  sizeof(outcome->result));
	if (!err && args->trace.count)
		err = heddle_cmdtrace_fill(outcome, args);
	return err;
}
