// SPDX-License-Identifier: Apache-2.0
#include "tests/support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

extern char** environ;

namespace heddle::tests {
namespace {

std::vector<std::string> Environment(
    const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (added.count(text.substr(0, text.find('='))) == 0) {
      result.push_back(text);
    }
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(&text[0]);
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

TempFolder::TempFolder() {
  std::string place = std::filesystem::temp_directory_path();
  if (place.size() > 60) place = "/tmp";  // the path of a socket has 108 bytes
  std::string path = place + "/test-XXXXXX";
  if (mkdtemp(&path[0]) == nullptr) {
    throw std::runtime_error(path + ": " + std::strerror(errno));
  }
  path_ = path;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<Process> Process::Start(const Command& command) {
  auto process = std::unique_ptr<Process>(new Process);
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> env = Environment(command.env);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> env_pointers = Pointers(env);
  const std::string out = process->folder_ / "out";
  const std::string err = process->folder_ / "err";
  // Here, so that what it has written can be read from the beginning.
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  const int to_out = open(out.c_str(), flags, 0600);
  const int to_err = open(err.c_str(), flags, 0600);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    const int in = open("/dev/null", O_RDONLY);
    dup2(in, 0);
    dup2(to_out, 1);
    dup2(to_err, 2);
    if (command.ready_fd >= 0) fcntl(command.ready_fd, F_SETFD, 0);
    execve(argv_pointers[0], argv_pointers.data(), env_pointers.data());
    _exit(127);
  }
  close(to_out);
  close(to_err);
  if (pid < 0) {
    ADD_FAILURE() << "fork: " << std::strerror(errno);
    return nullptr;
  }
  process->pid_ = pid;
  process->pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  EXPECT_GE(process->pidfd_, 0) << std::strerror(errno);
  return process;
}

double TimeFactor() {
  const char* text = getenv("HEDDLE_TEST_TIME_FACTOR");
  const double factor = text == nullptr ? 1 : atof(text);
  return factor >= 1 ? factor : 1;
}

Process::~Process() {
  if (pid_ > 0 && !code_.has_value()) {
    Signal(SIGKILL);
    Wait(absl::Seconds(10));
  }
  if (pidfd_ >= 0) close(pidfd_);
}

void Process::Signal(int signal) {
  if (!code_.has_value()) kill(pid_, signal);
}

std::optional<int> Process::Wait(absl::Duration limit) {
  if (code_.has_value()) return code_;
  pollfd ended = {pidfd_, POLLIN, 0};
  const absl::Time until = absl::Now() + limit;
  int ready;
  do {
    const absl::Duration left = std::max(until - absl::Now(), absl::Duration());
    ready = poll(&ended, 1, static_cast<int>(absl::ToInt64Milliseconds(left)));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return std::nullopt;
  int status = 0;
  waitpid(pid_, &status, 0);
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return code_;
}

std::string Process::out() const { return ReadFileOrDie(folder_ / "out"); }
std::string Process::err() const { return ReadFileOrDie(folder_ / "err"); }

Finished RunCommand(const Command& command, absl::Duration limit) {
  Finished finished;
  auto process = Process::Start(command);
  if (process == nullptr) return finished;
  limit *= TimeFactor();
  const std::optional<int> code = process->Wait(limit);
  if (!code.has_value()) {
    ADD_FAILURE() << command.argv[0] << " did not end in " << limit;
  }
  finished.code = code.value_or(-1);
  finished.out = process->out();
  finished.err = process->err();
  return finished;
}

std::string Runfile(const std::string& path) {
  const char* root = getenv("TEST_SRCDIR");
  const char* workspace = getenv("TEST_WORKSPACE");
  if (root == nullptr) return path;
  return std::string(root) + "/" +
         (workspace != nullptr ? workspace : "heddle") + "/" + path;
}

std::string ReadFileOrDie(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return std::string((std::istreambuf_iterator<char>(file)),
                     std::istreambuf_iterator<char>());
}

void WriteFileOrDie(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace heddle::tests
