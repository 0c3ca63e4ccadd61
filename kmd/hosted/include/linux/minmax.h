/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: the smaller and the larger of two values of one type. */
#ifndef HEDDLE_SHIM_LINUX_MINMAX_H
#define HEDDLE_SHIM_LINUX_MINMAX_H

#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clamp(value, low, high) min(max(value, low), high)

#endif
