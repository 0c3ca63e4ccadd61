// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The hangcheck: finds jobs without progress and cards that do not respond.
 *
 *   no progress for the job's limit, or too many cycles -> ABORT (it ends at a command boundary)
 *   it does not end in time         -> RESET.engine (only that job fails)
 *   the engine does not come back   -> RESET.card (all jobs with the card fail)
 *   that does not help either       -> the card is given up, as if unplugged
 *
 * A job whose context is gone ends in the same way, but does not count as a hang.
 *
 * The states are those of kmd/core/heddle_state.c. Everything here runs in one
 * work item, which also handles completion records whose interrupt was lost. Other
 * clients' jobs depend on it, so it never waits: it leaves that to heddle_report_wq.
 */
#include <linux/pci.h>

#include "heddle_drv.h"
#include "heddle_trace.h"

#define HEDDLE_ABORT_GRACE_MS	500
#define HEDDLE_RESET_GRACE_MS	10000
#define HEDDLE_OPEN_MS		500
#define HEDDLE_ENDING_MS	5

/* Whether the registers read as those of a card that is not there. */
bool heddle_card_lost(struct heddle_device *dev)
{
	return dev->regs && heddle_read(dev, HEDDLE_REG_ID) != HEDDLE_REG_ID_RESET;
}

static bool heddle_masters_bus(struct pci_dev *pdev)
{
	u16 command;

	/* Who does not answer is off the bus. */
	pci_read_config_word(pdev, PCI_COMMAND, &command);
	return command != (u16)~0 && command & PCI_COMMAND_MASTER;
}

/*
 * Takes the bus from the card, whatever it is at. When the answer to the read is here,
 * so is all that the card wrote before: nothing of it comes later.
 */
void heddle_quiet(struct heddle_device *dev)
{
	struct pci_dev *pdev;

	if (!dev->regs)
		return;
	pdev = to_pci_dev(dev->drm.dev);
	pci_clear_master(pdev);
	if (!heddle_masters_bus(pdev))
		return;
	dev_crit(&pdev->dev, "the card keeps the bus: turning it off\n");
	pci_set_power_state(pdev, PCI_D3hot); /* which forbids it, too */
}

/* Gives the card up. May be called more than once, and with the card in any condition. */
void heddle_mark_lost(struct heddle_device *dev, const char *why)
{
	u64 jobs;

	guard(heddle_signalling)();
	scoped_guard(heddle_lock, &dev->lock) {
		dev->guilty = NULL;
		if (heddle_step(dev, HEDDLE_DEVICE_LOST))
			return;
		jobs = dev->counters.jobs;
	}
	dev_warn(dev->drm.dev, "the card is lost: %s\n", why);
	trace_heddle_lost(dev, jobs);
	heddle_quiet(dev); /* before anybody believes that their memory is their own */
	heddle_engine_end_all(dev, HEDDLE_JOB_LOST);
	heddle_report(dev, &(struct heddle_report) { .type = DRM_HEDDLE_EVENT_REMOVED });
}

/* Holds heddle_device.lock, so that nothing is queued after heddle_mark_lost(). */
void heddle_queue_watch(struct heddle_device *dev, unsigned int ms)
{
	lockdep_assert_held(&dev->lock);
	if (!dev->regs || heddle_device_gone(dev->state))
		return;
	if (ms)
		queue_delayed_work(heddle_signal_wq, &dev->watch_work, msecs_to_jiffies(ms));
	else
		mod_delayed_work(heddle_signal_wq, &dev->watch_work, 0);
}

void heddle_schedule_watch(struct heddle_device *dev)
{
	guard(heddle_lock)(&dev->lock);
	heddle_queue_watch(dev, HEDDLE_BUSY_MS);
}

static void heddle_begin_reset(struct heddle_device *dev, u32 mask, u64 now)
{
	dev->ready_seen = false;
	dev->deadline_ns = now + HEDDLE_RESET_GRACE_MS * NSEC_PER_MSEC;
	scoped_guard(heddle_lock, &dev->lock)
		dev->counters.resets++;
	trace_heddle_reset(dev, mask);
	heddle_write(dev, HEDDLE_REG_RESET, mask);
}

