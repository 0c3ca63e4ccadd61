// SPDX-License-Identifier: Apache-2.0
// Each allocation, descriptor and thread that a pool of cards asks for fails in
// turn: the call fails, nothing is left behind, and the next one succeeds.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "runtime/session/card_pool.h"
#include "runtime/session/session.h"
#include "runtime/session/test_package.h"
#include "tests/e2e/product.h"
#include "tests/support/fault_injection.h"

namespace heddle::tests {
namespace {

using session::CardPool;

constexpr size_t kBytes = 256;

class CardPoolFailures : public testing::TestWithParam<faults::Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == faults::Kind::kDescriptor && faults::Sanitized()) {
      GTEST_SKIP() << "a sanitizer needs descriptors of its own";
    }
    setenv("HEDDLE_BIN_DIR", BinFolders().c_str(), 1);
    for (const char* id : {"sim:cards=2#0", "sim:cards=2#1"}) {
      auto device = session::OpenDevice(id);
      ASSERT_TRUE(device.ok()) << device.status();
      devices_.push_back(*std::move(device));
    }
  }
  absl::StatusOr<std::shared_ptr<CardPool>> Load() {
    return CardPool::Load(devices_, *bytes_, bytes_, {});
  }
  absl::StatusOr<std::shared_ptr<session::Run>> Start(CardPool* pool) {
    return pool->Start({{"x", x_.data(), kBytes}}, {{"y", y_.data(), kBytes}},
                       nullptr);
  }
  uint64_t used(size_t card) { return devices_[card]->memory()->used; }

  // Makes the first, second, ... of that kind fail; beyond `all` not each.
  // `call` says whether it did what it should; true with a fault is fine, too.
  void Sweep(long all, const std::function<bool()>& call,
             const std::function<void()>& check) {
    for (long skip = 0;; skip += skip < all ? 1 : skip / 3) {
      faults::Arm({GetParam(), skip});
      bool good = false;
      try {
        good = call();
      } catch (const std::bad_alloc&) {
      }
      const faults::Seen seen = faults::Disarm();
      SCOPED_TRACE(std::string(faults::Name(GetParam())) + " " +
                   std::to_string(skip));
      check();
      if (seen.failed) continue;
      EXPECT_TRUE(good);
      break;
    }
  }

  const std::shared_ptr<const std::string> bytes_ =
      std::make_shared<const std::string>(
          package::Serialize(session::CopyPackage(kBytes)));
  std::vector<std::shared_ptr<session::Device>> devices_;
  std::vector<uint8_t> x_ = std::vector<uint8_t>(kBytes, 5),
                       y_ = std::vector<uint8_t>(kBytes);
};

TEST_P(CardPoolFailures, StartLeavesNothingBehind) {
  auto pool = Load();
  ASSERT_TRUE(pool.ok()) << pool.status();
  std::shared_ptr<session::Run> run;
  Sweep(
      200,
      [&] {
        auto started = Start(pool->get());
        if (started.ok()) run = *std::move(started);
        return started.ok();
      },
      [&] {
        if (run != nullptr) {
          const absl::Status end = run->Wait(absl::InfiniteFuture());
          EXPECT_TRUE(end.ok()) << end;
        }
        run = nullptr;
        for (const CardPool::Card& card : (*pool)->Cards()) {
          EXPECT_EQ(card.in_flight, 0u) << card.id;
          EXPECT_NE(card.device, nullptr) << card.status;
        }
        auto next = Start(pool->get());
        ASSERT_TRUE(next.ok()) << next.status();
        EXPECT_TRUE((*next)->Wait(absl::InfiniteFuture()).ok());
        EXPECT_EQ(y_, x_);
      });
}

TEST_P(CardPoolFailures, LoadLeavesNothingBehind) {
  std::shared_ptr<CardPool> pool;
  Sweep(
      30,
      [&] {
        auto loaded = Load();
        if (loaded.ok()) pool = *std::move(loaded);
        return loaded.ok();
      },
      [&] {
        pool = nullptr;
        EXPECT_EQ(used(0), 0u);
        EXPECT_EQ(used(1), 0u);
      });
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, CardPoolFailures,
    testing::Values(faults::Kind::kAllocation, faults::Kind::kThread,
                    faults::Kind::kDescriptor),
    [](const auto& info) {
      std::string name = faults::Name(info.param);
      name.erase(std::remove_if(name.begin(), name.end(),
                                [](unsigned char c) { return !isalnum(c); }),
                 name.end());
      return name;
    });

}  // namespace
}  // namespace heddle::tests
