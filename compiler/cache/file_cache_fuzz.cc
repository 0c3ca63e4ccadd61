// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: entries of the cache. Arbitrary bytes are an entry only if
// they are what PackCacheEntry writes; what they hold may be anything, also as
// a package.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/cache/file_cache.h"
#include "compiler/package/package.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using heddle::compiler::CacheKey;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  CacheKey key{};
  // The key that they say.
  for (size_t i = 0; i < key.size() && 24 + i < size; ++i)
    key[i] = data[24 + i];
  const auto found = heddle::compiler::UnpackCacheEntry(key, bytes);
  if (found.ok() &&
      heddle::compiler::PackCacheEntry(key, *found) != std::string(bytes)) {
    std::abort();
  }
  // As the contents of an entry: they come back, under this key alone.
  const std::string file = heddle::compiler::PackCacheEntry(key, bytes);
  const auto back = heddle::compiler::UnpackCacheEntry(key, file);
  if (!back.ok() || *back != bytes) std::abort();
  (void)heddle::package::Parse(*back);
  key[size % key.size()] ^= 1;
  if (heddle::compiler::UnpackCacheEntry(key, file).ok()) std::abort();
  return 0;
}
