// SPDX-License-Identifier: Apache-2.0
// A file of weights that somebody changes while the model is compiled.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "compiler/compiler.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kWidth = 512;

class ChangedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::create_directories(folder_);
    std::ofstream(folder_ / "weights", std::ios::binary)
        << std::string(kWidth * kWidth, '\3');
    // Times of files are not as fine as the compiler is fast.
    fs::last_write_time(folder_ / "weights", fs::file_time_type::clock::now() -
                                                 std::chrono::hours(1));
  }

  // A product with the weights in the file; `change` is made of it behind the
  // import.
  template <typename Change>
  absl::StatusOr<CompileResult> Compile(Change change) {
    ModelBuilder b;
    b.Input("x", DataType::kUint8, {16, kWidth});
    b.Constant("s", Floats({}, {0.02f}));
    b.Constant("z", Uint8s({}, {128}));
    b.Constant("w", TensorData::Zeros(DataType::kUint8, {kWidth, kWidth}));
    b.Node("QLinearMatMul", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"});
    b.Output("y");
    for (auto& w : *b.proto().mutable_graph()->mutable_initializer()) {
      if (w.name() != "w") continue;
      w.clear_raw_data();
      w.set_data_location(onnx::TensorProto::EXTERNAL);
      auto* entry = w.add_external_data();
      entry->set_key("location");
      entry->set_value("weights");
    }
    CompileOptions options;
    options.data_folder = folder_.string();
    options.progress = [&](const char* text, double) {
      if (std::string(text) == "lower") change(folder_ / "weights");
    };
    return CompileOnnx(b.Bytes(), options);
  }

  fs::path folder_;
};

TEST_F(ChangedFileTest, Unchanged) {
  const auto result = Compile([](const fs::path&) {});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(absl::StrContains(result->package, std::string(256, '\3')));
}

TEST_F(ChangedFileTest, ShorterIsAnErrorAndNoSignal) {
  for (const uint64_t left : {uint64_t{0}, uint64_t{4096}}) {
    SetUp();
    const auto status = Compile([&](const fs::path& path) {
                          fs::resize_file(path, left);
                        }).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "'weights' changed"))
        << status;
  }
}

TEST_F(ChangedFileTest, OtherBytesAreAnError) {
  const auto status = Compile([](const fs::path& path) {
                        std::fstream file(path, std::ios::in | std::ios::out |
                                                    std::ios::binary);
                        file << "other";
                      }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
}

}  // namespace
}  // namespace heddle::compiler
