// SPDX-License-Identifier: Apache-2.0
// Where ONNX Runtime and the compiler differ by right about whether a changed
// model is valid: each kind of case by words of the sentence that one of them
// refuses with, and the reason.
#ifndef TESTS_MUTATIONS_RULINGS_H_
#define TESTS_MUTATIONS_RULINGS_H_

#include <string>

namespace heddle::tests {

// Why the compiler takes what the runtime refuses with `words`; null: no reason
// is known.
const char* WhyAccepted(const std::string& words);

// Why the compiler refuses with `words`, as invalid, what the runtime runs.
const char* WhyRefused(const std::string& words);

}  // namespace heddle::tests

#endif  // TESTS_MUTATIONS_RULINGS_H_
