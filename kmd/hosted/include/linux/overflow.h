/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: checked arithmetic; true means that the result does not fit. */
#ifndef HEDDLE_SHIM_LINUX_OVERFLOW_H
#define HEDDLE_SHIM_LINUX_OVERFLOW_H

#define check_add_overflow(a, b, d) __builtin_add_overflow(a, b, d)
#define check_sub_overflow(a, b, d) __builtin_sub_overflow(a, b, d)
#define check_mul_overflow(a, b, d) __builtin_mul_overflow(a, b, d)

#endif
