// SPDX-License-Identifier: Apache-2.0
// Tensors in files: what is read, and every way out of the folder or the file.
#include "compiler/import/external_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "compiler/base/diagnostic.h"
#include "compiler/import/importer.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

namespace fs = std::filesystem;

// printf '01234567' | sha1sum
constexpr char kSha1[] = "ccaa8d8dcc7d030cd6a6768db81f90d0ef976c3d";

class ExternalDataTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "model" / "sub");
    Write(folder_ / "model" / "w.bin", "01234567");
    Write(folder_ / "model" / "sub" / "w.bin", "abcdefgh");
    Write(folder_ / "secret", "SECRETSS");
  }

  static void Write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }

  // A tensor of `bytes` uint8 with these entries.
  absl::StatusOr<std::string> Read(
      const std::vector<std::pair<std::string, std::string>>& entries,
      int64_t bytes = 8) {
    onnx::TensorProto proto;
    for (const auto& [key, value] : entries) {
      auto* entry = proto.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    ExternalData data((folder_ / "model").string());
    auto read = data.Read(proto, "initializer 'w'", bytes);
    if (!read.ok()) {
      EXPECT_EQ(RejectionOf(read.status()), Rejection::kInvalidModel);
      EXPECT_TRUE(absl::StartsWith(read.status().message(), "initializer 'w'"))
          << read.status();
      return read.status();
    }
    return std::string(read->begin(), read->end());
  }

  std::string Why(
      const std::vector<std::pair<std::string, std::string>>& entries,
      int64_t bytes = 8) {
    auto read = Read(entries, bytes);
    return read.ok() ? "read: " + *read : std::string(read.status().message());
  }

  fs::path folder_;
};

#define EXPECT_SAYS(text, part)                                              \
  EXPECT_PRED2([](const std::string& a,                                      \
                  const std::string& b) { return absl::StrContains(a, b); }, \
               text, part)

TEST_F(ExternalDataTest, WholeFilesAndParts) {
  EXPECT_EQ(*Read({{"location", "w.bin"}}), "01234567");
  EXPECT_EQ(*Read({{"location", "./sub//w.bin"}}), "abcdefgh");
  EXPECT_EQ(*Read({{"location", "w.bin"}, {"offset", "3"}}, 2), "34");
  EXPECT_EQ(*Read({{"location", "w.bin"}, {"offset", "3"}, {"length", "5"}}, 5),
            "34567");
  EXPECT_EQ(*Read({{"location", "w.bin"}, {"offset", "8"}}, 0), "");
}

TEST_F(ExternalDataTest, OffsetAndLengthAreHeldAgainstTheFile) {
  EXPECT_SAYS(Why({{"location", "w.bin"}}, 9), "that file has 8 bytes");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"offset", "1"}}),
              "8 bytes from offset 1 of 'w.bin'");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"offset", "9"}}, 0), "offset 9");
  EXPECT_SAYS(
      Why({{"location", "w.bin"}, {"offset", "9223372036854775807"}}, 8),
      "offset 9223372036854775807");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"length", "7"}}),
              "length 7, type and shape need 8 bytes");
  for (const char* bad : {"-1", "x", "", "1.5", "99999999999999999999"}) {
    EXPECT_SAYS(Why({{"location", "w.bin"}, {"offset", bad}}), "the offset");
    EXPECT_SAYS(Why({{"location", "w.bin"}, {"length", bad}}), "the length");
  }
}

// A file of holes costs nothing to make; ten times its bytes would.
TEST_F(ExternalDataTest, TheBytesOfAModelAreBounded) {
  const fs::path path = folder_ / "model" / "holes";
  Write(path, "");
  fs::resize_file(path, static_cast<uintmax_t>(kMaxExternalBytes) + 1);
  onnx::TensorProto proto;
  auto* entry = proto.add_external_data();
  entry->set_key("location");
  entry->set_value("holes");
  ExternalData data((folder_ / "model").string());
  EXPECT_TRUE(data.Read(proto, "w", 8).ok());
  const absl::Status status =
      data.Read(proto, "w", kMaxExternalBytes - 7).status();
  EXPECT_EQ(RejectionOf(status), Rejection::kNoSystemMemory) << status;
  EXPECT_TRUE(data.Read(proto, "w", 8).ok());
  entry = proto.add_external_data();
  entry->set_key("checksum");
  entry->set_value(kSha1);
  EXPECT_EQ(RejectionOf(data.Read(proto, "w", 8).status()),
            Rejection::kNoSystemMemory);
  fs::remove(path);
}

TEST_F(ExternalDataTest, Entries) {
  EXPECT_SAYS(Why({}), "no location");
  EXPECT_SAYS(Why({{"location", ""}}), "no location");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"location", "w.bin"}}),
              "two entries 'location'");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"colour", "red"}}),
              "the unknown entry 'colour'");
  EXPECT_SAYS(Why({{"location", "none.bin"}}), "No such file");
  EXPECT_SAYS(Why({{"location", "sub"}}), "not a regular file");
}

