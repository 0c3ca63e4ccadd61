// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * heddle: DRM driver of the Heddle NPU. Each card has an accel node where the kernel
 * has that class, else a render node; the user interface is
 * include/uapi/drm/heddle_drm.h.
 */
#include <linux/compat.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/drm_print.h>

#include "heddle_drv.h"

bool heddle_null_submission;
module_param_named(null_submission, heddle_null_submission, bool, 0400);
MODULE_PARM_DESC(null_submission, "jobs are checked and queued, and succeed without the card");

static uint null_hw;
module_param(null_hw, uint, 0400);
MODULE_PARM_DESC(null_hw, "number of cards to create that have no hardware (0)");

uint heddle_timeout_ms;
module_param_named(timeout_ms, heddle_timeout_ms, uint, 0400);
MODULE_PARM_DESC(timeout_ms, "limit in ms of a job without progress (0: by kind of core)");

unsigned long long heddle_run_cycles;
module_param_named(run_cycles, heddle_run_cycles, ullong, 0400);
MODULE_PARM_DESC(run_cycles, "most card cycles of a job without CAP_SYS_ADMIN (0: 2^36)");

struct workqueue_struct *heddle_signal_wq;
struct workqueue_struct *heddle_report_wq;

#define HEDDLE_IOCTL(name, function) \
	DRM_IOCTL_DEF_DRV(HEDDLE_##name, function, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc heddle_ioctls[] = {
	HEDDLE_IOCTL(QUERY, heddle_query_ioctl),
	HEDDLE_IOCTL(CONTEXT_CREATE, heddle_context_create_ioctl),
	HEDDLE_IOCTL(CONTEXT_DESTROY, heddle_context_destroy_ioctl),
	HEDDLE_IOCTL(BO_CREATE, heddle_gem_create_ioctl),
	HEDDLE_IOCTL(BO_INFO, heddle_gem_info_ioctl),
	HEDDLE_IOCTL(STREAM_CREATE, heddle_stream_create_ioctl),
	HEDDLE_IOCTL(STREAM_DESTROY, heddle_stream_destroy_ioctl),
	HEDDLE_IOCTL(SUBMIT, heddle_submit_ioctl),
	HEDDLE_IOCTL(WAIT, heddle_wait_ioctl),
	HEDDLE_IOCTL(EVENTS, heddle_events_ioctl),
	HEDDLE_IOCTL(CONTEXT_CONTROL, heddle_context_control_ioctl),
};

/* EVENTS tells of a card's end, too; DRM says -ENODEV from when it is unplugged. */
static long heddle_tell_events(struct drm_file *file, unsigned long arg)
{
	struct drm_heddle_events args;
	int err;

	if (copy_from_user(&args, (void __user *)arg, sizeof(args)))
		return -EFAULT;
	err = heddle_events_ioctl(file->minor->dev, &args, file);
	return copy_to_user((void __user *)arg, &args, sizeof(args)) ? -EFAULT : err;
}

/* What was refused, and to whom; why comes before it (heddle_refuse.h). */
static long heddle_tell_refused(struct drm_file *file, unsigned int cmd, long result)
{
	struct heddle_file *client = file->driver_priv;
	u32 call = _IOC_NR(cmd) - DRM_COMMAND_BASE;

	if (result < 0 && result != -ERESTARTSYS && call < ARRAY_SIZE(heddle_ioctls))
		drm_dbg_driver(file->minor->dev, "%s of client %llu: %ld\n",
			       heddle_ioctls[call].name, client->client, result);
	return result;
}

static long heddle_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;
	long result = cmd == DRM_IOCTL_HEDDLE_EVENTS ? heddle_tell_events(file, arg) :
		      heddle_gone(to_heddle(file->minor->dev)) ? -ENODEV :
		      drm_ioctl(filp, cmd, arg);

	return heddle_tell_refused(file, cmd, result);
}

#ifdef CONFIG_COMPAT
/* No structure of ours differs for a 32-bit process; some of DRM's do. */
static long heddle_compat_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct drm_file *file = filp->private_data;

	if (cmd == DRM_IOCTL_HEDDLE_EVENTS || heddle_gone(to_heddle(file->minor->dev)))
		return heddle_ioctl(filp, cmd, (unsigned long)compat_ptr(arg));
	return heddle_tell_refused(file, cmd, drm_compat_ioctl(filp, cmd, arg));
}
#else
#define heddle_compat_ioctl NULL
#endif

static const struct file_operations heddle_fops = {
	.owner = THIS_MODULE,
	.open = HEDDLE_NODE_OPEN,
	.release = drm_release,
	.unlocked_ioctl = heddle_ioctl,
	.compat_ioctl = heddle_compat_ioctl,
	.poll = heddle_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.show_fdinfo = heddle_show_fdinfo,
#ifdef FOP_UNSIGNED_OFFSET
	.fop_flags = FOP_UNSIGNED_OFFSET,
#endif
};

