// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Buffers: HOST ones are shmem objects that can be mapped and exported; DEVICE
 * ones have a handle and device memory, and cannot be mapped.
 */
#include <drm/drm_gem.h>
#include <drm/drm_prime.h>

#include "heddle_args.h"
#include "heddle_drv.h"

/* Largest HOST buffer: more than any card can take. */
#define HEDDLE_HOST_BYTES_MAX (64ULL << 30)

static u64 heddle_bytes_at(struct drm_gem_object *obj, u32 placement)
{
	return to_heddle_bo(obj)->placement == placement ? obj->size : 0;
}

/* A handle: that of a buffer of the file's own, of an import or of a shared one. */
static int heddle_gem_open(struct drm_gem_object *obj, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	int err = heddle_file_charge_object(file, HEDDLE_BUFFERS,
					    heddle_bytes_at(obj, DRM_HEDDLE_DEVICE));

	if (!err)
		atomic64_add(heddle_bytes_at(obj, DRM_HEDDLE_HOST), &file->host_bytes);
	return err;
}

static void heddle_gem_close(struct drm_gem_object *obj, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;

	heddle_file_uncharge_object(file, HEDDLE_BUFFERS, heddle_bytes_at(obj, DRM_HEDDLE_DEVICE));
	atomic64_sub(heddle_bytes_at(obj, DRM_HEDDLE_HOST), &file->host_bytes);
}

static void heddle_host_free(struct drm_gem_object *obj)
{
	struct heddle_bo *bo = to_heddle_bo(obj);

	heddle_host_unmap(bo);
	drm_gem_shmem_free(&bo->shmem);
}

static void heddle_device_free(struct drm_gem_object *obj)
{
	struct heddle_bo *bo = to_heddle_bo(obj);

	heddle_alloc_put(bo->alloc);
	drm_gem_object_release(obj);
	kfree(bo);
}

static struct dma_buf *heddle_device_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static const struct drm_gem_object_funcs heddle_host_funcs = {
	.free = heddle_host_free,
	.open = heddle_gem_open,
	.close = heddle_gem_close,
	.print_info = drm_gem_shmem_object_print_info,
	.pin = drm_gem_shmem_object_pin,
	.unpin = drm_gem_shmem_object_unpin,
	.get_sg_table = drm_gem_shmem_object_get_sg_table,
	.vmap = drm_gem_shmem_object_vmap,
	.vunmap = drm_gem_shmem_object_vunmap,
	.mmap = drm_gem_shmem_object_mmap,
	.vm_ops = &drm_gem_shmem_vm_ops,
};

static const struct drm_gem_object_funcs heddle_device_funcs = {
	.free = heddle_device_free,
	.open = heddle_gem_open,
	.close = heddle_gem_close,
	.export = heddle_device_export,
};

/* HOST and imported objects begin here. */
struct drm_gem_object *heddle_gem_create_object(struct drm_device *drm, size_t size)
{
	struct heddle_bo *bo = kzalloc_obj(*bo, GFP_KERNEL_ACCOUNT);

	if (!bo)
		return ERR_PTR(-ENOMEM);
	bo->placement = DRM_HEDDLE_HOST;
	INIT_LIST_HEAD(&bo->mapped);
	bo->shmem.base.funcs = &heddle_host_funcs;
	return &bo->shmem.base;
}

/* Mapped for the card from here on, so a removed card gets nothing. */
struct drm_gem_object *heddle_gem_import(struct drm_device *drm, struct dma_buf *dma_buf)
{
	struct drm_gem_object *obj;
	int err;

	CLASS(heddle_presence, present)(to_heddle(drm));
	if (present < 0)
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dma_buf);
	if (IS_ERR(obj) || !obj->import_attach) /* or it is one of ours */
		return obj;
	err = heddle_host_add(to_heddle(drm), to_heddle_bo(obj), to_heddle_bo(obj)->shmem.sgt);
	if (!err)
		return obj;
	drm_gem_object_put(obj);
	return ERR_PTR(err);
}

int heddle_gem_host_create(struct heddle_device *dev, size_t size, struct heddle_bo **bo)
{
	struct drm_gem_shmem_object *shmem = drm_gem_shmem_create(&dev->drm, size);

	if (IS_ERR(shmem)) /* shmem's -ENOSPC is system memory, our callers' is the card's */
		return PTR_ERR(shmem) == -ENOSPC ? -ENOMEM : PTR_ERR(shmem);
	*bo = to_heddle_bo(&shmem->base);
	return 0;
}

static int heddle_gem_device_create(struct heddle_device *dev, u64 size, struct heddle_bo **out)
{
	struct heddle_bo *bo = kzalloc_obj(*bo, GFP_KERNEL_ACCOUNT);
	int err;

	if (!bo)
		return -ENOMEM;
	bo->placement = DRM_HEDDLE_DEVICE;
	err = heddle_alloc_create(dev, size, &bo->alloc);
	if (err) {
		kfree(bo);
		return err;
	}
	bo->shmem.base.funcs = &heddle_device_funcs;
	drm_gem_private_object_init(&dev->drm, &bo->shmem.base, bo->alloc->node.size);
	*out = bo;
	return 0;
}

/*
 * The object with this handle: it has this placement, and @length bytes from @offset. Put
 * *@bo after use, also after an error.
 */
int heddle_gem_find(struct drm_file *file, u32 handle, u32 placement, u64 offset, u64 length,
		    struct heddle_bo **bo)
{
	struct drm_gem_object *obj = drm_gem_object_lookup(file, handle);

	*bo = obj ? to_heddle_bo(obj) : NULL;
	if (!obj)
		return heddle_refuse_unknown("handle", handle);
	if ((*bo)->placement != placement)
		return heddle_refuse(-EINVAL, "placement of the object", (*bo)->placement,
				     placement);
	return heddle_check_range(offset, length, obj->size);
}

int heddle_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct heddle_device *dev = to_heddle(drm);
	struct drm_heddle_bo_create *args = data;
	struct heddle_bo *bo;
	u64 size;
	int err;

	err = heddle_check_bo_create(args);
	if (err)
		return err;
	err = heddle_mem_round(args->size, &size);
	if (args->placement == DRM_HEDDLE_DEVICE)
		err = err ?: heddle_gem_device_create(dev, args->size, &bo);
	else if (err || size > HEDDLE_HOST_BYTES_MAX)
		err = heddle_refuse(-ENOMEM, "size", args->size, HEDDLE_HOST_BYTES_MAX);
	else
		err = heddle_gem_host_create(dev, size, &bo);
	args->available = heddle_dram_available(dev);
	if (err == -ENOSPC)
		heddle_say_refused("size", args->size, args->available);
	if (err)
		return err;
	err = drm_gem_handle_create(file, &bo->shmem.base, &args->handle);
	drm_gem_object_put(&bo->shmem.base);
	return err;
}

int heddle_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file)
{
	struct drm_heddle_bo_info *args = data;
	struct drm_gem_object *obj = drm_gem_object_lookup(file, args->handle);
	int err = 0;

	if (!obj)
		return heddle_refuse_unknown("handle", args->handle);
	args->placement = to_heddle_bo(obj)->placement;
	args->size = obj->size;
	args->mmap_offset = 0;
	if (args->placement == DRM_HEDDLE_HOST && !obj->import_attach) {
		err = drm_gem_create_mmap_offset(obj);
		if (!err)
			args->mmap_offset = drm_vma_node_offset_addr(&obj->vma_node);
	}
	drm_gem_object_put(obj);
	return err;
}
