// SPDX-License-Identifier: Apache-2.0
// Made-up trees of /proc, /sys and /dev.
#ifndef HEDDLE_TOOLS_HEDDLE_SMI_TEST_TREE_H_
#define HEDDLE_TOOLS_HEDDLE_SMI_TEST_TREE_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heddle::smi {

class Tree {
 public:
  Tree() {
    root_ = testing::TempDir() + "/tree-XXXXXX";
    EXPECT_NE(mkdtemp(&root_[0]), nullptr);
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  const std::string& root() const { return root_; }
  std::string operator/(const std::string& path) const { return root_ + path; }
  void File(const std::string& path, const std::string& text) {
    Parent(path);
    std::ofstream(root_ + path, std::ios::binary) << text;
  }
  void Link(const std::string& path, const std::string& target) {
    Parent(path);
    std::filesystem::create_symlink(target, root_ + path);
  }
  void Remove(const std::string& path) {
    std::filesystem::remove_all(root_ + path);
  }

 private:
  void Parent(const std::string& path) {
    std::filesystem::create_directories(
        std::filesystem::path(root_ + path).parent_path());
  }
  std::string root_;
};

}  // namespace heddle::smi

#endif  // HEDDLE_TOOLS_HEDDLE_SMI_TEST_TREE_H_
