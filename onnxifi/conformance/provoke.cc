// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/provoke.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/provoker.h"
#include "onnxifi/conformance/scarcity.h"

namespace heddle::conformance {
namespace {

// The vendor's, of which there is one in a process; null: it has none.
onnxifiProvokeFunction TheFunction(const std::string& library) {
  static const onnxifiProvokeFunction function = [&] {
    void* const loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    return loaded == nullptr ? nullptr
                             : reinterpret_cast<onnxifiProvokeFunction>(
                                   dlsym(loaded, "onnxifiProvoke"));
  }();
  return function;
}

}  // namespace

Provoker::Result Provoker::Do(const std::string& word, uint64_t amount,
                              std::string* why) const {
  // At once: what is refused now may be needed for all that follows.
  if (word == "spare" && Refusing()) return Spare() ? kDone : kNothing;
  if (!library.empty()) {
    const onnxifiProvokeFunction provoke = TheFunction(library);
    if (provoke == nullptr) {
      const char* error = dlerror();
      *why = absl::StrCat("the provoker cannot be loaded: ",
                          error == nullptr ? "no onnxifiProvoke" : error);
      return kFailed;
    }
    const int code = provoke(word.c_str(), amount);
    if (code == ONNXIFI_PROVOKED) return kDone;
    if (code == ONNXIFI_PROVOKED_NOTHING && word == "spare") return kNothing;
    if (code != ONNXIFI_PROVOKER_LACKS) {
      *why = absl::StrCat("the provoker has failed: ", word, " ", amount);
      return kFailed;
    }
  }
  Scarcity scarcity;
  const bool scarce = Scarcity::Parse(word, &scarcity);
  if (scarce || word == "spare") {
    if (Sanitized()) {
      *why =
          "the kit was built with a sanitizer, so this needs a --provoker that "
          "understands it";
      return kLacks;
    }
    if (!scarce) return kNothing;
    Refuse(scarcity, amount);
    return kDone;  // and nothing that allocates
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
      "needs --provoke COMMAND or --provoker LIBRARY that understands '", word,
      "'");
  return kLacks;
}

}  // namespace heddle::conformance
