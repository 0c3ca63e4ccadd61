// SPDX-License-Identifier: Apache-2.0
// Log of the loader, on stderr, one write per line. ONNXIFI_LOADER_LOG is
// error, warning (the default), info, debug or off.
#ifndef HEDDLE_ONNXIFI_LOADER_LOG_H_
#define HEDDLE_ONNXIFI_LOADER_LOG_H_

namespace heddle::onnxifi_loader {

enum class Level { kOff, kError, kWarning, kInfo, kDebug };

bool Logs(Level level);
void Log(Level level, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_LOG_H_
