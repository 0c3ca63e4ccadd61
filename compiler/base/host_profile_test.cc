// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/host_profile.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace heddle::compiler {
namespace {

TEST(HostProfile, TheTextGivesTheProfileAgain) {
  HostProfile profile = DefaultHostProfile();
  profile.name = "desk-2";
  profile.node_ns = 1.0 / 3;
  profile.byte_ns = 1e-9;
  profile.job_us = 1e9;
  profile.threads = 1024;
  const std::string text = HostProfileText(profile);
  const auto again = ParseHostProfile(text);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->name, "desk-2");
  EXPECT_EQ(again->node_ns, 1.0 / 3);
  EXPECT_EQ(again->byte_ns, 1e-9);
  EXPECT_EQ(again->threads, 1024);
  EXPECT_EQ(HostProfileText(*again), text);
}

TEST(HostProfile, CommentsAndOrderDoNotMatter) {
  std::string text = HostProfileText(DefaultHostProfile());
  text = absl::StrReplaceAll(text, {{"threads 1\n", ""}});
  text = absl::StrReplaceAll(
      text,
      {{"name default", "# of a test\n\tthreads 1 # one\r\nname default"}});
  const auto profile = ParseHostProfile(text);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(HostProfileText(*profile), HostProfileText(DefaultHostProfile()));
}

struct BadText {
  const char* from;
  const char* to;
  const char* said;
};

TEST(HostProfile, MistakesAreNamed) {
  const std::string good = HostProfileText(DefaultHostProfile());
  for (const BadText& m : {
           BadText{"profile 1", "profile 2",
                   "line 1: a host profile must begin"},
           BadText{"name default", "name a b", "line 2: expected a key"},
           BadText{"name default", "name", "line 2: expected a key"},
           BadText{"row_ns", "row_us", "unknown key 'row_us'"},
           BadText{"threads 1", "threads 1\nthreads 1",
                   "'threads' is given twice"},
           BadText{"threads 1", "", "has no 'threads'"},
           BadText{"threads 1", "threads 0", "from 1 to 1024"},
           BadText{"job_us 70", "job_us -1", "job_us is a number"},
           BadText{"job_us 70", "job_us nan", "job_us is a number"},
           BadText{"job_us 70", "job_us 1e10", "job_us is a number"},
           BadText{"job_us 70", "job_us x", "job_us is a number"},
       }) {
    const std::string text = absl::StrReplaceAll(good, {{m.from, m.to}});
    ASSERT_NE(text, good) << m.from;
    const auto profile = ParseHostProfile(text);
    ASSERT_FALSE(profile.ok()) << m.to;
    EXPECT_TRUE(absl::IsInvalidArgument(profile.status()));
    EXPECT_TRUE(absl::StrContains(profile.status().message(), m.said))
        << profile.status();
  }
  EXPECT_FALSE(ParseHostProfile("").ok());
  EXPECT_FALSE(
      ParseHostProfile(absl::StrCat(good, std::string(kMostProfileBytes, '#')))
          .ok());
}

}  // namespace
}  // namespace heddle::compiler
