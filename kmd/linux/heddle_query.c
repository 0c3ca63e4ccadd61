// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* QUERY, and a file's statistics in /proc/PID/fdinfo. */
#include <linux/capability.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "heddle_args.h"
#include "heddle_drv.h"

static void heddle_query_memory(struct heddle_file *file, struct drm_heddle_memory_info *info)
{
	struct heddle_device *dev = file->dev;

	guard(mutex)(&dev->mem_lock);
	info->total = dev->mem.total;
	info->used = dev->mem.used;
	info->generation = dev->mem_generation;
	/* What a file is charged for precedes its memory, and outlives it for a moment. */
	info->used_here = min(heddle_file_used(file, HEDDLE_DEVICE_BYTES), info->used);
}

/* What everybody does together is nobody's business without CAP_PERFMON. */
static void heddle_query_counters(struct heddle_file *asking, struct drm_heddle_counters *counters)
{
	struct heddle_device *dev = asking->dev;
	bool all = perfmon_capable();
	struct heddle_file *file;
	u64 queued = 0;

	scoped_guard(mutex, &dev->files_lock)
		list_for_each_entry(file, &dev->files, link)
			if (all || file == asking)
				queued += heddle_file_used(file, HEDDLE_JOBS);
	guard(heddle_lock)(&dev->lock);
	*counters = all ? dev->counters : asking->counters;
	counters->queued = queued;
}

int heddle_query_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	struct drm_heddle_query *args = data;
	union {
		struct drm_heddle_memory_info memory;
		struct drm_heddle_counters counters;
		struct drm_heddle_limits limits;
	} answer = {};
	const void *from = &answer;
	int err;

	err = heddle_check_query(args);
	if (err)
		return err;
	args->size = heddle_query_size(args->type);
	if (!args->data.count || !args->data.stride)
		return 0;
	if (args->type == DRM_HEDDLE_QUERY_DEVICE)
		from = &file->dev->info;
	else if (args->type == DRM_HEDDLE_QUERY_MEMORY)
		heddle_query_memory(file, &answer.memory);
	else if (args->type == DRM_HEDDLE_QUERY_LIMITS)
		scoped_guard(mutex, &file->dev->mem_lock) /* its size is one of them */
			answer.limits = file->dev->limits;
	else
		heddle_query_counters(file, &answer.counters);
	return heddle_fill_element(&args->data, 0, from, args->size);
}

/* Under the name of the kernel's documentation since 6.5, and the one before. */
static void heddle_show_memory(struct seq_file *m, const char *region, s64 bytes)
{
	seq_printf(m, "drm-total-%s:\t%lld KiB\n", region, bytes / SZ_1K);
	seq_printf(m, "drm-memory-%s:\t%lld KiB\n", region, bytes / SZ_1K);
}

/* Documentation/gpu/drm-usage-stats.rst; "memory" is its name for system memory. */
void heddle_show_fdinfo(struct seq_file *m, struct file *f)
{
	struct drm_file *drm_file = f->private_data;
	struct heddle_file *file = drm_file->driver_priv;
	struct device *parent = file->dev->drm.dev;

	seq_puts(m, "drm-driver:\theddle\n");
	seq_printf(m, "drm-client-id:\t%llu\n", file->client);
	if (dev_is_pci(parent))
		seq_printf(m, "drm-pdev:\t%s\n", pci_name(to_pci_dev(parent)));
	seq_printf(m, "drm-engine-npu:\t%lld ns\n", atomic64_read(&file->busy_ns));
	heddle_show_memory(m, "device", heddle_file_used(file, HEDDLE_DEVICE_BYTES));
	heddle_show_memory(m, "memory", atomic64_read(&file->host_bytes));
	seq_printf(m, "heddle-jobs:\t%llu\n", READ_ONCE(file->counters.jobs));
}
