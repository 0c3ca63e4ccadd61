// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The tables that tools/specgen writes, as a part of this module. */
#include "heddle_isa_tables.c"
