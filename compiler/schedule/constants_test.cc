// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/constants.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace heddle::compiler {
namespace {

using Bytes = std::vector<uint8_t>;

Bytes Region(ConstantPool* pool) {
  const package::PackedWeights packed = pool->Take();
  return Bytes(packed.bytes.begin() + static_cast<int64_t>(packed.head),
               packed.bytes.end());
}

TEST(ConstantPool, PlacesEachConstantOnce) {
  ConstantPool pool(ConstantPool::kPack);
  const Bytes a(70, 1), b(70, 2), a_and_zero(71, 1);
  EXPECT_EQ(pool.Add(a), 0u);
  EXPECT_EQ(pool.Add(b), 128u);
  EXPECT_EQ(pool.Add(a), 0u);
  EXPECT_EQ(pool.Add(a_and_zero), 256u);
  EXPECT_EQ(pool.Add(Bytes()), 0u);
  EXPECT_EQ(pool.size(), 384u);
  const Bytes all = Region(&pool);
  ASSERT_EQ(all.size(), 384u);
  EXPECT_EQ(Bytes(all.begin(), all.begin() + 70), a);
  EXPECT_EQ(Bytes(all.begin() + 70, all.begin() + 128), Bytes(58, 0));
  EXPECT_EQ(Bytes(all.begin() + 128, all.begin() + 198), b);
}

TEST(ConstantPool, LeavesRoomForTheFile) {
  ConstantPool pool(64, {4096, 100});
  EXPECT_EQ(pool.Add(Bytes(64, 5)), 0u);
  const package::PackedWeights packed = pool.Take();
  EXPECT_EQ(packed.head, 4096u);
  EXPECT_EQ(packed.bytes, std::string(4096, '\0') + std::string(64, '\5'));
  EXPECT_GE(packed.bytes.capacity(), 4096u + 64 + 100);
}

TEST(ConstantPool, PacksNothingForSizes) {
  ConstantPool pool(ConstantPool::kSizesOnly);
  ThreadPool threads(1);
  uint64_t offset = 1;
  pool.Add({{70, [](uint8_t*) { ADD_FAILURE(); }, &offset}}, &threads);
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(pool.Add(Bytes(70, 1)), 128u);
  EXPECT_EQ(pool.Add(Bytes(70, 1)), 256u);
  EXPECT_EQ(pool.size(), 384u);
  EXPECT_TRUE(pool.Take().bytes.empty());
}

// More than what is packed at a time, equal ones near each other and far apart:
// the same places and bytes as one after another, whoever packs.
TEST(ConstantPool, ThreadsChangeNothing) {
  constexpr size_t kSize = 300'000, kCount = 100;
  const auto value = [](size_t i) {
    return static_cast<uint8_t>(i % 5 == 0 ? 0 : i % 70);
  };
  ConstantPool serial(ConstantPool::kPack);
  std::vector<uint64_t> expected(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    expected[i] = serial.Add(Bytes(kSize + i % 3, value(i)));
  }
  const Bytes all = Region(&serial);
  EXPECT_LT(all.size(), kCount * kSize);
  for (int count : {1, 2, 7}) {
    ThreadPool threads(count);
    std::vector<uint64_t> offsets(kCount);
    std::vector<ConstantPool::Constant> constants;
    for (size_t i = 0; i < kCount; ++i) {
      const size_t size = kSize + i % 3;
      constants.push_back(
          {size, [=](uint8_t* to) { std::fill(to, to + size, value(i)); },
           &offsets[i]});
    }
    ConstantPool pool(kCount * (kSize + 128), {});
    pool.Add(constants, &threads);
    EXPECT_EQ(offsets, expected) << count;
    EXPECT_EQ(pool.size(), all.size());
    EXPECT_TRUE(Region(&pool) == all) << count;
  }
}

class TwoGroups : public ClonableOp<TwoGroups> {
 public:
  TwoGroups() { groups = {ConstantGroup{0, 64}, ConstantGroup{0, 128}}; }
  void Emit(Emitter*, const Tile&) const override {}
  void Pack(size_t group, uint8_t* to) const override {
    std::fill(to, to + groups[group].bytes, static_cast<uint8_t>(7 + group));
  }
};

class OneGroup : public ClonableOp<OneGroup> {
 public:
  explicit OneGroup(const Bytes& bytes) { SetConstants(bytes); }
  void Emit(Emitter*, const Tile&) const override {}
};

TEST(PlaceConstants, GivesStoragesAndGroupsTheirOffsets) {
  DeviceGraph graph;
  graph.storages.resize(2);
  graph.storages[1].constant =
      std::make_shared<const TensorBytes>(Bytes(10, 3));
  graph.ops.push_back(std::make_unique<TwoGroups>());
  graph.ops.push_back(std::make_unique<OneGroup>(Bytes(100, 9)));
  graph.ops.push_back(std::make_unique<OneGroup>(Bytes()));
  // A copy has the same constants, and its own places.
  DeviceGraph copy = graph.Clone();
  ConstantPool pool(ConstantPool::kPack), sizes(ConstantPool::kSizesOnly);
  ThreadPool threads(1);
  PlaceConstants(&copy, &pool, &threads);
  PlaceConstants(&graph, &sizes, &threads);
  EXPECT_EQ(sizes.size(), pool.size());
  const Bytes all = Region(&pool);
  EXPECT_EQ(all[copy.storages[1].dram_offset], 3);
  EXPECT_EQ(all[copy.ops[0]->groups[0].offset], 7);
  EXPECT_EQ(all[copy.ops[0]->groups[1].offset], 8);
  EXPECT_EQ(all[copy.ops[1]->groups[0].offset], 9);
  EXPECT_EQ(copy.ops[1]->groups[0].bytes, 128u);
  EXPECT_EQ(copy.ops[2]->groups[0].bytes, 0u);
}

class Keyed : public ClonableOp<Keyed> {
 public:
  explicit Keyed(std::string key) : key_(std::move(key)) {
    groups = {ConstantGroup{0, 192}};
  }
  void Emit(Emitter*, const Tile&) const override {}
  std::string ConstantKey(size_t) const override { return key_; }

 private:
  std::string key_;
};

// Constants of one key have one place, also where nothing is packed.
TEST(PlaceConstants, KnowsEqualOnesByTheirKeys) {
  DeviceGraph graph;
  for (const char* key : {"a", "", "a", "b", ""}) {
    graph.ops.push_back(std::make_unique<Keyed>(key));
  }
  ConstantPool sizes(ConstantPool::kSizesOnly);
  ThreadPool threads(1);
  PlaceConstants(&graph, &sizes, &threads);
  std::vector<uint64_t> offsets;
  for (const auto& op : graph.ops) offsets.push_back(op->groups[0].offset);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 192, 0, 384, 576}));
  EXPECT_EQ(sizes.size(), 768u);
}

}  // namespace
}  // namespace heddle::compiler
