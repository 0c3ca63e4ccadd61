# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Files of kmd/core."""

SOURCES = [
    "heddle_args.c",
    "heddle_bounds.h",
    "heddle_bounds_conv.c",
    "heddle_bounds_dma.c",
    "heddle_bounds_vector.c",
    "heddle_cycles.c",
    "heddle_fair.c",
    "heddle_job.c",
    "heddle_limits.c",
    "heddle_mem.c",
    "heddle_ring.c",
    "heddle_sched.c",
    "heddle_state.c",
    "heddle_validate.c",
]

HEADERS = [
    "heddle_args.h",
    "heddle_cycles.h",
    "heddle_fair.h",
    "heddle_job.h",
    "heddle_limits.h",
    "heddle_mem.h",
    "heddle_refuse.h",
    "heddle_ring.h",
    "heddle_sched.h",
    "heddle_state.h",
    "heddle_validate.h",
]
