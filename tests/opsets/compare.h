// SPDX-License-Identifier: Apache-2.0
// A model by the reference semantics, as the front end makes it, against the
// newest ONNX Runtime.
#ifndef TESTS_OPSETS_COMPARE_H_
#define TESTS_OPSETS_COMPARE_H_

#include <string>
#include <vector>

#include "tests/opsets/cases.h"

namespace heddle::tests {

enum class Outcome {
  kNone,     // no case, or the test has failed
  kRefused,  // the compiler does not take it (Terms.any_form)
  kLeftOut,  // the runtime does not
  kCompared,
};

struct Terms {
  float tolerance = 0;  // of floats, relative to the largest element
  float half = 2e-3f;   // the same of float16
  int codes = 0;        // steps of integers of 8 and 16 bits
  // Whether either side may refuse the model: nothing says that it is valid.
  bool any_form = false;
  // An opset at which the model means the same, for a runtime that does not
  // have the operator at the model's; 0: none.
  int earlier = 0;
  // Whether graphs in which a NaN comes about are left out, and infinities of
  // the runtime's in float16.
  bool no_nan = false;
  // What the runtime gets instead of the model.
  std::string theirs;
};

// Fails the test where the two disagree.
Outcome Compare(const OpsetCase& c, const std::string& what,
                const Terms& terms);

// As Compare, of models that may end the runtime's process: it runs in another
// one. Only before the first Compare(), whose threads a new process would lack.
struct Question {
  OpsetCase c;
  std::string what;
  Terms terms;
};
std::vector<Outcome> CompareApart(const std::vector<Question>& questions);

// Whether the runtime has no implementation of the model's operators.
bool RuntimeLacks(const OpsetCase& c);

}  // namespace heddle::tests

#endif  // TESTS_OPSETS_COMPARE_H_
