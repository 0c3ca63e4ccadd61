// SPDX-License-Identifier: Apache-2.0
//
// onnxifi-conformance: tests any vendor's ONNXIFI library.
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/sha256.h"
#include "heddle/version.h"
#include "onnxifi/conformance/fuzz/fuzz.h"
#include "onnxifi/conformance/nodes.h"
#include "onnxifi/conformance/report.h"
#include "onnxifi/conformance/waivers.h"
#include "tools/cli/colour.h"
#include "tools/cli/file.h"
#include "tools/cli/progress.h"
#include "tools/cli/usage.h"

namespace heddle::conformance {
namespace {

enum ExitCode {
  kConformant = 0,
  kFailures = 1,
  kUsage = 2,  // or the report cannot be written
  // The library cannot be loaded, no case ran, or some did not for want of a
  // device.
  kNothingRan = 3,
};

constexpr char kHelp[] =
    "Example:\n"
    "  onnxifi-conformance --lib ./libonnxifi-acme.so\n"
    "  onnxifi-conformance --lib ./libonnxifi-acme.so --report html \\\n"
    "      --output verdict.html\n"
    "  onnxifi-conformance --lib ./libonnxifi-acme.so --case io.tag_first\n"
    "  onnxifi-conformance --lib ./libonnxifi-acme.so --fuzz 100000\n"
    "\n"
    "Tests an ONNXIFI library, each case in its own process. A case passes, "
    "fails, is\n"
    "not supported (the report says why that is allowed), passes with a "
    "quality\n"
    "warning (about something that the specification does not demand), or is "
    "waived\n"
    "(--waivers).\n"
    "\n"
    "Exit codes: 0 conformant, 1 failures, 2 usage or a report that cannot be\n"
    "written, 3 the library cannot be loaded or lists no device, or no case "
    "ran.\n";

std::string Sha256(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return "";  // found by name on the linker's path
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return absl::BytesToHexString(compiler::Sha256Of(bytes.str()));
}

// What the backend says of itself, asked in a child.
std::vector<std::pair<std::string, std::string>> AskBackend(
    const RunOptions& options) {
  static const Case kAsk = {
      "ask", "",
      [](Context& t) {
        t.Note("vendor: " + t.InfoText(ONNXIFI_BACKEND_VENDOR));
        t.Note("name: " + t.InfoText(ONNXIFI_BACKEND_NAME));
        t.Note("version: " + t.InfoText(ONNXIFI_BACKEND_VERSION));
        t.Note("device: " + t.InfoText(ONNXIFI_BACKEND_DEVICE));
        t.Note(absl::StrCat(
            "capabilities: 0x",
            absl::Hex(t.InfoNumber(ONNXIFI_BACKEND_CAPABILITIES))));
        t.Note("opsets: " + t.InfoText(ONNXIFI_BACKEND_OPSET_VERSION));
        t.Note("extensions: " + t.InfoText(ONNXIFI_BACKEND_EXTENSIONS));
        t.Note(absl::StrCat("memory: ",
                            t.InfoNumber(ONNXIFI_BACKEND_MEMORY_SIZE)));
      },
      kColdStart};
  std::vector<std::pair<std::string, std::string>> answers;
  for (const std::string& note : RunCase(kAsk, options).notes) {
    const size_t colon = note.find(": ");
    answers.emplace_back(note.substr(0, colon), note.substr(colon + 2));
  }
  return answers;
}

int Error(ExitCode code, absl::string_view text) {
  std::cerr << "onnxifi-conformance: error: " << text << "\n";
  return code;
}

int Usage(absl::string_view text) { return Error(kUsage, text); }

// A name without a slash is a file of this folder, as everywhere on a command
// line, if there is one; dlopen would look on its search path only.
std::string LibraryPath(const std::string& name) {
  struct stat info = {};
  const bool here = name.find('/') == std::string::npos && !name.empty() &&
                    stat(name.c_str(), &info) == 0 && S_ISREG(info.st_mode);
  return here ? "./" + name : name;
}

// Whether an id is meant by a pattern: itself, or "io.*".
bool Matches(const std::string& pattern, const std::string& id) {
  if (absl::EndsWith(pattern, "*")) {
    return absl::StartsWith(
        id, absl::string_view(pattern).substr(0, pattern.size() - 1));
  }
  return pattern == id;
}

// The form of a report by the end of its file's name; "" of other names.
std::string FormatOfName(const std::string& path) {
  const std::pair<const char*, const char*> kEndings[] = {
      {".html", "html"}, {".htm", "html"}, {".json", "json"},
      {".xml", "junit"}, {".txt", "text"},
  };
  for (const auto& [ending, format] : kEndings) {
    if (absl::EndsWithIgnoreCase(path, ending)) return format;
  }
  return "";
}

// What is wrong with the first pattern or group that selects nothing, or "".
std::string UnknownSelection(const std::vector<Case>& all,
                             const std::vector<std::string>& patterns,
                             const std::vector<std::string>& groups) {
  std::vector<std::string> known_groups, known_patterns;
  for (const Case& c : all) {
    if (known_groups.empty() || known_groups.back() != c.group()) {
      known_groups.push_back(c.group());
      known_patterns.push_back(c.group() + ".*");
    }
    known_patterns.push_back(c.id);
  }
  constexpr char kList[] = " (--list shows all)";
  for (const std::string& group : groups) {
    if (std::find(known_groups.begin(), known_groups.end(), group) ==
        known_groups.end()) {
      if (std::any_of(all.begin(), all.end(),
                      [&](const Case& c) { return group == c.id; })) {
        return absl::StrCat("there is no group '", group,
                            "'; it is a case: --case ", group);
      }
      return absl::StrCat("there is no group '", group, "'",
                          cli::DidYouMean(group, known_groups),
                          " (--list groups shows all)");
    }
  }
  for (const std::string& pattern : patterns) {
    if (std::none_of(all.begin(), all.end(),
                     [&](const Case& c) { return Matches(pattern, c.id); })) {
      if (std::find(known_groups.begin(), known_groups.end(), pattern) !=
          known_groups.end()) {
        return absl::StrCat("there is no case '", pattern,
                            "'; it is a group: --group ", pattern);
      }
      return absl::StrCat("there is no case '", pattern, "'",
                          cli::DidYouMean(pattern, known_patterns), kList);
    }
  }
  return "";
}

std::string CaseLines(const std::vector<const Case*>& cases) {
  std::string lines;
  for (const Case* c : cases) {
    absl::StrAppend(&lines, c->id, "  ", c->title, "\n");
  }
  return lines;
}

// In the order in which they run.
std::string GroupLines(const std::vector<const Case*>& cases) {
  std::vector<std::pair<std::string, int>> groups;
  for (const Case* c : cases) {
    if (groups.empty() || groups.back().first != c->group()) {
      groups.emplace_back(c->group(), 0);
    }
    ++groups.back().second;
  }
  std::string lines;
  for (const auto& [group, count] : groups) {
    absl::StrAppend(&lines, group, "  ", count, count == 1 ? " case" : " cases",
                    "\n");
  }
  return lines;
}

int Main(int argc, char** argv) {
  std::string library, abi = "auto", format, output = "-", waiver_file, nodes,
                       list;
  std::vector<std::string> patterns, groups;
  RunOptions options;
  FuzzOptions fuzz;

  CLI::App app(kHelp, "onnxifi-conformance");
  cli::WrapHelp(&app);
  app.set_version_flag("--version", "onnxifi-conformance " HEDDLE_VERSION);
  app.add_option("--lib", library,
                 "the library to test: a path, or a name that the loader finds "
                 "if there is no such file in this folder");
  app.add_option("--abi", abi,
                 "onnx1: libonnx-dev's header (56-byte descriptors); extended "
                 "(96 bytes); auto: probe (default)")
      ->check(cli::OneOf({"onnx1", "extended", "auto"}));
  app.add_option("--report", format,
                 "text, junit, html or json (default: as the name of --output "
                 "ends: .txt, .xml, .html, .json; otherwise text)")
      ->check(cli::OneOf({"text", "junit", "html", "json"}));
  app.add_option(
      "--case", patterns,
      "only this case; io.* selects all with that prefix; repeatable");
  app.add_option("--group", groups, "only this group; repeatable");
  app.add_option("--list", list,
                 "list the cases, or the groups with the number of their "
                 "cases, and exit")
      ->expected(0, 1)
      ->default_str("cases")
      ->check(cli::OneOf({"cases", "groups"}));
  app.add_option("--seed", options.seed, "random seed (default 1)");
  app.add_option("--timeout", options.timeout_seconds,
                 "time limit of a case in seconds (default 20); long cases get "
                 "six times as much")
      ->check(CLI::PositiveNumber);
  app.add_option("--waivers", waiver_file,
                 "file of failures to waive: lines CASE | OWNER | REASON");
  app.add_option("--nodes", nodes,
                 "also run ONNX's node tests from this folder, one case each "
                 "(libonnx-testdata: /usr/share/libonnx-testdata/data/node)");
  app.add_option(
      "--provoke", options.provoker.command,
      "shell command that unplugs or plugs the device when run with the "
      "argument unplug or plug; without it, hot-plug is not tested");
  app.add_option(
      "--provoker", options.provoker.library,
      "library that provokes more faults (onnxifi/conformance/provoker.h)");
  app.add_option("--fuzz", fuzz.sequences,
                 "instead of the cases: run this many random call sequences "
                 "from eight threads, generated from --seed");
  app.add_option("--fuzz-seconds", fuzz.seconds,
                 "stop fuzzing after this time (default: none)");
  app.add_option("--fuzz-findings", fuzz.findings,
                 "stop fuzzing after this many findings (default 10)")
      ->check(CLI::PositiveNumber);
  app.add_option("--fuzz-jobs", fuzz.jobs,
                 "processes that fuzz at the same time (default 1); a sequence "
                 "mostly waits for its threads, so several per processor pay")
      ->check(CLI::Range(1, 256));
  app.add_option("--replay", fuzz.replays,
                 "instead of the cases: replay sequences written by --fuzz, or "
                 "folders of them; repeatable");
  app.add_option("--keep", fuzz.keep,
                 "folder for failing sequences (default .)");
  app.add_option("--output", output,
                 "write the report to this file instead of stdout, at the end "
                 "and as a whole");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return cli::ExitOfParse(app, e) == 0 ? kConformant : kUsage;
  }

