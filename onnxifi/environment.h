// SPDX-License-Identifier: Apache-2.0
// Environment variables for compilation and host nodes. Each is read at the
// first call; an invalid value is ignored with one warning:
//   HEDDLE_CACHE_DIR     folder for compiled models; without it nothing is kept
//   HEDDLE_SHAPE_SETS    packages of several shapes (from heddle-compile's
//                        --shape-set), separated by ':'; a model that one of
//                        them was compiled from is loaded from there
//   HEDDLE_NO_COMPILE    1: reject what is in neither packages nor cache
//   HEDDLE_HOST_THREADS  threads per graph that compute host nodes
//   HEDDLE_HOST_SECONDS  limit on their computing time for one run
#ifndef HEDDLE_ONNXIFI_ENVIRONMENT_H_
#define HEDDLE_ONNXIFI_ENVIRONMENT_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/cache/file_cache.h"
#include "compiler/package/shape_set.h"
#include "runtime/session/session.h"

namespace heddle::onnxifi {

// The cache, or null.
const compiler::FileCache* CompileCache();
struct ShapeSetFile {
  std::string path;
  std::string bytes;  // the set is a view of them
  package::ShapeSet set;
};
using ShapeSetFiles = std::vector<std::unique_ptr<const ShapeSetFile>>;
const ShapeSetFiles& ShapeSets();
bool MayCompile();
// With what graphs are loaded.
const session::LoadOptions& HostOptions();

// For tests: as if the variables had been these ("" = unset).
std::unique_ptr<const compiler::FileCache> ParseCache(
    const std::string& folder);
ShapeSetFiles ParseShapeSets(const std::string& paths);
bool ParseNoCompile(const std::string& text);  // whether it is set
session::LoadOptions ParseHostOptions(const std::string& threads,
                                      const std::string& seconds);

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_ENVIRONMENT_H_
