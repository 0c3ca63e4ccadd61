// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * keep_awake: devices of the guest that cannot sleep, do not. virtio's 9p forgets its
 * queues when it is suspended, and with them the guest its root and the host. So the
 * functions of virtio are left out when the system sleeps; all other devices are not.
 * And when all devices sleep, an alarm wakes the system up: the guest has no clock that can.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/suspend.h>
#include <linux/timer.h>

static struct platform_device *keep_awake_device;

static void keep_awake_ring(struct timer_list *timer)
{
	pm_system_wakeup();
}

static DEFINE_TIMER(keep_awake_alarm, keep_awake_ring);

static int keep_awake_suspend_noirq(struct device *device)
{
	mod_timer(&keep_awake_alarm, jiffies + HZ / 2);
	return 0;
}

/* It is awake already: a late alarm would be one for the next sleep. */
static int keep_awake_resume_noirq(struct device *device)
{
	del_timer_sync(&keep_awake_alarm);
	return 0;
}

static const struct dev_pm_ops keep_awake_pm = {
	.suspend_noirq = keep_awake_suspend_noirq,
	.resume_noirq = keep_awake_resume_noirq,
};

static struct platform_driver keep_awake_driver = {
	.driver = {
		.name = "keep-awake",
		.pm = &keep_awake_pm,
	},
};

static void keep_awake_set(bool awake)
{
	struct pci_dev *pdev = NULL;

	while ((pdev = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, PCI_ANY_ID, pdev))) {
		struct device *child = device_find_any_child(&pdev->dev);

		dev_pm_syscore_device(&pdev->dev, awake);
		if (child)
			dev_pm_syscore_device(child, awake);
		put_device(child);
	}
}

static int __init keep_awake_init(void)
{
	int err = platform_driver_register(&keep_awake_driver);

	if (err)
		return err;
	keep_awake_device = platform_device_register_simple("keep-awake", -1, NULL, 0);
	if (IS_ERR(keep_awake_device)) {
		platform_driver_unregister(&keep_awake_driver);
		return PTR_ERR(keep_awake_device);
	}
	keep_awake_set(true);
	return 0;
}

static void __exit keep_awake_exit(void)
{
	keep_awake_set(false);
	platform_device_unregister(keep_awake_device);
	platform_driver_unregister(&keep_awake_driver);
	del_timer_sync(&keep_awake_alarm);
}

module_init(keep_awake_init);
module_exit(keep_awake_exit);

MODULE_DESCRIPTION("Devices of the guest that do not sleep");
MODULE_LICENSE("Dual MIT/GPL");
