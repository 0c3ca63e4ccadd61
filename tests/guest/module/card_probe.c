// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * card_probe: drives nothing, tells what the bus does. For tests of the guest
 * and of the virtual card's front end, which must not depend on the driver that
 * they are there to test. In the PCI device's folder of sysfs:
 *
 *   heddle_id          register ID, read now (0xffffffff: the card is gone)
 *   heddle_present     whether config space answers
 *   heddle_interrupts  interrupts of each vector since probe
 *   heddle_scratch     INT_ENABLE, read and written: a register that keeps its value
 */
#include <linux/atomic.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "heddle_hw.h"

struct card_probe {
	void __iomem *bar;
	struct vector {
		atomic_t count;
	} vector[HEDDLE_PCI_MSIX_VECTORS];
};

static irqreturn_t card_probe_irq(int irq, void *data)
{
	struct vector *vector = data;

	atomic_inc(&vector->count);
	return IRQ_HANDLED;
}

static ssize_t heddle_id_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct card_probe *card = dev_get_drvdata(dev);

	return sysfs_emit(buf, "0x%08x\n", ioread32(card->bar + HEDDLE_REG_ID));
}
static DEVICE_ATTR_RO(heddle_id);

static ssize_t heddle_present_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", pci_device_is_present(to_pci_dev(dev)));
}
static DEVICE_ATTR_RO(heddle_present);

static ssize_t heddle_interrupts_show(struct device *dev, struct device_attribute *attr,
				      char *buf)
{
	struct card_probe *card = dev_get_drvdata(dev);
	ssize_t n = 0;
	int i;

	for (i = 0; i < HEDDLE_PCI_MSIX_VECTORS; i++)
		n += sysfs_emit_at(buf, n, "%d%c", atomic_read(&card->vector[i].count),
				   i + 1 < HEDDLE_PCI_MSIX_VECTORS ? ' ' : '\n');
	return n;
}
static DEVICE_ATTR_RO(heddle_interrupts);

static ssize_t heddle_scratch_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct card_probe *card = dev_get_drvdata(dev);

	return sysfs_emit(buf, "0x%08x\n", ioread32(card->bar + HEDDLE_REG_INT_ENABLE));
}

static ssize_t heddle_scratch_store(struct device *dev, struct device_attribute *attr,
				    const char *buf, size_t count)
{
	struct card_probe *card = dev_get_drvdata(dev);
	u32 value;
	int ret = kstrtou32(buf, 0, &value);

	if (ret)
		return ret;
	iowrite32(value, card->bar + HEDDLE_REG_INT_ENABLE);
	return count;
}
static DEVICE_ATTR_RW(heddle_scratch);

static struct attribute *card_probe_attrs[] = {
	&dev_attr_heddle_id.attr,
	&dev_attr_heddle_present.attr,
	&dev_attr_heddle_interrupts.attr,
	&dev_attr_heddle_scratch.attr,
	NULL,
};
ATTRIBUTE_GROUPS(card_probe);

static int card_probe_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct card_probe *card;
	int ret, i;

	card = devm_kzalloc(&pdev->dev, sizeof(*card), GFP_KERNEL);
	if (!card)
		return -ENOMEM;
	pci_set_drvdata(pdev, card);
	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	ret = pcim_iomap_regions(pdev, BIT(HEDDLE_BAR), KBUILD_MODNAME);
	if (ret)
		return ret;
	card->bar = pcim_iomap_table(pdev)[HEDDLE_BAR];
	pci_set_master(pdev);
	/* Managed: gone with the device, after the interrupts. */
	ret = pci_alloc_irq_vectors(pdev, HEDDLE_PCI_MSIX_VECTORS, HEDDLE_PCI_MSIX_VECTORS,
				    PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	for (i = 0; i < HEDDLE_PCI_MSIX_VECTORS; i++) {
		ret = devm_request_irq(&pdev->dev, pci_irq_vector(pdev, i), card_probe_irq, 0,
				       KBUILD_MODNAME, &card->vector[i]);
		if (ret)
			return ret;
	}
	pci_info(pdev, "id 0x%08x\n", ioread32(card->bar + HEDDLE_REG_ID));
	return 0;
}

static void card_probe_remove(struct pci_dev *pdev)
{
	pci_info(pdev, "removed, present %d\n", pci_device_is_present(pdev));
}

static const struct pci_device_id card_probe_ids[] = {
	{ PCI_DEVICE(HEDDLE_PCI_VENDOR_ID, HEDDLE_PCI_DEVICE_ID) },
	{ 0 },
};
MODULE_DEVICE_TABLE(pci, card_probe_ids);

static struct pci_driver card_probe_driver = {
	.name = KBUILD_MODNAME,
	.id_table = card_probe_ids,
	.probe = card_probe_probe,
	.remove = card_probe_remove,
	.dev_groups = card_probe_groups,
};
module_pci_driver(card_probe_driver);

MODULE_DESCRIPTION("Looks at a Heddle card without driving it");
MODULE_LICENSE("Dual MIT/GPL");
