// SPDX-License-Identifier: Apache-2.0
// Prints what becomes of ONNX's node cases:
//
//   bazel run //tests/node_cases:node_cases_tool -- --cases LIST.json
//   bazel run //tests/node_cases:node_cases_tool --
//   test_resize_upsample_sizes..
//
// With --expected-passes, the text of expected_passes.txt.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "tests/comparer/api.h"
#include "tests/e2e/product.h"
#include "tests/node_cases/case_worker.h"
#include "tests/node_cases/node_case.h"
#include "tests/node_cases/table.h"

namespace heddle::tests {
namespace {

int Main(int argc, char** argv) {
  std::string library, list, contains, config = "h256";
  std::vector<std::string> names;
  bool each = false, expected_passes = false;
  CLI::App app("Runs ONNX's node cases through an ONNXIFI library.");
  app.add_option("names", names, "Cases");
  app.add_option("--library", library, "libonnxifi-NAME.so")->required();
  app.add_option("--cases", list, "JSON file with names of cases");
  app.add_option("--contains", contains, "Only cases with this in their names");
  app.add_option("--config", config, "Configuration of the simulated card")
      ->capture_default_str();
  app.add_flag("--each", each, "A line for each case");
  app.add_flag("--expected-passes", expected_passes,
               "Numbers of cases that pass, nothing else");
  CLI11_PARSE(app, argc, argv);
  if (!list.empty()) {
    const auto read = ReadCaseNames(list);
    if (!read.ok()) {
      std::fprintf(stderr, "%s\n",
                   std::string(read.status().message()).c_str());
      return 2;
    }
    names.insert(names.end(), read->begin(), read->end());
  }
  UseDevice(SimDevice(config));
  CaseWorker worker(library);
  std::vector<CaseResult> results;
  bool good = true;
  for (const std::string& name : names) {
    if (!absl::StrContains(name, contains)) continue;
    results.push_back(worker.Run(name));
    const CaseResult& result = results.back();
    good = good && IsGood(result.verdict);
    if (!each) continue;
    std::printf("%-8s %s %s %s: %s\n", VerdictName(result.verdict),
                name.c_str(), comparer::StatusName(result.status).c_str(),
                result.reason.c_str(), result.message.c_str());
  }
  for (const auto& [group, members] : ByGroup(results)) {
    const int passed = CountPassed(members);
    if (!expected_passes) {
      std::fputs(OperatorTable(group, members).c_str(), stdout);
    } else if (passed > 0) {
      std::printf("%d %s\n", passed, group.c_str());
    }
  }
  if (!expected_passes) {
    const int adapted = CountAdapted(results);
    std::printf("%d of %zu cases pass as given, %d more with constants\n",
                CountPassed(results) - adapted, results.size(), adapted);
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) {
  try {
    return heddle::tests::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
