// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/placement_option.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "compiler/base/host_profile.h"
#include "tools/cli/file.h"

namespace heddle::cli {
namespace {

using compiler::Placement;

const std::map<std::string, Placement>& Placements() {
  static const auto* const placements =
      new std::map<std::string, Placement>{{"cost", Placement::kCost},
                                           {"card", Placement::kCard},
                                           {"host", Placement::kHost}};
  return *placements;
}

}  // namespace

void AddPlacementOptions(CLI::App* app, PlacementArguments* arguments) {
  app->add_option(
         "--place", arguments->place,
         "where to run nodes that both card and host can run: wherever the "
         "whole is faster, including crossings, if the model needs the host at "
         "all (cost); on the card; or on the host, even if the model needs no "
         "host. The results are the same to the byte")
      ->check(CLI::IsMember({"cost", "card", "host"}))
      ->capture_default_str();
  app->add_option(
         "--host-profile", arguments->host_profile,
         "cost profile of the host and of crossings, as text "
         "(compiler/base/host_profile.h; './dev bench host' measures one), for "
         "--place=cost and the report (default: a built-in profile)")
      ->type_name("FILE");
}

absl::Status SetPlacement(const PlacementArguments& arguments,
                          compiler::CompileOptions* options) {
  options->placement = Placements().at(arguments.place);
  if (arguments.host_profile.empty()) return absl::OkStatus();
  const auto text = ReadFile(arguments.host_profile);
  if (!text.ok()) return text.status();
  const auto profile = compiler::ParseHostProfile(*text);
  if (!profile.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.host_profile, ": ", profile.status().message()));
  }
  options->host_profile =
      std::make_shared<const compiler::HostProfile>(*profile);
  return absl::OkStatus();
}

}  // namespace heddle::cli
