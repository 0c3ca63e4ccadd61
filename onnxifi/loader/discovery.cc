// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/discovery.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "onnxifi/loader/log.h"
#include "onnxifi/loader/vendor.h"

extern char** environ;

namespace heddle::onnxifi_loader {
namespace {

constexpr char kProgram[] = "onnxifi-discover";
constexpr size_t kMaxAnswer = 64 << 10;

int64_t NowMs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

// Empty if there is none.
std::string FindProgram() {
  Dl_info here;
  if (dladdr(reinterpret_cast<const void*>(&Discover), &here) == 0) return "";
  std::string folder = here.dli_fname;
  const size_t slash = folder.rfind('/');
  folder = slash == std::string::npos ? "./" : folder.substr(0, slash + 1);
  for (const char* neighbour : {"", "heddle/", "../"}) {
    const std::string path = folder + neighbour + kProgram;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

Discovered NotTried(const std::string& reason) {
  Discovered result;
  result.reason = reason;
  return result;
}

// A process group of its own, with default signals, stdout `out`.
int Spawn(const std::string& program, const Candidate& candidate, int out,
          pid_t* pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  if (!Logs(Level::kDebug)) {
    // What the library says there it says again here.
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null",
                                     O_WRONLY, 0);
  }
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  char seconds[32], abi[32];
  std::snprintf(seconds, sizeof(seconds), "--seconds=%d", candidate.seconds);
  std::snprintf(abi, sizeof(abi), "--bytes=%u", candidate.descriptor_bytes);
  const char* const arguments[] = {program.c_str(), candidate.path.c_str(),
                                   seconds, abi, nullptr};
  const int error = posix_spawn(pid, program.c_str(), &files, &attributes,
                                const_cast<char* const*>(arguments), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Whether the answer is whole; nothing behind the last line is waited for,
// since what the library has started may hold the pipe.
bool IsWhole(const std::string& text) {
  return text.find("\nend\n") != std::string::npos;
}

bool ReadSome(int from, std::string* text) {
  char buffer[4096];
  const ssize_t got = read(from, buffer, sizeof(buffer));
  if (got <= 0) return false;
  text->append(buffer, static_cast<size_t>(got));
  return text->size() < kMaxAnswer;
}

// How a process that gave no answer ended.
std::string HowItEnded(pid_t pid) {
  int status = 0;
  pid_t got;
  do {
    got = waitpid(pid, &status, 0);
  } while (got < 0 && errno == EINTR);
  // The program may wait for all its children by itself.
  if (got != pid) return "ended the process that tried it";
  char text[64];
  if (WIFSIGNALED(status)) {
    std::snprintf(text, sizeof(text), "crashed the process that tried it (%s)",
                  strsignal(WTERMSIG(status)));
  } else {
    std::snprintf(text, sizeof(text),
                  "ended the process that tried it with code %d",
                  WEXITSTATUS(status));
  }
  return text;
}

}  // namespace

Discovered ParseAnswer(const std::string& text) {
  Discovered result;
  result.kind = Discovered::kUnusable;
  size_t at = 0;
  bool ended = false;
  while (at < text.size() && !ended) {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.compare(0, 5, "fail ") == 0) result.reason = line.substr(5);
    if (line.compare(0, 7, "device ") == 0) ++result.devices;
    if (line.compare(0, 13, "abi extended ") == 0) {
      result.descriptor_bytes = kExtendedBytes;
    }
    if (line.compare(0, 10, "abi onnx1 ") == 0) {
      result.descriptor_bytes = kOnnx1Bytes;
    }
    ended = line == "end";
  }
  if (!ended) {
    result.reason = "gave no answer";
  } else if (result.reason.empty()) {
    result.kind = result.descriptor_bytes != 0 ? Discovered::kUsable
                                               : Discovered::kNoDevices;
  }
  return result;
}

Discovered Discover(const Candidate& candidate) {
  const std::string program = FindProgram();
  if (program.empty()) {
    return NotTried(
        "the program onnxifi-discover is missing beside the loader");
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return NotTried(std::strerror(errno));
  pid_t pid = 0;
  const int error = Spawn(program, candidate, ends[1], &pid);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return NotTried(program + ": " + std::strerror(error));
  }
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const int64_t until = NowMs() + int64_t{candidate.seconds} * 1000;
  std::string text = "\n";
  bool late = false, running = true;
  while (running && !IsWhole(text)) {
    // A negative descriptor is ignored: then the pipe's end tells.
    pollfd events[] = {{ends[0], POLLIN, 0}, {process, POLLIN, 0}};
    const int64_t left = until - NowMs();
    const int ready = left <= 0 ? 0 : poll(events, 2, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      late = true;
      break;
    }
    if (events[0].revents != 0) {
      running = ReadSome(ends[0], &text);
    } else if (events[1].revents != 0) {
      running = false;
    }
  }
  Discovered result;
  if (IsWhole(text)) {
    result = ParseAnswer(text);
    HowItEnded(pid);
  } else {
    result.kind = Discovered::kUnusable;
    if (late) {
      kill(-pid, SIGKILL);
      result.reason = "did not answer within " +
                      std::to_string(candidate.seconds) + " seconds";
      HowItEnded(pid);
    } else {
      if (text.size() >= kMaxAnswer) kill(-pid, SIGKILL);
      result.reason = HowItEnded(pid);
    }
  }
  close(ends[0]);
  if (process >= 0) close(process);
  return result;
}

}  // namespace heddle::onnxifi_loader
