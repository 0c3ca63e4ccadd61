// SPDX-License-Identifier: Apache-2.0
// What of a report follows from a package, its commands and their times,
// whoever has made them: for compilations (compile_report.h) and for existing
// packages (compiler/report/package_report.h).
#ifndef HEDDLE_COMPILER_BACKEND_TIMELINE_REPORT_H_
#define HEDDLE_COMPILER_BACKEND_TIMELINE_REPORT_H_

#include <cstdint>
#include <vector>

#include "compiler/base/report.h"
#include "compiler/package/package.h"
#include "rtl/spec/generated/isa.h"
#include "simulator/timing/timeline.h"

namespace heddle::compiler {

// Appends a stream to those that the card executes before it: a barrier takes
// the place of the `end` of what is there.
void AppendStream(const std::vector<uint32_t>& stream,
                  std::vector<uint32_t>* joined);

// Sets times, bytes and commands of a layer whose engine and MACs are set.
void TimeLayer(const timing::LayerTime& time, const isa::Config& config,
               LayerReport* layer);

// Sets the sums of layers that are timed, engines and cycles, and with
// `details` every command.
void FillTimes(const timing::Timeline& timeline, const isa::Config& config,
               bool details, CompileReport* report);

// And the bounds of a report that has its layers.
void FillBounds(const std::vector<uint32_t>& words, const isa::Config& config,
                CompileReport* report);

// Sets what takes memory, and the cycles of the job, of a package that has all
// but its weights, of which there are so many bytes.
void FillMemory(const package::Package& package, uint64_t weight_bytes,
                CompileReport* report);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_BACKEND_TIMELINE_REPORT_H_
