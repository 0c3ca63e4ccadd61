// SPDX-License-Identifier: Apache-2.0
// How a tool ends: the exit code (exit_codes.h) and the message of an error.
#ifndef HEDDLE_TOOLS_CLI_EXIT_CODE_H_
#define HEDDLE_TOOLS_CLI_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tools/cli/exit_codes.h"

namespace heddle::cli {

// For the end of --help.
extern const char kExitCodeHelp[];

// What is wrong with the command line although its form is right.
absl::Status UsageError(absl::string_view message);

// 4 for a refusal of the model by the compiler, 3 for Unavailable, 2 for a
// UsageError, else 1.
ExitCode ExitCodeOf(const absl::Status& status);

// Prints "TOOL: error: MESSAGE" to stderr; returns ExitCodeOf(). If the model
// is refused, `model`, its file, is named before the message; if it is none,
// its size and what it may be are told, too.
int Fail(const char* tool, const absl::Status& status,
         const std::string& model = "");

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_EXIT_CODE_H_
