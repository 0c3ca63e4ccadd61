// SPDX-License-Identifier: Apache-2.0
// What every transport must do, as one suite. A program instantiates it:
//
//   INSTANTIATE_TEST_SUITE_P(Drm, Cts, testing::Values(Kind{...}), KindName);
//
// Nobody else may use the card's memory at the same time.
#ifndef HEDDLE_RUNTIME_HAL_CTS_CTS_H_
#define HEDDLE_RUNTIME_HAL_CTS_CTS_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/hal/device.h"

namespace heddle::hal::cts {

struct Kind {
  const char* name;
  std::unique_ptr<Transport> (*make)();
  bool effects;                  // jobs do something
  const char* config = nullptr;  // of the card, if it is known
  uint64_t memory_bytes = 0;     // of the card, if it is known
  // Why the tests are skipped, or empty.
  std::string (*skip)() = nullptr;
};

inline std::string KindName(const testing::TestParamInfo<Kind>& info) {
  return info.param.name;
}

class Cts : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override;
  std::unique_ptr<Buffer> Make(uint64_t size, Placement placement);
  uint64_t Used() { return device_->Memory()->used_here; }

  std::shared_ptr<Device> device_;
  std::unique_ptr<Context> context_;
};

}  // namespace heddle::hal::cts

#endif  // HEDDLE_RUNTIME_HAL_CTS_CTS_H_
