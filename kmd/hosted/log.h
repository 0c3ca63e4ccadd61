// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Messages from code that must go on even if memory for a message is lacking.
#ifndef HEDDLE_KMD_HOSTED_LOG_H_
#define HEDDLE_KMD_HOSTED_LOG_H_

#include <exception>

#include "spdlog/spdlog.h"

namespace heddle::hosted {

template <typename... Args>
void Log(spdlog::level::level_enum level,
         spdlog::format_string_t<Args...> format, Args&&... args) noexcept {
  try {
    spdlog::log(level, format, std::forward<Args>(args)...);
  } catch (const std::exception&) {
    // Nothing to say it with.
  }
}

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_LOG_H_
