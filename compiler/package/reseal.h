// SPDX-License-Identifier: Apache-2.0
// For tests and fuzz targets that change packages: size fields and checksums
// are repaired, or nothing changed would get past them.
#ifndef HEDDLE_COMPILER_PACKAGE_RESEAL_H_
#define HEDDLE_COMPILER_PACKAGE_RESEAL_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/base/sha256.h"
#include "compiler/package/package.h"

namespace heddle::package {

// Of the package from `begin` to `end`, at least 64 bytes.
inline void Reseal(size_t begin, size_t end, std::string* bytes) {
  const uint64_t stated = end - begin;
  std::memcpy(&(*bytes)[begin + 16], &stated, sizeof(stated));
  std::memset(&(*bytes)[begin + 32], 0, 32);
  const absl::string_view all = *bytes;
  bytes->replace(begin + 32, 32,
                 compiler::Sha256Of(all.substr(begin, end - begin)));
}

// Of the package that `bytes`, at least 64, are, and of those inside, which say
// their size themselves; one that says too much is the last. Those that are
// inside of another come first.
inline void ResealAll(std::string* bytes) {
  for (size_t at = bytes->size() / kPageBytes * kPageBytes; at > 0;
       at -= kPageBytes) {
    if (at + 64 > bytes->size()) continue;
    if (bytes->compare(at, 8, "HEDDLEPK") != 0) continue;
    uint64_t size = 0;
    std::memcpy(&size, &(*bytes)[at + 16], sizeof(size));
    const uint64_t rest = bytes->size() - at;
    Reseal(at, at + (size < 64 || size > rest ? rest : size), bytes);
  }
  Reseal(0, bytes->size(), bytes);
}

}  // namespace heddle::package

#endif  // HEDDLE_COMPILER_PACKAGE_RESEAL_H_
