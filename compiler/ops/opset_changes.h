// SPDX-License-Identifier: Apache-2.0
// What ONNX's opsets 18 to 26 changed, one row per operator and version, in
// alphabetical order: opsets 1 to 17 are those of libonnx-dev, whose schemas
// the definitions are compared with; of the newer ones this table is the
// record. Rows of operators that the compiler does not know are there, too.
// opset_changes_test holds the definitions against it.
#ifndef HEDDLE_COMPILER_OPS_OPSET_CHANGES_H_
#define HEDDLE_COMPILER_OPS_OPSET_CHANGES_H_

#include <vector>

namespace heddle::compiler {

enum class ChangeKind {
  kNew,      // the operator's first version
  kTypes,    // more types, none of which an older definition had; nothing else
  kMeaning,  // attributes, inputs or results: a definition begins here
};

struct OpsetChange {
  const char* op;
  int version;
  ChangeKind kind;
  const char* what;     // what is new in the definition
  const char* handled;  // where in this folder, or why not; of kMeaning
};

// The first opset that libonnx-dev does not have.
inline constexpr int kFirstRecordedOpset = 18;

const std::vector<OpsetChange>& OpsetChanges();

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_OPS_OPSET_CHANGES_H_
