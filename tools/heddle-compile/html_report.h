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
#include "compiler/shapes/compile_shape_set.h"

namespace heddle::compile {

// Needs a report with details. The data are those of JsonReport() and
//   "timeline": [[engine, layer or -1, start, end, bytes, mnemonic], ...]
//   "hardware": {"matrix_macs_per_cycle", "vector_macs_per_cycle",
//                "dram_bytes_per_cycle"}
//   "file": the model's, which the page has as its title
// `set`: the package is the largest of these; or null.
std::string HtmlReport(const std::string& file, const package::Package& package,
                       const compiler::CompileReport& report,
                       const compiler::ShapeSetReport* set = nullptr);

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_HTML_REPORT_H_