  const std::string named = FormatOfName(output);
  if (format.empty()) format = named.empty() ? "text" : named;
  if (!named.empty() && named != format) {
    return Usage(absl::StrCat("--report ", format, " contradicts --output ",
                              output, ", which names a ", named, " report"));
  }

  std::vector<Case> all = AllCases();
  if (!nodes.empty()) {
    auto more = NodeCases(nodes);
    if (!more.ok()) {
      return Usage(absl::StrCat("--nodes: ", more.status().message()));
    }
    all.insert(all.end(), more->begin(), more->end());
  }
  if (const std::string unknown = UnknownSelection(all, patterns, groups);
      !unknown.empty()) {
    return Usage(unknown);
  }
  std::vector<const Case*> chosen;
  for (const Case& c : all) {
    bool wanted = patterns.empty() && groups.empty();
    for (const std::string& p : patterns) wanted |= Matches(p, c.id);
    for (const std::string& g : groups) wanted |= g == c.group();
    if (wanted) chosen.push_back(&c);
  }
  if (!list.empty()) {
    const absl::Status listed = cli::WriteFile(
        "-", list == "groups" ? GroupLines(chosen) : CaseLines(chosen));
    return listed.ok() ? kConformant : Usage(listed.message());
  }
  if (library.empty()) {
    return Usage("--lib is missing; --help shows an example");
  }
  std::vector<Waiver> waivers;
  if (!waiver_file.empty()) {
    std::ifstream file(waiver_file);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return Usage(absl::StrCat("cannot read ", waiver_file));
    auto parsed = ParseWaivers(text.str(), all);
    if (!parsed.ok()) {
      return Usage(absl::StrCat(waiver_file, ": ", parsed.status().message()));
    }
    waivers = *std::move(parsed);
  }
  if (const absl::Status s = cli::CheckWritable(output); !s.ok()) {
    return Usage(s.message());
  }

