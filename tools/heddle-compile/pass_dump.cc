// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/pass_dump.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/base/status_macros.h"
#include "compiler/passes/registry.h"
#include "tools/cli/file.h"

namespace heddle::compile {

std::string PassTable() {
  std::string table;
  for (const compiler::Pass& pass : compiler::Passes()) {
    absl::StrAppendFormat(&table, "%-20s %s\n", pass.name, pass.what);
  }
  return table;
}

absl::Status PassDump::Attach(compiler::CompileOptions* options) {
  if (folder_.empty() && stop_after_.empty()) return absl::OkStatus();
  if (!folder_.empty()) {
    std::error_code error;
    std::filesystem::create_directory(folder_, error);
    if (!std::filesystem::is_directory(folder_)) {
      return absl::NotFoundError(absl::StrCat("cannot make the folder '",
                                              folder_, "'", error ? ": " : "",
                                              error ? error.message() : ""));
    }
  }
  options->after_pass = [this](const char* pass, const auto& state) {
    // Without a folder only the last state is of use.
    if (folder_.empty() && stop_after_ != pass) return absl::OkStatus();
    return After(pass, state());
  };
  return absl::OkStatus();
}

absl::Status PassDump::After(const std::string& pass, std::string state) {
  if (!folder_.empty()) {
    const absl::StatusOr<size_t> place = compiler::FindPass(pass);
    if (!place.ok()) return absl::InternalError(place.status().message());
    const std::string file =
        absl::StrFormat("%s/%02d-%s", folder_, *place, pass);
    if (!first_) {
      RETURN_IF_ERROR(cli::WriteFile(file + ".before.txt", text_));
    }
    RETURN_IF_ERROR(cli::WriteFile(file + ".after.txt", state));
  }
  first_ = false;
  text_ = std::move(state);
  if (pass != stop_after_) return absl::OkStatus();
  stopped_ = true;
  return absl::CancelledError(absl::StrCat("stopped after ", pass));
}

}  // namespace heddle::compile