static void heddle_watch_abort(struct heddle_device *dev, u32 status, u64 now)
{
	bool halted = status & HEDDLE_STATUS_HALTED_MASK;

	scoped_guard(heddle_lock, &dev->lock) {
		if (dev->guilty_ended && !halted) {
			heddle_step(dev, HEDDLE_DEVICE_ABORTED);
			dev->guilty = NULL;
			wake_up_all(&dev->idle);
			return;
		}
		if (!halted && now < dev->deadline_ns)
			return;
		heddle_step(dev, HEDDLE_DEVICE_STUCK);
	}
	dev->card_reset = false;
	heddle_begin_reset(dev, HEDDLE_RESET_ENGINE_MASK, now);
}

static void heddle_watch_reset(struct heddle_device *dev, u32 status, u64 now)
{
	if (status & HEDDLE_STATUS_READY_MASK)
		dev->ready_seen = true;
	if (dev->ready_seen && dev->card_reset) {
		/* The card has forgotten its rings, and all that was in them. */
		heddle_engine_end_all(dev, HEDDLE_JOB_LOST);
		heddle_engine_rings(dev);
		/* And its vectors: until they are back, the watchdog is who sees that jobs end. */
		WRITE_ONCE(dev->vectors_lost, true);
		queue_work(heddle_report_wq, &dev->memory_work);
	}
	if (dev->ready_seen && READ_ONCE(dev->guilty_ended)) {
		scoped_guard(heddle_lock, &dev->lock) {
			dev->sram_owner = 0;
			heddle_watch_idle(&dev->watch);
			dev->guilty = NULL;
			heddle_step(dev, HEDDLE_DEVICE_RESET_DONE);
		}
		wake_up_all(&dev->idle);
		if (dev->guilty_event == HEDDLE_JOB_HANG || dev->card_reset)
			heddle_report(dev, &dev->guilty_report);
		return;
	}
	if (now < dev->deadline_ns)
		return;
	if (dev->card_reset) {
		heddle_mark_lost(dev, "it cannot be reset");
		return;
	}
	dev_warn(dev->drm.dev, "the engine does not recover: resetting the card\n");
	dev->card_reset = true;
	heddle_begin_reset(dev, HEDDLE_RESET_CARD_MASK, now);
}

/*
 * Whether @run has taken more cycles than it may, since it was first seen to run. On a
 * core without timing that is for the bound at submission alone. Holds dev->lock.
 */
static bool heddle_runs_too_long(struct heddle_device *dev, const struct heddle_run *run,
				 u64 cycles)
{
	if (dev->watched_fence != run->id || cycles < dev->watched_cycles) {
		dev->watched_fence = run->id;
		dev->watched_cycles = cycles;
	}
	return run->run_cycles && cycles != ~0ULL &&
	       cycles - dev->watched_cycles > run->run_cycles;
}

/*
 * Whether the job that the card runs must be ended: its context is gone, it has been
 * silent or has run for too long, or the engine has halted by itself. It is dev->guilty
 * then.
 */
static bool heddle_find_guilty(struct heddle_device *dev, u32 status, u64 now)
{
	u64 fence = heddle_read64(dev, HEDDLE_REG_RUNNING_LO, HEDDLE_REG_RUNNING_HI);
	u32 progress = heddle_read(dev, HEDDLE_REG_PROGRESS);
	u64 cycles = heddle_read64(dev, HEDDLE_REG_COUNTER_CYCLES_LO,
				   HEDDLE_REG_COUNTER_CYCLES_HI);
	struct heddle_run *suspect = NULL;
	struct heddle_run *run;
	bool runs;
	bool hung;

	guard(heddle_lock)(&dev->lock);
	list_for_each_entry(run, &dev->in_flight, link)
		if (!suspect || run->id == fence)
			suspect = run;
	if (!suspect || heddle_device_gone(dev->state)) /* a lost card hangs nobody's job */
		return false;
	runs = suspect->id == fence;
	hung = heddle_watch_stuck(&dev->watch, suspect->id, progress, now,
				  heddle_job_timeout(suspect->timeout_ns, dev->timeout_ns)) ||
	       (status & HEDDLE_STATUS_HALTED_MASK);
	if (runs)
		hung = heddle_runs_too_long(dev, suspect, cycles) || hung;
	if (!hung && !(runs && suspect->cancelled))
		return false;
	dev->guilty = suspect;
	dev->guilty_ended = false;
	dev->guilty_event = hung ? HEDDLE_JOB_HANG : HEDDLE_JOB_CANCEL;
	dev->guilty_report = (struct heddle_report) {
		.type = DRM_HEDDLE_EVENT_RESET,
		.context = suspect->outcome->context ? suspect->outcome->context->id : 0,
		.client = suspect->client,
		.value = suspect->seqno,
	};
	return true;
}

