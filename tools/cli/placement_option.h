// SPDX-License-Identifier: Apache-2.0
// --place and --host-profile: which side runs what card and host both could.
#ifndef HEDDLE_TOOLS_CLI_PLACEMENT_OPTION_H_
#define HEDDLE_TOOLS_CLI_PLACEMENT_OPTION_H_

#include <string>

#include "absl/status/status.h"
#include "compiler/base/options.h"

namespace CLI {
class App;
}

namespace heddle::cli {

struct PlacementArguments {
  std::string place = "cost";
  std::string host_profile;  // a file; "": the default profile
};

void AddPlacementOptions(CLI::App* app, PlacementArguments* arguments);

// NotFound or InvalidArgument: of the profile's file, which is named.
absl::Status SetPlacement(const PlacementArguments& arguments,
                          compiler::CompileOptions* options);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_PLACEMENT_OPTION_H_
