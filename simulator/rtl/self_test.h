// SPDX-License-Identifier: Apache-2.0
//
// Does this core work, and does its memory cost what it must? Small streams,
// their bytes and their cycles; `heddle-sim selftest`.
#ifndef HEDDLE_SIMULATOR_RTL_SELF_TEST_H_
#define HEDDLE_SIMULATOR_RTL_SELF_TEST_H_

#include <string>

#include "simulator/rtl/core_model.h"

namespace heddle::rtl {

// True if all is well. Uses the core's memory for itself; `report` gets a line
// per check.
bool SelfTest(CoreModel* core, std::string* report);

}  // namespace heddle::rtl

#endif  // HEDDLE_SIMULATOR_RTL_SELF_TEST_H_
