// SPDX-License-Identifier: Apache-2.0
// The kit over its reference backend, in both ABIs: everything passes, and the
// statuses come that data/pairs.txt promises. The exit codes and forms of the
// report.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/spec.h"

namespace heddle::conformance {
namespace {

using nlohmann::json;

// stdout and stderr, and the exit code. `before` is what a shell does first.
std::pair<std::string, int> Kit(const std::string& arguments,
                                const std::string& before = "") {
  const std::string command =
      absl::StrCat("kit=$PWD/", std::getenv("KIT"), "; exec 2>&1; ", before,
                   " \"$kit\" ", arguments);
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
    output.append(buffer, n);
  }
  const int status = pclose(pipe);
  return {output, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

std::string Library(const char* variable) {
  return absl::StrCat("./", std::getenv(variable));
}

// The device of the reference backend goes when it is told to.
std::string Hotplug() {
  const std::string file = absl::StrCat(testing::TempDir(), "/unplugged");
  setenv("ONNXIFI_REFERENCE_UNPLUGGED", file.c_str(), 1);
  unlink(file.c_str());
  return absl::StrCat("--provoke ./", std::getenv("PROVOKE"));
}

class Reference : public testing::TestWithParam<const char*> {};

TEST_P(Reference, PassesAndReturnsWhatIsPromised) {
  const auto [text, code] = Kit(absl::StrCat("--lib ", Library(GetParam()),
                                             " --report json ", Hotplug()));
  ASSERT_EQ(code, 0) << text;
  const json report = json::parse(text);
  std::map<std::string, std::set<std::pair<std::string, std::string>>> by_case;
  std::set<std::pair<std::string, std::string>> came;
  std::set<std::string> not_tried;  // as under a sanitizer scarcity
  for (const json& c : report["cases"]) {
    const std::string verdict = c["verdict"];
    EXPECT_TRUE(verdict == "pass" || verdict == "not supported") << c.dump(1);
    if (verdict == "not supported") not_tried.insert(c["id"]);
    for (const json& returned : c["returned"]) {
      const std::pair<std::string, std::string> pair = {returned[0],
                                                        returned[1]};
      by_case[c["id"]].insert(pair);
      came.insert(pair);
    }
  }
  for (const Pair& pair : Pairs()) {
    const std::pair<std::string, std::string> name = {pair.function,
                                                      pair.status};
    bool tried = pair.cases.empty();
    for (const std::string& id : pair.cases) {
      if (not_tried.count(id) != 0) continue;
      tried = true;
      EXPECT_EQ(by_case[id].count(name), 1u)
          << id << " does not make " << pair.status << " come from "
          << pair.function;
    }
    if (!tried) continue;
    // What the system lacks may be found by the cases that make it scarce.
    if (pair.cases.empty() && pair.status.rfind("NO_SYSTEM_", 0) == 0) continue;
    EXPECT_EQ(came.count(name), pair.cases.empty() ? 0u : 1u)
        << pair.function << " " << pair.status;
  }
  EXPECT_EQ(report["must_pass"]["minimal"]["holds"], true);
  EXPECT_EQ(report["must_pass"]["full"]["holds"], true);
  EXPECT_EQ(report["conclusion"],
            absl::StrCat("The library conforms to the full list ",
                         MustPassLists().back().version, "."));
}

INSTANTIATE_TEST_SUITE_P(Abis, Reference, testing::Values("EXTENDED", "ONNX1"));

TEST(Kit, FindsTheAbi) {
  for (const char* variable : {"EXTENDED", "ONNX1"}) {
    const auto [text, code] = Kit(absl::StrCat(
        "--lib ", Library(variable), " --case io.order --report json"));
    ASSERT_EQ(code, 0) << text;
    EXPECT_EQ(json::parse(text)["environment"]["abi"],
              std::string(variable) == "ONNX1" ? "onnx1" : "extended");
  }
}

TEST(Kit, WrongAbiFails) {
  const auto [text, code] = Kit(absl::StrCat("--lib ", Library("EXTENDED"),
                                             " --abi onnx1 --case io.order"));
  EXPECT_EQ(code, 1) << text;
}

TEST(Kit, ALibraryThatIsNotThereIsAnError) {
  EXPECT_EQ(Kit("--lib ./libonnxifi-nobody.so").second, 3);
  EXPECT_EQ(Kit("--lib libonnxifi-nobody.so --report html").second, 3);
  // It loads, and has no such functions.
  EXPECT_EQ(Kit("--lib libc.so.6").second, 3);
}

TEST(Kit, ANameWithoutASlashIsAFileOfThisFolder) {
  const std::string folder =
      absl::StrCat(testing::TempDir(), "/folder_of_library");
  const std::string before =
      absl::StrCat("mkdir -p ", folder, " && cp -L ", Library("EXTENDED"), " ",
                   folder, "/libonnxifi-acme.so && cd ", folder, " && ");
  const auto [text, code] =
      Kit("--lib libonnxifi-acme.so --case io.order", before);
  EXPECT_EQ(code, 0) << text;
  EXPECT_NE(text.find("ONNXIFI conformance of ./libonnxifi-acme.so\n"),
            std::string::npos)
      << text;
  // Other names are the loader's (libc.so.6, above), so a folder is.
  EXPECT_EQ(Kit("--lib d --case io.order", before + "mkdir -p d && ").second,
            3);
}

TEST(Kit, NothingThatRanIsAnError) {
  EXPECT_EQ(Kit(absl::StrCat("--lib ", Library("EXTENDED"),
                             " --case symbolic.not_advertised"))
                .second,
            3);
}

// One cause is told once, and only what can be judged without a device is.
TEST(Kit, WithoutADeviceOnlyTheListingIsJudged) {
  const std::string file = absl::StrCat(testing::TempDir(), "/no_device");
  const std::string before = absl::StrCat(
      "touch ", file, " && export ONNXIFI_REFERENCE_UNPLUGGED=", file, " && ");
  const std::string run = absl::StrCat("--lib ", Library("EXTENDED"));
  const std::string cause =
      "onnxGetBackendIDs lists no device: it returned FALLBACK and the number "
      "0; cases that need one were not run";
  const auto [text, code] = Kit(run + " --report json", before);
  ASSERT_EQ(code, 1) << text;
  const json report = json::parse(text);
  EXPECT_EQ(report["environment"]["no_device"], cause);
  EXPECT_GT(report["verdicts"]["not run"], 150);
  std::set<std::string> passed;
  for (const json& c : report["cases"]) {
    EXPECT_EQ(c["verdict"] == "fail",
              c["id"] == "ids.fill" || c["id"] == "ids.short_buffer" ||
                  c["id"] == "ids.distinct" || c["id"] == "ids.stable" ||
                  c["id"] == "ids.stable_after_release" ||
                  c["id"] == "ids.release_twice" ||
                  c["id"] == "ids.release_before_children")
        << c.dump(1);
    // What the specification says of IDs was not tried.
    if (c["verdict"] == "fail") {
      EXPECT_EQ(c["sentences"].size(), 0u) << c.dump(1);
    }
    if (c["verdict"] == "pass") passed.insert(c["id"]);
  }
  for (const char* id :
       {"ids.count_null", "ids.count_only", "loader.exports"}) {
    EXPECT_EQ(passed.count(id), 1u) << id;
  }
  // Nothing failed, but that is no success.
  const auto [said, none] = Kit(run + " --group events", before);
  EXPECT_EQ(none, 3) << said;
  const size_t at = said.find("\n\n" + cause + "\n\nevents\n");
  EXPECT_NE(at, std::string::npos) << said;
  EXPECT_EQ(said.find("lists no device", at + cause.size()), std::string::npos)
      << said;
  EXPECT_NE(said.find(" 0 fail, "), std::string::npos) << said;
  EXPECT_NE(said.find(" 11 not run\n"), std::string::npos) << said;
  EXPECT_NE(said.find("error: without a device, 11 cases were not run"),
            std::string::npos)
      << said;
}

TEST(Kit, SaysWhatACaseNeeds) {
  const std::string said =
      Kit(absl::StrCat("--lib ", Library("EXTENDED"), " --case hotplug.ids"),
          "export ONNXIFI_REFERENCE_UNPLUGGED=/nowhere && ")
          .first;
  EXPECT_NE(
      said.find("      needs --provoke COMMAND or --provoker LIBRARY that "
                "understands 'unplug'\n"),
      std::string::npos)
      << said;
}

TEST(Kit, UsageIsCheckedFirst) {
  EXPECT_EQ(Kit("").second, 2);
  EXPECT_EQ(Kit("--lib x --case no.such_case").second, 2);
  EXPECT_EQ(Kit("--lib x --group nobody").second, 2);
  EXPECT_EQ(Kit("--lib x --abi third").second, 2);
  EXPECT_EQ(Kit("--lib x --report pdf").second, 2);
  EXPECT_EQ(Kit("--lib x --timeout 0").second, 2);
  EXPECT_EQ(Kit("--help").second, 0);
  EXPECT_EQ(Kit("--list").second, 0);
}

TEST(Kit, ListsCasesAndGroups) {
  const auto [cases, code] = Kit("--list");
  EXPECT_EQ(code, 0) << cases;
  EXPECT_NE(cases.find("\nio.order  "), std::string::npos) << cases;
  EXPECT_EQ(Kit("--list cases").first, cases);
  const auto [groups, ok] = Kit("--list groups");
  EXPECT_EQ(ok, 0) << groups;
  EXPECT_NE(groups.find("\nids  9 cases\n"), std::string::npos) << groups;
  EXPECT_EQ(
      Kit("--list groups --group fork --case ids.fill --case ids.stable").first,
      "ids  2 cases\nfork  3 cases\n");
  EXPECT_EQ(Kit("--list --group fork").first.substr(0, 5), "fork.");
  EXPECT_EQ(Kit("--list grops").second, 2);
}

TEST(Kit, NamesWhatMayHaveBeenMeant) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"--cas io.order", "unknown option '--cas'; did you mean --case"},
      {"--case io.ordre", "there is no case 'io.ordre'; did you mean io.order"},
      {"--case io", "there is no case 'io'; it is a group: --group io"},
      {"--case iro.*", "there is no case 'iro.*'; did you mean io.*"},
      {"--group io.order",
       "there is no group 'io.order'; it is a case: --case io.order"},
      {"--group hotplgu",
       "there is no group 'hotplgu'; did you mean hotplug? (--list groups "
       "shows all)"},
      {"--abi extendet", "there is no 'extendet'; did you mean extended?"},
      {"--report junt", "there is no 'junt'; did you mean junit?"},
      {"--report pdf", "it is one of text, junit, html, json"},
  };
  for (const auto& [arguments, meant] : kWrong) {
    const auto [text, code] = Kit(absl::StrCat("--lib x ", arguments));
    EXPECT_EQ(code, 2) << text;
    EXPECT_NE(text.find(meant), std::string::npos) << text;
  }
}

