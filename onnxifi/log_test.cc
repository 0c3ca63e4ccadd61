// SPDX-License-Identifier: Apache-2.0
// What is written to standard error, and at which level.
#include <string>

#include "compiler/base/diagnostic.h"
#include "onnxifi/testing/fixture.h"

namespace heddle::onnxifi {
namespace {

class LogTest : public OnnxifiTest {
 protected:
  // What `call` writes.
  template <typename Call>
  std::string Written(Call call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
  }
  void OpenWith(uint64_t log_level) {
    const uint64_t list[] = {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, log_level, 0};
    ASSERT_OK(onnxReleaseBackend(backend_));
    backend_ = nullptr;
    ASSERT_OK(onnxInitBackend(id_, list, &backend_));
  }
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(LogTest, TheReasonOfARejectionIsWrittenByDefault) {
  world().SetRejection(compiler::Reject(
      compiler::Rejection::kUnsupportedOperator, "Foo 'f': no such operator"));
  const std::string model = Serialize({});
  const std::string compatibility = Written([&] {
    EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_OPERATOR,
                  onnxGetBackendCompatibility(id_, model.size(), model.data()));
  });
  EXPECT_EQ(compatibility,
            "heddle onnxifi: warning: onnxGetBackendCompatibility: "
            "ONNXIFI_STATUS_UNSUPPORTED_OPERATOR: Foo 'f': no such operator\n");
  const std::string graph = Written([&] {
    onnxGraph made = nullptr;
    EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_OPERATOR,
                  onnxInitGraph(backend_, nullptr, model.size(), model.data(),
                                0, nullptr, &made, 0, nullptr));
  });
  EXPECT_TRUE(Has(graph, "error: onnxInitGraph: ")) << graph;
  EXPECT_TRUE(Has(graph, "Foo 'f': no such operator")) << graph;
}

TEST_F(LogTest, WhatIsOptionalMayBeAskedFor) {
  EXPECT_EQ(Written([&] {
              uint64_t value;
              size_t size = sizeof(value);
              EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                            onnxGetBackendInfo(id_, ONNXIFI_BACKEND_CUDA_INDEX,
                                               &value, &size));
            }),
            "");
}

TEST_F(LogTest, AnOptionIsTheLevelWhereNoPropertyIs) {
  const auto set = Extension<onnxSetOptionFunction>("onnxSetOptionFunction");
  const auto get = Extension<onnxGetOptionFunction>("onnxGetOptionFunction");
  EXPECT_EQ(Extension<onnxSetOptionFunction>("onnxSetOption"), set);
  const auto value = [&] {
    char text[16] = "xxxxxxxxxxxxxxx";
    size_t length = sizeof(text);
    EXPECT_OK(get("heddle_log", text, &length));
    EXPECT_EQ(length, std::string(text).size());
    return std::string(text);
  };
  const std::string before = value();
  const auto rejected = [&] {
    return Written([&] {
      EXPECT_STATUS(ONNXIFI_STATUS_INVALID_SIZE,
                    onnxGetBackendCompatibility(id_, 0, "x"));
    });
  };
  ASSERT_OK(set("heddle_log", "off"));
  EXPECT_EQ(value(), "off");
  EXPECT_EQ(rejected(), "");
  ASSERT_OK(set("heddle_log", "debug"));
  EXPECT_EQ(value(), "debug");
  EXPECT_TRUE(Has(rejected(), "onnxGetBackendCompatibility"));
  // A backend is initialised with the level of that moment, or its property.
  const auto released = [&] {
    return Written([&] {
      onnxEvent event = nullptr;
      EXPECT_OK(onnxInitEvent(backend_, &event));
      EXPECT_OK(onnxReleaseEvent(event));
    });
  };
  OpenWith(ONNXIFI_LOG_LEVEL_ERROR);
  EXPECT_EQ(released(), "");
  ASSERT_OK(onnxReleaseBackend(backend_));
  ASSERT_OK(onnxInitBackend(id_, nullptr, &backend_));
  ASSERT_OK(set("heddle_log", "off"));
  EXPECT_TRUE(Has(released(), "onnxInitEvent"));

  char text[4] = "xxx";
  size_t length = 3;  // "off" and its NUL are four
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                get("heddle_log", text, &length));
  EXPECT_STREQ(text, "xxx");
  EXPECT_EQ(length, 3u);
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE, set("heddle_log", "5"));
  EXPECT_STATUS(ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE, set("heddle_log", ""));
  EXPECT_EQ(value(), "off");
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME, set("glow_num_devices", "1"));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME, get("heddle", text, &length));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER, set(nullptr, "off"));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER, set("heddle_log", nullptr));
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                get("heddle_log", text, nullptr));
  ASSERT_OK(set("heddle_log", before.c_str()));
}

TEST_F(LogTest, AWrongNameIsAnsweredWithTheRightOnes) {
  onnxGraph graph = MakeGraph();
  uint8_t bytes[4] = {};
  const TestDescriptor in("X", {4}, bytes), out("y", {4}, bytes);
  const std::string written = Written([&] {
    EXPECT_STATUS(ONNXIFI_STATUS_INVALID_NAME,
                  onnxSetGraphIO(graph, 1, &in.value, 1, &out.value));
  });
  EXPECT_TRUE(Has(written, "'X': the graph's inputs are 'x'")) << written;
  EXPECT_OK(onnxReleaseGraph(graph));
}

TEST_F(LogTest, EventsObeyTheLevelOfTheirBackend) {
  const auto signal_twice = [this](onnxEvent event) {
    return Written([&] {
      EXPECT_OK(onnxSignalEvent(event));
      EXPECT_STATUS(ONNXIFI_STATUS_INVALID_STATE, onnxSignalEvent(event));
      onnxEventState state;
      EXPECT_OK(onnxGetEventState(event, &state));
      EXPECT_OK(onnxWaitEvent(event));
      EXPECT_OK(onnxReleaseEvent(event));
    });
  };
  std::string written = signal_twice(MakeEvent());
  EXPECT_TRUE(Has(written, "error: onnxSignalEvent: ")) << written;
  EXPECT_FALSE(Has(written, "debug")) << written;
  OpenWith(ONNXIFI_LOG_LEVEL_DEBUG);
  written = signal_twice(MakeEvent());
  for (const char* function : {"onnxSignalEvent", "onnxGetEventState",
                               "onnxWaitEvent", "onnxReleaseEvent"}) {
    EXPECT_TRUE(Has(written, std::string("debug: ") + function +
                                 ": ONNXIFI_STATUS_SUCCESS"))
        << written;
  }
}

TEST_F(LogTest, DebugTellsOfEveryStep) {
  OpenWith(ONNXIFI_LOG_LEVEL_DEBUG);
  const std::string written = Written([&] {
    onnxGraph graph = MakeGraph();
    uint8_t x[4] = {}, y[4] = {};
    EXPECT_OK(SetIo(graph, x, y));
    EXPECT_OK(RunToEnd(graph));
    EXPECT_OK(onnxReleaseGraph(graph));
  });
  for (const char* step :
       {"onnxInitGraph: ", "a program for these shapes is loaded",
        "onnxSetGraphIO: ", "a run begins", "a run has ended",
        "onnxRunGraph: ", "onnxWaitEvent: ", "onnxReleaseGraph: "}) {
    EXPECT_TRUE(Has(written, std::string("heddle onnxifi: debug: ") + step))
        << step << " is missing in\n"
        << written;
  }
}

}  // namespace
}  // namespace heddle::onnxifi
