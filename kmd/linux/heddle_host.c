// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System memory that the card reaches: pages of HOST buffers, and the driver's own
 * areas. A removed card's mappings are taken back at once, although files that
 * are still open keep the buffers: their pages stay, only the card's addresses go.
 *
 * The platform must be cache-coherent for PCI DMA (see Kbuild).
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "heddle_drv.h"

/* Pins the pages and gives them addresses, once; they stay as long as the buffer. */
int heddle_host_map(struct heddle_bo *bo)
{
	struct heddle_device *dev = to_heddle(bo->shmem.base.dev);
	struct sg_table *sgt;
	int err = 0;

	mutex_lock(&dev->map_lock);
	if (bo->sgt)
		goto unlock;
	if (bo->shmem.base.import_attach) {
		bo->sgt = bo->shmem.sgt;
		goto unlock;
	}
	if (!bo->pinned) {
		err = drm_gem_shmem_pin(&bo->shmem);
		if (err == -ENOSPC) /* as in heddle_gem_host_create() */
			err = -ENOMEM;
		if (err)
			goto unlock;
		bo->pinned = true;
	}
	sgt = drm_gem_shmem_get_sg_table(&bo->shmem);
	if (IS_ERR(sgt)) {
		err = PTR_ERR(sgt);
		goto unlock;
	}
	err = dma_map_sgtable(dev->drm.dev, sgt, DMA_BIDIRECTIONAL, 0);
	if (err)
		goto free;
	mutex_lock(&dev->host_lock);
	if (!dev->host_closed) {
		bo->sgt = sgt;
		list_add_tail(&bo->mapped, &dev->mapped);
	}
	mutex_unlock(&dev->host_lock);
	if (bo->sgt)
		goto unlock;
	err = -ENODEV;
	dma_unmap_sgtable(dev->drm.dev, sgt, DMA_BIDIRECTIONAL, 0);
free:
	sg_free_table(sgt);
	kfree(sgt);
unlock:
	mutex_unlock(&dev->map_lock);
	return err;
}

static void heddle_take_back(struct heddle_device *dev, struct heddle_bo *bo)
{
	list_del_init(&bo->mapped);
	dma_unmap_sgtable(dev->drm.dev, bo->sgt, DMA_BIDIRECTIONAL, 0);
	sg_free_table(bo->sgt);
	kfree(bo->sgt);
	bo->sgt = NULL;
}

/* The end of a buffer. */
void heddle_host_unmap(struct heddle_bo *bo)
{
	struct heddle_device *dev = to_heddle(bo->shmem.base.dev);

	mutex_lock(&dev->host_lock);
	if (!list_empty(&bo->mapped))
		heddle_take_back(dev, bo);
	mutex_unlock(&dev->host_lock);
	if (bo->pinned)
		drm_gem_shmem_unpin(&bo->shmem);
	bo->pinned = false;
}

/*
 * The scatter list of bytes [offset, offset + length) of a mapped buffer. Returns
 * the number of entries; with @entries NULL it only counts.
 */
u32 heddle_host_entries(struct heddle_bo *bo, u64 offset, u64 length,
			struct heddle_sg_entry *entries)
{
	struct scatterlist *sg;
	u32 count = 0;
	unsigned int i;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		u64 size = sg_dma_len(sg);
		u64 n;

		if (offset >= size) {
			offset -= size;
			continue;
		}
		n = min(size - offset, length);
		if (entries) {
			entries[count].iova = sg_dma_address(sg) + offset;
			entries[count].length = n;
		}
		count++;
		offset = 0;
		length -= n;
		if (!length)
			break;
	}
	return count;
}

struct heddle_area *heddle_area_alloc(struct heddle_device *dev, size_t size)
{
	struct heddle_area *area = kzalloc(sizeof(*area), GFP_KERNEL);
	bool closed;

	if (!area)
		return ERR_PTR(-ENOMEM);
	area->size = PAGE_ALIGN(size);
	area->cpu = dma_alloc_coherent(dev->drm.dev, area->size, &area->dma, GFP_KERNEL);
	if (!area->cpu) {
		kfree(area);
		return ERR_PTR(-ENOMEM);
	}
	mutex_lock(&dev->host_lock);
	closed = dev->host_closed;
	if (!closed)
		list_add_tail(&area->link, &dev->areas);
	mutex_unlock(&dev->host_lock);
	if (closed) {
		dma_free_coherent(dev->drm.dev, area->size, area->cpu, area->dma);
		kfree(area);
		return ERR_PTR(-ENODEV);
	}
	return area;
}

void heddle_area_free(struct heddle_device *dev, struct heddle_area *area)
{
	if (!area)
		return;
	mutex_lock(&dev->host_lock);
	if (area->cpu) {
		list_del(&area->link);
		dma_free_coherent(dev->drm.dev, area->size, area->cpu, area->dma);
	}
	mutex_unlock(&dev->host_lock);
	kfree(area);
}

/* The card is off the bus, or has been told to stop: nothing is its any more. */
void heddle_host_close(struct heddle_device *dev)
{
	struct heddle_area *area, *next_area;
	struct heddle_bo *bo, *next;

	mutex_lock(&dev->host_lock);
	dev->host_closed = true;
	list_for_each_entry_safe(bo, next, &dev->mapped, mapped)
		heddle_take_back(dev, bo);
	list_for_each_entry_safe(area, next_area, &dev->areas, link) {
		list_del(&area->link);
		dma_free_coherent(dev->drm.dev, area->size, area->cpu, area->dma);
		area->cpu = NULL;
	}
	mutex_unlock(&dev->host_lock);
}
