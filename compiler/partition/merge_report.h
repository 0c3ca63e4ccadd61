// SPDX-License-Identifier: Apache-2.0
// Merges the reports of a package's card segments: they run in sequence, so
// cycles and traffic add up, and commands follow each other.
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
