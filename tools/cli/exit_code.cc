// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exit_code.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "compiler/base/diagnostic.h"
#include "tools/cli/colour.h"
#include "tools/cli/printable.h"

namespace heddle::cli {

const char kExitCodeHelp[] =
    "Exit codes: 0 success, 1 failure (file, system, device), 2 usage, 3 no "
    "device,\n"
    "4 model rejected (unsupported or invalid), 5 results differ.";

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  switch (compiler::RejectionOf(status)) {
    case compiler::Rejection::kNone:
      return absl::IsUnavailable(status) ? kNoDevice : kFailed;
    case compiler::Rejection::kNoSystemMemory:
    case compiler::Rejection::kNoDeviceMemory:
      return kFailed;
    default:
      return kRefused;
  }
}

int Fail(const char* tool, const absl::Status& status,
         const std::string& model) {
  std::string text(status.message());
  const compiler::Rejection kind = compiler::RejectionOf(status);
  if (kind != compiler::Rejection::kNone) {
    text = std::string(compiler::RejectionName(kind)) + ": " + text;
    if (!model.empty()) text = Printable(model) + ": " + text;
  }
  std::fprintf(
      stderr, "%s: %s %s\n", tool,
      Coloured("error:", Colour::kBad, HasColour(STDERR_FILENO)).c_str(),
      text.c_str());
  return ExitCodeOf(status);
}

}  // namespace heddle::cli
