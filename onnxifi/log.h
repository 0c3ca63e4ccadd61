// SPDX-License-Identifier: Apache-2.0
// Log lines of the ONNXIFI library: to standard error, one write each, never to
// standard output. The level is that of the backend (property LOG_LEVEL), else
// that of the option heddle_log (onnxSetOption), else HEDDLE_LOG = error |
// warning | info | debug | off, else warning.
#ifndef HEDDLE_ONNXIFI_LOG_H_
#define HEDDLE_ONNXIFI_LOG_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace heddle::onnxifi {

// The values are ONNXIFI_LOG_LEVEL_*.
enum class LogLevel {
  kDebug = 1,
  kInfo = 2,
  kWarning = 3,
  kError = 4,
  kOff = 5
};

// The level of SetDefaultLogLevel, else of HEDDLE_LOG, read at the first call.
LogLevel DefaultLogLevel();
void SetDefaultLogLevel(LogLevel level);
// For tests: as if HEDDLE_LOG had been `text` ("" = unset).
LogLevel ParseLogLevel(absl::string_view text);

// "debug", "info", "warning", "error", "off".
const char* LogLevelName(LogLevel level);
std::optional<LogLevel> FindLogLevel(absl::string_view name);

// Writes "heddle onnxifi: LEVEL: PREFIX SEPARATOR MESSAGE" if `level` is at
// least `threshold`. Does not allocate and does not throw; lines beyond 1 KiB
// are cut.
void Log(LogLevel threshold, LogLevel level, absl::string_view message,
         const char* prefix = "", const char* separator = "") noexcept;

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_LOG_H_
