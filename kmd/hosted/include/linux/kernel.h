/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: number of elements. */
#ifndef HEDDLE_SHIM_LINUX_KERNEL_H
#define HEDDLE_SHIM_LINUX_KERNEL_H

#include_next <linux/kernel.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#endif

#endif
