/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: error numbers. */
#ifndef HEDDLE_SHIM_LINUX_ERRNO_H
#define HEDDLE_SHIM_LINUX_ERRNO_H

#include_next <linux/errno.h>

#endif
