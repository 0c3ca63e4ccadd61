// SPDX-License-Identifier: Apache-2.0
// The definitions of opsets 18 to 26 against the record of what these changed:
// neither may know of a version that the other does not.
#include "compiler/ops/opset_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

// First and last opset of the definitions of each operator, in order.
std::map<std::string, std::vector<std::pair<int, int>>> Definitions() {
  std::map<std::string, std::vector<std::pair<int, int>>> all;
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain[0] != '\0') continue;
    auto& list = all[info->op];
    list.emplace_back(info->since_version, info->until_version);
    std::sort(list.begin(), list.end());
  }
  return all;
}

TEST(OpsetChanges, RowsAreInOrderAndComplete) {
  const OpsetChange* last = nullptr;
  for (const OpsetChange& row : OpsetChanges()) {
    EXPECT_GE(row.version, kFirstRecordedOpset) << row.op;
    EXPECT_LE(row.version, kMaxOpset) << row.op;
    const bool meaning = row.kind == ChangeKind::kMeaning;
    EXPECT_EQ(meaning, row.handled[0] != '\0') << row.op << row.version;
    EXPECT_EQ(row.kind != ChangeKind::kNew, row.what[0] != '\0') << row.op;
    if (last != nullptr) {
      EXPECT_LT(std::make_pair(std::string(last->op), last->version),
                std::make_pair(std::string(row.op), row.version));
    }
    last = &row;
  }
}

TEST(OpsetChanges, EveryChangeOfMeaningHasADefinition) {
  const auto definitions = Definitions();
  int known = 0;
  for (const OpsetChange& row : OpsetChanges()) {
    const auto it = definitions.find(row.op);
    if (it == definitions.end()) continue;
    ++known;
    std::set<int> begins;
    for (const auto& [since, until] : it->second) begins.insert(since);
    switch (row.kind) {
      case ChangeKind::kMeaning:
        EXPECT_EQ(begins.count(row.version), 1u) << row.op << row.version;
        break;
      case ChangeKind::kNew:
        EXPECT_EQ(*begins.begin(), row.version) << row.op;
        break;
      case ChangeKind::kTypes:
        EXPECT_NE(FindOperator("", row.op, row.version), nullptr) << row.op;
        break;
    }
  }
  EXPECT_GT(known, 60);
}

TEST(OpsetChanges, EveryDefinitionIsRecordedAndAllOpsetsAreCovered) {
  std::set<std::pair<std::string, int>> rows;
  for (const OpsetChange& row : OpsetChanges()) {
    rows.emplace(row.op, row.version);
  }
  const std::set<std::string> dropped = {"Affine",
                                         "Crop",
                                         "DynamicSlice",
                                         "ImageScaler",
                                         "ParametricSoftplus",
                                         "Scale",
                                         "ScaledTanh",
                                         "Upsample"};
  for (const auto& [op, list] : Definitions()) {
    for (size_t i = 0; i < list.size(); ++i) {
      const auto [since, until] = list[i];
      if (since >= kFirstRecordedOpset) {
        EXPECT_EQ(rows.count({op, since}), 1u) << op << since;
      }
      // These have ended.
      const int next = i + 1 < list.size()     ? list[i + 1].first - 1
                       : dropped.count(op) > 0 ? 9
                       : op == "Scatter"       ? 10
                                               : kMaxOpset;
      EXPECT_EQ(until, next) << op << since;
    }
  }
}

}  // namespace
}  // namespace heddle::compiler
