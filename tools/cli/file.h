// SPDX-License-Identifier: Apache-2.0
// Files as the tools read and write them.
#ifndef HEDDLE_TOOLS_CLI_FILE_H_
#define HEDDLE_TOOLS_CLI_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::cli {

// NotFound: cannot be opened. DataLoss: cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Writes beside `path` and renames: the old file stays whole until the new one
// is, and on failure nothing is left behind.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

// The folder that a file is in; "." for a name without folder.
std::string FolderOf(const std::string& path);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_FILE_H_
