// SPDX-License-Identifier: Apache-2.0
#include "compiler/cache/compile_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/host_profile.h"
#include "compiler/cache/build_id.h"
#include "compiler/package/package.h"
#include "compiler/testing/model_builder.h"

namespace heddle::compiler {
namespace {

namespace fs = std::filesystem;

std::string Model(const char* op = "Relu") {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 16});
  b.Node(op, {"x"}, {"y"});
  b.Output("y");
  return b.Bytes();
}

class CompileCacheTest : public testing::Test {
 protected:
  CompileCacheTest() {
    char name[] = "/tmp/hcc-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~CompileCacheTest() override { fs::remove_all(folder_); }
  std::string folder_;
};

CacheKey KeyOf(const std::string& model, const CompileOptions& options = {}) {
  const auto key = CompileKey(model, options);
  EXPECT_TRUE(key.ok()) << key.status();
  return key.ok() ? *key : CacheKey{};
}

TEST(BuildId, IsThere) { EXPECT_GE(BuildId().size(), 8u); }

TEST(CompileKey, ChangesWithAllThatMatters) {
  const std::vector<std::function<void(CompileOptions*)>> changes = {
      [](CompileOptions*) {},
      [](CompileOptions* o) { o->config = "h512"; },
      [](CompileOptions* o) {
        o->input_shapes["x"] = {1, 16};
      },
      [](CompileOptions* o) {
        o->input_shapes["x"] = {16, 1};
      },
      [](CompileOptions* o) {
        o->input_shapes["y"] = {1, 16};
      },
      [](CompileOptions* o) { o->open_dimensions_are_one = true; },
      [](CompileOptions* o) { o->fuse_quantization = false; },
      [](CompileOptions* o) { o->host_nodes = true; },
      [](CompileOptions* o) { o->placement = Placement::kHost; },
      [](CompileOptions* o) { o->keep_direct = true; },
      [](CompileOptions* o) {
        HostProfile profile = DefaultHostProfile();
        profile.row_ns += 1;
        o->host_profile = std::make_shared<const HostProfile>(profile);
      },
      [](CompileOptions* o) {
        o->weights["w"] = Floats({2}, {1, 2});
      },
      [](CompileOptions* o) {
        o->weights["w"] = Floats({2}, {1, 3});
      },
      [](CompileOptions* o) {
        o->weights["w"] = Floats({1, 2}, {1, 3});
      },
      [](CompileOptions* o) { o->taps = true; },
      [](CompileOptions* o) { o->tap_all = true; },
      [](CompileOptions* o) { o->sram_bytes = 65536; },
      [](CompileOptions* o) { o->stream_bytes = 65536; },
      [](CompileOptions* o) { o->device_memory_bytes = 65536; },
      [](CompileOptions* o) { o->weight_windows = 1; },
      [](CompileOptions* o) { o->goal = Goal::kTraffic; },
      [](CompileOptions* o) { o->features.fuse_residual = false; },
      [](CompileOptions* o) { o->features.prefetch = 4; },
      [](CompileOptions* o) { o->features.always_rewrite = true; },
      [](CompileOptions* o) { o->features.early_operands = false; },
      [](CompileOptions* o) { o->features.keep_outputs = false; },
      [](CompileOptions* o) { o->bounds["n"] = 4; },
  };
  std::set<CacheKey> keys;
  for (const auto& change : changes) {
    CompileOptions options;
    change(&options);
    keys.insert(KeyOf(Model(), options));
  }
  keys.insert(KeyOf(Model("Exp")));
  EXPECT_EQ(keys.size(), changes.size() + 1);
}

TEST(CompileKey, IsTheSameForTheSamePackage) {
  CompileOptions options;
  options.threads = 8;
  options.progress = [](const char*, double) {};
  EXPECT_EQ(KeyOf(Model(), options), KeyOf(Model()));
}

TEST(CompileKey, IsNotMadeForMoreThanAPackage) {
  CompileOptions options;
  options.details = true;
  EXPECT_TRUE(
      absl::IsFailedPrecondition(CompileKey(Model(), options).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(CompileKey("no model", {}).status()));
}

// A model whose weights are in a file of its folder.
std::string ModelOfAFile(const std::string& location) {
  ModelBuilder b;
  b.Input("x", DataType::kFloat, {1, 4});
  b.Constant("w", Floats({4}, {1, 2, 3, 4}));
  b.Node("Add", {"x", "w"}, {"y"});
  b.Output("y");
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(b.Bytes()));
  onnx::TensorProto* w = model.mutable_graph()->mutable_initializer(0);
  w->clear_raw_data();
  w->clear_float_data();
  w->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = w->add_external_data();
  entry->set_key("location");
  entry->set_value(location);
  return model.SerializeAsString();
}

TEST_F(CompileCacheTest, FilesOfTheModelCount) {
  const auto write = [&](float first) {
    const float values[] = {first, 2, 3, 4};
    std::ofstream(folder_ + "/weights", std::ios::binary)
        .write(reinterpret_cast<const char*>(values), sizeof(values));
  };
  CompileOptions options;
  options.data_folder = folder_;
  const std::string model = ModelOfAFile("weights");
  EXPECT_TRUE(absl::IsFailedPrecondition(CompileKey(model, options).status()));
  write(1);
  const CacheKey one = KeyOf(model, options);
  write(5);
  const CacheKey five = KeyOf(model, options);
  EXPECT_NE(one, five);
  write(1);
  EXPECT_EQ(KeyOf(model, options), one);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      CompileKey(ModelOfAFile("../weights"), options).status()));
  // Through the compiler.
  const auto cache = FileCache::Open(folder_ + "/cache");
  ASSERT_TRUE(cache.ok()) << cache.status();
  CacheUse use;
  const auto first = CompileOnnxCached(model, options, *cache, &use);
  ASSERT_TRUE(first.ok()) << first.status();
  write(5);
  const auto second = CompileOnnxCached(model, options, *cache, &use);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_FALSE(use.found);
  EXPECT_NE(*first, *second);
}

