// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace heddle::onnxifi {
namespace {

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    default:
      return "error";
  }
}

}  // namespace

LogLevel ParseLogLevel(absl::string_view text) {
  if (text == "debug") return LogLevel::kDebug;
  if (text == "info") return LogLevel::kInfo;
  if (text == "error") return LogLevel::kError;
  if (text == "off") return LogLevel::kOff;
  return LogLevel::kWarning;
}

LogLevel DefaultLogLevel() {
  static const LogLevel level = [] {
    const char* text = std::getenv("HEDDLE_LOG");
    return ParseLogLevel(text == nullptr ? "" : text);
  }();
  return level;
}

void Log(LogLevel threshold, LogLevel level, absl::string_view message,
         const char* prefix, const char* separator) noexcept {
  if (level < threshold || threshold == LogLevel::kOff) return;
  char line[1024];
  const int saved = errno;
  int size = std::snprintf(line, sizeof(line), "heddle onnxifi: %s: %s%s%.*s\n",
                           LevelName(level), prefix, separator,
                           static_cast<int>(message.size()), message.data());
  if (size >= static_cast<int>(sizeof(line))) {
    size = sizeof(line) - 1;
    line[size - 1] = '\n';
  }
  // Short or failed writes of a log line are not worth a second attempt.
  if (size > 0 && write(STDERR_FILENO, line, size) < 0) errno = saved;
  errno = saved;
}

}  // namespace heddle::onnxifi
