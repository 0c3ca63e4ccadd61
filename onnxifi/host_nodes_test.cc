// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/host_nodes.h"

#include <gtest/gtest.h>

#include "onnxifi/include/heddle/onnxifi_ext.h"

namespace heddle::onnxifi {
namespace {

TEST(HostNodes, AreWhatTheEnvironmentSays) {
  EXPECT_EQ(ParseHostNodes(""), HostNodes::kFallback);
  EXPECT_EQ(ParseHostNodes("fallback"), HostNodes::kFallback);
  EXPECT_EQ(ParseHostNodes("refuse"), HostNodes::kRefuse);
  EXPECT_EQ(ParseHostNodes("success"), HostNodes::kSuccess);
}

TEST(HostNodes, SayWhatTheyDoNotKnow) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(ParseHostNodes("never"), HostNodes::kFallback);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("HEDDLE_HOST_NODES"), std::string::npos) << said;
  EXPECT_NE(said.find("never"), std::string::npos) << said;
}

static_assert(static_cast<int>(HostNodes::kRefuse) == HEDDLE_HOST_NODES_REFUSE);
static_assert(static_cast<int>(HostNodes::kFallback) ==
              HEDDLE_HOST_NODES_FALLBACK);
static_assert(static_cast<int>(HostNodes::kSuccess) ==
              HEDDLE_HOST_NODES_SUCCESS);

}  // namespace
}  // namespace heddle::onnxifi
