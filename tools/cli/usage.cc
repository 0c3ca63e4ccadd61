// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/usage.h"

#include <cstdio>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/nearest_names.h"
#include "tools/cli/printable.h"

namespace heddle::cli {
namespace {

// Names of options and subcommands, those of the subcommand in use included.
void AddNames(const CLI::App& app, std::vector<std::string>* options,
              std::vector<std::string>* words) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      options->push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      options->push_back("-" + name);
    }
  }
  for (const CLI::App* other : app.get_subcommands(nullptr)) {
    const bool group = other->get_name().empty();
    if (!group) words->push_back(other->get_name());
    if (group || other->parsed()) AddNames(*other, options, words);
  }
}

// One line for each argument that nothing takes.
std::string Unknown(const CLI::App& app) {
  std::vector<std::string> options, words;
  AddNames(app, &options, &words);
  std::string text;
  for (const std::string& argument : app.remaining(true)) {
    const std::vector<std::string> parts =
        absl::StrSplit(argument, absl::MaxSplits('=', 1));
    const bool option = absl::StartsWith(argument, "-");
    const auto nearest = compiler::NearestNames(option ? parts[0] : argument,
                                                option ? options : words);
    absl::StrAppend(&text, option ? "unknown option " : "unexpected: ", "'",
                    Printable(option ? parts[0] : argument), "'");
    if (!nearest.empty()) {
      absl::StrAppend(&text, "; did you mean ", absl::StrJoin(nearest, ", "),
                      "?");
    }
    text += "\n";
  }
  return text;
}

}  // namespace

int ExitOfParse(const CLI::App& app, const CLI::ParseError& error,
                const std::string& hint) {
  // --help, --version.
  if (error.get_exit_code() == 0) return app.exit(error);
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  std::string text =
      extra ? Unknown(app) : absl::StrCat(Printable(error.what()), "\n");
  if (extra && !hint.empty()) absl::StrAppend(&text, hint, "\n");
  const std::string& tool = app.get_name();
  std::fprintf(stderr, "%s: error: %s%s --help lists all options.\n",
               tool.c_str(), text.c_str(), tool.c_str());
  return 2;
}

}  // namespace heddle::cli
