// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/environment.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "compiler/compiler.h"
#include "compiler/ir/mapped_file.h"
#include "onnxifi/log.h"

namespace heddle::onnxifi {
namespace {

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

void Warn(const char* what, absl::string_view text) {
  Log(DefaultLogLevel(), LogLevel::kWarning, text, what);
}

}  // namespace

std::unique_ptr<const compiler::FileCache> ParseCache(
    const std::string& folder) {
  if (folder.empty()) return nullptr;
  auto cache = compiler::FileCache::Open(folder);
  if (cache.ok()) {
    return std::make_unique<const compiler::FileCache>(*std::move(cache));
  }
  Warn("HEDDLE_CACHE_DIR is ignored: ", cache.status().message());
  return nullptr;
}

ShapeSetFiles ParseShapeSets(const std::string& paths) {
  ShapeSetFiles files;
  for (absl::string_view path : absl::StrSplit(paths, ':', absl::SkipEmpty())) {
    auto file = std::make_unique<ShapeSetFile>();
    file->path = std::string(path);
    // Read, not mapped: who changes the file must not end this process.
    absl::Status status;
    {
      const auto mapped = compiler::MappedFile::Open(file->path);
      status = mapped.status();
      if (mapped.ok()) {
        file->bytes = std::string((*mapped)->bytes());
        status = (*mapped)->Unchanged();
      }
    }
    if (status.ok()) {
      auto set = package::ParseShapeSet(file->bytes,
                                        compiler::KeptByCaller(file->bytes));
      status = set.status();
      if (set.ok()) file->set = *std::move(set);
    }
    if (status.ok()) {
      files.push_back(std::move(file));
    } else {
      Warn("ignoring an entry of HEDDLE_SHAPE_SETS: ",
           absl::StrCat(path, ": ", status.message()));
    }
  }
  return files;
}

bool ParseNoCompile(const std::string& text) {
  if (text == "1") return true;
  if (!text.empty() && text != "0") {
    Warn("HEDDLE_NO_COMPILE must be 0 or 1; ignored: ", text);
  }
  return false;
}

session::LoadOptions ParseHostOptions(const std::string& threads,
                                      const std::string& seconds) {
  session::LoadOptions options;
  uint32_t count = 0;
  if (absl::SimpleAtoi(threads, &count) && count >= 1) {
    options.host_threads = count;
  } else if (!threads.empty()) {
    Warn("HEDDLE_HOST_THREADS must be a positive integer; ignored: ", threads);
  }
  double limit = 0;
  if (absl::SimpleAtod(seconds, &limit) && std::isfinite(limit) && limit > 0) {
    options.host_time = absl::Seconds(limit);
  } else if (!seconds.empty()) {
    Warn("HEDDLE_HOST_SECONDS must be a positive number; ignored: ", seconds);
  }
  return options;
}

const compiler::FileCache* CompileCache() {
  // Never destroyed: the library's threads may outlive static objects.
  static const compiler::FileCache* const cache =
      ParseCache(Variable("HEDDLE_CACHE_DIR")).release();
  return cache;
}

const ShapeSetFiles& ShapeSets() {
  static const ShapeSetFiles* const files =
      new ShapeSetFiles(ParseShapeSets(Variable("HEDDLE_SHAPE_SETS")));
  return *files;
}

bool MayCompile() {
  static const bool may = !ParseNoCompile(Variable("HEDDLE_NO_COMPILE"));
  return may;
}

const session::LoadOptions& HostOptions() {
  static const session::LoadOptions* const options =
      new session::LoadOptions(ParseHostOptions(
          Variable("HEDDLE_HOST_THREADS"), Variable("HEDDLE_HOST_SECONDS")));
  return *options;
}

}  // namespace heddle::onnxifi