TEST_F(ExternalDataTest, NothingOutsideOfTheFolder) {
  EXPECT_SAYS(Why({{"location", "../secret"}}), "absolute paths and \"..\"");
  EXPECT_SAYS(Why({{"location", "sub/../../secret"}}), "absolute paths");
  EXPECT_SAYS(Why({{"location", ".."}}), "absolute paths");
  EXPECT_SAYS(Why({{"location", (folder_ / "model" / "w.bin").string()}}),
              "absolute paths");
  EXPECT_SAYS(Why({{"location", std::string("w.bin\0x", 7)}}),
              "not a path below");

  fs::create_symlink("../secret", folder_ / "model" / "link");
  EXPECT_SAYS(Why({{"location", "link"}}), "link out of the model's folder");
  fs::create_directory_symlink("..", folder_ / "model" / "up");
  EXPECT_SAYS(Why({{"location", "up/secret"}}), "link out of");
  // A folder whose name only begins with the model's.
  fs::create_directories(folder_ / "model2");
  Write(folder_ / "model2" / "w.bin", "SECRETSS");
  fs::create_symlink("../model2/w.bin", folder_ / "model" / "near");
  EXPECT_SAYS(Why({{"location", "near"}}), "link out of");
  fs::create_symlink("/dev/zero", folder_ / "model" / "device");
  EXPECT_SAYS(Why({{"location", "device"}}), "link out of");
  fs::create_symlink("loop", folder_ / "model" / "loop");
  EXPECT_SAYS(Why({{"location", "loop"}}), "cannot be opened");
  // Links that stay inside are what users make.
  fs::create_symlink("sub/w.bin", folder_ / "model" / "inside");
  EXPECT_EQ(*Read({{"location", "inside"}}), "abcdefgh");
}

TEST_F(ExternalDataTest, APipeDoesNotBlock) {
  ASSERT_EQ(mkfifo((folder_ / "model" / "pipe").c_str(), 0600), 0);
  EXPECT_SAYS(Why({{"location", "pipe"}}), "not a regular file");
}

TEST_F(ExternalDataTest, TheChecksumIsOfTheWholeFile) {
  EXPECT_EQ(*Read({{"location", "w.bin"}, {"checksum", kSha1}}), "01234567");
  std::string upper = kSha1;
  for (char& c : upper) c = static_cast<char>(toupper(c));
  EXPECT_EQ(
      *Read({{"location", "w.bin"}, {"offset", "2"}, {"checksum", upper}}, 2),
      "23");
  EXPECT_SAYS(Why({{"location", "sub/w.bin"}, {"checksum", kSha1}}),
              "does not belong to this model");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"checksum", "ccaa"}}),
              "40 hexadecimal digits");
  EXPECT_SAYS(Why({{"location", "w.bin"}, {"checksum", std::string(40, 'g')}}),
              "40 hexadecimal digits");
}

// As a user meets it: the folder is that of the options.
TEST_F(ExternalDataTest, InAModel) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {2});
  b.Constant("w", Floats({2}, {1, 2}));
  b.Node("Add", {"x", "w"}, {"y"});
  b.Output("y");
  onnx::TensorProto* w = b.proto().mutable_graph()->mutable_initializer(0);
  const float values[] = {3, 4};
  Write(folder_ / "model" / "floats",
        std::string(reinterpret_cast<const char*>(values), 8));
  w->clear_raw_data();
  w->clear_float_data();
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value("floats");
  ImportOptions options;
  options.data_folder = (folder_ / "model").string();
  // Entries without the location EXTERNAL are a mistake of the exporter.
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kInvalidModel);
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  auto model = ImportOnnx(b.Bytes(), options);
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& graph = model->graph;
  EXPECT_EQ(graph.tensors[graph.FindTensor("w")].constant->as<float>()[1], 4);
  // A shape that is larger than any file allocates nothing.
  w->set_dims(0, int64_t{1} << 60);
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kInvalidModel);
  w->set_dims(0, 2);
  w->add_float_data(1);
  EXPECT_EQ(RejectionOf(ImportOnnx(b.Bytes(), options).status()),
            Rejection::kInvalidModel);
}

// Large weights are views of their file, which is asked at the end whether it
// is still the same; indices and what lies askew are copies.
TEST_F(ExternalDataTest, LargeWeightsAreViewsOfTheFile) {
  constexpr int64_t kCount = 1 << 16;
  Write(folder_ / "model" / "large", std::string(8 * kCount + 1, '\1'));
  const auto import = [&](DataType type, int64_t offset) {
    ModelBuilder b;
    b.Input("x", type, {kCount});
    b.Constant("w", TensorData::Zeros(type, {kCount}));
    b.Node("Add", {"x", "w"}, {"y"});
    b.Output("y");
    auto* w = b.proto().mutable_graph()->mutable_initializer(0);
    w->clear_raw_data();
    w->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] :
         {std::make_pair("location", std::string("large")),
          std::make_pair("offset", std::to_string(offset))}) {
      auto* entry = w->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    ImportOptions options;
    options.data_folder = (folder_ / "model").string();
    auto model = ImportOnnx(b.Bytes(), options);
    EXPECT_TRUE(model.ok()) << model.status();
    return std::move(model->graph);
  };
  const auto is_view = [](const Graph& graph) {
    const TensorBytes& bytes =
        graph.tensors[graph.FindTensor("w")].constant->bytes;
    EXPECT_TRUE(std::all_of(bytes.begin(), bytes.end(),
                            [](uint8_t byte) { return byte == 1; }));
    EXPECT_EQ(graph.files.size(), bytes.is_view() ? 1u : 0u);
    return bytes.is_view();
  };
  EXPECT_FALSE(is_view(import(DataType::kInt64, 0)));
  EXPECT_FALSE(is_view(import(DataType::kInt32, 0)));
  EXPECT_FALSE(is_view(import(DataType::kFloat, 1)));
  EXPECT_TRUE(is_view(import(DataType::kUint8, 1)));
  const Graph graph = import(DataType::kFloat, 4);
  EXPECT_TRUE(is_view(graph));
  EXPECT_TRUE(graph.files[0]->Unchanged().ok());
  fs::resize_file(folder_ / "model" / "large", 4096);
  EXPECT_EQ(graph.tensors[graph.FindTensor("w")].constant->bytes[4096], 0);
  EXPECT_FALSE(graph.files[0]->Unchanged().ok());
}

}  // namespace
}  // namespace heddle::compiler
