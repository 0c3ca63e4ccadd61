// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-smi/fdinfo.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tools/heddle-smi/test_tree.h"

namespace heddle::smi {
namespace {

// As the driver prints it, with the lines of the kernel before.
constexpr char kFull[] =
    "pos:\t0\nflags:\t02100002\nmnt_id:\t26\nino:\t540\n"
    "drm-driver:\theddle\ndrm-pdev:\t0000:00:04.0\ndrm-client-id:\t7\n"
    "drm-engine-npu:\t1500000000 ns\n"
    "drm-total-device:\t16 KiB\ndrm-memory-device:\t16 KiB\n"
    "drm-total-memory:\t2 MiB\ndrm-memory-memory:\t2 MiB\n"
    "heddle-jobs:\t12\n";

TEST(Fdinfo, ReadsTheKeysOfTheDriver) {
  const auto client = ParseFdinfo(kFull);
  ASSERT_TRUE(client.has_value());
  EXPECT_EQ(client->pdev, "0000:00:04.0");
  EXPECT_EQ(client->id, 7u);
  EXPECT_EQ(client->engine_ns.at("npu"), 1500000000u);
  EXPECT_EQ(client->memory_bytes.at("device"), 16384u);
  EXPECT_EQ(client->memory_bytes.at("memory"), 2u << 20);
  EXPECT_EQ(client->jobs, 12u);
}

TEST(Fdinfo, KnowsTheStandardsOtherForms) {
  const auto client = ParseFdinfo(
      "drm-driver: heddle\ndrm-client-id: 1\n"
      "drm-engine-capacity-npu: 2\n"  // not a time
      "drm-engine-copy: 5 ns\n"
      "drm-total-device: 3 GiB\n"  // of a later kernel
      "drm-shared-device: 1 KiB\ndrm-cycles-npu: 9\ndrm-maxfreq-npu: 9 Hz\n"
      "drm-memory-bytes: 100\n");
  ASSERT_TRUE(client.has_value());
  EXPECT_EQ(client->engine_ns.size(), 1u);
  EXPECT_EQ(client->engine_ns.at("copy"), 5u);
  EXPECT_EQ(client->memory_bytes.size(), 2u);
  EXPECT_EQ(client->memory_bytes.at("device"), uint64_t{3} << 30);
  EXPECT_EQ(client->memory_bytes.at("bytes"), 100u);
}

TEST(Fdinfo, WhatIsNotOursIsNoClient) {
  for (const char* text :
       {"", "\n\n", "pos:\t0\nflags:\t02\n",
        "drm-driver: i915\ndrm-client-id: 7\n",
        "drm-driver: heddle\n",                     // no id
        "drm-driver: heddle2\ndrm-client-id: 7\n",  // another driver
        "drm-driver: heddle\ndrm-client-id: x\n",
        "drm-driver: heddle\ndrm-client-id: -1\n",
        "drm-driver: heddle\ndrm-client-id:\n",
        "drm-driver: heddle\ndrm-client-id: 99999999999999999999\n",
        "drm-client-id: 7\n", "drm-driver\ndrm-client-id: 7\n"}) {
    EXPECT_FALSE(ParseFdinfo(text).has_value()) << text;
  }
}

TEST(Fdinfo, LinesThatAreNotUnderstoodArePassedOver) {
  const std::string client = "drm-driver: heddle\ndrm-client-id: 7\n";
  for (const char* line :
       {"drm-engine-npu: ns\n", "drm-engine-npu: -5 ns\n",
        "drm-engine-npu: +5 ns\n", "drm-engine-npu: 5 ms\n",
        "drm-engine-npu: 5 ns ns\n", "drm-engine-npu: 0x5 ns\n",
        "drm-engine-npu:\n", "drm-engine-: 5 ns\n",
        "drm-engine-npu: 18446744073709551616 ns\n",
        "drm-memory-device: 18446744073709551615 KiB\n",
        "drm-memory-device: 1.5 KiB\n", "drm-memory-device: 5 TiB\n",
        "drm-memory-: 5 KiB\n", ": 5\n", ":::\n", "heddle-jobs: many\n"}) {
    const auto parsed = ParseFdinfo(client + line);
    ASSERT_TRUE(parsed.has_value()) << line;
    EXPECT_TRUE(parsed->engine_ns.empty()) << line;
    EXPECT_TRUE(parsed->memory_bytes.empty()) << line;
    EXPECT_EQ(parsed->jobs, 0u) << line;
  }
  // Any bytes: no crash; control characters do not reach a terminal.
  const auto odd = ParseFdinfo(client + "drm-engine-\x1b[2J: 5 ns\n" +
                               std::string("\0\xff:\n", 4));
  ASSERT_TRUE(odd.has_value());
  EXPECT_EQ(odd->engine_ns.begin()->first.find('\x1b'), std::string::npos);
  for (size_t end = 0; end < sizeof(kFull); ++end) {
    ParseFdinfo(std::string(kFull, end));
  }
}

TEST(Fdinfo, ScansProcesses) {
  Tree tree;
  tree.File("/proc/12/comm", "heddle-run\n");
  tree.File("/proc/12/fdinfo/0", "pos:\t0\n");
  tree.File("/proc/12/fdinfo/3", kFull);
  tree.File("/proc/12/fdinfo/4", kFull);  // dup(3)
  tree.File("/proc/12/fdinfo/10",
            "drm-driver:\theddle\ndrm-pdev:\t0000:00:05.0\n"
            "drm-client-id:\t7\n");
  tree.File("/proc/9/comm", "bad\x1b[0mname\n");
  tree.File("/proc/9/fdinfo/3", "drm-driver:\theddle\ndrm-client-id:\t8\n");
  tree.File("/proc/100/comm", "sh\n");  // without fdinfo
  tree.File("/proc/self/fdinfo/3", kFull);
  tree.File("/proc/99999999999/fdinfo/3", kFull);
  tree.File("/proc/7x/fdinfo/3", kFull);
  tree.File("/proc/13/fdinfo/3/strange", kFull);
  const ProcessList list = ScanProcesses(Rooted(tree.root()));
  ASSERT_EQ(list.rows.size(), 3u);
  EXPECT_EQ(list.rows[0].pid, 9);
  EXPECT_EQ(list.rows[0].name, "bad?[0mname");
  EXPECT_EQ(list.rows[1].pid, 12);
  EXPECT_EQ(list.rows[1].name, "heddle-run");
  EXPECT_EQ(list.rows[1].client.pdev, "0000:00:04.0");
  EXPECT_EQ(list.rows[2].client.pdev, "0000:00:05.0");
  EXPECT_EQ(list.hidden, 0);
  EXPECT_TRUE(ScanProcesses(Rooted(tree / "/nowhere")).rows.empty());
}

}  // namespace
}  // namespace heddle::smi
