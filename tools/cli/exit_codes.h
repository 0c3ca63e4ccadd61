// SPDX-License-Identifier: Apache-2.0
// Exit codes that all programs share; they are part of --help and never change.
#ifndef HEDDLE_TOOLS_CLI_EXIT_CODES_H_
#define HEDDLE_TOOLS_CLI_EXIT_CODES_H_

namespace heddle::cli {

enum ExitCode {
  kOk = 0,
  kFailed = 1,    // a file, the system or the device failed
  kUsage = 2,     // the command line
  kNoDevice = 3,  // there is no device, or it went away
  kRefused = 4,   // the model is not supported or not valid
  kMismatch = 5,  // results differ from the expected ones
};

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_EXIT_CODES_H_
