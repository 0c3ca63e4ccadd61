// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * null_hw: cards without hardware. The whole user interface works, device memory is
 * accounted for, and jobs succeed at once without effect: for measuring the driver's
 * own cost, and for testing the interface on any machine.
 */
#include <linux/dma-mapping.h>
#include <linux/platform_device.h>

#include "heddle_drv.h"

#define HEDDLE_NULL_MAX 16

static struct platform_device *heddle_null_cards[HEDDLE_NULL_MAX];

static void heddle_null_unbind(void *data)
{
	struct heddle_device *dev = data;

	drm_dev_unplug(&dev->drm);
	heddle_device_fini(dev);
}

static int heddle_null_probe(struct platform_device *pdev)
{
	struct heddle_device *dev = heddle_device_create(&pdev->dev);

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	dev->info.unique = pdev->id + 1;
	/* No remove(): what its type is depends on the kernel. */
	return dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64)) ?:
	       heddle_device_init(dev) ?: heddle_device_register(dev) ?:
	       devm_add_action_or_reset(&pdev->dev, heddle_null_unbind, dev);
}

static struct platform_driver heddle_null_driver = {
	.probe = heddle_null_probe,
	.driver.name = "heddle-null",
};

int heddle_null_init(uint cards)
{
	int err;
	uint i;

	if (cards > HEDDLE_NULL_MAX) {
		pr_err("heddle: null_hw=%u: at most %u\n", cards, HEDDLE_NULL_MAX);
		return -EINVAL;
	}
	err = platform_driver_register(&heddle_null_driver);
	if (err)
		return err;
	for (i = 0; i < cards; i++) {
		struct platform_device *pdev =
			platform_device_register_simple("heddle-null", i, NULL, 0);

		if (IS_ERR(pdev)) {
			heddle_null_fini();
			return PTR_ERR(pdev);
		}
		heddle_null_cards[i] = pdev;
	}
	return 0;
}

void heddle_null_fini(void)
{
	uint i;

	for (i = 0; i < HEDDLE_NULL_MAX && heddle_null_cards[i]; i++) {
		platform_device_unregister(heddle_null_cards[i]);
		heddle_null_cards[i] = NULL;
	}
	platform_driver_unregister(&heddle_null_driver);
}
