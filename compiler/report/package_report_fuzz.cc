// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the report of arbitrary bytes. Size fields and checksums
// are repaired first, also those of packages inside. Of what is reported,
// layers add up to the whole.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "compiler/base/sha256.h"
#include "compiler/report/package_report.h"

namespace {

// Of the package from `begin` to `end`.
void Reseal(size_t begin, size_t end, std::string* bytes) {
  const uint64_t stated = end - begin;
  std::memcpy(&(*bytes)[begin + 16], &stated, sizeof(stated));
  std::memset(&(*bytes)[begin + 32], 0, 32);
  const absl::string_view all = *bytes;
  bytes->replace(begin + 32, 32,
                 heddle::compiler::Sha256Of(all.substr(begin, end - begin)));
}

// Those that are inside of another come first; they say their size themselves.
void ResealAll(std::string* bytes) {
  constexpr size_t kPage = heddle::package::kPageBytes;
  for (size_t at = bytes->size() / kPage * kPage; at > 0; at -= kPage) {
    if (at + 64 > bytes->size()) continue;
    if (bytes->compare(at, 8, "HEDDLEPK") != 0) continue;
    uint64_t size = 0;
    std::memcpy(&size, &(*bytes)[at + 16], sizeof(size));
    const uint64_t rest = bytes->size() - at;
    Reseal(at, at + (size < 64 || size > rest ? rest : size), bytes);
  }
  Reseal(0, bytes->size(), bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() >= 64) ResealAll(&bytes);
  const auto made =
      heddle::compiler::ReportOfFile(bytes, nullptr, /*details=*/true);
  if (!made.ok()) return 0;
  uint64_t cycles = 0;
  for (const auto& layer : made->report.layers) {
    cycles += layer.estimated_cycles;
  }
  if (!made->report.layers.empty() && cycles > made->report.estimated_cycles) {
    std::abort();
  }
  return 0;
}
