// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/handle_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace heddle::onnxifi_loader {
namespace {

// Vendors are told apart by their addresses only.
Vendor* VendorAt(uintptr_t n) { return reinterpret_cast<Vendor*>(n * 16); }
void* Own(uintptr_t n) { return reinterpret_cast<void*>(n); }

void* Add(HandleMap* map, Target target) {
  void* handle = map->Reserve();
  map->Fill(handle, target);
  return handle;
}

TEST(HandleMap, FindsWhatWasFilled) {
  HandleMap map(0x8001);
  void* reserved = map.Reserve();
  EXPECT_EQ(map.Find(reserved).vendor, nullptr);
  map.Fill(reserved, {VendorAt(1), Own(7)});
  EXPECT_EQ(map.Find(reserved).vendor, VendorAt(1));
  EXPECT_EQ(map.Find(reserved).handle, Own(7));
}

TEST(HandleMap, RefusesWhatIsNoHandle) {
  HandleMap map(0x8001), other(0x8002);
  void* handle = Add(&map, {VendorAt(1), Own(7)});
  void* foreign = Add(&other, {VendorAt(1), Own(7)});
  int local;
  for (void* wrong :
       {static_cast<void*>(nullptr), foreign, static_cast<void*>(&local),
        Own(reinterpret_cast<uintptr_t>(handle) + 1),
        Own(reinterpret_cast<uintptr_t>(handle) + (1 << 20)),
        Own(~uintptr_t{0})}) {
    EXPECT_EQ(map.Find(wrong).vendor, nullptr) << wrong;
    EXPECT_EQ(map.Remove(wrong).vendor, nullptr) << wrong;
  }
}

TEST(HandleMap, RemovedHandlesStayInvalid) {
  HandleMap map(0x8001);
  void* first = Add(&map, {VendorAt(1), Own(7)});
  EXPECT_EQ(map.Remove(first).handle, Own(7));
  EXPECT_EQ(map.Remove(first).vendor, nullptr);
  void* second = Add(&map, {VendorAt(2), Own(8)});
  EXPECT_NE(first, second);
  EXPECT_EQ(map.Find(first).vendor, nullptr);
  EXPECT_EQ(map.Find(second).vendor, VendorAt(2));
}

TEST(HandleMap, CancelledReservationsAreReused) {
  HandleMap map(0x8001);
  for (uint64_t i = 0; i < HandleMap::kMaxSlots + 10; ++i) {
    void* handle = map.Reserve();
    ASSERT_NE(handle, nullptr) << i;
    map.Cancel(handle);
  }
}

TEST(HandleMap, SuspendedHandlesComeBack) {
  HandleMap map(0x8001);
  void* handle = Add(&map, {VendorAt(1), Own(7)});
  map.Suspend(handle);
  EXPECT_EQ(map.Find(handle).vendor, nullptr);
  EXPECT_NE(Add(&map, {VendorAt(2), Own(8)}), handle);
  map.Resume(handle);
  EXPECT_EQ(map.Find(handle).handle, Own(7));
}

TEST(HandleMap, ASlotWithoutGenerationsIsRetired) {
  HandleMap map(0x8001, HandleMap::kMaxGeneration);
  void* last = Add(&map, {VendorAt(1), Own(7)});
  map.Remove(last);
  void* next = map.Reserve();
  EXPECT_NE(reinterpret_cast<uintptr_t>(next) & 0xfffff,
            reinterpret_cast<uintptr_t>(last) & 0xfffff);
}

TEST(HandleMap, ThereIsAnEnd) {
  HandleMap map(0x8001);
  for (uint64_t i = 0; i < HandleMap::kMaxSlots; ++i) {
    ASSERT_NE(map.Reserve(), nullptr) << i;
  }
  EXPECT_EQ(map.Reserve(), nullptr);
}

TEST(HandleMap, ALookupIsNeverOfTwoHandles) {
  // The vendor's handle tells its vendor; slots are reused all the time.
  HandleMap map(0x8001);
  std::atomic<void*> shown{nullptr};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> found{0}, wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        const Target target = map.Find(shown.load());
        if (target.vendor == nullptr) continue;
        ++found;
        wrong += reinterpret_cast<uintptr_t>(target.vendor) !=
                 reinterpret_cast<uintptr_t>(target.handle) * 16;
      }
    });
  }
  for (uintptr_t i = 1; i < 200000 || found == 0; ++i) {
    void* handle = Add(&map, {VendorAt(i), Own(i)});
    shown = handle;
    map.Remove(handle);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace heddle::onnxifi_loader
