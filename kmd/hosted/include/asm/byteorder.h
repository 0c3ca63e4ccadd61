/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: what the card writes, for processors whose order of bytes is the
 * card's. */
#ifndef HEDDLE_SHIM_ASM_BYTEORDER_H
#define HEDDLE_SHIM_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "heddle-hosted: little-endian processors only"
#endif

#define le32_to_cpu(x) ((__u32)(x))
#define cpu_to_le32(x) ((__le32)(x))

#endif
