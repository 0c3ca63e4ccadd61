// SPDX-License-Identifier: Apache-2.0
// When the commands of a package would run, by the model of the machine that
// steers the compiler (simulator/timing/timeline.h): for cards that do not say.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_ESTIMATED_TIMES_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_ESTIMATED_TIMES_H_

#include "absl/status/statusor.h"
#include "compiler/package/package.h"
#include "tools/heddle-run/profile.h"

namespace heddle::run {

// Stream behind stream. InvalidArgument: commands that no machine can run.
absl::StatusOr<CommandTimes> EstimatedTimes(const package::Package& package);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_ESTIMATED_TIMES_H_
