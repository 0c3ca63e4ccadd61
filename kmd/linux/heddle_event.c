// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* EVENTS: events of the card, queued per file, and sent as uevents. */
#include <linux/kobject.h>
#include <linux/poll.h>

#include "heddle_args.h"
#include "heddle_drv.h"

static void heddle_queue_event(struct heddle_file *file, const struct drm_heddle_event *event)
{
	scoped_guard(heddle_lock, &file->lock) {
		if (kfifo_is_full(&file->events)) {
			kfifo_skip(&file->events);
			file->lost_events++;
		}
		kfifo_put(&file->events, *event);
	}
	wake_up_all(&file->wq);
}

/* Tells all files, and udev. Others than the client of a reset see zeros. */
static void heddle_notify(struct heddle_device *dev, const struct heddle_report *report)
{
	static const char *const names[] = {
		[DRM_HEDDLE_EVENT_REMOVED] = "HEDDLE_EVENT=OFFLINE",
		[DRM_HEDDLE_EVENT_RESET] = "HEDDLE_EVENT=RESET",
		[DRM_HEDDLE_EVENT_MEMORY] = "HEDDLE_EVENT=MEMORY",
		[DRM_HEDDLE_EVENT_CORRECTED] = "HEDDLE_EVENT=CORRECTED",
	};
	char *env[] = { (char *)names[report->type], NULL };
	struct heddle_file *file;

	mutex_lock(&dev->files_lock);
	list_for_each_entry(file, &dev->files, link) {
		struct drm_heddle_event event = {
			.type = report->type,
			.value = report->value,
			.time_ns = ktime_get_ns(),
		};

		if (report->type == DRM_HEDDLE_EVENT_RESET) {
			event.context = file->client == report->client ? report->context : 0;
			event.value = file->client == report->client ? report->value : 0;
		}
		heddle_queue_event(file, &event);
	}
	if (report->type == DRM_HEDDLE_EVENT_REMOVED)
		WRITE_ONCE(dev->told_gone, true);
	mutex_unlock(&dev->files_lock);
	kobject_uevent_env(&dev->drm.dev->kobj, KOBJ_CHANGE, env);
}

/*
 * The same, a moment later, from where fences must not wait for memory. The loss of
 * the card is the last report of all and has the last place.
 */
void heddle_report(struct heddle_device *dev, const struct heddle_report *report)
{
	u32 kept = report->type == DRM_HEDDLE_EVENT_REMOVED ? 0 : 1;

	scoped_guard(heddle_lock, &dev->lock)
		if (kfifo_avail(&dev->reports) > kept)
			kfifo_put(&dev->reports, *report);
	queue_work(heddle_report_wq, &dev->report_work);
}

void heddle_report_work(struct work_struct *work)
{
	struct heddle_device *dev = container_of(work, struct heddle_device, report_work);
	struct heddle_report report;

	heddle_coredump_write(dev);
	while (kfifo_out_spinlocked(&dev->reports, &report, 1, &dev->lock)) {
		heddle_notify(dev, &report);
		if (report.type == DRM_HEDDLE_EVENT_REMOVED)
			heddle_contexts_wake(dev);
	}
}

/* Readable: EVENTS has something to tell. */
__poll_t heddle_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct drm_file *drm_file = filp->private_data;
	struct heddle_file *file = drm_file->driver_priv;

	poll_wait(filp, &file->wq, wait);
	return (kfifo_is_empty(&file->events) ? 0 : EPOLLIN | EPOLLRDNORM) |
	       (READ_ONCE(file->dev->told_gone) ? EPOLLHUP : 0);
}

/* The oldest events, at most @max, copied to the caller one by one. */
static int heddle_take_events(struct heddle_file *file, struct drm_heddle_events *args)
{
	struct drm_heddle_event event;
	int err = 0;

	args->filled = 0;
	while (!err && args->filled < args->events.count &&
	       kfifo_out_spinlocked(&file->events, &event, 1, &file->lock))
		err = heddle_fill_element(&args->events, args->filled++, &event, sizeof(event));
	if (args->filled) {
		guard(heddle_lock)(&file->lock);
		args->lost = file->lost_events;
		file->lost_events = 0;
	}
	return err;
}

int heddle_events_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	struct drm_heddle_events *args = data;
	bool *gone = &file->dev->told_gone;
	int err;

	err = heddle_check_events(args);
	if (err)
		return err;
	/* Another thread may take what woke this one. */
	do {
		err = heddle_wait_until(file->wq,
					!kfifo_is_empty(&file->events) || READ_ONCE(*gone),
					args->deadline_ns);
		if (!kfifo_is_empty(&file->events)) {
			err = heddle_take_events(file, args);
			if (err || args->filled)
				return err;
		} else if (READ_ONCE(*gone)) {
			return -ENODEV;
		}
	} while (!err);
	return err;
}
