// SPDX-License-Identifier: Apache-2.0
#include "runtime/session/private_card.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/hal/status.h"

extern "C" char** environ;

namespace heddle::session {
namespace {

constexpr std::chrono::seconds kStartLimit(30);
constexpr int kPollMs = 2;

// What the guardian gets as descriptors; the script below uses the numbers.
constexpr int kLifelineFd = 3;

// The guardian: starts each card, then the driver, waits for both, tidies up.
// A card says that it is ready through a FIFO; if it fails, the FIFO is closed.
//   $1 folder, $2 heddle-sim, $3 heddle-hosted, $4 cards, $5 control path or
//   empty, $6 serial number of card 0; then options for heddle-sim.
constexpr char kGuardian[] = R"(
d=$1 sim=$2 hosted=$3 n=$4 control=$5 serial=$6
shift 6
trap 'rm -rf -- "$d"' EXIT
i=0
cards=
while [ "$i" -lt "$n" ]; do
  mkfifo "$d/ready$i" || exit 1
  if [ "$i" -eq 0 ] && [ -n "$control" ]; then
    "$sim" --socket "$d/card$i" --serial "$serial" --parent-fd 3 --ready-fd 4 \
      --control "$control" "$@" </dev/null >/dev/null 4>"$d/ready$i" &
  else
    "$sim" --socket "$d/card$i" --serial "$serial" --parent-fd 3 --ready-fd 4 \
      "$@" </dev/null >/dev/null 4>"$d/ready$i" &
  fi
  read -r line <"$d/ready$i" || exit 1
  cards="$cards --card $d/card$i"
  i=$((i + 1))
  serial=$((serial + 1))
done
# The folder's name has no characters that the shell would split at.
"$hosted" --socket "$d/hosted" $cards --log warn --idle-exit <&3 >/dev/null 3<&- &
exec 3<&- 2>/dev/null
wait
)";

bool Executable(const std::string& path) {
  return access(path.c_str(), X_OK) == 0;
}

std::string FolderOf(const std::string& path) {
  char real[PATH_MAX];
  const std::string full =
      realpath(path.c_str(), real) != nullptr ? real : path;
  const size_t slash = full.rfind('/');
  return slash == std::string::npos ? "." : full.substr(0, slash);
}

// Folders that may hold the programs, most specific first.
std::vector<std::string> BinaryFolders() {
  if (const char* given = getenv("HEDDLE_BIN_DIR");
      given != nullptr && *given != '\0') {
    return absl::StrSplit(given, ':', absl::SkipEmpty());
  }
  std::vector<std::string> starts;
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&StartPrivateCards), &info) != 0 &&
      info.dli_fname != nullptr) {
    starts.push_back(FolderOf(info.dli_fname));
  }
  starts.push_back(FolderOf("/proc/self/exe"));
  std::vector<std::string> folders;
  for (const std::string& start : starts) {
    folders.push_back(start);
    folders.push_back(start + "/../bin");
    folders.push_back(start + "/../../bin");     // from lib/TRIPLET
    folders.push_back(start + "/../../../bin");  // from lib/heddle/onnx1
  }
  return folders;
}

absl::StatusOr<std::string> FindBinary(const std::string& name) {
  for (const std::string& folder : BinaryFolders()) {
    const std::string path = folder + "/" + name;
    if (Executable(path)) return path;
  }
  return absl::UnavailableError(absl::StrCat(
      "there is no Heddle card, and none can be simulated without ", name,
      ": install the packages heddle-sim and heddle-hosted, or set "
      "HEDDLE_BIN_DIR to the folder of these programs, or HEDDLE_DEVICE to a "
      "device"));
}

// ---- The child's side: raw system calls only
// ----------------------------------- A copy of a process with threads may not
// touch locks (malloc, atfork handlers), and the interceptors of sanitizers are
// locks too.

long Raw(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  return syscall(number, a, b, c, d);
}

// Exit signal 0: wait() without __WALL does not see the child. qemu-user, which
// runs programs of other processors, knows children with SIGCHLD only.
pid_t Clone() {
  long child = Raw(SYS_clone);
  if (child < 0 && errno == EINVAL) child = Raw(SYS_clone, SIGCHLD);
  return static_cast<pid_t>(child);
}

[[noreturn]] void Exit(int code) {
  for (;;) Raw(SYS_exit_group, code);
}

struct GuardianFds {
  int null, error, lifeline;
};

[[noreturn]] void BecomeGuardian(const GuardianFds& fds, char* const* argv) {
  // The originals may have the numbers that they are to get: move them away.
  constexpr int kAway = 10;
  const int null = static_cast<int>(Raw(SYS_fcntl, fds.null, F_DUPFD, kAway));
  const int error = static_cast<int>(Raw(SYS_fcntl, fds.error, F_DUPFD, kAway));
  const int life =
      static_cast<int>(Raw(SYS_fcntl, fds.lifeline, F_DUPFD, kAway));
  if (null < 0 || error < 0 || life < 0) Exit(127);
  Raw(SYS_dup3, null, STDIN_FILENO, 0);
  Raw(SYS_dup3, null, STDOUT_FILENO, 0);
  Raw(SYS_dup3, error, STDERR_FILENO, 0);
  Raw(SYS_dup3, life, kLifelineFd, 0);
#ifdef SYS_close_range
  if (Raw(SYS_close_range, kLifelineFd + 1, ~0u, 0) != 0)
#endif
  {
    for (int fd = kLifelineFd + 1; fd < 65536; ++fd) Raw(SYS_close, fd);
  }
  // What the application ignores or blocks is inherited by programs.
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    uint64_t mask;
  } standard = {};
  uint64_t none = 0;
  for (int signal = 1; signal < 32; ++signal) {
    Raw(SYS_rt_sigaction, signal, reinterpret_cast<long>(&standard), 0,
        sizeof(none));
  }
  Raw(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&none), 0,
      sizeof(none));
  Raw(SYS_execve, reinterpret_cast<long>(argv[0]), reinterpret_cast<long>(argv),
      reinterpret_cast<long>(environ));
  Exit(127);
}

