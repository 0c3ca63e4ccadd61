// SPDX-License-Identifier: Apache-2.0
// Small command streams.
#ifndef TESTS_UAPI_STREAMS_H_
#define TESTS_UAPI_STREAMS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::uapi {

// A command with all fields at their defaults, to be changed by name.
class Command {
 public:
  explicit Command(const char* mnemonic);
  Command& Set(const std::string& field, uint32_t value);
  const std::vector<uint32_t>& words() const { return words_; }

 private:
  const char* mnemonic_;
  std::vector<uint32_t> words_;
};

std::vector<uint32_t> Stream(const std::vector<Command>& commands);

// Nothing but its end.
std::vector<uint32_t> EmptyStream();
// Copies `bytes` at `offset` of region `from` to `offset` of region `to`.
std::vector<uint32_t> CopyStream(uint32_t from, uint32_t to, uint32_t bytes,
                                 uint32_t offset = 0);
// Faults when it runs: an index of `from` is out of its bound.
std::vector<uint32_t> FaultingStream(uint32_t from);

}  // namespace heddle::uapi

#endif  // TESTS_UAPI_STREAMS_H_
