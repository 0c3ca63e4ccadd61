// SPDX-License-Identifier: Apache-2.0
// The answers of onnxifi-discover. The program itself: loader_test.
#include "onnxifi/loader/discovery.h"

#include <gtest/gtest.h>

namespace heddle::onnxifi_loader {
namespace {

TEST(Discovery, AWholeAnswer) {
  const Discovered got = ParseAnswer(
      "\ndevice ACME one: card\ndevice two\nabi extended as its marker says\n"
      "end\n");
  EXPECT_EQ(got.kind, Discovered::kUsable);
  EXPECT_EQ(got.devices, 2u);
  EXPECT_EQ(got.descriptor_bytes, 96u);
  EXPECT_EQ(ParseAnswer("abi onnx1 x\nend\n").descriptor_bytes, 56u);
}

TEST(Discovery, AFailureHasItsReason) {
  const Discovered got =
      ParseAnswer("fail does not export onnxRunGraph\nend\n");
  EXPECT_EQ(got.kind, Discovered::kUnusable);
  EXPECT_EQ(got.reason, "does not export onnxRunGraph");
}

TEST(Discovery, WithoutDevicesTheAbiMayBeUnknown) {
  EXPECT_EQ(ParseAnswer("end\n").kind, Discovered::kNoDevices);
}

TEST(Discovery, AnAnswerWithoutEndIsNone) {
  for (const char* text : {"", "device x\nabi extended x\n",
                           "device x\nabi extended x\nend", "end of it\n"}) {
    EXPECT_EQ(ParseAnswer(text).kind, Discovered::kUnusable) << text;
  }
}

TEST(Discovery, WithoutTheProgramNothingIsTried) {
  // This test has none beside it.
  Candidate candidate;
  candidate.path = "/nowhere.so";
  EXPECT_EQ(Discover(candidate).kind, Discovered::kNotTried);
}

}  // namespace
}  // namespace heddle::onnxifi_loader
