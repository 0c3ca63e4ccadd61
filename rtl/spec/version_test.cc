// SPDX-License-Identifier: Apache-2.0
#include "rtl/spec/version.h"

#include <gtest/gtest.h>

namespace heddle::reg {
namespace {

TEST(VersionTest, PartsAndText) {
  const uint32_t version = MakeVersion(3, 14);
  EXPECT_EQ(version, 0x3000eu);
  EXPECT_EQ(MajorOf(version), 3u);
  EXPECT_EQ(MinorOf(version), 14u);
  EXPECT_EQ(VersionText(version), "3.14");
}

TEST(VersionTest, Parse) {
  uint32_t version = 0;
  EXPECT_TRUE(ParseVersion("1.12", &version));
  EXPECT_EQ(version, MakeVersion(1, 12));
  for (const char* text : {"", "1", ".", "1.", ".1", "1.x", "1.65536",
                           "65536.0", "-1.0", "1.-1", "0x1.0", "1.2.3"}) {
    EXPECT_FALSE(ParseVersion(text, &version)) << text;
  }
  EXPECT_EQ(version, MakeVersion(1, 12));
}

TEST(VersionTest, EarlierMinorVersionsOfTheSameMajorOne) {
  EXPECT_TRUE(Provides(MakeVersion(1, 1), MakeVersion(1, 0)));
  EXPECT_TRUE(Provides(MakeVersion(1, 1), MakeVersion(1, 1)));
  EXPECT_FALSE(Provides(MakeVersion(1, 0), MakeVersion(1, 1)));
  EXPECT_FALSE(Provides(MakeVersion(2, 0), MakeVersion(1, 0)));
  EXPECT_FALSE(Provides(MakeVersion(1, 9), MakeVersion(2, 0)));
}

}  // namespace
}  // namespace heddle::reg
