// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/tensor_bytes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

namespace heddle::compiler {
namespace {

using Vector = std::vector<uint8_t>;

TEST(TensorBytes, OwnsAVector) {
  TensorBytes bytes = Vector{1, 2, 3};
  const TensorBytes copy = bytes;
  bytes[1] = 9;
  bytes.resize(4);
  EXPECT_EQ(bytes, (Vector{1, 9, 3, 0}));
  EXPECT_EQ(copy, (Vector{1, 2, 3}));
  EXPECT_NE(bytes, copy);
  EXPECT_FALSE(bytes.is_view());
  TensorBytes moved = std::move(bytes);
  EXPECT_EQ(moved.ToVector(), (Vector{1, 9, 3, 0}));
  EXPECT_EQ(std::accumulate(copy.begin(), copy.end(), 0), 6);
  moved = copy;
  EXPECT_EQ(moved, copy);
  EXPECT_TRUE(TensorBytes().empty());
}

TEST(TensorBytes, AViewKeepsItsOwnerAndIsNeverWritten) {
  auto owner = std::make_shared<Vector>(Vector{1, 2, 3, 4});
  const std::weak_ptr<Vector> alive = owner;
  TensorBytes view = TensorBytes::View(owner->data() + 1, 3, owner);
  const uint8_t* at = owner->data() + 1;
  owner.reset();
  ASSERT_FALSE(alive.expired());
  TensorBytes copy = view;
  EXPECT_TRUE(copy.is_view());
  EXPECT_EQ(std::as_const(copy).data(), at);
  copy[0] = 7;
  EXPECT_FALSE(copy.is_view());
  EXPECT_EQ(copy, (Vector{7, 3, 4}));
  EXPECT_EQ(view, (Vector{2, 3, 4}));
  copy = TensorBytes();
  EXPECT_FALSE(alive.expired());
  view.resize(1);
  EXPECT_EQ(view, (Vector{2}));
  EXPECT_TRUE(alive.expired());
}

TEST(TensorBytes, SharedBytesAreThereOnce) {
  const TensorBytes shared = TensorBytes::Shared(Vector{1, 2});
  TensorBytes copy = shared;
  EXPECT_EQ(std::as_const(copy).data(), shared.data());
  copy[1] = 5;
  EXPECT_EQ(shared, (Vector{1, 2}));
  EXPECT_EQ(copy, (Vector{1, 5}));
  const TensorBytes again = TensorBytes::Shared(shared);
  EXPECT_EQ(again.data(), shared.data());
}

}  // namespace
}  // namespace heddle::compiler
