// SPDX-License-Identifier: GPL-2.0-only OR MIT
// kmd/core for C++.
#ifndef HEDDLE_KMD_HOSTED_CORE_H_
#define HEDDLE_KMD_HOSTED_CORE_H_

extern "C" {
#include "heddle_hw.h"
#include "heddle_isa_fields.h"
#include "kmd/core/heddle_args.h"
#include "kmd/core/heddle_cycles.h"
#include "kmd/core/heddle_fair.h"
#include "kmd/core/heddle_job.h"
#include "kmd/core/heddle_limits.h"
#include "kmd/core/heddle_mem.h"
#include "kmd/core/heddle_ring.h"
#include "kmd/core/heddle_sched.h"
#include "kmd/core/heddle_state.h"
#include "kmd/core/heddle_validate.h"
}

#endif  // HEDDLE_KMD_HOSTED_CORE_H_
