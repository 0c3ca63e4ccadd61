// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-run/cache_option.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace heddle::run {

std::string DefaultCacheFolder() {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);
    // A relative one is none, says the specification.
    return text != nullptr && text[0] == '/' ? text : "";
  };
  const std::string cache = value("XDG_CACHE_HOME"), home = value("HOME");
  if (!cache.empty()) return absl::StrCat(cache, "/heddle/compiled");
  return home.empty() ? "" : absl::StrCat(home, "/.cache/heddle/compiled");
}

absl::StatusOr<std::optional<compiler::FileCache>> OpenCache(
    const CacheOption& option, std::string* note) {
  std::optional<compiler::FileCache> none;
  if (option.off) return none;
  const bool named = !option.folder.empty();
  const std::string folder = named ? option.folder : DefaultCacheFolder();
  if (folder.empty()) return none;
  auto cache = compiler::FileCache::Open(folder, option.most_mib << 20);
  if (cache.ok()) {
    return std::optional<compiler::FileCache>(*std::move(cache));
  }
  if (named) return cache.status();
  *note = absl::StrCat("the cache is disabled: ", cache.status().message());
  return none;
}

std::string Describe(const compiler::CacheUse& use,
                     const compiler::FileCache& cache) {
  if (use.found) {
    return absl::StrCat("using the compiled model in the cache '",
                        cache.folder(), "' (--no-cache compiles it again)");
  }
  std::string text;
  if (!use.problem.ok()) text = std::string(use.problem.message());
  if (use.stored) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    "compiled model stored in the cache '", cache.folder(),
                    "' (--no-cache to disable)");
  } else if (!text.empty()) {
    text = absl::StrCat("compiled model not cached: ", text);
  }
  return text;
}

}  // namespace heddle::run
