// SPDX-License-Identifier: Apache-2.0
// Every status that a function of the interface may return, as the product
// returns it: status_pairs.txt says which scenario leads to it, or why none
// does. Here the table is held against what the scenarios really produced.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "tests/onnxifi/failures/product.h"
#include "tests/onnxifi/failures/scenarios.h"

namespace heddle::tests {
namespace {

constexpr char kTable[] = "tests/onnxifi/failures/status_pairs.txt";
constexpr size_t kPairs = 135;     // of the header
constexpr size_t kProduced = 130;  // at least
constexpr char kPrefix[] = "ONNXIFI_STATUS_";

using Pair = std::pair<std::string, std::string>;  // function, status

// The pairs of the header's lists.
std::map<Pair, std::pair<Function, onnxStatus>> Listed() {
  std::map<Pair, std::pair<Function, onnxStatus>> listed;
  for (int f = 0; f < onnxifi::kStandardFunctions; ++f) {
    const auto function = static_cast<Function>(f);
    for (onnxStatus status = 0; status < 0x500; ++status) {
      if (!onnxifi::MayReturn(function, status, /*with_rulings=*/false)) {
        continue;
      }
      const std::string name =
          std::string(onnxifi::StatusName(status)).substr(sizeof(kPrefix) - 1);
      listed[{onnxifi::FunctionName(function), name}] = {function, status};
    }
  }
  return listed;
}

struct Row {
  std::string scenario;  // empty: none, for the reason
  std::string reason;
};

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  const size_t last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::map<Pair, Row> Table() {
  std::map<Pair, Row> table;
  std::istringstream lines(ReadFileOrDie(Runfile(kTable)));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string field[4];
    for (std::string& text : field) {
      std::getline(fields, text, '|');
      text = Trimmed(text);
    }
    const Row row = {field[2] == "none" ? "" : field[2], field[3]};
    EXPECT_EQ(row.scenario.empty(), !row.reason.empty()) << line;
    EXPECT_TRUE(table.insert({{field[0], field[1]}, row}).second) << line;
  }
  return table;
}

TEST(StatusPairs, TheTableSaysWhatTheProductReturns) {
  const auto listed = Listed();
  const auto table = Table();
  EXPECT_EQ(listed.size(), kPairs);
  // Scenario by scenario, what came for the first time.
  std::map<Pair, std::string> produced;
  for (const Scenario& scenario : kScenarios) {
    SCOPED_TRACE(scenario.name);
    scenario.run();
    for (const auto& [pair, codes] : listed) {
      if (Noted(codes.first, codes.second)) {
        produced.insert({pair, scenario.name});
      }
    }
  }
  size_t count = 0;
  for (const auto& [pair, codes] : listed) {
    const auto row = table.find(pair);
    const auto came = produced.find(pair);
    const std::string want =
        row != table.end() ? row->second.scenario : "a row of the table";
    const std::string got = came != produced.end() ? came->second : "";
    EXPECT_EQ(want, got) << pair.first << " | " << pair.second;
    count += came != produced.end();
  }
  for (const auto& [pair, row] : table) {
    EXPECT_EQ(listed.count(pair), 1u)
        << pair.first << " may not return " << pair.second;
  }
  EXPECT_GE(count, kProduced);
  RecordProperty("produced", static_cast<int>(count));
}

}  // namespace
}  // namespace heddle::tests
