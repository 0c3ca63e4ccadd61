// SPDX-License-Identifier: Apache-2.0
//
// A GoogleTest program in the guest: it finds the host's libraries and its own
// files, and the host does what it asks for. Part of cards_test.
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/guest/host_request.h"

namespace heddle::tests {
namespace {

TEST(GuestTest, RunsInTheKernelThatWasAskedFor) {
  std::ifstream info("../guest_kernel/kernel.txt");
  std::string release;
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("release=", 0) == 0) release = line.substr(8);
  }
  utsname name;
  ASSERT_EQ(uname(&name), 0);
  EXPECT_EQ(name.release, release);
  EXPECT_TRUE(InGuest());
}

TEST(GuestTest, AsksTheHost) {
  const HostAnswer answer = HostRequest("ctl 1 status");
  ASSERT_TRUE(answer.ok) << answer.text;
  const auto status = nlohmann::json::parse(answer.text, nullptr, false);
  EXPECT_EQ(status.value("memory", 0), 64 << 20);
  EXPECT_EQ(status.value("connected", false), true);
  const HostAnswer none = HostRequest("unplug 2");
  EXPECT_FALSE(none.ok);
  EXPECT_NE(none.text.find("no card"), std::string::npos) << none.text;
}

}  // namespace
}  // namespace heddle::tests
