// SPDX-License-Identifier: Apache-2.0
// Whatever makes a device misbehave, or a process scarce: a vendor's library
// (provoker.h); for a process the kit itself (scarcity.h); or a shell command
// that gets the word, and the amount if it is not 0, behind it and ends with 0
// when it is done. Any other end says that it lacks the word, but of unplug and
// plug that it has failed.
#ifndef ONNXIFI_CONFORMANCE_PROVOKE_H_
#define ONNXIFI_CONFORMANCE_PROVOKE_H_

#include <cstdint>
#include <string>

namespace heddle::conformance {

struct Provoker {
  std::string command;
  std::string library;

  bool empty() const { return command.empty() && library.empty(); }
  enum Result { kDone, kLacks, kFailed, kNothing };
  // `why`: a sentence, unless it is done. To be called in a child: the vendor's
  // library is loaded and stays. kNothing: of "spare", nothing was refused.
  Result Do(const std::string& word, uint64_t amount, std::string* why) const;
};

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_PROVOKE_H_
