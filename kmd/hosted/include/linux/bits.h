/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: single bits. */
#ifndef HEDDLE_SHIM_LINUX_BITS_H
#define HEDDLE_SHIM_LINUX_BITS_H

#define BIT(n) (1UL << (n))
#define BIT_ULL(n) (1ULL << (n))

#endif
