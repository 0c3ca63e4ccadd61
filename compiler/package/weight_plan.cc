// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/weight_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::package {
namespace {

uint64_t Sum(const std::vector<WeightCopy>& copies) {
  uint64_t sum = 0;
  for (const WeightCopy& c : copies) sum += c.size;
  return sum;
}

// Of one copy alone. Sums cannot overflow behind it.
std::string WrongAlone(const WeightCopy& c, uint64_t room,
                       uint64_t weight_bytes, uint64_t streams) {
  if (c.stream >= streams) {
    return absl::StrCat("there is no stream ", c.stream);
  }
  if (c.size == 0 || c.from % kWeightAlign != 0 || c.to % kWeightAlign != 0) {
    return absl::StrCat(c.size, " bytes from ", c.from, " to ", c.to,
                        " are empty or not aligned");
  }
  if (c.from > weight_bytes || c.size > weight_bytes - c.from) {
    return absl::StrCat(c.size, " bytes from ", c.from, " of ", weight_bytes);
  }
  if (c.to > room || c.size > room - c.to) {
    return absl::StrCat(c.size, " bytes to ", c.to, " of ", room);
  }
  return "";
}

}  // namespace

uint64_t WeightPlan::resident_bytes() const { return Sum(resident); }
uint64_t WeightPlan::copied_bytes() const { return Sum(copies); }

std::string WhatIsWrong(const WeightPlan& plan, uint64_t weight_bytes,
                        uint64_t streams) {
  if (plan.windows == 0 || plan.windows > kWindowsMax) {
    return absl::StrCat(plan.windows, " windows");
  }
  if (plan.window_bytes == 0 || plan.window_bytes % kWeightAlign != 0) {
    return absl::StrCat("a window of ", plan.window_bytes, " bytes");
  }
  if (std::max(plan.device_bytes, plan.window_bytes) >= weight_bytes) {
    return absl::StrCat("region 0 of ", plan.device_bytes,
                        " bytes and a window of ", plan.window_bytes, " for ",
                        weight_bytes, " bytes of weights");
  }
  for (const auto* list : {&plan.resident, &plan.copies}) {
    const WeightCopy* last = nullptr;
    for (const WeightCopy& c : *list) {
      std::string wrong = WrongAlone(
          c, list == &plan.resident ? plan.device_bytes : plan.window_bytes,
          weight_bytes, streams);
      if (!wrong.empty()) return wrong;
      if (list == &plan.resident && c.stream != 0) {
        return absl::StrCat("resident weights have stream ", c.stream);
      }
      if (last != nullptr &&
          (last->stream > c.stream ||
           (last->stream == c.stream && last->to + last->size > c.to))) {
        return absl::StrCat("copies to ", last->to, " and ", c.to,
                            " overlap or are not in order");
      }
      last = &c;
    }
  }
  return "";
}

}  // namespace heddle::package
