// SPDX-License-Identifier: Apache-2.0
// Runs cases, each in a child process: whatever the library does to that is a
// verdict and harms nobody else. The parent never loads the library.
#ifndef ONNXIFI_CONFORMANCE_RUNNER_H_
#define ONNXIFI_CONFORMANCE_RUNNER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {

enum class Verdict {
  kPass,
  kFail,
  kNotSupported,
  kWarning,  // "quality warning"
  kWaived,   // failed, and somebody answers for that
  kNotRun,   // it needs a device, and the library lists none
};
const char* VerdictName(Verdict verdict);

struct Result {
  const Case* test = nullptr;
  Verdict verdict = Verdict::kFail;
  double seconds = 0;
  std::vector<std::string> failures;
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::string excuse;  // of kNotSupported
  // It failed before it came to what it is about: there was no device.
  bool no_device = false;
  // What the library wrote; of stderr the end.
  std::string output, errors;
  // Function, status, how often.
  struct Returned {
    std::string function, status;
    uint32_t times;
  };
  std::vector<Returned> returned;
  // kWaived:
  std::string waived_by, waived_because;
};

struct RunOptions {
  std::string library;
  Abi abi = Abi::kOnnx1;
  uint64_t seed = 1;
  double timeout_seconds = 20;
  Provoker provoker;
  // Of WhyNoDevice(). If not, only the group `ids` asks for devices: it judges
  // how they are listed.
  bool lists_device = true;
};

// Each case draws from the same seed, alone as among others.
Result RunCase(const Case& test, const RunOptions& options);

// Why no case can have a device, asked in a child: "" if the library lists one,
// else what onnxGetBackendIDs did.
std::string WhyNoDevice(const RunOptions& options);

// Whether the library can be loaded at all, tried in a child.
absl::Status TryLoad(const std::string& library);

// Finds out which ABI a library speaks, in children. `*how` says what it was
// told by.
Abi ProbeAbi(const std::string& library, double timeout_seconds,
             std::string* how);

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_RUNNER_H_
