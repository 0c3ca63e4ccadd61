// SPDX-License-Identifier: Apache-2.0
#include "tests/support/virtual_card.h"

#include <gtest/gtest.h>

namespace heddle::tests {
namespace {

TEST(VirtualCardTest, IsAttachedKilledAndReplaced) {
  TempFolder folder;
  VirtualCard card(folder / "card0", {});
  HostedDriver driver(folder / "driver", {folder / "card0"});
  EXPECT_EQ(driver.Cards(), 1u);
  EXPECT_NE(card.Control("status").find("\"ok\":true"), std::string::npos);
  card.Kill();
  EXPECT_TRUE(driver.WaitForCards(0));
  EXPECT_TRUE(driver.alive());
  VirtualCard next(folder / "card0", CardOptions{"h512", "512M", 2});
  EXPECT_TRUE(driver.WaitForCards(1));
}

}  // namespace
}  // namespace heddle::tests