// Runs argv as a process that belongs to init. 0 or an errno.
int SpawnGuardian(const GuardianFds& fds, char* const* argv) {
  // No handler of the application may run in the copies.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t middle = Clone();
  if (middle == 0) {
    Raw(SYS_setsid);
    const pid_t guardian = Clone();
    if (guardian == 0) BecomeGuardian(fds, argv);
    Exit(guardian < 0 ? 1 : 0);
  }
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (middle < 0) return error;
  int status = 0;
  while (waitpid(middle, &status, __WALL) < 0) {
    if (errno != EINTR) return 0;  // somebody else waited with __WALL
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EAGAIN;
}

// ---- The parent's side
// ---------------------------------------------------------

absl::StatusOr<std::string> MakeFolder() {
  std::vector<std::string> places;
  for (const char* name : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    if (const char* value = getenv(name); value != nullptr && *value == '/') {
      places.push_back(value);
    }
  }
  places.push_back("/tmp");
  for (const std::string& place : places) {
    // The path of a socket has 108 bytes, and the guardian splits at spaces.
    if (place.size() > 60 ||
        place.find_first_of(" \t\n*?[\\") != std::string::npos) {
      continue;
    }
    std::string folder = place + "/heddle-XXXXXX";
    if (mkdtemp(&folder[0]) != nullptr) return folder;  // mode 0700
  }
  return absl::UnavailableError(absl::StrCat(
      "cannot create a folder for a simulated card in TMPDIR or /tmp: ",
      std::strerror(errno)));
}

// Waits until all cards are there. `log` gets what the programs say.
absl::Status WaitUntilReady(const std::string& socket, uint32_t cards,
                            int error_fd, std::string* log) {
  const auto limit = std::chrono::steady_clock::now() + kStartLimit;
  bool ended = false;
  while (!ended && std::chrono::steady_clock::now() < limit) {
    if (access(socket.c_str(), F_OK) == 0) {
      const auto present = hal::ListHosted(socket);
      if (present.ok() && present->size() >= cards) return absl::OkStatus();
      if (absl::IsResourceExhausted(present.status())) return present.status();
    }
    pollfd ready = {error_fd, POLLIN, 0};
    if (poll(&ready, 1, kPollMs) <= 0) continue;
    char text[512];
    const ssize_t n = read(error_fd, text, sizeof(text));
    if (n > 0 && log->size() < 4096) log->append(text, static_cast<size_t>(n));
    ended = n == 0;
  }
  return absl::UnavailableError(absl::StrCat(
      "the simulated card did not start", ended ? "" : " within 30 seconds",
      log->empty() ? "" : ": ", absl::StripAsciiWhitespace(*log)));
}

}  // namespace

Lifeline::~Lifeline() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<PrivateCards> StartPrivateCards(const DeviceSpec& spec) {
  const auto sim = FindBinary("heddle-sim");
  if (!sim.ok()) return sim.status();
  const auto hosted = FindBinary("heddle-hosted");
  if (!hosted.ok()) return hosted.status();

  int life[2] = {-1, -1}, error[2] = {-1, -1};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  absl::Cleanup close_all = [&] {
    for (int fd : {null, life[0], life[1], error[0], error[1]}) {
      if (fd >= 0) close(fd);
    }
  };
  if (null < 0 || pipe2(life, O_CLOEXEC) != 0 || pipe2(error, O_CLOEXEC) != 0) {
    return hal::FromErrno("starting a simulated card", errno);
  }
  const auto folder = MakeFolder();
  if (!folder.ok()) return folder.status();
  // From its start on the guardian removes it.
  absl::Cleanup remove_folder = [&folder] { rmdir(folder->c_str()); };

  uint32_t cards = 1;
  if (!absl::SimpleAtoi(spec.Option("cards", "1"), &cards)) cards = 1;
  std::vector<std::string> words = {"/bin/sh",
                                    "-c",
                                    kGuardian,
                                    "heddle-guardian",
                                    *folder,
                                    *sim,
                                    *hosted,
                                    absl::StrCat(cards),
                                    spec.Option("control", ""),
                                    spec.Option("serial", "1")};
  for (const char* name :
       {"config", "memory", "core", "hw-version", "host-latency"}) {
    if (const std::string value = spec.Option(name, ""); !value.empty()) {
      words.push_back(absl::StrCat("--", name));
      words.push_back(value);
    }
  }
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(&word[0]);
  argv.push_back(nullptr);

  const int failed = SpawnGuardian({null, error[1], life[0]}, argv.data());
  close(std::exchange(error[1], -1));
  close(std::exchange(life[0], -1));
  if (failed == EAGAIN) {
    return hal::Exhausted(hal::Resource::kSystemResources,
                          "starting a simulated card: the system cannot create "
                          "another process (ulimit -u)");
  }
  if (failed != 0) return hal::FromErrno("starting a simulated card", failed);
  std::move(remove_folder).Cancel();
  PrivateCards started;
  started.socket = *folder + "/hosted";
  std::string log;
  absl::Status status = WaitUntilReady(started.socket, cards, error[0], &log);
  if (!status.ok())
    return status;  // closing the lifeline ends what has started
  started.lifeline = Lifeline(std::exchange(life[1], -1));
  return started;
}

}  // namespace heddle::session
