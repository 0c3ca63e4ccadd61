// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/usage.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/base/nearest_names.h"
#include "tools/cli/colour.h"
#include "tools/cli/printable.h"

namespace heddle::cli {
namespace {

// CLI11 indents an option group by two columns after it is formatted.
constexpr size_t kColumns = 78;

std::string Filled(const std::string& text, size_t columns,
                   const std::string& indent) {
  std::string filled;
  size_t used = 0;
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (used > 0 && used + 1 + word.size() > columns) {
      absl::StrAppend(&filled, "\n", indent);
      used = 0;
    }
    absl::StrAppend(&filled, used > 0 ? " " : "", word);
    used += word.size() + (used > 0 ? 1 : 0);
  }
  return filled;
}

class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option,
                          bool positional) const override {
    return Entry(absl::StrCat(make_option_name(option, positional),
                              make_option_opts(option)),
                 make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* sub) const override {
    return Entry(sub->get_display_name(true), sub->get_description());
  }

  std::string make_description(const CLI::App* app) const override {
    const std::string text = CLI::Formatter::make_description(app);
    const bool group = app->get_parent() != nullptr;
    return !group || text.empty() ? text : Filled(text, kColumns, "") + "\n";
  }

 private:
  // The description begins in its column, below a name that reaches into it.
  std::string Entry(const std::string& name, const std::string& text) const {
    const std::string indent(get_column_width(), ' ');
    std::string entry = "  " + name;
    if (text.empty()) return entry + "\n";
    if (entry.size() < indent.size()) {
      entry.resize(indent.size(), ' ');
    } else {
      absl::StrAppend(&entry, "\n", indent);
    }
    return absl::StrCat(entry, Filled(text, kColumns - indent.size(), indent),
                        "\n");
  }
};

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
    const std::string& name = option ? parts[0] : argument;
    // A letter that the name contains is not what was meant.
    const bool is_long = absl::StartsWith(name, "--");
    std::vector<std::string> candidates = option ? options : words;
    candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                    [&](const std::string& candidate) {
                                      return is_long &&
                                             !absl::StartsWith(candidate, "--");
                                    }),
                     candidates.end());
    absl::StrAppend(&text, option ? "unknown option " : "unexpected: ", "'",
                    Printable(name), "'", DidYouMean(name, candidates), "\n");
  }
  return text;
}

}  // namespace

void WrapHelp(CLI::App* app) {
  app->formatter(std::make_shared<WrappedHelp>());
}

std::string DidYouMean(const std::string& name,
                       const std::vector<std::string>& candidates) {
  const auto nearest = compiler::NearestNames(name, candidates);
  if (nearest.empty()) return "";
  return absl::StrCat("; did you mean ", absl::StrJoin(nearest, ", "), "?");
}

CLI::Validator OneOf(const std::vector<std::string>& values) {
  const auto check = [values](const std::string& given) -> std::string {
    if (std::find(values.begin(), values.end(), given) != values.end()) {
      return "";
    }
    const std::string meant = DidYouMean(given, values);
    return absl::StrCat("there is no '", given, "'",
                        meant.empty()
                            ? "; it is one of " + absl::StrJoin(values, ", ")
                            : meant);
  };
  return CLI::Validator(check,
                        absl::StrCat("{", absl::StrJoin(values, ","), "}"));
}

int ExitOfParse(const CLI::App& app, const CLI::ParseError& error,
                const std::string& hint) {
  // --help, --version.
  if (error.get_exit_code() == 0) return app.exit(error);
  const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  // CLI11 complains of what is missing before what it does not know, which may
  // be the same thing, misspelt.
  std::string text = Unknown(app);
  if (!extra) absl::StrAppend(&text, Printable(error.what()), "\n");
  // What follows an unknown option may be its value.
  const std::vector<std::string> rest = app.remaining(true);
  const bool surplus =
      extra &&
      std::none_of(rest.begin(), rest.end(), [](const std::string& argument) {
        return absl::StartsWith(argument, "-");
      });
  if (surplus && !hint.empty()) absl::StrAppend(&text, hint, "\n");
  const std::string& tool = app.get_name();
  std::fprintf(
      stderr, "%s: %s %s%s --help lists all options.\n", tool.c_str(),
      Coloured("error:", Colour::kBad, HasColour(STDERR_FILENO)).c_str(),
      text.c_str(), tool.c_str());
  return 2;
}

}  // namespace heddle::cli
