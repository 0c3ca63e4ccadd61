// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Interrupts: with MSI-X one vector per bit of INT_STATUS, otherwise one for all. */
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "heddle_drv.h"

static irqreturn_t heddle_interrupt(int irq, void *data)
{
	struct heddle_vector *vector = data;
	struct heddle_device *dev = vector->dev;
	u32 bits = vector->bits ?: heddle_read(dev, HEDDLE_REG_INT_STATUS);

	if (!bits)
		return IRQ_NONE;
	if (bits == ~0U) { /* the watchdog will see that the card is gone */
		mod_delayed_work(heddle_signal_wq, &dev->watch_work, 0);
		return IRQ_HANDLED;
	}
	/* Before looking, so that nothing that comes later is missed. */
	heddle_write(dev, HEDDLE_REG_INT_STATUS, bits);
	if (bits & HEDDLE_INT_STATUS_MEMORY_MASK)
		queue_work(heddle_report_wq, &dev->memory_work);
	if (bits & HEDDLE_INT_STATUS_ERROR_MASK) {
		u32 error = heddle_read(dev, HEDDLE_REG_DEVICE_ERROR);

		heddle_write(dev, HEDDLE_REG_DEVICE_ERROR, ~0U);
		dev_warn_ratelimited(dev->drm.dev, "device error %u\n", error);
		if (error == HEDDLE_ERROR_SRAM_CORRECTED)
			heddle_report(dev, &(struct heddle_report) {
				.type = DRM_HEDDLE_EVENT_CORRECTED,
				.value = heddle_read(dev, HEDDLE_REG_COUNTER_SRAM_CORRECTED),
			});
	}
	heddle_engine_reap(dev);
	return IRQ_HANDLED;
}

int heddle_irq_init(struct heddle_device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev->drm.dev);
	int count = pci_alloc_irq_vectors(pdev, HEDDLE_INTERRUPT_VECTORS,
					  HEDDLE_INTERRUPT_VECTORS, PCI_IRQ_MSIX);
	int err;
	u32 i;

	if (count < 0)
		count = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSI);
	if (count < 0)
		return dev_err_probe(&pdev->dev, count, "no interrupt vectors\n");
	for (i = 0; i < count; i++) {
		struct heddle_vector *vector = &dev->vectors[i];

		vector->dev = dev;
		vector->bits = count > 1 ? 1U << i : 0;
		vector->irq = pci_irq_vector(pdev, i);
		err = request_irq(vector->irq, heddle_interrupt, 0, "heddle", vector);
		if (err) {
			heddle_irq_fini(dev);
			return err;
		}
		dev->num_vectors++;
	}
	return 0;
}

void heddle_irq_fini(struct heddle_device *dev)
{
	while (dev->num_vectors) {
		struct heddle_vector *vector = &dev->vectors[--dev->num_vectors];

		free_irq(vector->irq, vector);
	}
	pci_free_irq_vectors(to_pci_dev(dev->drm.dev));
}
