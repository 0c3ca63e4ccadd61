// SPDX-License-Identifier: Apache-2.0
// Placement of nodes that card and host can both run, in a graph that needs the
// host (compiler/base/options.h).
#ifndef HEDDLE_ONNXIFI_PLACEMENT_H_
#define HEDDLE_ONNXIFI_PLACEMENT_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "compiler/base/host_profile.h"
#include "compiler/base/options.h"

namespace heddle::onnxifi {

// What HEDDLE_PLACE=cost|card|host and HEDDLE_HOST_PROFILE=FILE say, read at
// the first call. Without them, and with one warning if they say something
// else: by cost, with the profile that is built in.
compiler::Placement DefaultPlacement();
// Null: the one that is built in.
std::shared_ptr<const compiler::HostProfile> DefaultHostProfile();

// For tests: as if the variables had been `text` ("" = unset).
compiler::Placement ParsePlacement(absl::string_view text);
std::shared_ptr<const compiler::HostProfile> ReadHostProfile(
    absl::string_view file);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_PLACEMENT_H_
