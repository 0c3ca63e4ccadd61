// SPDX-License-Identifier: Apache-2.0
// What a case leaves behind, in memory that the parent shares with the child
// that runs it: the parent can read it after a crash or a hang, too.
#ifndef ONNXIFI_CONFORMANCE_RECORD_H_
#define ONNXIFI_CONFORMANCE_RECORD_H_

#include <atomic>
#include <cstdint>

#include "onnxifi/conformance/abi.h"

namespace heddle::conformance {

struct Record {
  static constexpr uint32_t kTextBytes = 32768;

  // How often a function returned a status; the last place: an unknown code.
  std::atomic<uint32_t> returned[kFunctions][kStatuses];
  // Calls that have been entered and not left.
  std::atomic<int32_t> inside[kFunctions];

  std::atomic<uint32_t> failures;
  std::atomic<uint32_t> warnings;
  std::atomic<uint32_t> checks;
  std::atomic<uint32_t> not_supported;
  // There is no device to try the case on; that is no matter of quality.
  std::atomic<uint32_t> no_device;
  // The same, in a library that is known to list none.
  std::atomic<uint32_t> not_run;
  // The body has ended, one way or the other.
  std::atomic<uint32_t> done;

  // Lines: a letter for the kind (F failure, W warning, U not supported,
  // N note), a blank, the text.
  std::atomic<uint32_t> text_bytes;
  char text[kTextBytes];
};

// Appends a line; what finds no room is dropped.
void AddLine(Record* record, char kind, const char* text, size_t size);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_RECORD_H_
