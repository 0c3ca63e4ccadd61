// SPDX-License-Identifier: Apache-2.0
// The report of a compilation as one HTML file: engine timeline, SRAM over
// time, roofline, layers. It loads nothing from anywhere, and names of the
// model cannot become markup: they are JSON without '<', '>' and '&', and the
// page (report_page.html) shows them as text.
#ifndef HEDDLE_TOOLS_HEDDLE_COMPILE_HTML_REPORT_H_
#define HEDDLE_TOOLS_HEDDLE_COMPILE_HTML_REPORT_H_

#include <string>

#include "compiler/compiler.h"
#include "compiler/package/package.h"

namespace heddle::compile {

// Needs a report with details. The data are those of JsonReport() and
//   "timeline": [[engine, layer or -1, start, end, bytes, mnemonic], ...]
//   "hardware": {"matrix_macs_per_cycle", "vector_macs_per_cycle",
//                "dram_bytes_per_cycle"}
std::string HtmlReport(const package::Package& package,
                       const compiler::CompileReport& report);

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_HTML_REPORT_H_
