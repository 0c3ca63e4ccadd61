// SPDX-License-Identifier: Apache-2.0
// The life of the private pair: it starts fast, nobody's wait() sees it, and it
// ends with its process, killed or not, even if a forked child lives on.
#include "runtime/session/private_card.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/hal/hosted_transport.h"
#include "runtime/session/session.h"

namespace heddle::session {
namespace {

DeviceSpec Sim(const std::string& options = "") {
  return *ParseDeviceSpec("sim" + options);
}

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool Exists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

// Waits up to 10 s for a folder to go.
bool Goes(const std::string& folder) {
  for (int i = 0; i < 1000 && Exists(folder); ++i) usleep(10000);
  return !Exists(folder);
}

TEST(PrivateCard, StartsFastAndEndsAtEndOfFile) {
  const auto start = std::chrono::steady_clock::now();
  auto cards = StartPrivateCards(Sim());
  const auto took = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(cards.ok()) << cards.status();
  RecordProperty("start_ms",
                 static_cast<int>(took / std::chrono::milliseconds(1)));
  struct stat info = {};
  ASSERT_EQ(stat(FolderOf(cards->socket).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  cards->lifeline = Lifeline();
  EXPECT_TRUE(Goes(FolderOf(cards->socket)));
}

TEST(PrivateCard, SeveralCards) {
  auto cards = StartPrivateCards(Sim(":cards=2,memory=64M"));
  ASSERT_TRUE(cards.ok()) << cards.status();
  EXPECT_EQ(hal::ListHosted(cards->socket)->size(), 2u);
  cards->lifeline = Lifeline();
  EXPECT_TRUE(Goes(FolderOf(cards->socket)));
}

TEST(PrivateCard, FailuresSaySo) {
  // heddle-sim refuses this core.
  const auto cards = StartPrivateCards(Sim(":core=quantum"));
  EXPECT_TRUE(absl::IsUnavailable(cards.status()));
  EXPECT_NE(cards.status().message().find("quantum"), absl::string_view::npos)
      << cards.status();
  const std::string before = getenv("HEDDLE_BIN_DIR");
  setenv("HEDDLE_BIN_DIR", "/nowhere", 1);
  const auto missing = StartPrivateCards(Sim());
  setenv("HEDDLE_BIN_DIR", before.c_str(), 1);
  EXPECT_TRUE(absl::IsUnavailable(missing.status()));
  // Two ways out; who has Debian's packages needs the first.
  const size_t packages = missing.status().message().find(
      "without heddle-sim: install the packages heddle-sim and heddle-hosted");
  const size_t variable = missing.status().message().find("HEDDLE_BIN_DIR");
  EXPECT_NE(variable, absl::string_view::npos) << missing.status();
  EXPECT_LT(packages, variable) << missing.status();
}

// A process that uses a simulated card, forks a child that stays, and is
// killed.
TEST(PrivateCard, EndsWithItsProcess) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t user = fork();
  if (user == 0) {
    close(ready[0]);
    setenv("HEDDLE_DEVICE", "sim", 1);
    const auto devices = ListDevices();
    const auto device = devices.ok() && !devices->empty()
                            ? OpenDevice(devices->front().id)
                            : absl::UnknownError("");
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, 0);
      sleep(30);
      _exit(0);
    }
    const pid_t message[2] = {device.ok() ? 1 : 0, child};
    if (write(ready[1], message, sizeof(message)) < 0) _exit(1);
    pause();
    _exit(0);
  }
  close(ready[1]);
  pid_t message[2] = {0, 0};
  ASSERT_EQ(read(ready[0], message, sizeof(message)),
            static_cast<ssize_t>(sizeof(message)));
  EXPECT_EQ(message[0], 1);
  // Folders of pairs go to a place of this test's own (main).
  kill(user, SIGKILL);
  ASSERT_EQ(waitpid(user, nullptr, 0), user);
  const std::string folder = getenv("TMPDIR");
  bool gone = false;
  for (int i = 0; i < 1000 && !gone; ++i) {
    gone = system(absl::StrCat("ls -d ", folder, "/heddle-* >/dev/null 2>&1")
                      .c_str()) != 0;
    if (!gone) usleep(10000);
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(kill(message[1], 0), 0);  // the child is still there
  kill(message[1], SIGKILL);
}

}  // namespace
}  // namespace heddle::session

// Folders of pairs go to a place of this test's own.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  char place[] = "/tmp/hpc-XXXXXX";
  if (mkdtemp(place) == nullptr) return 1;
  unsetenv("XDG_RUNTIME_DIR");
  setenv("TMPDIR", place, 1);
  const int result = RUN_ALL_TESTS();
  rmdir(place);
  return result;
}
