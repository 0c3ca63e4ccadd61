// SPDX-License-Identifier: Apache-2.0
// What the environment says of compiling and of nodes on the host; each is read
// at the first call, and with one warning ignored if it makes no sense:
//   HEDDLE_CACHE_DIR     folder in which compiled models are kept; without it
//                        nothing is kept
//   HEDDLE_HOST_THREADS  threads of each graph that compute nodes on the host
//   HEDDLE_HOST_SECONDS  how long they may compute for one run
#ifndef HEDDLE_ONNXIFI_ENVIRONMENT_H_
#define HEDDLE_ONNXIFI_ENVIRONMENT_H_

#include <memory>
#include <string>

#include "compiler/cache/file_cache.h"
#include "runtime/session/session.h"

namespace heddle::onnxifi {

// The cache, or null.
const compiler::FileCache* CompileCache();
// With what graphs are loaded.
const session::LoadOptions& HostOptions();

// For tests: as if the variables had been these ("" = unset).
std::unique_ptr<const compiler::FileCache> ParseCache(
    const std::string& folder);
session::LoadOptions ParseHostOptions(const std::string& threads,
                                      const std::string& seconds);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_ENVIRONMENT_H_
