// SPDX-License-Identifier: Apache-2.0
#include "tests/support/apart.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace heddle::tests {
namespace {

constexpr rlim_t kMostMemory = rlim_t{4} << 30;
constexpr unsigned kMostSeconds = 60;  // of the clock

rlim_t AddressSpace() {
  unsigned long long pages = 0;
  FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%llu", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void Limit() {
  const rlim_t bytes = AddressSpace() + kMostMemory;
  const rlimit memory = {bytes, bytes}, core = {0, 0};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CORE, &core);
}

bool WriteAll(int out, const void* from, size_t bytes) {
  const auto* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = write(out, at, bytes);
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool ReadAll(int in, void* to, size_t bytes) {
  auto* at = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t n = read(in, at, bytes);
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

// What the process says as it ends concerns nobody: the parent says it.
void Silence() {
  const int nothing = open("/dev/null", O_WRONLY);
  if (nothing >= 0) dup2(nothing, STDERR_FILENO);
}

[[noreturn]] void Child(size_t first, size_t count, int out,
                        const std::function<std::string(size_t)>& call) {
  Limit();
  Silence();
  for (size_t i = first; i < count; ++i) {
    alarm(kMostSeconds);
    const std::string result = call(i);
    const uint64_t size = result.size();
    if (!WriteAll(out, &size, sizeof(size)) ||
        !WriteAll(out, result.data(), result.size())) {
      _exit(1);
    }
  }
  _exit(0);
}

}  // namespace

std::vector<std::optional<std::string>> CallApart(
    size_t count, const std::function<std::string(size_t)>& call) {
  std::vector<std::optional<std::string>> all;
  while (all.size() < count) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child == 0) {
      close(ends[0]);
      Child(all.size(), count, ends[1], call);
    }
    close(ends[1]);
    uint64_t size = 0;
    while (ReadAll(ends[0], &size, sizeof(size))) {
      std::string result(size, '\0');
      if (!ReadAll(ends[0], &result[0], size)) break;
      all.emplace_back(std::move(result));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (all.size() < count) all.emplace_back(std::nullopt);
  }
  return all;
}

}  // namespace heddle::tests
