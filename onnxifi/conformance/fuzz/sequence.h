// SPDX-License-Identifier: Apache-2.0
// A sequence of calls for several threads, as text one call per line:
//
//   THREAD FUNCTION A B KIND TO
//   3 RunGraph slot:2 stale:1 0 5
//
// A and B are the handles: slot:N, what was put last into a place; stale:N, the
// one before that; other:N, one of another type; wild:N, of nobody's making;
// null. KIND chooses among the forms of the arguments (expectation.h), TO is
// the place of what the call makes. Lines that begin with # are comments.
#ifndef ONNXIFI_CONFORMANCE_FUZZ_SEQUENCE_H_
#define ONNXIFI_CONFORMANCE_FUZZ_SEQUENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "onnxifi/conformance/abi.h"

namespace heddle::conformance {

constexpr int kFuzzThreads = 8;
// Places of each type.
constexpr int kFuzzSlots = 8;

struct HandleChoice {
  enum How { kSlot, kStale, kOther, kWild, kNull } how = kNull;
  int slot = 0;
};

struct Step {
  int thread = 0;
  Function function = kGetBackendIDs;
  HandleChoice a, b;
  int kind = 0;
  int to = 0;
};

using Sequence = std::vector<Step>;

// The same for the same seed.
Sequence Generate(uint64_t seed);

std::string ToText(const Sequence& sequence);
absl::StatusOr<Sequence> FromText(const std::string& text);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_FUZZ_SEQUENCE_H_
