// SPDX-License-Identifier: Apache-2.0
// The report of an existing package (.hpk), from its commands: their tags say
// which layer each is for, the weights hold the microprograms, and the timeline
// that has steered the compiler gives the same cycles again. With a weight plan
// the addresses of all weights are restored first.
//
// What is not in a package is empty in the report
// (CompileReport::from_package), and kNotInPackage names it. If the package
// states other cycles, as one of a compiler with another model of the card
// does, a note says so.
//
// Packages are untrusted. Parse has checked the structure; here every command
// is decoded, and refused if it, or all of them together, would take so long
// that times lose their meaning.
#ifndef HEDDLE_COMPILER_REPORT_PACKAGE_REPORT_H_
#define HEDDLE_COMPILER_REPORT_PACKAGE_REPORT_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/report.h"
#include "compiler/package/package.h"
#include "compiler/shapes/compile_shape_set.h"

namespace heddle::compiler {

// A sentence.
inline constexpr char kNotInPackage[] =
    "ONNX operators, shapes inside the model, fused nodes, tiles, buffers in "
    "SRAM, reasons for host nodes, float groups, notes on the model and the "
    "wait for copied weights are not in a package: the report of the model has "
    "them";

// Of a parsed package. InvalidArgument: it is damaged, or for a configuration
// that this build does not know. `details`: see CompileOptions.
absl::StatusOr<CompileReport> ReportOfPackage(const package::Package& package,
                                              bool details);

// Of a file; of a package of several shapes of the largest.
struct FileReport {
  package::Package package;
  CompileReport report;
  std::optional<ShapeSetReport> set;
};
// Errors are those of Parse, too. `owner`: see there.
absl::StatusOr<FileReport> ReportOfFile(absl::string_view bytes,
                                        std::shared_ptr<const void> owner,
                                        bool details);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_REPORT_PACKAGE_REPORT_H_
