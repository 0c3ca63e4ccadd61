// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace heddle::onnxifi {
namespace {

LogLevel LevelOfEnvironment() {
  const char* text = std::getenv("HEDDLE_LOG");
  return ParseLogLevel(text == nullptr ? "" : text);
}

std::atomic<LogLevel>& Default() {
  static std::atomic<LogLevel> level{LevelOfEnvironment()};
  return level;
}

}  // namespace

const char* LogLevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
    case LogLevel::kOff:
      return "off";
  }
  return "";
}

std::optional<LogLevel> FindLogLevel(absl::string_view name) {
  for (LogLevel level : {LogLevel::kDebug, LogLevel::kInfo, LogLevel::kWarning,
                         LogLevel::kError, LogLevel::kOff}) {
    if (name == LogLevelName(level)) return level;
  }
  return std::nullopt;
}

LogLevel ParseLogLevel(absl::string_view text) {
  return FindLogLevel(text).value_or(LogLevel::kWarning);
}

LogLevel DefaultLogLevel() { return Default().load(std::memory_order_relaxed); }

void SetDefaultLogLevel(LogLevel level) {
  Default().store(level, std::memory_order_relaxed);
}

void Log(LogLevel threshold, LogLevel level, absl::string_view message,
         const char* prefix, const char* separator) noexcept {
  if (level < threshold || threshold == LogLevel::kOff) return;
  char line[1024];
  const int saved = errno;
  int size = std::snprintf(line, sizeof(line), "heddle onnxifi: %s: %s%s%.*s\n",
                           LogLevelName(level), prefix, separator,
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