// report_test has the other conclusions.
TEST(Kit, EndsWithTheScoresAndWhatFollows) {
  const std::string run =
      absl::StrCat("--lib ", Library("EXTENDED"),
                   " --abi onnx1 --case io.order --case io.names");
  const std::string text = Kit(run).first;
  std::string scores, violates;
  for (const MustPass& list : MustPassLists()) {
    absl::StrAppend(&scores, list.name, " list ", list.version,
                    ": 0 passed, 2 failed, ", list.cases.size() - 2,
                    " not run\n");
    absl::StrAppend(&violates, violates.empty() ? "" : " or ", "the ",
                    list.name, " list ", list.version, " (2 cases failed)");
  }
  EXPECT_NE(text.find("\n\n" + scores), std::string::npos) << text;
  const std::string conclusion = "The library does not conform to " + violates +
                                 "; only part of the cases ran.";
  const std::string end = " 0 not run\n" + conclusion + "\n";
  ASSERT_GT(text.size(), end.size());
  EXPECT_EQ(text.substr(text.size() - end.size()), end);
  EXPECT_NE(text.find(" of 135 function/status pairs occurred; "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" sentences exercised\n"), std::string::npos) << text;
  const json report = json::parse(Kit(run + " --report json").first);
  EXPECT_EQ(report["conclusion"], conclusion);
  EXPECT_EQ(
      absl::StrCat(std::string(report["must_pass"]["minimal"]["text"]), "\n",
                   std::string(report["must_pass"]["full"]["text"]), "\n"),
      scores);
}

