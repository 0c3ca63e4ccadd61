// SPDX-License-Identifier: Apache-2.0
// ONNX's node cases through ONNXIFI on a simulated card: each gives ONNX's
// results or is refused for a reason that its model shows. expected_passes.txt
// says how many of an operator's cases pass today, so that none is lost.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/product.h"
#include "tests/node_cases/case_worker.h"
#include "tests/node_cases/node_case.h"
#include "tests/node_cases/table.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

constexpr char kList[] = "data/onnx_1_12_core_cases.json";

// Cases by group; empty without the shared folder.
const std::map<std::string, std::vector<std::string>>& Cases() {
  static const auto* cases = [] {
    auto* groups = new std::map<std::string, std::vector<std::string>>;
    if (GetSharedState() != SharedState::kPresent) return groups;
    const auto names = ReadCaseNames(SharedPath(kList));
    if (!names.ok()) return groups;
    for (const std::string& name : *names) {
      const auto node_case = ReadNodeCase(name);
      (*groups)[node_case.ok() ? node_case->group : "unreadable"].push_back(
          name);
    }
    return groups;
  }();
  return *cases;
}

const std::map<std::string, int>& Floors() {
  static const auto* expected_passes = [] {
    auto* read = new std::map<std::string, int>;
    std::ifstream file(Runfile("tests/node_cases/expected_passes.txt"));
    // Names may have spaces; the number is first.
    int count;
    std::string name;
    while (file >> count && std::getline(file >> std::ws, name)) {
      (*read)[name] = count;
    }
    return read;
  }();
  return *expected_passes;
}

std::vector<std::string> Groups() {
  std::vector<std::string> groups;
  for (const auto& [group, names] : Cases()) groups.push_back(group);
  return groups;
}

CaseWorker& Worker() {
  static auto* worker = [] {
    UseDevice(SimDevice(Configs()[0]));
    return new CaseWorker(ExtendedLibrary());
  }();
  return *worker;
}

class NodeCases : public testing::TestWithParam<std::string> {};

TEST_P(NodeCases, PassOrAreRefusedForAReason) {
  const auto floor = Floors().find(GetParam());
  // An expanded case uses operators of others, which may be missing.
  const bool missing = floor == Floors().end() &&
                       GetParam().find("expanded") != std::string::npos;
  std::vector<CaseResult> results;
  for (const std::string& name : Cases().at(GetParam())) {
    results.push_back(Worker().Run(name));
    const CaseResult& result = results.back();
    EXPECT_TRUE(IsGood(result.verdict) ||
                (missing && result.verdict == Verdict::kWrongStatus))
        << name;
  }
  const std::string table = OperatorTable(GetParam(), results);
  std::fputs(table.c_str(), stdout);
  if (floor != Floors().end()) {
    EXPECT_GE(CountPassed(results), floor->second) << table;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, NodeCases, testing::ValuesIn(Groups()),
                         [](const auto& info) {
                           std::string name;
                           for (char c : info.param) {
                             if (std::isalnum(static_cast<unsigned char>(c))) {
                               name += c;
                             }
                           }
                           return name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NodeCases);

TEST(NodeCaseList, IsComplete) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  size_t count = 0;
  for (const auto& [group, names] : Cases()) count += names.size();
  EXPECT_EQ(count, 773u);
  EXPECT_EQ(Cases().count("unreadable"), 0u) << "install libonnx-testdata";
}

TEST(NodeCaseList, EveryRequiredOperatorHasAFloor) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  for (const std::string& op : RequiredOperators()) {
    if (Cases().count(op) == 0) continue;  // only cases with random results
    const auto floor = Floors().find(op);
    EXPECT_TRUE(floor != Floors().end() && floor->second >= 1) << op;
  }
  for (const auto& [op, floor] : Floors()) {
    EXPECT_EQ(Cases().count(op), 1u)
        << op << " of expected_passes.txt has no case";
  }
}

}  // namespace
}  // namespace heddle::tests
