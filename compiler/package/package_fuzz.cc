// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: Parse on arbitrary bytes. The size field and the checksum
// are repaired first, or no input would get past them; what parses must
// serialize, and parse again to the same bytes.
#include <openssl/sha.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "compiler/package/package.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)heddle::package::Parse(bytes);
  if (bytes.size() < 64) return 0;
  const uint64_t stated = bytes.size();
  std::memcpy(&bytes[16], &stated, sizeof(stated));
  std::memset(&bytes[32], 0, 32);
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         digest);
  std::memcpy(&bytes[32], digest, sizeof(digest));
  auto package = heddle::package::Parse(bytes);
  if (!package.ok()) return 0;
  const std::string again = heddle::package::Serialize(*package);
  auto second = heddle::package::Parse(again);
  if (!second.ok() || heddle::package::Serialize(*second) != again) {
    std::abort();
  }
  return 0;
}
