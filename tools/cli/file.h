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
// is, and on failure nothing is left behind. A link stays one; what is no
// ordinary file, such as a pipe or /dev/null, is written to as it is. "-" is
// stdout.
absl::Status WriteFile(const std::string& path, absl::string_view bytes);

// Whether WriteFile(path) can be expected to work, for programs that write at
// their end; nothing is changed. The error is that of WriteFile.
absl::Status CheckWritable(const std::string& path);

// Do both paths lead to the same file or folder, which exists?
bool SameFile(const std::string& a, const std::string& b);

// A package of heddle-compile, whatever its name and state.
bool IsPackage(absl::string_view bytes);

// The same with "'PATH': " in front of the message, unless it is OK.
absl::Status OfFile(const std::string& path, const absl::Status& status);

// The folder that a file is in; "." for a name without folder.
std::string FolderOf(const std::string& path);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_FILE_H_
