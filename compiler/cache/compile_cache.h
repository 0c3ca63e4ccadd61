// SPDX-License-Identifier: Apache-2.0
// Compilations that a folder remembers (file_cache.h). The key is a SHA-256 of
// everything that the result depends on: the model's bytes and those of the
// files that it names, the options, the program that the compiler is in, and
// the version of the hardware's contract. Off unless somebody opens a cache:
//
//   auto cache = FileCache::Open(folder);
//   CacheUse use;
//   auto package = CompileOnnxCached(bytes, options, *cache, &use);
//
// A package from the cache is one that anybody may have written: who loads it
// checks it as every package (package::Parse, runtime/session).
#ifndef HEDDLE_COMPILER_CACHE_COMPILE_CACHE_H_
#define HEDDLE_COMPILER_CACHE_COMPILE_CACHE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/options.h"
#include "compiler/cache/file_cache.h"

namespace heddle::compiler {

// FailedPrecondition: the compilation cannot be remembered, because it is asked
// for more than a package (details, after_pass), the program has no identity,
// or a file that the model names cannot be read.
absl::StatusOr<CacheKey> CompileKey(absl::string_view model,
                                    const CompileOptions& options);

struct CacheUse {
  bool found = false;    // the package is from the cache
  bool stored = false;   // it is there now
  absl::Status problem;  // why neither, or that an entry was damaged
};

// The package. Errors are the compiler's: those of the cache are in `use`.
absl::StatusOr<std::string> CompileOnnxCached(absl::string_view model,
                                              const CompileOptions& options,
                                              const FileCache& cache,
                                              CacheUse* use);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_CACHE_COMPILE_CACHE_H_