  library = LibraryPath(library);
  options.provoker.library = LibraryPath(options.provoker.library);
  if (const absl::Status loaded = TryLoad(library); !loaded.ok()) {
    return Error(kNothingRan, loaded.message());
  }
  Report report;
  Environment& environment = report.environment;
  options.library = library;
  environment.no_device = WhyNoDevice(options);
  options.lists_device = environment.no_device.empty();
  environment.abi_source = "--abi";
  if (abi == "auto" && !options.lists_device) {
    environment.abi_source =
        "assumed: no device to probe with; --abi overrides";
  } else if (abi == "auto") {
    options.abi =
        ProbeAbi(library, options.timeout_seconds, &environment.abi_source);
  } else {
    options.abi = abi == "extended" ? Abi::kExtended : Abi::kOnnx1;
  }
  if (fuzz.sequences > 0 || !fuzz.replays.empty()) {
    fuzz.run = options;
    return Fuzz(fuzz);
  }
  environment.program = argv[0];
  environment.library = library;
  environment.provoke = options.provoker.command;
  environment.provoker = options.provoker.library;
  environment.nodes = nodes;
  environment.sha256 = Sha256(library);
  environment.abi = AbiName(options.abi);
  environment.seed = options.seed;
  environment.timeout_seconds = options.timeout_seconds;
  utsname system = {};
  uname(&system);
  environment.kernel = absl::StrCat(system.sysname, " ", system.release);
  environment.machine = system.machine;
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  environment.date = date;
  environment.backend = AskBackend(options);

