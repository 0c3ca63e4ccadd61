// SPDX-License-Identifier: Apache-2.0
// Two processes use one card at the same time, and both are right.
#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/product.h"
#include "tests/support/virtual_card.h"

namespace heddle::tests {
namespace {

TEST(Sharing, TwoProcessesAtTheSameTimeAreBothRight) {
  TempFolder folder;
  VirtualCard card(folder / "card", {});
  HostedDriver driver(folder / "driver", {folder / "card"});
  MakeDigitsFolder(folder / "long", 200);
  MakeDigitsFolder(folder / "short", 20);
  const auto start = [&](const std::string& model, const std::string& repeat) {
    return Process::Start(CompareCommand({"--library", ExtendedLibrary(), model,
                                          "--exact", "ALL", "--repeat", repeat},
                                         driver.device()));
  };
  // The first one's runs surround the second one's: it has begun to print
  // results before the second starts, and goes on after that has ended.
  auto first = start(folder / "long", "20");
  ASSERT_NE(first, nullptr);
  const auto jobs = [&card] {
    const std::string text = card.Control("status");
    const size_t at = text.find("\"jobs\":");
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + 7));
  };
  ASSERT_TRUE(Eventually([&] { return jobs() > 5; }));
  auto second = start(folder / "short", "2");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->Wait(absl::Seconds(25)), 0)
      << second->out() << second->err();
  EXPECT_EQ(first->Wait(absl::ZeroDuration()), std::nullopt)
      << "the first process was too short to overlap with the second";
  EXPECT_EQ(first->Wait(absl::Seconds(25)), 0) << first->out() << first->err();
  EXPECT_NE(first->out().find("200 tensors compared, 0 mismatches"),
            std::string::npos);
  EXPECT_NE(second->out().find("20 tensors compared, 0 mismatches"),
            std::string::npos);
}

}  // namespace
}  // namespace heddle::tests
