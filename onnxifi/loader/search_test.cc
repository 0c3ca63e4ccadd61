// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/search.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace heddle::onnxifi_loader {
namespace {

class Search : public testing::Test {
 protected:
  Search() {
    char folder[] = "/tmp/search_test.XXXXXX";
    root_ = mkdtemp(folder);
    for (const char* name : {"/a", "/b", "/conf"}) {
      mkdir((root_ + name).c_str(), 0755);
    }
    Use(root_ + "/a");
    setenv("ONNXIFI_CONFIG_DIR", (root_ + "/conf").c_str(), 1);
  }
  ~Search() override { (void)!std::system(("rm -r " + root_).c_str()); }

  void Use(const std::string& path) {
    setenv("ONNXIFI_VENDOR_PATH", path.c_str(), 1);
  }
  void Put(const std::string& name, const std::string& text = "x") {
    std::ofstream(root_ + name) << text;
  }
  // Without the root.
  std::vector<std::string> Paths() {
    std::vector<std::string> paths;
    for (const Candidate& one : FindCandidates()) {
      paths.push_back(one.path.substr(root_.size()));
    }
    return paths;
  }

  std::string root_;
};

using Strings = std::vector<std::string>;

TEST_F(Search, NamesDecide) {
  for (const char* name :
       {"/a/libonnxifi-z.so", "/a/libonnxifi-b.so", "/a/libonnxifi-.so",
        "/a/libonnxifi.so", "/a/libonnxifi-b.so.1", "/a/xlibonnxifi-b.so",
        "/a/libonnx-b.so"}) {
    Put(name);
  }
  mkdir((root_ + "/a/libonnxifi-folder.so").c_str(), 0755);
  EXPECT_EQ(Paths(), (Strings{"/a/libonnxifi-b.so", "/a/libonnxifi-z.so"}));
}

TEST_F(Search, FoldersAndFilesInOrderAndOnce) {
  Put("/a/libonnxifi-a.so");
  Put("/b/libonnxifi-b.so");
  Put("/b/any.so");
  Use(root_ + "/b:" + root_ + "/a/libonnxifi-a.so::" + root_ +
      "/b/any.so:" + root_ + "/a:" + root_ + "/nowhere");
  EXPECT_EQ(Paths(),
            (Strings{"/b/libonnxifi-b.so", "/a/libonnxifi-a.so", "/b/any.so"}));
  // By another name it is still one file.
  ASSERT_EQ(symlink((root_ + "/b/any.so").c_str(),
                    (root_ + "/a/libonnxifi-link.so").c_str()),
            0);
  EXPECT_EQ(Paths().size(), 3u);
}

TEST_F(Search, ConfigurationComesFirst) {
  Put("/a/libonnxifi-a.so");
  Put("/a/libonnxifi-b.so");
  Put("/b/elsewhere.so");
  Put("/conf/2.conf", "library = " + root_ + "/a/libonnxifi-b.so\n");
  Put("/conf/1.conf", "# one\n\n library=" + root_ +
                          "/b/elsewhere.so \nabi = onnx1\n"
                          "discovery_seconds = 3\nenabled = yes\n");
  Put("/conf/3.conf", "library = " + root_ + "/gone.so\n");
  Put("/conf/4.txt", "library = " + root_ + "/a/x.so\n");
  const std::vector<Candidate> found = FindCandidates();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].path, root_ + "/b/elsewhere.so");
  EXPECT_EQ(found[0].descriptor_bytes, 56u);
  EXPECT_EQ(found[0].seconds, 3);
  EXPECT_EQ(found[1].path, root_ + "/a/libonnxifi-b.so");
  EXPECT_EQ(found[1].descriptor_bytes, 0u);
  EXPECT_EQ(found[1].seconds, kDefaultSeconds);
  EXPECT_EQ(found[2].path, root_ + "/a/libonnxifi-a.so");
}

TEST_F(Search, DisabledIsLeftOutWhereverItIsFound) {
  Put("/a/libonnxifi-a.so");
  Put("/conf/1.conf",
      "library = " + root_ + "/a/libonnxifi-a.so\nenabled = no\n");
  EXPECT_EQ(Paths(), Strings{});
}

TEST_F(Search, WrongLinesLeaveOutTheFile) {
  Put("/b/x.so");
  const std::string library = "library = " + root_ + "/b/x.so\n";
  Put("/conf/0.conf", library);
  EXPECT_EQ(Paths().size(), 1u);
  for (const std::string line :
       {"abi = third", "discovery_seconds = 0", "discovery_seconds = 4000",
        "discovery_seconds = 1s", "discovery_seconds =", "enabled = maybe",
        "color = red", "no equals", "library = relative.so", "library ="}) {
    Put("/conf/0.conf", library + line + "\n");
    EXPECT_EQ(Paths().size(), 0u) << line;
  }
  Put("/conf/0.conf", "abi = onnx1\n");
  EXPECT_EQ(Paths().size(), 0u);
}

TEST_F(Search, AChangedFileIsAnotherState) {
  Put("/a/libonnxifi-a.so", "x");
  const Candidate before = FindCandidates()[0];
  EXPECT_TRUE(before.SameState(FindCandidates()[0]));
  Put("/a/libonnxifi-a.so", "xy");
  EXPECT_FALSE(before.SameState(FindCandidates()[0]));
}

}  // namespace
}  // namespace heddle::onnxifi_loader
