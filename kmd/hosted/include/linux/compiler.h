/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Shim: an access that the compiler neither splits nor repeats. */
#ifndef HEDDLE_SHIM_LINUX_COMPILER_H
#define HEDDLE_SHIM_LINUX_COMPILER_H

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))

#endif
