// SPDX-License-Identifier: Apache-2.0
// What a package of several shapes holds (compiler/shapes/compile_shape_set.h),
// for the reports of the largest of them.
#ifndef HEDDLE_TOOLS_HEDDLE_COMPILE_SHAPE_SET_REPORT_H_
#define HEDDLE_TOOLS_HEDDLE_COMPILE_SHAPE_SET_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>

#include "compiler/shapes/compile_shape_set.h"

namespace heddle::compile {

// One sentence: how many specialisations, their bytes together and apart.
std::string ShapeSetLine(const compiler::ShapeSetReport& set);
// That, a table of the specialisations, and what is padded.
std::string ShapeSetText(const compiler::ShapeSetReport& set);
// Before they are compiled: which values there are, and which are explained.
std::string ShapeValuesText(const compiler::ShapeValues& values);
// See report.h.
nlohmann::ordered_json ShapeSetAsJson(const compiler::ShapeSetReport& set);

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_SHAPE_SET_REPORT_H_
