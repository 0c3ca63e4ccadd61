// SPDX-License-Identifier: Apache-2.0
// A case with an input of another form: empty, a scalar, one that broadcasts,
// or of another type.
#ifndef TESTS_OPSETS_FORMS_H_
#define TESTS_OPSETS_FORMS_H_

#include <cstdint>

#include "tests/opsets/cases.h"

namespace heddle::tests {

enum class Form { kEmpty, kScalar, kOnes, kLowerRank, kType };
inline constexpr int kForms = 5;
const char* FormName(Form form);

// The same node, whose outputs have no declared types, as they may be others;
// no model if the case has no input that can have the form. Whether ONNX's
// definition allows the result is not looked at.
OpsetCase InForm(const OpsetCase& c, Form form, uint64_t seed);

}  // namespace heddle::tests

#endif  // TESTS_OPSETS_FORMS_H_
