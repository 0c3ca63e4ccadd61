// SPDX-License-Identifier: Apache-2.0
// Exit codes that all tools share; they are part of --help and never change.
#ifndef HEDDLE_TOOLS_CLI_EXIT_CODE_H_
#define HEDDLE_TOOLS_CLI_EXIT_CODE_H_

#include <string>

#include "absl/status/status.h"

namespace heddle::cli {

enum ExitCode {
  kOk = 0,
  kFailed = 1,    // a file, the system or the device failed
  kUsage = 2,     // the command line
  kNoDevice = 3,  // there is no device, or it went away
  kRefused = 4,   // the model is not supported or not valid
  kMismatch = 5,  // results differ from the expected ones
};

// For the end of --help.
extern const char kExitCodeHelp[];

// 4 for a refusal of the model by the compiler, 3 for Unavailable, else 1.
ExitCode ExitCodeOf(const absl::Status& status);

// Prints "TOOL: error: MESSAGE" to stderr; returns ExitCodeOf(). If the model
// is refused, `model`, its file, is named before the message.
int Fail(const char* tool, const absl::Status& status,
         const std::string& model = "");

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_EXIT_CODE_H_
