// SPDX-License-Identifier: Apache-2.0
// Where heddle-run keeps what it has compiled.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_CACHE_OPTION_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_CACHE_OPTION_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/cache/compile_cache.h"

namespace heddle::run {

struct CacheOption {
  std::string folder;  // of the command line or HEDDLE_CACHE_DIR; "" = default
  bool off = false;
  uint64_t most_mib = compiler::FileCache::kDefaultMostBytes >> 20;
};

// $XDG_CACHE_HOME/heddle/compiled, or that of ~/.cache; "" if neither variable
// says where.
std::string DefaultCacheFolder();

// No cache if it is off, or there is no folder by default. The folder that the
// user names must do; without one, `*note` says why there is none.
absl::StatusOr<std::optional<compiler::FileCache>> OpenCache(
    const CacheOption& option, std::string* note);

// What the user is told of it, in one line; "" if there is nothing.
std::string Describe(const compiler::CacheUse& use,
                     const compiler::FileCache& cache);

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_CACHE_OPTION_H_
