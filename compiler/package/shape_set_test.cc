// SPDX-License-Identifier: Apache-2.0
#include "compiler/package/shape_set.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "absl/strings/match.h"
#include "compiler/base/sha256.h"

namespace heddle::package {
namespace {

std::string Noise(size_t bytes, uint32_t seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(BlockPool, GivesEveryFileBack) {
  const std::string weights = Noise(5000, 1), stream = Noise(999, 2);
  const std::vector<std::string> files = {weights + stream,
                                          std::string(128, 'h') + weights,
                                          stream,
                                          weights + weights,
                                          std::string(10000, '\0'),
                                          std::string(9000, '\0'),
                                          "x"};
  BlockPool pool;
  std::vector<std::vector<Extent>> runs;
  for (const std::string& file : files) runs.push_back(pool.Add(file));
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_TRUE(Assemble(pool.bytes(), runs[i], files[i].size()) == files[i])
        << i;
    std::vector<bool> used(pool.bytes().size() / kBlockBytes);
    for (const Extent& run : runs[i]) {
      for (uint32_t b = run.first; b < run.first + run.count; ++b) {
        EXPECT_FALSE(used[b]) << "a block twice in file " << i;
        used[b] = true;
      }
    }
  }
}

TEST(BlockPool, KeepsEqualPartsOnce) {
  const std::string weights = Noise(64000, 1);
  BlockPool pool;
  pool.Add(Noise(640, 2) + weights);
  const size_t before = pool.bytes().size();
  pool.Add(Noise(1280, 3) + weights + Noise(100, 4));
  EXPECT_EQ(pool.bytes().size(), before + 1280 + 128);
}

// Two symbols, two specialisations of some noise; the second may be padded.
ShapeSet Example() {
  ShapeSet set;
  set.model_name = "m";
  set.producer = "p";
  set.config = "h256";
  set.model_sha256 = "00";
  set.symbols = {"batch", "side"};
  set.inputs = {{"x", compiler::DataType::kFloat, {0, 3, 0, 0}, {0, -1, 1, 1}}};
  set.outputs = 1;
  BlockPool pool;
  for (int64_t batch : {2, 4}) {
    Specialisation made;
    made.values = {batch, 8};
    const std::string bytes = Noise(640, 1) + Noise(100, batch);
    made.size = bytes.size();
    made.extents = pool.Add(bytes);
    if (batch == 4) made.padding = {{0, 3, {{0, 1}}}};
    set.specialisations.push_back(std::move(made));
  }
  set.blocks = std::vector<uint8_t>(pool.bytes().begin(), pool.bytes().end());
  return set;
}

TEST(ShapeSet, IsReadAsItWasWritten) {
  const std::string file = Serialize(Example());
  const auto set = ParseShapeSet(file);
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_TRUE(Serialize(*set) == file);
  EXPECT_TRUE(set->PackageBytes(1) == Noise(640, 1) + Noise(100, 4));
  EXPECT_EQ(set->specialisations[1].padding[0].least, 3);
  EXPECT_EQ(set->Held(), "batch 2,4; side 8 (2 specialisations)");
}

TEST(ShapeSet, FindsTheValuesOfShapes) {
  const ShapeSet set = Example();
  const auto values = set.ValuesOf({{"x", {5, 3, 8, 8}}});
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(*values, (std::vector<int64_t>{5, 8}));
  for (const compiler::Shape& shape :
       {compiler::Shape{5, 3, 8}, {5, 4, 8, 8}, {5, 3, 8, 9}, {0, 3, 8, 8}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(set.ValuesOf({{"x", shape}}).status()));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(set.ValuesOf({}).status()));
}

TEST(ShapeSet, ChoosesExactThenPadded) {
  const ShapeSet set = Example();
  EXPECT_EQ(set.Choose({2, 8})->index, 0u);
  EXPECT_EQ(set.Choose({4, 8})->padding, nullptr);
  EXPECT_EQ(set.Choose({3, 8})->index, 1u);
  EXPECT_NE(set.Choose({3, 8})->padding, nullptr);
  EXPECT_FALSE(set.Choose({1, 8}).has_value());
  EXPECT_FALSE(set.Choose({3, 7}).has_value());
  EXPECT_FALSE(set.Choose({5, 8}).has_value());
  EXPECT_EQ(set.Missing({2, 9}),
            "dimension 'side' is 9, and the package holds batch 2,4; side 8 (2 "
            "specialisations)");
}

using Change = void (*)(ShapeSet*);

TEST(ShapeSet, RefusesWhatDoesNotFit) {
  const Change changes[] = {
      [](ShapeSet* s) { s->symbols = {"batch"}; },
      [](ShapeSet* s) {
        s->symbols = {"batch", "batch"};
      },
      [](ShapeSet* s) { s->symbols.assign(17, "a"); },
      [](ShapeSet* s) { s->inputs[0].symbols[0] = 2; },
      [](ShapeSet* s) { s->inputs[0].symbols[0] = -2; },
      [](ShapeSet* s) { s->inputs[0].symbols[0] = 1; },  // nobody has "batch"
      [](ShapeSet* s) { s->inputs[0].symbols.pop_back(); },
      [](ShapeSet* s) { s->inputs[0].shape[1] = -3; },
      [](ShapeSet* s) { s->inputs[0].shape[0] = 1; },
      [](ShapeSet* s) { s->inputs[0].type = compiler::DataType::kString; },
      [](ShapeSet* s) { s->inputs.push_back(s->inputs[0]); },
      [](ShapeSet* s) { s->specialisations.clear(); },
      [](ShapeSet* s) {
        s->specialisations.resize(257, s->specialisations[0]);
      },
      [](ShapeSet* s) {
        std::swap(s->specialisations[0], s->specialisations[1]);
      },
      [](ShapeSet* s) { s->specialisations[1] = s->specialisations[0]; },
      [](ShapeSet* s) { s->specialisations[0].values[0] = 0; },
      [](ShapeSet* s) { s->specialisations[0].values.push_back(1); },
      [](ShapeSet* s) { s->specialisations[0].size = 0; },
      [](ShapeSet* s) { s->specialisations[0].size += 64; },
      [](ShapeSet* s) { s->specialisations[0].size = UINT64_MAX; },
      [](ShapeSet* s) { s->specialisations[0].extents.clear(); },
      [](ShapeSet* s) { s->specialisations[0].extents[0].count = 0; },
      [](ShapeSet* s) { s->specialisations[0].extents[0].count = UINT32_MAX; },
      [](ShapeSet* s) { s->specialisations[0].extents[0].first = UINT32_MAX; },
      [](ShapeSet* s) {  // a block twice
        s->specialisations[0].extents.push_back({0, 1});
        s->specialisations[0].size += 64;
      },
      [](ShapeSet* s) { s->specialisations[1].padding[0].symbol = 2; },
      [](ShapeSet* s) { s->specialisations[1].padding[0].least = 0; },
      [](ShapeSet* s) { s->specialisations[1].padding[0].least = 4; },
      [](ShapeSet* s) { s->specialisations[1].padding[0].outputs.clear(); },
      [](ShapeSet* s) {
        s->specialisations[1].padding.push_back(
            s->specialisations[1].padding[0]);
      },
      [](ShapeSet* s) {
        s->specialisations[1].padding[0].outputs[0].axis = 64;
      },
      [](ShapeSet* s) {
        s->specialisations[1].padding[0].outputs[0].inner = -1;
      },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    ShapeSet set = Example();
    changes[i](&set);
    EXPECT_TRUE(absl::IsInvalidArgument(ParseShapeSet(Serialize(set)).status()))
        << "change " << i;
  }
}

// With the file's size and checksum right again.
std::string Sealed(std::string file) {
  const uint64_t size = file.size();
  std::memcpy(&file[16], &size, sizeof(size));
  std::memset(&file[32], 0, 32);
  compiler::Sha256 hash;
  hash.Update(file);
  const auto digest = hash.Finish();
  std::memcpy(&file[32], digest.data(), digest.size());
  return file;
}

TEST(ShapeSet, RefusesAnotherHeader) {
  const std::string file = Serialize(Example());
  ASSERT_TRUE(ParseShapeSet(Sealed(file)).ok());
  for (size_t at : {0u, 8u, 12u, 15u, 24u, 31u}) {
    std::string changed = file;
    changed[at] ^= 0x40;
    EXPECT_FALSE(ParseShapeSet(Sealed(changed)).ok()) << at;
  }
  for (size_t at : {16u, 40u, 100u}) {
    std::string changed = file;
    changed[at] ^= 0x40;
    EXPECT_FALSE(ParseShapeSet(changed).ok()) << at;
  }
  for (size_t size : {size_t{0}, size_t{7}, size_t{63}, file.size() - 64}) {
    EXPECT_FALSE(ParseShapeSet(Sealed(size < 64 ? std::string(64, '\0')
                                                : file.substr(0, size)))
                     .ok());
    EXPECT_FALSE(ParseShapeSet(file.substr(0, size)).ok());
  }
  EXPECT_TRUE(absl::StrContains(Parse(file).status().message(),
                                "package of several shapes"))
      << Parse(file).status();
}

}  // namespace
}  // namespace heddle::package
