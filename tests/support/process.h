// SPDX-License-Identifier: Apache-2.0
// Child processes of tests. A child dies with its Process object and with the
// test's main thread, so that a failing test leaves nothing behind.
#ifndef TESTS_SUPPORT_PROCESS_H_
#define TESTS_SUPPORT_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace heddle::tests {

// A folder that is removed with its contents. Short enough for sockets in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

struct Command {
  std::vector<std::string> argv;           // argv[0]: path of the program
  std::map<std::string, std::string> env;  // beside the test's own
  int ready_fd = -1;  // open in the child under the same number
};

// Factor for limits of time, more than 1 in instrumented builds: environment
// variable HEDDLE_TEST_TIME_FACTOR.
double TimeFactor();

class Process {
 public:
  // Fails the test and returns null if the program cannot be started. Standard
  // input is empty.
  static std::unique_ptr<Process> Start(const Command& command);
  ~Process();  // SIGKILL if it still runs
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal);
  // Exit code, 128 + number of the signal that ended it; nothing if it still
  // runs after `limit`.
  std::optional<int> Wait(absl::Duration limit);
  // What it has written so far.
  std::string out() const;
  std::string err() const;

 private:
  Process() = default;
  TempFolder folder_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  std::optional<int> code_;
};

struct Finished {
  int code = -1;  // as Process::Wait; -1: did not end in time
  std::string out, err;
};

// Runs a program to its end; kills it after `limit`.
Finished RunCommand(const Command& command,
                    absl::Duration limit = absl::Seconds(30));

// A file of the test's runfiles, by its path from the root of the repository.
std::string Runfile(const std::string& path);

std::string ReadFileOrDie(const std::string& path);
void WriteFileOrDie(const std::string& path, const std::string& bytes);

}  // namespace heddle::tests

#endif  // TESTS_SUPPORT_PROCESS_H_
