// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/nearest_names.h"

#include <gtest/gtest.h>

namespace heddle::compiler {
namespace {

TEST(NearestNames, OrderAndLimit) {
  EXPECT_EQ(NearestNames("conv1", {"conv2", "conv1_1", "pool", "Conv1"}),
            (std::vector<std::string>{"Conv1", "conv2", "conv1_1"}));
  EXPECT_TRUE(NearestNames("abc", {"xyz"}).empty());
  EXPECT_TRUE(NearestNames("", {"a"}).size() <= 1);
  EXPECT_EQ(NearestNames("a", {"a1", "a2", "a3", "a4", "a5", "a6"}).size(), 5u);
  EXPECT_EQ(NearestNames("a", {"a1", "a1"}).size(), 1u);
}

TEST(NearestNames, AllOfThem) {
  EXPECT_EQ(NearestFirst("fold", {"lower", "emit", "fold-pad", "bold"}),
            (std::vector<std::string>{"bold", "fold-pad", "lower", "emit"}));
  EXPECT_EQ(NearestFirst("", {"b", "a"}), (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace heddle::compiler
