// SPDX-License-Identifier: Apache-2.0
// The report of a compilation, as text and as JSON.
//
// JSON, keys stable within a schema version:
//   {"schema": "heddle-compile/1", "model", "config", "macs", "weight_bytes",
//    "scratch_bytes", "io_bytes", "stream_bytes", "device_bytes", "commands",
//    "sram_peak_bytes", "estimated_cycles", "estimated_utilisation",
//    "inputs"|"outputs"|"taps": [{"name", "type", "shape", "bytes"}],
//    "layers": [{"name", "op", "engine", "shape", "macs", "dram_bytes",
//                "estimated_cycles"}]}
#ifndef HEDDLE_TOOLS_HEDDLE_COMPILE_REPORT_H_
#define HEDDLE_TOOLS_HEDDLE_COMPILE_REPORT_H_

#include <string>

#include "compiler/compiler.h"
#include "compiler/package/package.h"

namespace heddle::compile {

// Page-rounded device memory of the package.
uint64_t DeviceBytes(const package::Package& package);
std::string TextReport(const package::Package& package,
                       const compiler::CompileReport& report);
std::string JsonReport(const package::Package& package,
                       const compiler::CompileReport& report);

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_REPORT_H_
