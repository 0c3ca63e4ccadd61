// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Bugs on purpose, one per load (bug=NAME), to see that the debug kernel reports
 * them: only then does its silence about a driver mean something. Loading fails
 * always, so that nothing has to be unloaded.
 */
#include <linux/dma-fence.h>
#include <linux/dma-mapping.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *bug = "";
module_param(bug, charp, 0400);
MODULE_PARM_DESC(bug, "which one: order, fence, sleep, leak, dma, freed, race or barrier");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);

/* Two locks in both orders. */
static void plant_order(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

/* Memory may become free only when the fence signals that waits for memory. */
static void plant_fence(void)
{
	bool cookie = dma_fence_begin_signalling();

	kfree(kmalloc(64, GFP_KERNEL));
	dma_fence_end_signalling(cookie);
}

static void plant_sleep(void)
{
	spin_lock(&spin);
	mutex_lock(&first);
	mutex_unlock(&first);
	spin_unlock(&spin);
}

static void plant_leak(void)
{
	memset(kmalloc(123, GFP_KERNEL | __GFP_NOFAIL), 0x5a, 123);
}

/* A mapping that is taken back with another size. */
static void plant_dma(void)
{
	struct pci_dev *pdev = pci_get_device(PCI_ANY_ID, PCI_ANY_ID, NULL);
	dma_addr_t address;
	void *data;

	if (!pdev)
		return;
	data = kmalloc(PAGE_SIZE, GFP_KERNEL);
	address = dma_map_single(&pdev->dev, data, PAGE_SIZE, DMA_TO_DEVICE);
	if (!dma_mapping_error(&pdev->dev, address))
		dma_unmap_single(&pdev->dev, address, PAGE_SIZE / 2, DMA_TO_DEVICE);
	kfree(data);
	pci_dev_put(pdev);
}

static void plant_freed(void)
{
	u32 *data = kmalloc(64, GFP_KERNEL);
	u32 *alias = data;

	if (!data)
		return;
	OPTIMIZER_HIDE_VAR(alias); /* or the compiler would find it */
	kfree(data);
	WRITE_ONCE(alias[3], 1);
}

static u32 shared;
static u32 flag;

/* Counts without a lock, as plant_race() does. */
static int count(void *unused)
{
	while (!kthread_should_stop()) {
		shared++;
		cond_resched();
	}
	return 0;
}

/* Reads what the flag says is there. */
static int consume(void *unused)
{
	while (!kthread_should_stop()) {
		/* Would pair with a release, which is the bug. */
		if (smp_load_acquire(&flag)) {
			shared++;
			/* Pairs with the acquire of plant_race(). */
			smp_store_release(&flag, 0);
		}
		cond_resched();
	}
	return 0;
}

static void plant_race(int (*other)(void *))
{
	unsigned long end = jiffies + 20 * HZ;
	struct task_struct *task = kthread_run(other, NULL, "planted");

	if (IS_ERR(task))
		return;
	while (time_before(jiffies, end)) {
		if (other == count) {
			shared++;
			/* Pairs with the release of consume(). */
		} else if (!smp_load_acquire(&flag)) {
			shared++;
			WRITE_ONCE(flag, 1); /* without a barrier before it */
		}
		cond_resched();
	}
	kthread_stop(task);
}

static int __init planted_bugs_init(void)
{
	if (!strcmp(bug, "order"))
		plant_order();
	else if (!strcmp(bug, "fence"))
		plant_fence();
	else if (!strcmp(bug, "sleep"))
		plant_sleep();
	else if (!strcmp(bug, "leak"))
		plant_leak();
	else if (!strcmp(bug, "dma"))
		plant_dma();
	else if (!strcmp(bug, "freed"))
		plant_freed();
	else if (!strcmp(bug, "race"))
		plant_race(count);
	else if (!strcmp(bug, "barrier"))
		plant_race(consume);
	return -ENODEV;
}
module_init(planted_bugs_init);

MODULE_DESCRIPTION("Bugs for the debug kernel to find");
MODULE_LICENSE("Dual MIT/GPL");
