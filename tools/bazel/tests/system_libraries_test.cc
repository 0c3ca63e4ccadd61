// SPDX-License-Identifier: Apache-2.0
//
// Every @system library that code may list compiles, links and runs together in
// one process.
#include <absl/container/flat_hash_map.h>
#include <absl/random/random.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>
#include <absl/synchronization/mutex.h>
#include <absl/types/span.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nettle/sha2.h>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <xf86drm.h>
#include <xxhash.h>
#include <zlib.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tools/bazel/tests/sample_generated.h"

namespace heddle {
namespace {

absl::StatusOr<int> Half(int value) {
  if (value % 2 != 0) {
    return absl::InvalidArgumentError(absl::StrCat(value, " is odd"));
  }
  return value / 2;
}

TEST(SystemLibrariesTest, Abseil) {
  EXPECT_EQ(*Half(4), 2);
  EXPECT_EQ(Half(3).status().message(), "3 is odd");
  absl::flat_hash_map<std::string, int> map = {{"a", 1}};
  EXPECT_EQ(map.at("a"), 1);
  absl::Mutex mutex;
  absl::MutexLock lock(&mutex);
  absl::BitGen gen;
  const int draw = absl::Uniform(gen, 0, 10);
  EXPECT_EQ(absl::StrFormat("%d", draw).size(), 1u);
  EXPECT_EQ(absl::MakeConstSpan({1, 2, 3}).size(), 3u);
}

TEST(SystemLibrariesTest, OnnxMessagesAndChecker) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(model.SerializeAsString()));
  EXPECT_THROW(onnx::checker::check_model(model),
               onnx::checker::ValidationError);
}

TEST(SystemLibrariesTest, Flatbuffers) {
  flatbuffers::FlatBufferBuilder builder;
  bazel_tests::SampleT sample;
  sample.name = "x";
  sample.value = 7;
  builder.Finish(bazel_tests::Sample::Pack(builder, &sample));
  flatbuffers::Verifier verifier(builder.GetBufferPointer(), builder.GetSize());
  ASSERT_TRUE(bazel_tests::VerifySampleBuffer(verifier));
  EXPECT_EQ(bazel_tests::GetSample(builder.GetBufferPointer())->value(), 7);
}

TEST(SystemLibrariesTest, CommandLineLogJson) {
  CLI::App app;
  int value = 0;
  app.add_option("--value", value);
  app.parse("--value 5", false);
  EXPECT_EQ(value, 5);

  std::ostringstream text;
  spdlog::logger logger("t",
                        std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  logger.info("value {}", value);
  EXPECT_THAT(text.str(), testing::HasSubstr("value 5"));
  EXPECT_EQ(nlohmann::json::parse("{\"a\": 3}")["a"], 3);
}

TEST(SystemLibrariesTest, HashesAndDrm) {
  const std::string text = "abc";
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, text.size(),
                reinterpret_cast<const uint8_t*>(text.data()));
  sha256_digest(&context, sizeof(digest), digest);
  EXPECT_EQ(digest[0], 0xba);
  EXPECT_EQ(XXH64("", 0, 0), 0xef46db3751d8e999u);
  EXPECT_EQ(crc32(0, reinterpret_cast<const Bytef*>("abc"), 3), 0x352441c2u);
  EXPECT_NE(drmIoctl(-1, 0, nullptr), 0);
}

}  // namespace
}  // namespace heddle
