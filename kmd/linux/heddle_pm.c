// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Power management and bus errors. A card on which no client has memory suspends itself
 * (runtime PM). When the system suspends, the card's memory is copied to host memory,
 * because the card may lose power, and on resume it is copied back: clients notice
 * nothing but the time.
 *
 *   prepare   no further job starts, those on the card end, contents are copied out
 *   suspend   the card forgets its rings
 *   resume    reset, rings, contents are copied in; a card that does not respond is lost
 *   complete  jobs start again; also if another device refused to suspend
 */
#include <linux/pci.h>

#include "heddle_drv.h"

/* Copied at a time, so that no list is longer than a page. */
#define HEDDLE_PIECE_BYTES	((u64)(PAGE_SIZE / sizeof(struct heddle_sg_entry)) << PAGE_SHIFT)
/* How long jobs that run may keep the system awake; as long as it waits for tasks. */
#define HEDDLE_SLEEP_SECONDS	20

/* A part of the card's memory, in a HOST buffer. */
struct heddle_saved {
	struct list_head link;
	struct heddle_bo *bo;
	u64 address;
	u64 length;
};

/* Copies one piece, by one step whose list lies behind it. */
static int heddle_sleep_copy(struct heddle_device *dev, struct heddle_saved *saved, u32 type)
{
	struct heddle_area *area = dev->sleep_own.area;
	struct heddle_step *step = area->cpu;
	u64 length = saved->length;

	memset(step, 0, sizeof(*step));
	step->type = cpu_to_le32(type);
	step->device_address = cpu_to_le64(saved->address);
	step->length = cpu_to_le64(length);
	step->table_iova = cpu_to_le64(area->dma + sizeof(*step));
	step->sg_count = cpu_to_le32(heddle_host_entries(saved->bo, 0, &length,
							 (struct heddle_sg_entry *)(step + 1),
							 U32_MAX));
	return heddle_own_run(dev, &dev->sleep_own, 1);
}

/* The next part of memory at or above *@at that belongs to somebody. */
static bool heddle_next_used(struct heddle_device *dev, u64 *at, u64 *length)
{
	struct heddle_mem_node *node;
	u64 start = 0;
	u64 end = 0;

	guard(mutex)(&dev->mem_lock);
	for (node = dev->mem.first; node; node = node->next) {
		if (!end && node->offset + node->size > *at)
			start = max(node->offset, *at);
		else if (!end)
			continue;
		else if (node->offset >= start + HEDDLE_PIECE_BYTES)
			break;
		end = min(node->offset + node->size, start + HEDDLE_PIECE_BYTES);
	}
	*at = start;
	*length = end - start;
	return end;
}

static int heddle_save(struct heddle_device *dev)
{
	struct heddle_saved *saved;
	u64 at = 0;
	u64 length;
	int err;

	for (; heddle_next_used(dev, &at, &length); at += length) {
		saved = kzalloc_obj(*saved, GFP_KERNEL);
		if (!saved)
			return -ENOMEM;
		saved->address = at;
		saved->length = length;
		list_add_tail(&saved->link, &dev->saved);
		err = heddle_gem_host_create(dev, PAGE_ALIGN(length), &saved->bo) ?:
			heddle_host_map(saved->bo, NULL) ?:
			heddle_sleep_copy(dev, saved, HEDDLE_STEP_TYPE_COPY_OUT);
		if (err)
			return err;
	}
	return 0;
}

static int heddle_restore(struct heddle_device *dev)
{
	struct heddle_saved *saved;
	int err;

	list_for_each_entry(saved, &dev->saved, link) {
		err = heddle_sleep_copy(dev, saved, HEDDLE_STEP_TYPE_COPY_IN);
		if (err)
			return err;
	}
	return 0;
}

static void heddle_awake(struct device *device)
{
	struct heddle_device *dev = dev_get_drvdata(device);
	struct heddle_saved *saved, *next;

	if (!dev->asleep)
		return;
	heddle_release(dev);
	list_for_each_entry_safe(saved, next, &dev->saved, link) {
		heddle_bo_put(saved->bo);
		kfree(saved);
	}
	heddle_own_fini(dev, &dev->sleep_own);
	dev->asleep = false;
}

