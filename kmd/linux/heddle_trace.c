// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Defines the tracepoints of heddle_trace.h. */
#define CREATE_TRACE_POINTS
#include "heddle_trace.h"
