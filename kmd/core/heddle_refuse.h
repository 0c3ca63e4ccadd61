/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Why a call is rejected, for developers of clients: DRM's driver debug messages
 * (drm.debug=2) name the field, its value and its limit, or say that no object has
 * this number. The driver adds card, client and call (heddle_ioctl). Outside a kernel
 * there are no messages.
 */
#ifndef HEDDLE_REFUSE_H
#define HEDDLE_REFUSE_H

#include <linux/errno.h>
#include <linux/types.h>

#ifdef __KERNEL__
#include <drm/drm_device.h>
#include <drm/drm_print.h>
#define heddle_say_refused(field, value, limit) \
	drm_dbg_driver((struct drm_device *)NULL, "heddle: %s is %llu, limit %llu\n", field, \
		       (unsigned long long)(value), (unsigned long long)(limit))
#define heddle_say_unknown(field, value) \
	drm_dbg_driver((struct drm_device *)NULL, "heddle: %s is %llu, limit: those there are\n", \
		       field, (unsigned long long)(value))
#else
#define heddle_say_refused(field, value, limit) ((void)(field), (void)(value), (void)(limit))
#define heddle_say_unknown(field, value) ((void)(field), (void)(value))
#endif

/* Returns @err. */
static inline int heddle_refuse(int err, const char *field, u64 value, u64 limit)
{
	heddle_say_refused(field, value, limit);
	return err;
}

/* @field names an object that this file does not have. */
static inline int heddle_refuse_unknown(const char *field, u64 value)
{
	heddle_say_unknown(field, value);
	return -ENOENT;
}

#endif
