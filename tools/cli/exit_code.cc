// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/exit_code.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "tools/cli/colour.h"
#include "tools/cli/printable.h"

namespace heddle::cli {
namespace {

// Type of a status' payload.
constexpr char kUsageError[] = "heddle/usage-error";
// What git leaves in place of a file that Git LFS has not fetched.
constexpr absl::string_view kLfsPointer = "version https://git-lfs";

// Of a file that is no model: what there is to say without looking into it.
std::string OfWhatIsNoModel(const std::string& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return "";
  std::string begin(kLfsPointer.size(), '\0');
  std::ifstream(path, std::ios::binary)
      .read(&begin[0], static_cast<std::streamsize>(begin.size()));
  return absl::StrCat(
      "; the file has ", info.st_size, info.st_size == 1 ? " byte" : " bytes",
      ": download it again",
      begin == kLfsPointer
          ? " (a Git LFS pointer? git lfs pull fetches the file)"
          : "");
}

}  // namespace

const char kExitCodeHelp[] =
    "Exit codes: 0 success, 1 failure (file, system, device), 2 usage, 3 no "
    "device,\n"
    "4 model rejected (unsupported or invalid), 5 results differ.";

absl::Status UsageError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kUsageError, absl::Cord());
  return status;
}

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  if (status.GetPayload(kUsageError).has_value()) return kUsage;
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
    if (kind == compiler::Rejection::kInvalidProtobuf &&
        absl::StrContains(text, "not an ONNX model")) {
      text += OfWhatIsNoModel(model);
    }
  }
  std::fprintf(
      stderr, "%s: %s %s\n", tool,
      Coloured("error:", Colour::kBad, HasColour(STDERR_FILENO)).c_str(),
      text.c_str());
  return ExitCodeOf(status);
}

}  // namespace heddle::cli