static void heddle_abort(struct heddle_device *dev, u64 now)
{
	bool hung = dev->guilty_event == HEDDLE_JOB_HANG;
	bool compacting;
	u32 fence = 0;

	if (hung)
		heddle_coredump_take(dev);
	scoped_guard(heddle_lock, &dev->lock) {
		compacting = dev->state == HEDDLE_DEVICE_COMPACTING;
		if (!compacting && !heddle_device_gone(dev->state)) {
			fence = dev->guilty_ended ? 0 : (u32)dev->guilty->id;
			heddle_step(dev, HEDDLE_DEVICE_HANG);
		}
	}
	dev->deadline_ns = now + HEDDLE_ABORT_GRACE_MS * NSEC_PER_MSEC;
	if (fence)
		heddle_write(dev, HEDDLE_REG_ABORT, fence);
	if (hung)
		queue_work(heddle_report_wq, &dev->report_work); /* the dump */
	if (compacting)
		heddle_mark_lost(dev, "compaction hangs; its memory is not to be trusted");
	else if (hung && __ratelimit(&dev->warnings))
		dev_warn(dev->drm.dev,
			 "job %llu of client %llu hangs or runs too long: aborting it\n",
			 dev->guilty_report.value, dev->guilty_report.client);
}

/* Whether a job waits for its turn to be aborted. Holds dev->lock. */
static bool heddle_any_cancelled(struct heddle_device *dev)
{
	struct heddle_run *run;

	list_for_each_entry(run, &dev->in_flight, link)
		if (run->cancelled)
			return true;
	return false;
}

static unsigned int heddle_watch_once(struct heddle_device *dev)
{
	u32 status = heddle_read(dev, HEDDLE_REG_STATUS); /* valid if the card answers below */
	u64 now = ktime_get_ns();

	heddle_engine_reap(dev); /* an interrupt may have been lost */
	if (heddle_gone(dev))
		return 0;
	if (heddle_card_lost(dev)) {
		heddle_mark_lost(dev, "it does not answer");
		return 0;
	}
	switch (READ_ONCE(dev->state)) {
	case HEDDLE_DEVICE_ABORTING:
		heddle_watch_abort(dev, status, now);
		break;
	case HEDDLE_DEVICE_RESETTING:
		heddle_watch_reset(dev, status, now);
		break;
	default:
		if (heddle_find_guilty(dev, status, now))
			heddle_abort(dev, now);
	}
	guard(heddle_lock)(&dev->lock);
	if (heddle_device_gone(dev->state))
		return 0;
	if (dev->state == HEDDLE_DEVICE_ABORTING || dev->state == HEDDLE_DEVICE_RESETTING ||
	    heddle_any_cancelled(dev))
		return HEDDLE_ENDING_MS;
	if (!list_empty(&dev->in_flight))
		return HEDDLE_BUSY_MS;
	return list_empty(&dev->files) ? 0 : HEDDLE_OPEN_MS;
}

void heddle_watch(struct work_struct *work)
{
	struct heddle_device *dev = container_of(to_delayed_work(work), struct heddle_device,
						 watch_work);
	unsigned int again;
	int active;

	CLASS(heddle_presence, present)(dev);
	if (present < 0)
		return;
	/* A card that sleeps has nothing to do; without power management none does. */
	active = pm_runtime_get_if_active(dev->drm.dev);
	if (!active)
		return;
	scoped_guard(heddle_signalling)
		again = heddle_watch_once(dev);
	scoped_guard(heddle_lock, &dev->lock)
		if (again)
			heddle_queue_watch(dev, again);
	if (active > 0)
		pm_runtime_put_autosuspend(dev->drm.dev);
}
