// SPDX-License-Identifier: Apache-2.0
// The page SUPPORTED_OPS.md, written from the operators' own definitions: what
// the page says is what the compiler checks.
#ifndef HEDDLE_COMPILER_REPORT_SUPPORT_PAGE_H_
#define HEDDLE_COMPILER_REPORT_SUPPORT_PAGE_H_

#include <string>

namespace heddle::compiler {

// Markdown; deterministic.
std::string SupportPage();

// The same for machines:
//   {"schema": "heddle-supported-ops/1", "min_ir_version", "max_ir_version",
//    "min_opset", "max_opset",
//    "operators": [{"op", "domain" ("" is ONNX's), "card": runs on the card,
//                   "since_opset", "until_opset", "types", "attributes",
//                   "limits"}]}
std::string SupportJson();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_REPORT_SUPPORT_PAGE_H_
