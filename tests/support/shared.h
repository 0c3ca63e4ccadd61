// SPDX-License-Identifier: Apache-2.0
//
// Where a test finds the shared folder: trained models and labelled data that
// lie beside the checkout (../shared) and reach tests through the Bazel
// repository @shared.
//
// A test lists the files it reads, e.g. data = ["@shared//:model_mnist_cntk"],
// begins with HEDDLE_SKIP_WITHOUT_SHARED(), and opens
// SharedPath("models/mnist_cntk/model.onnx"). Outside Bazel, HEDDLE_SHARED_DIR
// names the folder.
#ifndef TESTS_SUPPORT_SHARED_H_
#define TESTS_SUPPORT_SHARED_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace heddle::tests {

enum class SharedState {
  kPresent,
  kAbsent,     // The folder does not exist: skip.
  kUndeclared  // The test has no @shared target in `data`: an error of the
               // test.
};

namespace shared_internal {

inline std::filesystem::path Root() {
  if (const char* dir = std::getenv("HEDDLE_SHARED_DIR")) return dir;
  if (const char* dir = std::getenv("TEST_SRCDIR")) {
    return std::filesystem::path(dir) / "shared";
  }
  return {};
}

}  // namespace shared_internal

inline SharedState GetSharedState() {
  std::error_code error;
  if (std::getenv("HEDDLE_SHARED_DIR") != nullptr) {
    return std::filesystem::is_directory(shared_internal::Root() / "models",
                                         error)
               ? SharedState::kPresent
               : SharedState::kAbsent;
  }
  const std::filesystem::path root = shared_internal::Root();
  if (std::filesystem::exists(root / "marker.present", error)) {
    return SharedState::kPresent;
  }
  if (root.empty() || std::filesystem::exists(root / "marker.absent", error)) {
    return SharedState::kAbsent;
  }
  return SharedState::kUndeclared;
}

// Path of `relative` inside the shared folder, "" when the folder is absent.
// The file itself is not looked for: with the folder present, a missing file
// must fail the test, not skip it.
inline std::string SharedPath(const std::string& relative) {
  if (GetSharedState() != SharedState::kPresent) return "";
  return (shared_internal::Root() / relative).string();
}

}  // namespace heddle::tests

// First statement of a TEST (or of SetUp) that reads the shared folder.
#define HEDDLE_SKIP_WITHOUT_SHARED()                                       \
  do {                                                                     \
    switch (::heddle::tests::GetSharedState()) {                           \
      case ::heddle::tests::SharedState::kPresent:                         \
        break;                                                             \
      case ::heddle::tests::SharedState::kAbsent:                          \
        GTEST_SKIP() << "the shared folder is absent; put it beside the "  \
                        "checkout as ../shared or set HEDDLE_SHARED";      \
        break;                                                             \
      case ::heddle::tests::SharedState::kUndeclared:                      \
        FAIL() << "list a @shared target in this test's data (and in "     \
                  "HEDDLE_SHARED_DIR, if set, a folder that has models/)"; \
    }                                                                      \
  } while (false)

#endif  // TESTS_SUPPORT_SHARED_H_
