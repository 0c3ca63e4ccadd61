// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/log.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle::onnxifi_loader {

bool Logs(Level level) {
  static const char* const kNames[] = {"off", "error", "warning", "info",
                                       "debug"};
  int threshold = static_cast<int>(Level::kWarning);
  if (const char* chosen = std::getenv("ONNXIFI_LOADER_LOG")) {
    for (int i = 0; i < 5; ++i) {
      if (std::strcmp(chosen, kNames[i]) == 0) threshold = i;
    }
  }
  return static_cast<int>(level) <= threshold;
}

void Log(Level level, const char* format, ...) {
  if (!Logs(level)) return;
  char line[1024];
  int size = std::snprintf(line, sizeof(line), "onnxifi loader: ");
  va_list arguments;
  va_start(arguments, format);
  size +=
      std::vsnprintf(line + size, sizeof(line) - size - 1, format, arguments);
  va_end(arguments);
  if (size > static_cast<int>(sizeof(line)) - 2) size = sizeof(line) - 2;
  line[size++] = '\n';
  (void)!write(STDERR_FILENO, line, size);
}

}  // namespace heddle::onnxifi_loader
