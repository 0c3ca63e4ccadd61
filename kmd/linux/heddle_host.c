// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * System memory that the card can access: pages of HOST buffers, and the driver's own
 * areas. A removed card's mappings are taken back at once, even if open files keep
 * the buffers: their pages stay, only the card's addresses go.
 *
 * Where the bus needs it (non-snooping caches, bounce buffers) a job's ranges are
 * synced for the card when it starts and for the CPU when it has ended; nothing else
 * is touched, because user space may write to the rest of a buffer at any time.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/scatterlist.h>

#include "heddle_drv.h"

#ifdef HEDDLE_HAVE_NAMESPACE_TOKENS
MODULE_IMPORT_NS(DMA_BUF);
#else
MODULE_IMPORT_NS("DMA_BUF");
#endif

/* Their pages count for the file that has them pinned first; NULL: for nobody. */
static int heddle_host_pin(struct heddle_bo *bo, struct heddle_file *file)
{
	int err = file ? heddle_file_charge(file, HEDDLE_PINNED_BYTES, bo->shmem.base.size) : 0;

	if (err)
		return err;
	err = drm_gem_shmem_pin(&bo->shmem);
	if (err) {
		if (file)
			heddle_file_uncharge(file, HEDDLE_PINNED_BYTES, bo->shmem.base.size);
		return err == -ENOSPC ? -ENOMEM : err; /* as in heddle_gem_host_create() */
	}
	if (file)
		kref_get(&file->ref);
	bo->pinned_by = file;
	bo->pinned = true;
	return 0;
}

static void heddle_host_unpin(struct heddle_bo *bo)
{
	drm_gem_shmem_unpin(&bo->shmem);
	bo->pinned = false;
	if (!bo->pinned_by)
		return;
	heddle_file_uncharge(bo->pinned_by, HEDDLE_PINNED_BYTES, bo->shmem.base.size);
	heddle_file_put(bo->pinned_by);
	bo->pinned_by = NULL;
}

static void heddle_free_table(struct sg_table *sgt)
{
	sg_free_table(sgt);
	kfree(sgt);
}

