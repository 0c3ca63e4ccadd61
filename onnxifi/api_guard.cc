// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/api_guard.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>

namespace heddle::onnxifi {
namespace {

// Handle tags of the libraries in one process differ, because their addresses
// do: within 64 MiB by the low bits, beyond with high probability.
uint16_t HandleTag() {
  static const char here = 0;
  const uint64_t page = reinterpret_cast<uint64_t>(&here) >> 12;
  const uint16_t tag = static_cast<uint16_t>((page & 0x3fff) << 2);
  return tag == 0 ? 0x8000 : tag;
}

std::atomic<pid_t> owner{0};
std::once_flag once;
// Never destroyed: threads of the application may be inside at exit.
std::atomic<Library*> instance{nullptr};

}  // namespace

Library* TheLibrary() {
  // The process is checked before any lock: in a child, another thread of the
  // parent may hold it for ever.
  const pid_t self = getpid();
  pid_t expected = 0;
  if (!owner.compare_exchange_strong(expected, self) && expected != self) {
    return nullptr;
  }
  if (Library* library = instance.load(std::memory_order_acquire)) {
    return library;
  }
  std::call_once(once, [] {
    instance.store(new Library(MakeEngine(), HandleTag()),
                   std::memory_order_release);
  });
  return instance.load(std::memory_order_acquire);
}

onnxStatus Finish(Function function, const Call& call,
                  const Outcome& outcome) noexcept {
  const onnxStatus code = Contracted(function, outcome.code);
  if (!outcome.failed()) {
    Log(call.threshold, LogLevel::kDebug, StatusName(code),
        FunctionName(function), ": ");
    return code;
  }
  LogLevel level = LogLevel::kError;
  if (function == Function::kGetBackendCompatibility) {
    // An answer, not a fault; but one whose reason its reader wants to know.
    level = LogLevel::kWarning;
  } else if (function == Function::kGetBackendInfo &&
             code == ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE) {
    // What is optional may be asked for without harm.
    level = LogLevel::kInfo;
  }
  if (level < call.threshold) return code;
  char line[1024];
  const absl::string_view message = outcome.message();
  const int size =
      std::snprintf(line, sizeof(line), "%s: %s: %.*s", FunctionName(function),
                    StatusName(outcome.code), static_cast<int>(message.size()),
                    message.data());
  if (size > 0) {
    Log(call.threshold, level,
        absl::string_view(line, std::min<size_t>(size, sizeof(line) - 1)));
  }
  return code;
}

onnxStatus FinishException(Function function, const Call& call) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return Finish(function, call,
                  Outcome(ONNXIFI_STATUS_NO_SYSTEM_MEMORY, "out of memory"));
  } catch (const std::system_error&) {
    return Finish(function, call,
                  Outcome(ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
                          "the system cannot create another thread"));
  } catch (const std::exception& error) {
    Outcome outcome(ONNXIFI_STATUS_INTERNAL_ERROR);
    outcome.text = error.what();  // read before the exception ends
    return Finish(function, call, outcome);
  } catch (...) {
    return Finish(function, call,
                  Outcome(ONNXIFI_STATUS_INTERNAL_ERROR, "unknown exception"));
  }
}

}  // namespace heddle::onnxifi
