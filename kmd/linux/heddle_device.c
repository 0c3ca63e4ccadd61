// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Set-up and teardown of a card. heddle_device_fini() follows the order that
 * surprise removal needs: no new users, the card off the bus, then all waiters
 * are woken, then the memory that the card could reach is taken back.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include "heddle_drv.h"

#define HEDDLE_RESET_MS		10000
#define HEDDLE_SCRATCH_TEST	0x5a5aa5a5

static u64 heddle_default_timeout(u32 core_kind)
{
	if (heddle_timeout_ms)
		return (u64)heddle_timeout_ms * NSEC_PER_MSEC;
	switch (core_kind) {
	case HEDDLE_CORE_KIND_SILICON:
		return 2 * NSEC_PER_SEC;
	case HEDDLE_CORE_KIND_RTL: /* one command of a simulated core can take long */
		return 120 * NSEC_PER_SEC;
	default:
		return 30 * NSEC_PER_SEC;
	}
}

/* Takes over the size of device memory, which the card may change. */
static int heddle_read_memory_size(struct heddle_device *dev)
{
	u64 bytes = dev->regs ? heddle_read64(dev, HEDDLE_REG_DRAM_LO, HEDDLE_REG_DRAM_HI) :
				HEDDLE_DRAM_BYTES_DEFAULT;
	u64 total;

	if (heddle_mem_total(bytes, &total))
		return -ERANGE;
	guard(mutex)(&dev->mem_lock);
	dev->mem.total = total;
	WRITE_ONCE(dev->limits.device_bytes, total); /* who is charged looks without this lock */
	return 0;
}

/*
 * What the card cannot tell while its vectors are lost, or does not tell twice. A reset of
 * the whole card empties its table of messages; who restores them takes a mutex under which
 * others allocate: nothing for who signals fences.
 */
static void heddle_memory_changed(struct work_struct *work)
{
	struct heddle_device *dev = container_of(work, struct heddle_device, memory_work);
	u64 before = dev->mem.total;

	CLASS(heddle_presence, present)(dev);
	if (present < 0 || pm_runtime_resume_and_get(dev->drm.dev) < 0)
		return;
	if (!heddle_gone(dev)) {
		if (xchg(&dev->vectors_lost, false))
			pci_restore_msi_state(to_pci_dev(dev->drm.dev));
		if (heddle_card_lost(dev))
			heddle_mark_lost(dev, "it does not answer");
		else if (heddle_read_memory_size(dev))
			heddle_mark_lost(dev, "its memory has an impossible size");
	}
	if (!heddle_gone(dev) && dev->mem.total != before) {
		scoped_guard(mutex, &dev->mem_lock)
			dev->mem_generation++;
		heddle_report(dev, &(struct heddle_report) {
			.type = DRM_HEDDLE_EVENT_MEMORY,
			.value = dev->mem.total,
		});
	}
	pm_runtime_put_autosuspend(dev->drm.dev);
}

/*
 * Resets the card, waits until it is ready, and sees that it keeps what is written. Also
 * after its power was off: nothing is known of it.
 */
int heddle_card_start(struct heddle_device *dev)
{
	unsigned long limit = jiffies + msecs_to_jiffies(HEDDLE_RESET_MS);

	heddle_write(dev, HEDDLE_REG_RESET, HEDDLE_RESET_CARD_MASK);
	while (!(heddle_read(dev, HEDDLE_REG_STATUS) & HEDDLE_STATUS_READY_MASK)) {
		if (heddle_card_lost(dev) || time_after(jiffies, limit))
			return -ENODEV;
		usleep_range(200, 1000);
	}
	if (heddle_card_lost(dev))
		return -ENODEV;
	heddle_write(dev, HEDDLE_REG_SCRATCH, HEDDLE_SCRATCH_TEST);
	return heddle_read(dev, HEDDLE_REG_SCRATCH) == HEDDLE_SCRATCH_TEST ? 0 : -EIO;
}

