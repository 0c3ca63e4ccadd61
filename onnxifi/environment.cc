// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/environment.h"

#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
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

session::LoadOptions ParseHostOptions(const std::string& threads,
                                      const std::string& seconds) {
  session::LoadOptions options;
  uint32_t count = 0;
  if (absl::SimpleAtoi(threads, &count) && count >= 1) {
    options.host_threads = count;
  } else if (!threads.empty()) {
    Warn("HEDDLE_HOST_THREADS is a number from 1 on; ignored: ", threads);
  }
  double limit = 0;
  if (absl::SimpleAtod(seconds, &limit) && std::isfinite(limit) && limit > 0) {
    options.host_time = absl::Seconds(limit);
  } else if (!seconds.empty()) {
    Warn("HEDDLE_HOST_SECONDS is a number above 0; ignored: ", seconds);
  }
  return options;
}

const compiler::FileCache* CompileCache() {
  // Never destroyed: the library's threads may outlive static objects.
  static const compiler::FileCache* const cache =
      ParseCache(Variable("HEDDLE_CACHE_DIR")).release();
  return cache;
}

const session::LoadOptions& HostOptions() {
  static const session::LoadOptions* const options =
      new session::LoadOptions(ParseHostOptions(
          Variable("HEDDLE_HOST_THREADS"), Variable("HEDDLE_HOST_SECONDS")));
  return *options;
}

}  // namespace heddle::onnxifi