/* Fails when jobs do not end or memory is short: then the system stays awake. */
static int heddle_fall_asleep(struct device *device)
{
	struct heddle_device *dev = dev_get_drvdata(device);
	int err;

	CLASS(heddle_presence, present)(dev);
	if (heddle_gone(dev) || present < 0)
		return 0;
	INIT_LIST_HEAD(&dev->saved);
	dev->asleep = true;
	err = heddle_own_init(dev, &dev->sleep_own, HEDDLE_STEP_BYTES + PAGE_SIZE) ?:
		heddle_hold(dev, NULL, HEDDLE_SLEEP_SECONDS * HZ) ?: heddle_save(dev);
	if (!err)
		return 0;
	heddle_awake(device);
	if (heddle_gone(dev))
		return 0;
	dev_warn(device, "%s: the system cannot be suspended\n",
		 err == -EBUSY ? "jobs do not end" :
		 err == -ENOMEM ? "no memory for the card's contents" :
		 "the card's contents cannot be read");
	return err;
}

/* The card forgets its rings. */
static void heddle_card_stop(struct heddle_device *dev)
{
	heddle_write(dev, HEDDLE_REG_INT_ENABLE, 0);
	heddle_write(dev, HEDDLE_REG_RING_SIZE(0), 0);
	heddle_write(dev, HEDDLE_REG_COMPLETION_SIZE, 0);
}

static int heddle_suspend(struct device *device)
{
	struct heddle_device *dev = dev_get_drvdata(device);

	if (heddle_gone(dev))
		return 0;
	cancel_delayed_work_sync(&dev->watch_work); /* a card without power does not answer */
	cancel_work_sync(&dev->memory_work);
	heddle_card_stop(dev);
	return 0;
}

static int heddle_resume(struct device *device)
{
	struct heddle_device *dev = dev_get_drvdata(device);
	int err;

	CLASS(heddle_presence, present)(dev);
	if (heddle_gone(dev) || present < 0)
		return 0;
	err = heddle_card_lost(dev) ? -ENODEV : heddle_card_start(dev);
	if (!err) {
		pci_restore_msi_state(to_pci_dev(device));
		heddle_engine_rings(dev);
		err = dev->asleep ? heddle_restore(dev) : 0;
	}
	if (err)
		heddle_mark_lost(dev, "its memory did not survive the system's sleep");
	else
		queue_work(heddle_report_wq, &dev->memory_work); /* its size may have changed */
	heddle_schedule_watch(dev);
	return 0;
}

/* Nobody's memory is on the card. */
static int heddle_runtime_suspend(struct device *device)
{
	struct heddle_device *dev = dev_get_drvdata(device);

	scoped_guard(mutex, &dev->mem_lock)
		if (dev->mem.used)
			return -EBUSY;
	heddle_card_stop(dev);
	return 0;
}

static int heddle_runtime_resume(struct device *device)
{
	struct heddle_device *dev = dev_get_drvdata(device);

	if (heddle_gone(dev))
		return 0;
	heddle_engine_rings(dev);
	heddle_schedule_watch(dev);
	queue_work(heddle_report_wq, &dev->memory_work); /* it could not tell while it slept */
	return 0;
}

const struct dev_pm_ops heddle_pm_ops = {
	.prepare = pm_sleep_ptr(heddle_fall_asleep),
	.complete = pm_sleep_ptr(heddle_awake),
	SYSTEM_SLEEP_PM_OPS(heddle_suspend, heddle_resume)
	RUNTIME_PM_OPS(heddle_runtime_suspend, heddle_runtime_resume, NULL)
};

/*
 * The bus reports an error. One that it has mended by itself concerns nobody. After any
 * other the card is reset with its slot, so memory and jobs are lost as by unplugging;
 * it is a new card when the driver is bound to it again.
 */
static pci_ers_result_t heddle_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct heddle_device *dev = pci_get_drvdata(pdev);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	heddle_mark_lost(dev, "the bus reports an error");
	return state == pci_channel_io_frozen ? PCI_ERS_RESULT_NEED_RESET :
						PCI_ERS_RESULT_DISCONNECT;
}

static pci_ers_result_t heddle_mmio_enabled(struct pci_dev *pdev)
{
	return heddle_card_lost(pci_get_drvdata(pdev)) ? PCI_ERS_RESULT_NEED_RESET :
							  PCI_ERS_RESULT_RECOVERED;
}

/* The slot has been reset, by which the card has lost everything. */
static pci_ers_result_t heddle_slot_reset(struct pci_dev *pdev)
{
	struct heddle_device *dev = pci_get_drvdata(pdev);

	heddle_mark_lost(dev, "its slot was reset");
	pci_restore_state(pdev);
	pci_clear_master(pdev);
	return heddle_card_lost(dev) ? PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_RECOVERED;
}

const struct pci_error_handlers heddle_error_handlers = {
	.error_detected = heddle_error_detected,
	.mmio_enabled = heddle_mmio_enabled,
	.slot_reset = heddle_slot_reset,
};