static int heddle_identify(struct heddle_device *dev)
{
	struct device *parent = dev->drm.dev;
	struct drm_heddle_device_info *info = &dev->info;

	info->hw_version = HEDDLE_REG_VERSION_RESET & HEDDLE_VERSION_MAJOR_MASK; /* null_hw */
	info->config = HEDDLE_CONFIG_H256;
	info->core_kind = HEDDLE_CORE_KIND_FUNCTIONAL;
	if (dev->regs) {
		if (heddle_card_lost(dev))
			return dev_err_probe(parent, -ENODEV, "the card does not answer\n");
		info->hw_version = heddle_read(dev, HEDDLE_REG_VERSION);
		info->config = heddle_read(dev, HEDDLE_REG_CONFIG);
		info->core_kind = (heddle_read(dev, HEDDLE_REG_CORE_KIND) &
				   HEDDLE_CORE_KIND_KIND_MASK) >> HEDDLE_CORE_KIND_KIND_SHIFT;
		info->unique = heddle_read64(dev, HEDDLE_REG_UNIQUE_LO, HEDDLE_REG_UNIQUE_HI);
	}
	if ((info->hw_version ^ HEDDLE_REG_VERSION_RESET) & HEDDLE_VERSION_MAJOR_MASK)
		return dev_err_probe(parent, -ENODEV,
				     "hardware version %u is not known: update the driver\n",
				     info->hw_version >> HEDDLE_VERSION_MAJOR_SHIFT);
	dev->config = heddle_find_config(info->config);
	if (!dev->config)
		return dev_err_probe(parent, -ENODEV,
				     "configuration %u is not known: update the driver\n",
				     info->config);
	info->priorities = HEDDLE_RINGS;
	info->max_stream_bytes = HEDDLE_STREAM_BYTES_MAX;
	info->max_steps = HEDDLE_STEPS_MAX;
	info->pci_vendor = HEDDLE_PCI_VENDOR_ID;
	info->pci_device = HEDDLE_PCI_DEVICE_ID;
	if (dev_is_pci(parent)) {
		struct pci_dev *pdev = to_pci_dev(parent);

		info->pci_bdf = pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
	}
	dev->timeout_ns = heddle_default_timeout(info->core_kind);
	if (heddle_read_memory_size(dev))
		return dev_err_probe(parent, -ENODEV, "its memory has an impossible size\n");
	heddle_limits_init(&dev->limits, dev->mem.total, (u64)totalram_pages() << PAGE_SHIFT,
			   dev->timeout_ns);
	if (heddle_run_cycles)
		dev->limits.run_cycles = heddle_run_cycles;
	return 0;
}

int heddle_device_init(struct heddle_device *dev)
{
	int err;

	mutex_init(&dev->own_lock);
	mutex_init(&dev->map_lock);
	mutex_init(&dev->host_lock);
	mutex_init(&dev->files_lock);
	spin_lock_init(&dev->lock);
	INIT_LIST_HEAD(&dev->mapped);
	INIT_LIST_HEAD(&dev->areas);
	INIT_LIST_HEAD(&dev->in_flight);
	INIT_LIST_HEAD(&dev->files);
	heddle_rest_init(dev);
	init_waitqueue_head(&dev->idle);
	INIT_DELAYED_WORK(&dev->watch_work, heddle_watch);
	INIT_WORK(&dev->memory_work, heddle_memory_changed);
	heddle_dram_init(dev);
	INIT_KFIFO(dev->reports);
	INIT_WORK(&dev->report_work, heddle_report_work);
	dev->state = HEDDLE_DEVICE_PROBING;

	err = heddle_identify(dev) ?: heddle_engine_init(dev) ?: heddle_coredump_init(dev);
	if (err)
		return err;
	if (dev->regs) {
		err = heddle_card_start(dev);
		if (err)
			return dev_err_probe(dev->drm.dev, err, "the card cannot be reset\n");
		pci_set_master(to_pci_dev(dev->drm.dev)); /* what it did before has ended */
		err = heddle_irq_init(dev);
		if (err)
			goto quiet;
	}
	err = heddle_exec_init(dev);
	if (err)
		goto irq;
	heddle_engine_rings(dev);
	scoped_guard(heddle_lock, &dev->lock)
		heddle_step(dev, HEDDLE_DEVICE_PROBED);
	return 0;
irq:
	if (dev->regs)
		heddle_irq_fini(dev);
quiet:
	heddle_quiet(dev);
	return err;
}

void heddle_device_fini(struct heddle_device *dev)
{
	/* Takes the bus from the card: what it does from here on, it does to itself. */
	heddle_mark_lost(dev, "the driver was unbound or the card unplugged");
	if (dev->regs) {
		heddle_write(dev, HEDDLE_REG_INT_ENABLE, 0);
		heddle_write(dev, HEDDLE_REG_RESET, HEDDLE_RESET_CARD_MASK);
		heddle_irq_fini(dev); /* before what its handlers queue */
	}
	cancel_work_sync(&dev->memory_work);
	cancel_delayed_work_sync(&dev->compact_work); /* who waits sees that the card is gone */
	cancel_delayed_work_sync(&dev->watch_work);
	hrtimer_cancel(&dev->rest_timer);
	flush_work(&dev->report_work);
	heddle_contexts_kill(dev);
	heddle_exec_fini(dev);
	heddle_host_close(dev);
}
