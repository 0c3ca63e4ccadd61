// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Command streams: copied once, validated once, then inaccessible to everybody. */
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include <drm/drm_print.h>

#include "heddle_args.h"
#include "heddle_drv.h"

static void heddle_stream_release(struct kref *ref)
{
	struct heddle_stream *stream = container_of(ref, struct heddle_stream, ref);

	heddle_alloc_put(stream->alloc);
	kfree(stream);
}

void heddle_stream_put(struct heddle_stream *stream)
{
	if (stream)
		kref_put(&stream->ref, heddle_stream_release);
}

/*
 * A long stream takes a good part of a second: others run in between, and who is being
 * killed does not wait for the verdict.
 */
static int heddle_stream_validate(struct heddle_device *dev, const u32 *words, size_t bytes,
				  struct heddle_validate_result *facts)
{
	struct heddle_validation validation;
	int err;

	heddle_validate_begin(&validation, dev->config, words, bytes, facts);
	while ((err = heddle_validate_step(&validation, HEDDLE_VALIDATE_CHUNK)) == -EAGAIN) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return err;
}

/* Copies the user's words to @bo, which user space cannot map, and looks at them there. */
static int heddle_stream_take(struct heddle_file *file, struct heddle_bo *bo,
			      struct drm_heddle_stream_create *args,
			      struct heddle_validate_result *facts)
{
	struct heddle_device *dev = file->dev;
	u32 pages = bo->shmem.base.size >> PAGE_SHIFT;
	u32 count = args->data.count / sizeof(u32);
	u32 *words;
	int err;

	err = heddle_host_map(bo, file);
	if (err)
		return err;
	words = vmap(bo->shmem.pages, pages, VM_MAP, PAGE_KERNEL);
	if (!words)
		return -ENOMEM;
	if (copy_from_user(words, u64_to_user_ptr(args->data.ptr), args->data.count)) {
		err = heddle_refuse(-EFAULT, "ptr of the stream", args->data.ptr, TASK_SIZE_MAX);
	} else {
		le32_to_cpu_array(words, count);
		err = heddle_stream_validate(dev, words, args->data.count, facts);
		cpu_to_le32_array(words, count); /* as the card reads them */
		if (err == -ENOEXEC) {
			args->error_offset = facts->offset;
			args->error_code = facts->error;
			drm_dbg_driver(&dev->drm, "heddle: command at byte %u of %u: error %u\n",
				       facts->offset, args->data.count, facts->error);
		}
	}
	vunmap(words);
	return err;
}

int heddle_stream_create_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_stream *stream __free(heddle_stream) = NULL;
	struct heddle_bo *staging __free(heddle_bo) = NULL;
	struct heddle_file *file = drm_file->driver_priv;
	struct heddle_device *dev = to_heddle(drm);
	struct drm_heddle_stream_create *args = data;
	int err;

	err = heddle_check_stream_create(args);
	if (err)
		return err;
	stream = kzalloc_obj(*stream, GFP_KERNEL_ACCOUNT);
	if (!stream)
		return -ENOMEM;
	kref_init(&stream->ref);
	stream->bytes = args->data.count;
	err = heddle_gem_host_create(dev, PAGE_ALIGN(args->data.count), &staging) ?:
		heddle_stream_take(file, staging, args, &stream->facts) ?:
		heddle_alloc_create(dev, args->data.count, &stream->alloc);
	if (err == -ENOSPC)
		heddle_say_refused("count", args->data.count, heddle_dram_available(dev));
	if (err)
		return err;
	stream->alloc->staged_bytes = stream->bytes;
	stream->alloc->staging = no_free_ptr(staging);
	err = heddle_file_charge_object(file, HEDDLE_STREAMS, stream->alloc->node.size);
	if (err)
		return err;
	err = xa_alloc_cyclic(&file->streams, &args->stream, stream, XA_LIMIT(1, U32_MAX),
			      &file->next_stream, GFP_KERNEL_ACCOUNT);
	if (err < 0) {
		heddle_file_uncharge_object(file, HEDDLE_STREAMS, stream->alloc->node.size);
		return err;
	}
	stream = NULL; /* it is the table's now */
	return 0;
}

int heddle_stream_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *drm_file)
{
	struct heddle_file *file = drm_file->driver_priv;
	struct drm_heddle_stream_destroy *args = data;
	struct heddle_stream *stream;
	int err;

	err = heddle_check_pad(args->pad);
	if (err)
		return err;
	stream = xa_erase(&file->streams, args->stream);
	if (!stream)
		return heddle_refuse_unknown("stream", args->stream);
	heddle_file_uncharge_object(file, HEDDLE_STREAMS, stream->alloc->node.size);
	heddle_stream_put(stream);
	return 0;
}
