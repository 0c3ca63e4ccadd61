// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/id_table.h"

#include <gtest/gtest.h>

#include <set>

namespace heddle::onnxifi_loader {
namespace {

Vendor* VendorAt(uintptr_t n) { return reinterpret_cast<Vendor*>(n * 16); }
void* Own(uintptr_t n) { return reinterpret_cast<void*>(n); }

TEST(IdTable, OneVendorsIdIsOneId) {
  IdTable table(0x8000);
  void* id = table.List({VendorAt(1), Own(1)});
  EXPECT_EQ(table.List({VendorAt(1), Own(1)}), id);
  EXPECT_NE(table.List({VendorAt(2), Own(1)}), id);
  EXPECT_NE(table.List({VendorAt(1), Own(2)}), id);
  EXPECT_EQ(table.Find(id).handle, Own(1));
}

TEST(IdTable, EachListingIsReleasedOnce) {
  IdTable table(0x8000);
  void* id = table.List({VendorAt(1), Own(1)});
  table.List({VendorAt(1), Own(1)});
  EXPECT_EQ(table.Release(id).handle, Own(1));
  EXPECT_EQ(table.Find(id).vendor, VendorAt(1));
  EXPECT_EQ(table.Release(id).vendor, VendorAt(1));
  EXPECT_EQ(table.Find(id).vendor, nullptr);
  EXPECT_EQ(table.Release(id).vendor, nullptr);
  EXPECT_EQ(table.List({VendorAt(1), Own(1)}), id);
  EXPECT_EQ(table.Find(id).vendor, VendorAt(1));
}

TEST(IdTable, VendorsThatNeverGiveTheSameIdDoNotFillIt) {
  IdTable table(0x8000);
  std::set<void*> slots;
  for (uintptr_t i = 1; i < 3 * IdTable::kMaxIdle; ++i) {
    void* id = table.List({VendorAt(1), Own(i)});
    ASSERT_NE(id, nullptr);
    slots.insert(Own(reinterpret_cast<uintptr_t>(id) & 0xfffff));
    EXPECT_EQ(table.Release(id).handle, Own(i));
  }
  EXPECT_LE(slots.size(), IdTable::kMaxIdle + 1);
}

}  // namespace
}  // namespace heddle::onnxifi_loader
