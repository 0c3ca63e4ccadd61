// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Read-only debugfs files: registers, rings, buffers. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "heddle_drv.h"

static int heddle_registers_show(struct seq_file *m, void *unused)
{
	struct heddle_device *dev = m->private;
	int err;
	u32 reg;

	if (!dev->regs)
		return 0;
	CLASS(heddle_presence, present)(dev);
	if (present < 0)
		return -ENODEV;
	err = pm_runtime_resume_and_get(dev->drm.dev);
	if (err)
		return err;
	for (reg = 0; reg <= HEDDLE_REG_COUNTER_SRAM_CORRECTED; reg += sizeof(u32))
		seq_printf(m, "%#06x %#010x\n", reg, heddle_read(dev, reg));
	pm_runtime_put_autosuspend(dev->drm.dev);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(heddle_registers);

static int heddle_rings_show(struct seq_file *m, void *unused)
{
	struct heddle_device *dev = m->private;
	struct heddle_run *run;

	guard(heddle_lock)(&dev->lock);
	seq_printf(m, "state %d hold %d head %u tail %u next completion %u\n", dev->state,
		   dev->hold, dev->ring.head, dev->ring.tail, dev->completions.next);
	list_for_each_entry(run, &dev->in_flight, link)
		seq_printf(m, "fence %llu client %llu seqno %llu steps %u\n", run->id, run->client,
			   run->seqno, run->num_steps);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(heddle_rings);

static int heddle_buffers_show(struct seq_file *m, void *unused)
{
	struct heddle_device *dev = m->private;
	struct heddle_mem_node *node;
	struct heddle_file *file;

	scoped_guard(mutex, &dev->files_lock)
		list_for_each_entry(file, &dev->files, link)
			seq_printf(m, "client %llu device %llu host %lld\n", file->client,
				   heddle_file_used(file, HEDDLE_DEVICE_BYTES),
				   atomic64_read(&file->host_bytes));
	guard(mutex)(&dev->mem_lock);
	seq_printf(m, "total %llu used %llu\n", dev->mem.total, dev->mem.used);
	for (node = dev->mem.first; node; node = node->next)
		seq_printf(m, "%#012llx %#llx\n", node->offset, node->size);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(heddle_buffers);

void heddle_debugfs_init(struct drm_minor *minor)
{
	struct heddle_device *dev = to_heddle(minor->dev);

	debugfs_create_file("registers", 0400, minor->debugfs_root, dev, &heddle_registers_fops);
	debugfs_create_file("rings", 0400, minor->debugfs_root, dev, &heddle_rings_fops);
	debugfs_create_file("buffers", 0400, minor->debugfs_root, dev, &heddle_buffers_fops);
}
