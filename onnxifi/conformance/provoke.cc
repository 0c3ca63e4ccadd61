// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/provoke.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/provoker.h"

namespace heddle::conformance {

Provoker::Result Provoker::Do(const std::string& word, uint64_t amount,
                              std::string* why) const {
  if (!library.empty()) {
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto provoke = loaded == nullptr
                             ? nullptr
                             : reinterpret_cast<onnxifiProvokeFunction>(
                                   dlsym(loaded, "onnxifiProvoke"));
    if (provoke == nullptr) {
      const char* error = dlerror();
      *why = absl::StrCat("the provoker cannot be loaded: ",
                          error == nullptr ? "no onnxifiProvoke" : error);
      return kFailed;
    }
    const int code = provoke(word.c_str(), amount);
    if (code == ONNXIFI_PROVOKED) return kDone;
    if (code != ONNXIFI_PROVOKER_LACKS) {
      *why = absl::StrCat("the provoker has failed: ", word, " ", amount);
      return kFailed;
    }
  }
  if (!command.empty()) {
    std::string line = absl::StrCat(command, " ", word);
    if (amount != 0) absl::StrAppend(&line, " ", amount);
    // Not its standard output: that is looked at.
    const int code = std::system((line + " >&2").c_str());
    if (code == 0) return kDone;
    if (word == "unplug" || word == "plug") {
      *why = absl::StrCat("the command failed: ", line);
      return kFailed;
    }
  }
  *why = absl::StrCat(
      "there is no --provoke COMMAND or --provoker LIBRARY "
      "that knows the word ",
      word);
  return kLacks;
}

}  // namespace heddle::conformance
