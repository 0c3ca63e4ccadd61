// SPDX-License-Identifier: Apache-2.0
#include "tests/support/shared.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace heddle::tests {
namespace {

TEST(SharedTest, StateIsDeclared) {
  // This test lists a @shared target, so exactly one marker is in its runfiles.
  EXPECT_NE(GetSharedState(), SharedState::kUndeclared);
}

TEST(SharedTest, PathIsEmptyExactlyWhenAbsent) {
  EXPECT_EQ(SharedPath("models").empty(),
            GetSharedState() == SharedState::kAbsent);
}

TEST(SharedTest, DeclaredModelIsReadable) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           SharedPath("models/mnist_cntk"))) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    EXPECT_NE(file.get(), std::ifstream::traits_type::eof()) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace heddle::tests
