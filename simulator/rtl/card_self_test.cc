// SPDX-License-Identifier: Apache-2.0
// The whole card of every configuration: values, and cycles that the timing of
// device memory permits.
#include <gtest/gtest.h>

#include "simulator/rtl/card_target.h"

namespace heddle::rtl {
namespace {

TEST(RtlCard, SelfTest) {
  for (const isa::Config& config : isa::kConfigs) {
    auto target = CardTarget::Make(config);
    ASSERT_TRUE(target.ok()) << target.status();
    std::string report;
    EXPECT_TRUE(SelfTest(target->get(), &report)) << config.name << "\n"
                                                  << report;
  }
}

}  // namespace
}  // namespace heddle::rtl
