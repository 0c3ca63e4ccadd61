// SPDX-License-Identifier: Apache-2.0
// Cases of floats as cases of doubles.
#ifndef TESTS_OPSETS_DOUBLES_H_
#define TESTS_OPSETS_DOUBLES_H_

#include "tests/opsets/cases.h"

namespace heddle::tests {

// `c` with double in the place of float: inputs, initializers, constants and
// the target of Cast, but not what ONNX's definition has as float only (scales
// of Resize and of quantized values). No model if it has no float, or another
// real type.
OpsetCase WithDoubles(const OpsetCase& c);

}  // namespace heddle::tests

#endif  // TESTS_OPSETS_DOUBLES_H_
