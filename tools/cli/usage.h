// SPDX-License-Identifier: Apache-2.0
// What a tool of CLI11 says of its command line: --help, and what is wrong.
#ifndef HEDDLE_TOOLS_CLI_USAGE_H_
#define HEDDLE_TOOLS_CLI_USAGE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

// --help in 80 columns. Before subcommands are added, which do the same.
// Descriptions of options, groups and subcommands are filled; the text before
// and after them is printed as it is.
void WrapHelp(CLI::App* app);

// For catch (const CLI::ParseError&): prints help, version, or to stderr what
// is wrong, after the tool's name: of an option or a subcommand that does not
// exist, those that may have been meant. `hint`, a sentence, follows arguments
// that nothing takes if none of them is an option. Returns 0, or 2 for an
// error.
int ExitOfParse(const CLI::App& app, const CLI::ParseError& error,
                const std::string& hint = "");

// "; did you mean A, B?" of the candidates near `name`, or "".
std::string DidYouMean(const std::string& name,
                       const std::vector<std::string>& candidates);

// For Option::check(): one of `values`. The error names the nearest of them, or
// all where none is near.
CLI::Validator OneOf(const std::vector<std::string>& values);

}  // namespace heddle::cli

#endif  // HEDDLE_TOOLS_CLI_USAGE_H_
