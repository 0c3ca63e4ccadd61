// SPDX-License-Identifier: Apache-2.0
// Makes a sequence that fails as short as it gets.
#ifndef ONNXIFI_CONFORMANCE_FUZZ_SHRINK_H_
#define ONNXIFI_CONFORMANCE_FUZZ_SHRINK_H_

#include <functional>

#include "onnxifi/conformance/fuzz/sequence.h"

namespace heddle::conformance {

// `fails` may say no of a sequence that only sometimes fails; what is returned
// has failed. At most `attempts` questions.
Sequence Shrink(Sequence sequence, int attempts,
                const std::function<bool(const Sequence&)>& fails);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_FUZZ_SHRINK_H_
