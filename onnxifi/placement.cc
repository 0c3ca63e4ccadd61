// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/placement.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {
namespace {

std::string Environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

compiler::Placement ParsePlacement(absl::string_view text) {
  if (text == "card") return compiler::Placement::kCard;
  if (text == "host") return compiler::Placement::kHost;
  if (!text.empty() && text != "cost") {
    Log(DefaultLogLevel(), LogLevel::kWarning, text,
        "HEDDLE_PLACE must be cost, card or host; using cost instead of ");
  }
  return compiler::Placement::kCost;
}

std::shared_ptr<const compiler::HostProfile> ReadHostProfile(
    absl::string_view file) {
  if (file.empty()) return nullptr;
  std::ifstream stream{std::string(file)};
  // One byte more than a profile may have: that is refused, too.
  std::string text(compiler::kMostProfileBytes + 1, '\0');
  stream.read(&text[0], static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  const auto profile = compiler::ParseHostProfile(text);
  if (profile.ok()) {
    return std::make_shared<const compiler::HostProfile>(*profile);
  }
  Log(DefaultLogLevel(), LogLevel::kWarning,
      absl::StrCat(
          file, ": ",
          stream.is_open() ? profile.status().message() : "cannot read it"),
      "ignoring HEDDLE_HOST_PROFILE: ");
  return nullptr;
}

compiler::Placement DefaultPlacement() {
  static const compiler::Placement placement =
      ParsePlacement(Environment("HEDDLE_PLACE"));
  return placement;
}

std::shared_ptr<const compiler::HostProfile> DefaultHostProfile() {
  static const auto* const profile =
      new std::shared_ptr<const compiler::HostProfile>(
          ReadHostProfile(Environment("HEDDLE_HOST_PROFILE")));
  return *profile;
}

}  // namespace heddle::onnxifi
