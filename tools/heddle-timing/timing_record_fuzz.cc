// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: Parse on arbitrary bytes. Magic, version, size and checksum
// are repaired first, or no input would get past them; what parses must
// serialize to the same bytes.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "compiler/base/sha256.h"
#include "tools/heddle-timing/timing_record.h"

namespace {

// Parses, and aborts if what it finds is not what is there.
void Check(std::string bytes) {
  std::memcpy(&bytes[0], "HEDDLETM\1\0\0\0", 12);
  const uint64_t size = bytes.size();
  std::memcpy(&bytes[16], &size, sizeof(size));
  std::memset(&bytes[32], 0, 32);
  bytes.replace(32, 32, heddle::compiler::Sha256Of(bytes));
  const auto record = heddle::timing::Parse(bytes);
  if (record.ok() && heddle::timing::Serialize(*record) != bytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)heddle::timing::Parse(bytes);
  if (bytes.size() < 64) return 0;
  Check(bytes);
  // Few inputs have numbers that fit their size: these have.
  constexpr size_t kHeader = 168, kStream = 16, kCommand = 24;
  if (bytes.size() < kHeader + kStream) return 0;
  const uint64_t commands = (bytes.size() - kHeader - kStream) / kCommand;
  bytes.resize(kHeader + kStream + kCommand * commands);
  const uint32_t one = 1;
  std::memcpy(&bytes[12], &one, sizeof(one));
  std::memcpy(&bytes[24], &commands, sizeof(commands));
  std::memcpy(&bytes[128], "h256\0\0\0\0\0\0\0\0\0\0\0", 16);
  std::memset(&bytes[152], 0, 8);
  std::memcpy(&bytes[kHeader + 8], &commands, sizeof(commands));
  Check(bytes);
  return 0;
}
