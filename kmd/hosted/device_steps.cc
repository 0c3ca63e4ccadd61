// SPDX-License-Identifier: GPL-2.0-only OR MIT
// How jobs are written down for the card.
#include <cstring>

#include "kmd/hosted/arena.h"
#include "kmd/hosted/device.h"

namespace heddle::hosted {

uint32_t Device::WriteUserSteps(const Job& job, uint32_t slot) {
  uint8_t* area = arena_data_ + kSlotsAt + slot * kSlotBytes;
  const uint64_t address = arena_->address + kSlotsAt + slot * kSlotBytes;
  uint32_t n = 0;
  for (const Step& step : job.steps) {
    heddle_step hw = {};
    heddle_sg_entry list = {};
    heddle_region table[HEDDLE_REGIONS] = {};
    hw.flags = heddle_step_flags(step.flags, info_.hw_version);
    hw.length = step.length;
    switch (step.type) {
      case DRM_HEDDLE_COPY_IN:
        hw.type = HEDDLE_STEP_TYPE_COPY_IN;
        hw.device_address = step.dst->device->node.offset + step.dst_offset;
        list.iova = step.src->host->address + step.src_offset;
        break;
      case DRM_HEDDLE_COPY_OUT:
        hw.type = HEDDLE_STEP_TYPE_COPY_OUT;
        hw.device_address = step.src->device->node.offset + step.src_offset;
        list.iova = step.dst->host->address + step.dst_offset;
        break;
      case DRM_HEDDLE_STEP_COPY:
        hw.type = HEDDLE_STEP_TYPE_COPY;
        hw.device_address = step.src->device->node.offset + step.src_offset;
        hw.destination = step.dst->device->node.offset + step.dst_offset;
        break;
      case DRM_HEDDLE_FILL:
        hw.type = HEDDLE_STEP_TYPE_FILL;
        hw.device_address = step.dst->device->node.offset + step.dst_offset;
        hw.fill_value = step.fill_value;
        break;
      default:
        hw.type = HEDDLE_STEP_TYPE_RUN;
        hw.device_address = step.stream->device->node.offset;
        hw.length = step.stream->bytes;
        for (uint32_t r = 0; r < HEDDLE_REGIONS; ++r) {
          const BoundRegion& bound = step.regions[r];
          if (bound.bo == nullptr) continue;
          table[r].base = bound.bo->device->node.offset + bound.offset;
          table[r].size = bound.size;
          table[r].flags =
              bound.writable ? HEDDLE_REGION_FLAGS_WRITABLE_MASK : 0;
        }
    }
    if (hw.type == HEDDLE_STEP_TYPE_RUN) {
      hw.table_iova = address + kSlotTables + n * kTableBytes;
      std::memcpy(area + kSlotTables + n * kTableBytes, table, sizeof(table));
    } else if (list.iova != 0) {
      list.length = step.length;
      hw.sg_count = 1;  // host buffers are one range of host addresses
      hw.table_iova = address + kSlotLists + n * sizeof(list);
      std::memcpy(area + kSlotLists + n * sizeof(list), &list, sizeof(list));
    }
    std::memcpy(area + kSlotSteps + n * sizeof(hw), &hw, sizeof(hw));
    ++n;
  }
  return n;
}

uint32_t Device::WriteOwnSteps(const Job& job, uint32_t slot) {
  uint8_t* area = arena_data_ + kSlotsAt + slot * kSlotBytes;
  const uint64_t address = arena_->address + kSlotsAt + slot * kSlotBytes;
  uint32_t n = 0;
  auto emit = [&](const heddle_step& hw) {
    std::memcpy(area + kSlotSteps + n * sizeof(hw), &hw, sizeof(hw));
    ++n;
  };
  for (const auto& a : job.prepares) {
    const Stream* upload = nullptr;
    for (const auto& s : job.uploads) {
      if (s->device == a) upload = s.get();
    }
    heddle_step hw = {};
    hw.device_address = a->node.offset;
    if (upload == nullptr) {
      hw.type = HEDDLE_STEP_TYPE_FILL;
      hw.length = a->node.size;
    } else {
      const heddle_sg_entry list = {upload->staging->address, upload->bytes};
      hw.type = HEDDLE_STEP_TYPE_COPY_IN;
      hw.length = upload->bytes;
      hw.sg_count = 1;
      hw.table_iova = address + kSlotLists + n * sizeof(list);
      std::memcpy(area + kSlotLists + n * sizeof(list), &list, sizeof(list));
    }
    emit(hw);
  }
  for (const heddle_mem_move& move : job.moves) {
    heddle_step hw = {};
    hw.type = HEDDLE_STEP_TYPE_COPY;
    hw.device_address = move.from;
    hw.destination = move.to;
    hw.length = move.size;
    emit(hw);
  }
  return n;
}

}  // namespace heddle::hosted