TEST_F(CompileCacheTest, RemembersAndMakesAgainWhatIsDamaged) {
  const auto cache = FileCache::Open(folder_);
  ASSERT_TRUE(cache.ok()) << cache.status();
  CacheUse use;
  const auto first = CompileOnnxCached(Model(), {}, *cache, &use);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_TRUE(!use.found && use.stored) << use.problem;
  ASSERT_TRUE(package::Parse(*first).ok());
  auto again = CompileOnnxCached(Model(), {}, *cache, &use);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(use.found && !use.stored);
  EXPECT_EQ(*again, *first);
  const auto other = CompileOnnxCached(Model("Exp"), {}, *cache, &use);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_FALSE(use.found);
  // Swapped entries, and one that is cut off.
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    files.push_back(entry.path());
  }
  ASSERT_EQ(files.size(), 2u);
  fs::rename(files[0], folder_ + "/x");
  fs::rename(files[1], files[0]);
  fs::rename(folder_ + "/x", files[1]);
  again = CompileOnnxCached(Model(), {}, *cache, &use);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *first);
  EXPECT_TRUE(!use.found && use.stored);
  EXPECT_TRUE(absl::IsDataLoss(use.problem)) << use.problem;
  for (const fs::path& file : files) {
    if (fs::exists(file)) fs::resize_file(file, fs::file_size(file) - 1);
  }
  again = CompileOnnxCached(Model(), {}, *cache, &use);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, *first);
  EXPECT_FALSE(use.found);
}

// An entry with a good checksum, of somebody who can make one.
TEST_F(CompileCacheTest, WhatIsNoPackageIsMadeAgain) {
  const auto cache = FileCache::Open(folder_);
  ASSERT_TRUE(cache.ok()) << cache.status();
  for (const char* bytes : {"", "no package"}) {
    ASSERT_TRUE(cache->Store(KeyOf(Model()), bytes).ok());
    CacheUse use;
    const auto made = CompileOnnxCached(Model(), {}, *cache, &use);
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_TRUE(package::Parse(*made).ok());
    EXPECT_FALSE(use.found);
    EXPECT_TRUE(use.stored);
    EXPECT_FALSE(use.problem.ok());
  }
}

TEST_F(CompileCacheTest, RejectionsAreTheCompilersAndNotKept) {
  const auto cache = FileCache::Open(folder_);
  ASSERT_TRUE(cache.ok()) << cache.status();
  CacheUse use;
  EXPECT_FALSE(CompileOnnxCached("no model", {}, *cache, &use).ok());
  CompileOptions options;
  options.config = "h7";
  EXPECT_FALSE(CompileOnnxCached(Model(), options, *cache, &use).ok());
  EXPECT_FALSE(use.stored);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace heddle::compiler
