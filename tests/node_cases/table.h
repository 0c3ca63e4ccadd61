// SPDX-License-Identifier: Apache-2.0
// Results of node cases as text, one line per operator and reason.
#ifndef TESTS_NODE_CASES_TABLE_H_
#define TESTS_NODE_CASES_TABLE_H_

#include <map>
#include <string>
#include <vector>

#include "tests/node_cases/case_worker.h"

namespace heddle::tests {

// Cases that pass, in any form.
int CountPassed(const std::vector<CaseResult>& results);
// Those of them whose parameters were made constants.
int CountAdapted(const std::vector<CaseResult>& results);

// "Resize      25 of  39 pass, 20 of them ...", then a line for each reason of
// a refusal and one for each case that is not good.
std::string OperatorTable(const std::string& group,
                          const std::vector<CaseResult>& results);

// By group, in order.
std::map<std::string, std::vector<CaseResult>> ByGroup(
    const std::vector<CaseResult>& results);

}  // namespace heddle::tests

#endif  // TESTS_NODE_CASES_TABLE_H_
