// SPDX-License-Identifier: Apache-2.0
// The reports of a package's card segments as one: they run one after another,
// so cycles and traffic add up and the commands of one follow those before it.
#ifndef HEDDLE_COMPILER_PARTITION_MERGE_REPORT_H_
#define HEDDLE_COMPILER_PARTITION_MERGE_REPORT_H_

#include <string>

#include "compiler/base/report.h"

namespace heddle::compiler {

// Appends the report of the next segment.
void MergeReport(const CompileReport& segment, CompileReport* whole);

// What follows of the sums.
void FinishMerge(const std::string& config, CompileReport* whole);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_PARTITION_MERGE_REPORT_H_