static const struct drm_driver heddle_driver = {
	.driver_features = HEDDLE_NODE | DRIVER_GEM | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = heddle_open,
	.postclose = heddle_postclose,
	.gem_create_object = heddle_gem_create_object,
	/* As DRM_GEM_SHMEM_DRIVER_OPS, but no dumb_create: there is no display. */
	.gem_prime_import = heddle_gem_import,
	.gem_prime_import_sg_table = drm_gem_shmem_prime_import_sg_table,
#ifdef HEDDLE_HAVE_GEM_PRIME_MMAP
	.prime_handle_to_fd = drm_gem_prime_handle_to_fd,
	.prime_fd_to_handle = drm_gem_prime_fd_to_handle,
	.gem_prime_mmap = drm_gem_prime_mmap,
#endif
	.debugfs_init = heddle_debugfs_init,
	.fops = &heddle_fops,
	.ioctls = heddle_ioctls,
	.num_ioctls = ARRAY_SIZE(heddle_ioctls),
	.name = "heddle",
	.desc = "Heddle NPU",
#ifdef HEDDLE_HAVE_DRIVER_DATE
	.date = "20260101",
#endif
	.major = 1,
	.minor = HEDDLE_REG_VERSION_RESET & HEDDLE_VERSION_MINOR_MASK,
};

struct heddle_device *heddle_device_create(struct device *parent)
{
	return devm_drm_dev_alloc(parent, &heddle_driver, struct heddle_device, drm);
}

int heddle_device_register(struct heddle_device *dev)
{
	int err = drm_dev_register(&dev->drm, 0);

	if (err) {
		heddle_device_fini(dev);
		return err;
	}
#ifdef HEDDLE_ACCEL
	heddle_debugfs_init(dev->drm.accel); /* DRM does it for the other nodes */
#endif
	return 0;
}

static int heddle_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct heddle_device *dev = heddle_device_create(&pdev->dev);
	int err;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	pci_set_drvdata(pdev, dev);
	err = pcim_enable_device(pdev) ?: pcim_iomap_regions(pdev, BIT(HEDDLE_BAR), "heddle");
	if (err)
		return err;
	dev->regs = pcim_iomap_table(pdev)[HEDDLE_BAR];
	if (pci_resource_len(pdev, HEDDLE_BAR) < HEDDLE_BAR_BYTES)
		return dev_err_probe(&pdev->dev, -ENODEV, "BAR %u is too small\n", HEDDLE_BAR);
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	err = heddle_device_init(dev) ?: heddle_device_register(dev);
	if (err)
		return err;
	dev_info(&pdev->dev, "Heddle %s, %llu MiB, serial %llu, hardware version %u.%u\n",
		 dev->config->name, dev->mem.total >> 20, dev->info.unique,
		 dev->info.hw_version >> HEDDLE_VERSION_MAJOR_SHIFT,
		 dev->info.hw_version & HEDDLE_VERSION_MINOR_MASK);
	pm_runtime_set_autosuspend_delay(&pdev->dev, 1000);
	pm_runtime_use_autosuspend(&pdev->dev);
	pm_runtime_put_noidle(&pdev->dev); /* the PCI core's reference for probe */
	pm_runtime_allow(&pdev->dev);
	return 0;
}

static void heddle_remove(struct pci_dev *pdev)
{
	struct heddle_device *dev = pci_get_drvdata(pdev);

	pm_runtime_forbid(&pdev->dev);
	pm_runtime_get_noresume(&pdev->dev);
	drm_dev_unplug(&dev->drm);
	heddle_device_fini(dev);
}

static const struct pci_device_id heddle_ids[] = {
	{ PCI_DEVICE(HEDDLE_PCI_VENDOR_ID, HEDDLE_PCI_DEVICE_ID) },
	{}
};
MODULE_DEVICE_TABLE(pci, heddle_ids);

static struct pci_driver heddle_pci_driver = {
	.name = "heddle",
	.id_table = heddle_ids,
	.probe = heddle_probe,
	.remove = heddle_remove,
	.driver.pm = pm_ptr(&heddle_pm_ops),
	.err_handler = &heddle_error_handlers,
};

static int __init heddle_module_init(void)
{
	int err = -ENOMEM;

	heddle_signal_wq = alloc_workqueue("heddle", WQ_MEM_RECLAIM | WQ_HIGHPRI | WQ_UNBOUND, 0);
	if (!heddle_signal_wq)
		return err;
	heddle_report_wq = alloc_workqueue("heddle-report", WQ_UNBOUND, 0);
	if (!heddle_report_wq)
		goto signal_wq;
	err = heddle_null_init(null_hw);
	if (err)
		goto report_wq;
	err = pci_register_driver(&heddle_pci_driver);
	if (!err)
		return 0;
	heddle_null_fini();
report_wq:
	destroy_workqueue(heddle_report_wq);
signal_wq:
	destroy_workqueue(heddle_signal_wq);
	return err;
}

static void __exit heddle_module_exit(void)
{
	pci_unregister_driver(&heddle_pci_driver);
	heddle_null_fini();
	heddle_contexts_drain();
	destroy_workqueue(heddle_report_wq);
	destroy_workqueue(heddle_signal_wq);
	rcu_barrier(); /* fences are freed after a grace period */
}

module_init(heddle_module_init);
module_exit(heddle_module_exit);

MODULE_DESCRIPTION("Heddle NPU");
MODULE_AUTHOR("The Heddle authors");
MODULE_LICENSE("Dual MIT/GPL");