/* Jobs hand back what they wrote; user space may have written since. */
static void heddle_unmap_table(struct heddle_device *dev, struct sg_table *sgt)
{
	dma_unmap_sgtable(dev->drm.dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	heddle_free_table(sgt);
}

/* @bo is mapped, an imported one by its exporter, unless the card has been removed meanwhile. */
int heddle_host_add(struct heddle_device *dev, struct heddle_bo *bo, struct sg_table *sgt)
{
	guard(mutex)(&dev->host_lock);
	if (dev->host_closed)
		return -ENODEV;
	bo->sgt = sgt;
	list_add_tail(&bo->mapped, &dev->mapped);
	return 0;
}

/* Pins the pages and gives them addresses, once; they stay as long as the buffer. */
int heddle_host_map(struct heddle_bo *bo, struct heddle_file *file)
{
	struct heddle_device *dev = to_heddle(bo->shmem.base.dev);
	struct scatterlist *sg;
	struct sg_table *sgt;
	unsigned int i;
	int err;

	CLASS(heddle_presence, present)(dev);
	if (present < 0)
		return -ENODEV;
	guard(mutex)(&dev->map_lock);
	if (bo->sgt)
		return 0;
	if (bo->shmem.base.import_attach) /* or it would have been mapped when it was imported */
		return -ENODEV;
	err = bo->pinned ? 0 : heddle_host_pin(bo, file);
	if (err)
		return err;
	sgt = drm_gem_shmem_get_sg_table(&bo->shmem);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	if (dma_map_sgtable(dev->drm.dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_NO_WARN)) {
		heddle_free_table(sgt);
		return -ENOMEM; /* also of addresses or bounce buffers */
	}
	for_each_sgtable_dma_sg(sgt, sg, i)
		bo->needs_sync |= dma_need_sync(dev->drm.dev, sg_dma_address(sg));
	err = heddle_host_add(dev, bo, sgt);
	if (err)
		heddle_unmap_table(dev, sgt);
	return err;
}

/* Holds host_lock; not for imported buffers, whose exporters take locks of their own. */
static void heddle_take_back(struct heddle_device *dev, struct heddle_bo *bo)
{
	list_del_init(&bo->mapped);
	heddle_unmap_table(dev, bo->sgt);
	bo->sgt = NULL;
}

/* The end of a buffer. */
void heddle_host_unmap(struct heddle_bo *bo)
{
	struct heddle_device *dev = to_heddle(bo->shmem.base.dev);

	scoped_guard(mutex, &dev->host_lock) {
		if (bo->shmem.base.import_attach)
			list_del_init(&bo->mapped); /* DRM unmaps it, unless removal did */
		else if (!list_empty(&bo->mapped))
			heddle_take_back(dev, bo);
	}
	if (bo->pinned)
		heddle_host_unpin(bo);
}

/*
 * What @sg has of the *@left bytes from *@offset on, which become those behind it: the
 * number of bytes, and their address in *@at. 0: they begin behind it.
 */
static u64 heddle_next_piece(struct scatterlist *sg, u64 *offset, u64 *left, dma_addr_t *at)
{
	u64 size = sg_dma_len(sg);
	u64 skipped = min(*offset, size);
	u64 n = min(size - skipped, *left);

	*at = sg_dma_address(sg) + skipped;
	*offset -= skipped;
	*left -= n;
	return n;
}

/*
 * The scatter list of bytes [offset, offset + *length) of a mapped buffer, of at most
 * @max entries; *length becomes the bytes that they hold. Returns the number of entries;
 * with @entries NULL it only counts.
 */
u32 heddle_host_entries(struct heddle_bo *bo, u64 offset, u64 *length,
			struct heddle_sg_entry *entries, u32 max)
{
	struct scatterlist *sg;
	u64 left = *length;
	u32 count = 0;
	unsigned int i;
	dma_addr_t at;
	u64 n;

	for_each_sgtable_dma_sg(bo->sgt, sg, i) {
		if (!left || count == max)
			break;
		n = heddle_next_piece(sg, &offset, &left, &at);
		if (!n)
			continue;
		if (entries) {
			entries[count].iova = cpu_to_le64(at);
			entries[count].length = cpu_to_le64(n);
		}
		count++;
	}
	*length -= left;
	return count;
}

static void heddle_sync_range(struct heddle_device *dev, const struct heddle_host_range *range,
			      bool for_card)
{
	struct device *parent = dev->drm.dev;
	u64 offset = range->offset;
	u64 left = range->length;
	struct scatterlist *sg;
	unsigned int i;
	dma_addr_t at;
	u64 n;

	for_each_sgtable_dma_sg(range->bo->sgt, sg, i) {
		if (!left)
			break;
		n = heddle_next_piece(sg, &offset, &left, &at);
		if (n && for_card)
			dma_sync_single_for_device(parent, at, n, DMA_BIDIRECTIONAL);
		else if (n)
			dma_sync_single_for_cpu(parent, at, n, DMA_BIDIRECTIONAL);
	}
}

/*
 * What user space wrote becomes visible to the card (@for_card, before the job starts),
 * or what the card wrote to user space (before its fence signals). Any context.
 */
void heddle_host_sync(struct heddle_job *job, bool for_card)
{
	u32 i;

	for (i = 0; i < job->num_hosts; i++) {
		const struct heddle_host_range *range = &job->hosts[i];

		/* Also before the card writes: it need not write all of it. */
		if (range->bo->needs_sync && (for_card || range->out))
			heddle_sync_range(job->dev, range, for_card);
	}
}

/* May fail: a system with little memory has no contiguous pages. */
struct heddle_area *heddle_area_alloc(struct heddle_device *dev, size_t size)
{
	struct heddle_area *area = kzalloc_obj(*area, GFP_KERNEL_ACCOUNT);
	int err;

	if (!area)
		return ERR_PTR(-ENOMEM);
	area->size = PAGE_ALIGN(size);
	area->cpu = dma_alloc_coherent(dev->drm.dev, area->size, &area->dma,
				       GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	guard(mutex)(&dev->host_lock);
	if (area->cpu && !dev->host_closed) {
		list_add_tail(&area->link, &dev->areas);
		return area;
	}
	err = area->cpu ? -ENODEV : -ENOMEM;
	dma_free_coherent(dev->drm.dev, area->size, area->cpu, area->dma);
	kfree(area);
	return ERR_PTR(err);
}

/* @size bytes, zero, of the newest piece in *area, or of a new one that is put before it. */
void *heddle_area_carve(struct heddle_device *dev, struct heddle_area **area, size_t size,
			dma_addr_t *dma)
{
	size_t bytes = ALIGN(size, HEDDLE_STEP_BYTES);
	struct heddle_area *head = *area;
	void *cpu;

	if (!head || head->size - head->used < bytes) {
		head = heddle_area_alloc(dev, bytes);
		if (IS_ERR(head))
			return head;
		head->next = *area;
		*area = head;
	}
	cpu = head->cpu + head->used;
	*dma = head->dma + head->used;
	head->used += bytes;
	return cpu;
}

/* Holds host_lock. */
static void heddle_area_take_back(struct heddle_device *dev, struct heddle_area *area)
{
	list_del(&area->link);
	dma_free_coherent(dev->drm.dev, area->size, area->cpu, area->dma);
	area->cpu = NULL;
}

/* With all pieces behind it. */
void heddle_area_free(struct heddle_device *dev, struct heddle_area *area)
{
	while (area) {
		struct heddle_area *next = area->next;

		scoped_guard(mutex, &dev->host_lock)
			if (area->cpu)
				heddle_area_take_back(dev, area);
		kfree(area);
		area = next;
	}
}

/* An imported buffer, which is kept from being freed meanwhile; NULL: there is none left. */
static struct heddle_bo *heddle_next_import(struct heddle_device *dev)
{
	struct heddle_bo *bo;

	guard(mutex)(&dev->host_lock);
	list_for_each_entry(bo, &dev->mapped, mapped) {
		if (!bo->shmem.base.import_attach ||
		    !kref_get_unless_zero(&bo->shmem.base.refcount))
			continue;
		list_del_init(&bo->mapped);
		return bo;
	}
	return NULL;
}

/*
 * Gives the buffer back to its exporter; what is left is an object without memory. Only
 * detaching unmaps for certain: an exporter may keep mappings until then.
 */
static void heddle_drop_import(struct heddle_bo *bo)
{
	struct drm_gem_object *obj = &bo->shmem.base;
	struct dma_buf_attachment *attach = obj->import_attach;
	struct dma_buf *dma_buf = attach->dmabuf;

	scoped_guard(mutex, &obj->dev->object_name_lock) /* who exports it looks at this */
		obj->import_attach = NULL;
	dma_buf_unmap_attachment_unlocked(attach, bo->shmem.sgt, DMA_BIDIRECTIONAL);
	bo->shmem.sgt = NULL;
	bo->sgt = NULL;
	dma_buf_detach(dma_buf, attach);
	dma_buf_put(dma_buf);
}

/* The card is off the bus, or has been told to stop: nothing is its any more. */
void heddle_host_close(struct heddle_device *dev)
{
	struct heddle_area *area, *next_area;
	struct heddle_bo *bo, *next;

	scoped_guard(mutex, &dev->host_lock)
		dev->host_closed = true;
	while ((bo = heddle_next_import(dev))) {
		heddle_drop_import(bo);
		drm_gem_object_put(&bo->shmem.base);
	}
	guard(mutex)(&dev->host_lock);
	list_for_each_entry_safe(bo, next, &dev->mapped, mapped)
		if (!bo->shmem.base.import_attach) /* the others are being freed just now */
			heddle_take_back(dev, bo);
	list_for_each_entry_safe(area, next_area, &dev->areas, link)
		heddle_area_take_back(dev, area);
}
