// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/status.h"

#include <gtest/gtest.h>

#include "compiler/base/diagnostic.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {
namespace {

TEST(Status, KeepsItsCode) {
  for (onnxStatus code :
       {ONNXIFI_STATUS_INVALID_SHAPE, ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
        ONNXIFI_STATUS_BACKEND_UNAVAILABLE, ONNXIFI_STATUS_FATAL_ERROR}) {
    EXPECT_EQ(CodeOf(Fail(code, "why")), code);
    EXPECT_EQ(Fail(code, "why").message(), "why");
  }
}

TEST(Status, OfRejections) {
  using compiler::Reject;
  using compiler::Rejection;
  EXPECT_EQ(CodeOf(Reject(Rejection::kInvalidModel, "")),
            ONNXIFI_STATUS_INVALID_MODEL);
  EXPECT_EQ(CodeOf(Reject(Rejection::kUnsupportedOperator, "")),
            ONNXIFI_STATUS_UNSUPPORTED_OPERATOR);
  EXPECT_EQ(CodeOf(Reject(Rejection::kMismatchingDatatype, "")),
            ONNXIFI_STATUS_MISMATCHING_DATATYPE);
  EXPECT_EQ(CodeOf(Reject(Rejection::kNoSystemMemory, "")),
            ONNXIFI_STATUS_NO_SYSTEM_MEMORY);
}

TEST(Status, OfPlainStatuses) {
  EXPECT_EQ(CodeOf(absl::OkStatus()), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(CodeOf(absl::UnavailableError("")),
            ONNXIFI_STATUS_BACKEND_UNAVAILABLE);
  EXPECT_EQ(CodeOf(absl::DataLossError("")), ONNXIFI_STATUS_INTERNAL_ERROR);
}

// The published lists have 135 pairs of function and code.
TEST(Contract, HasThePublishedNumberOfCodes) {
  const int want[kStandardFunctions] = {5, 3, 6, 17, 11, 3,  9, 5,
                                        5, 4, 3, 27, 20, 14, 3};
  int total = 0;
  for (int f = 0; f < kStandardFunctions; ++f) {
    int count = 0;
    for (onnxStatus code = 0; code < 0x500; ++code) {
      count += MayReturn(static_cast<Function>(f), code, false);
    }
    EXPECT_EQ(count, want[f]) << FunctionName(static_cast<Function>(f));
    total += count;
  }
  EXPECT_EQ(total, 135);
}

TEST(Contract, FatalErrorIsNeverReturned) {
  for (int f = 0; f < kFunctions; ++f) {
    const auto function = static_cast<Function>(f);
    EXPECT_FALSE(MayReturn(function, ONNXIFI_STATUS_FATAL_ERROR));
    EXPECT_TRUE(
        MayReturn(function, Contracted(function, ONNXIFI_STATUS_FATAL_ERROR)));
  }
}

TEST(Log, Levels) {
  EXPECT_EQ(ParseLogLevel(""), LogLevel::kWarning);
  EXPECT_EQ(ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("off"), LogLevel::kOff);
}

TEST(Log, GoesToStandardErrorFromItsLevelOn) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  Log(LogLevel::kWarning, LogLevel::kInfo, "hidden");
  Log(LogLevel::kWarning, LogLevel::kWarning, "shown");
  Log(LogLevel::kOff, LogLevel::kError, "hidden");
  Log(LogLevel::kDebug, LogLevel::kDebug, std::string(5000, 'a'));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.substr(0, text.find('\n')), "heddle onnxifi: warning: shown");
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_LT(text.size(), 1200u);
}

}  // namespace
}  // namespace heddle::onnxifi
