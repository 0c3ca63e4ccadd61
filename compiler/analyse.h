// SPDX-License-Identifier: Apache-2.0
// The front end behind the importer: its passes, in order.
#ifndef HEDDLE_COMPILER_ANALYSE_H_
#define HEDDLE_COMPILER_ANALYSE_H_

#include "absl/status/statusor.h"
#include "compiler/compiler.h"
#include "compiler/import/importer.h"
#include "compiler/passes/suppose.h"

namespace heddle::compiler {

// AnalyseOnnx after the import. `supposed`: see InferAndFold.
absl::StatusOr<Graph> AnalyseImported(ImportedModel imported,
                                      const CompileOptions& options,
                                      Supposed* supposed = nullptr);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_ANALYSE_H_
