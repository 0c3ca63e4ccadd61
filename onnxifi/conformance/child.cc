// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace heddle::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr off_t kOutputBytes = 64 << 10;
constexpr off_t kErrorBytes = 8 << 10;
// How long what a case started may take to see that the case is over.
constexpr std::chrono::milliseconds kGrace(2000);

std::string Tail(int fd, off_t bytes) {
  struct stat info = {};
  fstat(fd, &info);
  const off_t from = info.st_size > bytes ? info.st_size - bytes : 0;
  std::string text(static_cast<size_t>(info.st_size - from), '\0');
  const ssize_t got = pread(fd, &text[0], text.size(), from);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  close(fd);
  return text;
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What the child left behind has become ours (a subreaper). Waits for it a
// while, then kills it; returns how many were killed.
int Reap() {
  const auto until = Clock::now() + kGrace;
  for (;;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid < 0) return 0;  // no children
    if (pid > 0) continue;
    if (Clock::now() > until) break;
    usleep(2000);
  }
  int killed = 0;
  for (;;) {
    std::ifstream list("/proc/thread-self/children");
    bool any = false;
    for (pid_t pid; list >> pid;) {
      kill(pid, SIGKILL);
      any = true;
      ++killed;
    }
    if (!any) return killed;
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }
}

}  // namespace

ChildEnd RunChild(double timeout_seconds, const std::function<void()>& body) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  fflush(nullptr);
  const int output = memfd_create("stdout", MFD_CLOEXEC);
  const int errors = memfd_create("stderr", MFD_CLOEXEC);
  ChildEnd end;
  const auto start = Clock::now();
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    body();
    fflush(nullptr);
    _exit(0);
  }
  if (child < 0) {
    end.exit_code = 1;
    end.errors = "fork failed";
    close(output);
    close(errors);
    return end;
  }
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  pollfd ends = {pidfd, POLLIN, 0};
  if (poll(&ends, 1, static_cast<int>(timeout_seconds * 1000)) == 0) {
    end.timed_out = true;
    kill(-child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(pidfd);
  end.seconds = SecondsSince(start);
  // A case that ended by itself leaves its library's helpers time to notice.
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  end.left_behind = Reap();
  end.output = Tail(output, kOutputBytes);
  end.errors = Tail(errors, kErrorBytes);
  return end;
}

}  // namespace heddle::conformance
