// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Layout of the host memory that driver and card share: completion ring, job
// rings, and for each job in flight its steps, region tables and scatter lists.
#ifndef HEDDLE_KMD_HOSTED_ARENA_H_
#define HEDDLE_KMD_HOSTED_ARENA_H_

#include <cstddef>
#include <cstdint>

#include "kmd/hosted/core.h"

namespace heddle::hosted {

// Rings are far deeper than the jobs that the scheduler keeps with the card.
inline constexpr uint32_t kRingEntries = 16;
inline constexpr uint32_t kCompletionEntries = 64;
static_assert(kCompletionEntries >= HEDDLE_RINGS * kRingEntries,
              "registers.toml");
inline constexpr uint32_t kSlots = 4;
static_assert(kSlots >= HEDDLE_SCHED_DEPTH, "a slot per job in flight");

// Layout of the arena.
inline constexpr size_t kTableBytes = HEDDLE_REGIONS * HEDDLE_REGION_BYTES;
inline constexpr size_t kSlotSteps = 0;
inline constexpr size_t kSlotTables =
    kSlotSteps + HEDDLE_STEPS_MAX * HEDDLE_STEP_BYTES;
inline constexpr size_t kSlotLists =
    kSlotTables + HEDDLE_STEPS_MAX * kTableBytes;
inline constexpr size_t kSlotBytes =
    kSlotLists + HEDDLE_STEPS_MAX * HEDDLE_SG_ENTRY_BYTES;
inline constexpr size_t kCompletionAt = 0;
inline constexpr size_t kRingsAt =
    kCompletionAt + kCompletionEntries * HEDDLE_COMPLETION_BYTES;
inline constexpr size_t kRingBytes = kRingEntries * HEDDLE_JOB_DESCRIPTOR_BYTES;
inline constexpr size_t kSlotsAt = kRingsAt + HEDDLE_RINGS * kRingBytes;
inline constexpr size_t kArenaBytes = kSlotsAt + kSlots * kSlotBytes;

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_ARENA_H_
