// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/constants.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace heddle::compiler {
namespace {

using Bytes = std::vector<uint8_t>;

TEST(ConstantPool, PlacesEachConstantOnce) {
  ConstantPool pool(ConstantPool::kPack);
  const Bytes a(70, 1), b(70, 2), a_and_zero(71, 1);
  EXPECT_EQ(pool.Add(a), 0u);
  EXPECT_EQ(pool.Add(b), 128u);
  EXPECT_EQ(pool.Add(a), 0u);
  EXPECT_EQ(pool.Add(a_and_zero), 256u);
  EXPECT_EQ(pool.size(), 384u);
  const Bytes all = pool.Take();
  ASSERT_EQ(all.size(), 384u);
  EXPECT_EQ(Bytes(all.begin(), all.begin() + 70), a);
  EXPECT_EQ(Bytes(all.begin() + 70, all.begin() + 128), Bytes(58, 0));
  EXPECT_EQ(Bytes(all.begin() + 128, all.begin() + 198), b);
}

TEST(ConstantPool, PacksNothingForSizes) {
  ConstantPool pool(ConstantPool::kSizesOnly);
  const auto never = []() -> Bytes {
    ADD_FAILURE();
    return {};
  };
  EXPECT_EQ(pool.Add(70, never), 0u);
  EXPECT_EQ(pool.Add(Bytes(70, 1)), 128u);
  EXPECT_EQ(pool.Add(Bytes(70, 1)), 256u);
  EXPECT_EQ(pool.size(), 384u);
  EXPECT_TRUE(pool.Take().empty());
}

class TwoGroups : public ClonableOp<TwoGroups> {
 public:
  TwoGroups() { groups = {ConstantGroup{0, 64}, ConstantGroup{0, 128}}; }
  void Emit(Emitter*, const Tile&) const override {}
  Bytes Pack(size_t group) const override {
    return Bytes(groups[group].bytes, static_cast<uint8_t>(7 + group));
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
  graph.storages[1].constant = std::make_shared<const Bytes>(10, 3);
  graph.ops.push_back(std::make_unique<TwoGroups>());
  graph.ops.push_back(std::make_unique<OneGroup>(Bytes(100, 9)));
  graph.ops.push_back(std::make_unique<OneGroup>(Bytes()));
  // A copy has the same constants, and its own places.
  DeviceGraph copy = graph.Clone();
  ConstantPool pool(ConstantPool::kPack), sizes(ConstantPool::kSizesOnly);
  PlaceConstants(&copy, &pool);
  PlaceConstants(&graph, &sizes);
  EXPECT_EQ(sizes.size(), pool.size());
  const Bytes all = pool.Take();
  EXPECT_EQ(all[copy.storages[1].dram_offset], 3);
  EXPECT_EQ(all[copy.ops[0]->groups[0].offset], 7);
  EXPECT_EQ(all[copy.ops[0]->groups[1].offset], 8);
  EXPECT_EQ(all[copy.ops[1]->groups[0].offset], 9);
  EXPECT_EQ(copy.ops[1]->groups[0].bytes, 128u);
  EXPECT_EQ(copy.ops[2]->groups[0].bytes, 0u);
}

}  // namespace
}  // namespace heddle::compiler