  const bool progress = isatty(STDERR_FILENO) != 0;
  const auto begin = std::chrono::steady_clock::now();
  for (const Case* c : chosen) {
    if (progress) {
      const size_t done = report.results.size();
      const std::chrono::duration<double> passed =
          std::chrono::steady_clock::now() - begin;
      const std::string left =
          cli::TimeLeft(passed.count(), static_cast<double>(done) /
                                            static_cast<double>(chosen.size()));
      std::fprintf(stderr, "\r\033[K[%zu/%zu] %s%s%s%s", done + 1,
                   chosen.size(), c->id, left.empty() ? "" : " (", left.c_str(),
                   left.empty() ? "" : ")");
    }
    report.results.push_back(RunCase(*c, options));
  }
  if (progress) std::fprintf(stderr, "\r\033[K");
  ApplyWaivers(waivers, &report.results);

  std::string text;
  if (format == "text")
    text =
        TextReport(report, cli::HasColour(output == "-" ? STDOUT_FILENO : -1));
  if (format == "junit") text = JunitReport(report);
  if (format == "html") text = HtmlReport(report);
  if (format == "json") {
    text = JsonReport(report).dump(
        1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    text += "\n";
  }
  if (const absl::Status s = cli::WriteFile(output, text); !s.ok()) {
    return Usage(s.message());
  }
  const auto count = Count(report.results);
  if (static_cast<size_t>(count.at(Verdict::kNotSupported)) ==
      report.results.size()) {
    return Error(kNothingRan, "no case ran: all are not supported");
  }
  if (count.at(Verdict::kFail) != 0) return kFailures;
  const int not_run = count.at(Verdict::kNotRun);
  if (not_run == 0) return kConformant;
  return Error(
      kNothingRan,
      absl::StrCat("without a device, ", not_run,
                   not_run == 1 ? " case was" : " cases were", " not run"));
}

}  // namespace
}  // namespace heddle::conformance

int main(int argc, char** argv) {
  return heddle::conformance::Main(argc, argv);
}