TEST(Kit, CountsOneCase) {
  const std::string run =
      absl::StrCat("--lib ", Library("EXTENDED"), " --abi extended --case io.");
  EXPECT_NE(Kit(run + "order").first.find("\n1 case: 1 pass,"),
            std::string::npos);
  EXPECT_NE(Kit(run + "order --case io.names").first.find("\n2 cases: 2 pass,"),
            std::string::npos);
}

TEST(Kit, WhatCannotBeWrittenIsAnError) {
  const std::string run =
      absl::StrCat("--lib ", Library("EXTENDED"), " --abi extended");
  // Known before anything runs: all cases take longer than this.
  const auto start = std::chrono::steady_clock::now();
  const auto [text, code] = Kit(run + " --output /nowhere/report.txt");
  EXPECT_EQ(code, 2) << text;
  EXPECT_EQ(text,
            "onnxifi-conformance: error: cannot write '/nowhere/report.txt': "
            "No such file or directory\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  // stdout.
  for (const std::string& what :
       {std::string("--list"), run + " --case io.order"}) {
    const auto [said, full] = Kit(what + " >/dev/full");
    EXPECT_EQ(full, 2) << said;
    EXPECT_EQ(said,
              "onnxifi-conformance: error: cannot write 'stdout': No space "
              "left on device\n");
  }
}

// Nothing is half written: the old report stays until the new one is whole.
TEST(Kit, AReportIsReplacedAsAWhole) {
  const std::string folder = absl::StrCat(testing::TempDir(), "/reports");
  const std::string path = folder + "/page.html";
  const std::string run =
      absl::StrCat("--lib ", Library("EXTENDED"),
                   " --abi extended --report html --output ", path);
  const auto files = [&] {
    std::ifstream file(path);
    const std::string old((std::istreambuf_iterator<char>(file)), {});
    return absl::StrCat(
        old, " of ",
        std::distance(std::filesystem::directory_iterator(folder),
                      std::filesystem::directory_iterator()));
  };
  const std::string before =
      absl::StrCat("mkdir -p ", folder, " && printf old >", path, " && ");
  // The page is larger than what may be written.
  EXPECT_EQ(
      Kit(run + " --case io.order", before + "trap '' XFSZ && ulimit -f 8 && ")
          .second,
      2);
  EXPECT_EQ(files(), "old of 1");
  // Interrupted in the middle of the run.
  EXPECT_NE(Kit(run, before + "timeout --signal=INT 2 ").second, 0);
  EXPECT_EQ(files(), "old of 1");
  EXPECT_EQ(Kit(run + " --case io.order", before).second, 0);
  EXPECT_NE(files().substr(0, 9), "old of 1");
}

// Of a memory that is too large for one graph, other graphs take the rest.
TEST(Kit, FindsTheBoundaryOfALargerMemory) {
  const std::string run = absl::StrCat("--lib ", Library("EXTENDED"),
                                       " --abi extended --report json --case "
                                       "memory.");
  const auto with_memory = [](int mebibytes) {
    return absl::StrCat("export ONNXIFI_REFERENCE_MEMORY=", mebibytes << 20,
                        " && ");
  };
  const auto [text, code] = Kit(run + "boundary", with_memory(65));
  ASSERT_EQ(code, 0) << text;
  const json found = json::parse(text)["cases"][0];
  EXPECT_EQ(found["verdict"], "pass") << text;
  EXPECT_NE(
      found["notes"].dump().find(absl::StrCat(49 << 20, " bytes are others'")),
      std::string::npos)
      << text;
  // Of what would take too long it says what to do.
  for (const auto& [name, mebibytes] :
       {std::pair<const char*, int>{"boundary", 1025}, {"graph_size", 65}}) {
    const auto [said, none] = Kit(run + name, with_memory(mebibytes));
    EXPECT_EQ(none, 3) << said;
    EXPECT_NE(said.find("run this case on a device that is given less memory"),
              std::string::npos)
        << said;
  }
}

TEST(Kit, ADeadLibraryIsAVerdict) {
  // The C library's malloc is none of ours: the process is killed in it.
  const auto [text, code] =
      Kit(absl::StrCat("--lib ", Library("EXTENDED"),
                       " --case async.run_before_signal --timeout 0.0001"));
  EXPECT_EQ(code, 1) << text;
  EXPECT_NE(text.find("did not end within"), std::string::npos) << text;
}

// What the report says to repeat a case does so, in a shell, from the same
// folder.
TEST(Kit, TheCommandThatRepeatsACaseWorks) {
  const std::string before = absl::StrCat(
      "d=", testing::TempDir(), "/again && ",
      "mkdir -p \"$d/out/my bin\" \"$d/it's a lib\" && ",
      "cp -L \"$kit\" \"$d/out/my bin/kit\" && cp -L ", Library("EXTENDED"),
      " \"$d/it's a lib/acme.so\" && cd \"$d\" && kit='out/my bin/kit' && ");
  const std::string run =
      "--lib \"it's a lib/acme.so\" --abi onnx1 --case io.order";
  const auto [text, code] = Kit(run, before);
  EXPECT_EQ(code, 1) << text;
  const std::string command =
      "'out/my bin/kit' --lib 'it'\\''s a lib/acme.so' --abi onnx1 --seed 1 "
      "--case io.order";
  EXPECT_NE(text.find("again: " + command + "\n"), std::string::npos) << text;
  const auto [again, same] = Kit("--version", before + command + "; exit $?; ");
  EXPECT_EQ(same, 1) << again;
  EXPECT_NE(again.find("again: " + command + "\n"), std::string::npos) << again;
}

TEST(Kit, WaivedFailuresAreNoFailures) {
  const std::string path = absl::StrCat(testing::TempDir(), "/waivers.txt");
  std::ofstream(path) << "# comment\n\nio.order | somebody | the wrong ABI\n";
  const std::string run =
      absl::StrCat("--lib ", Library("EXTENDED"),
                   " --abi onnx1 --case io.order --waivers ", path);
  const auto [text, code] = Kit(run);
  EXPECT_EQ(code, 0) << text;
  EXPECT_NE(text.find("waived by somebody: the wrong ABI"), std::string::npos)
      << text;
  std::ofstream(path) << "io.order | somebody\n";
  EXPECT_EQ(Kit(run).second, 2);
  std::ofstream(path) << "no.such_case | somebody | because\n";
  EXPECT_EQ(Kit(run).second, 2);
}

TEST(Kit, JunitCountsCases) {
  const auto [text, code] =
      Kit(absl::StrCat("--lib ", Library("EXTENDED"),
                       " --abi onnx1 --case io.order --case runs.one "
                       "--report junit"));
  EXPECT_EQ(code, 1);
  EXPECT_NE(text.find("tests=\"2\" failures=\"2\""), std::string::npos) << text;
  EXPECT_NE(text.find("<failure message=\""), std::string::npos);
}

TEST(Kit, TheNameOfTheFileTellsTheFormOfTheReport) {
  const std::string run =
      absl::StrCat("--lib ", Library("EXTENDED"),
                   " --abi extended --case io.order --output ",
                   testing::TempDir(), "/verdict");
  const std::pair<const char*, const char*> kBegins[] = {
      {".html", "<!DOCTYPE html>"},
      {".json", "{\n \"format\": "},
      {".xml", "<?xml "},
      {".txt", "ONNXIFI conformance of "},
      {".log", "ONNXIFI conformance of "},
  };
  for (const auto& [ending, begin] : kBegins) {
    EXPECT_EQ(Kit(run + ending).second, 0);
    std::ifstream file(absl::StrCat(testing::TempDir(), "/verdict", ending));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(text.substr(0, std::string(begin).size()), begin) << ending;
  }
  EXPECT_EQ(Kit(run + ".log --report html").second, 0);
  const auto [text, code] = Kit(run + ".json --report html");
  EXPECT_EQ(code, 2);
  EXPECT_NE(text.find("error: --report html contradicts --output "),
            std::string::npos)
      << text;
}

TEST(Kit, HtmlHasTheData) {
  const std::string path = absl::StrCat(testing::TempDir(), "/page.html");
  const auto [text, code] = Kit(absl::StrCat(
      "--lib ", Library("EXTENDED"),
      " --abi onnx1 --case io.order --report html --output ", path));
  EXPECT_EQ(code, 1);
  EXPECT_EQ(text, "");
  std::ifstream file(path);
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t at = page.find(open);
  ASSERT_NE(at, std::string::npos);
  const std::string data = page.substr(
      at + open.size(), page.find("</script>", at) - at - open.size());
  const json report = json::parse(data);
  EXPECT_EQ(report["verdicts"]["fail"], 1);
  EXPECT_NE(std::string(report["cases"][0]["reproduce"]).find("io.order"),
            std::string::npos);
}

}  // namespace
}  // namespace heddle::conformance
