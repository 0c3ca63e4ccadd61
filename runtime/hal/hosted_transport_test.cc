// SPDX-License-Identifier: Apache-2.0
#include "runtime/hal/hosted_transport.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "kmd/hosted/protocol.h"

namespace heddle::hal {
namespace {

// A heddle-hosted of another release, for one client.
TEST(OpenHosted, NamesAServerOfAnotherRelease) {
  // Socket paths must be short, so not below TEST_TMPDIR.
  std::string folder = std::filesystem::temp_directory_path() / "heddle-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/socket";
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  std::strcpy(address.sun_path, path.c_str());
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(
      bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
      0);
  ASSERT_EQ(listen(listener, 1), 0);
  std::thread server([listener] {
    const int client = accept(listener, nullptr, nullptr);
    struct {
      hosted::MessageHeader header;
      hosted::Hello hello;
    } request;
    EXPECT_EQ(recv(client, &request, sizeof(request), MSG_WAITALL),
              static_cast<ssize_t>(sizeof(request)));
    hosted::MessageHeader reply;
    reply.id = request.header.id;
    reply.result = -EPROTONOSUPPORT;
    EXPECT_EQ(hosted::SendMessage(client, reply, nullptr, -1), 0);
    close(client);
  });
  const absl::Status refused = OpenHosted(path, 0).status();
  server.join();
  close(listener);
  unlink(path.c_str());
  rmdir(folder.c_str());
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), path)) << refused;
  EXPECT_TRUE(absl::StrContains(
      refused.message(),
      "install heddle-hosted and library of the same release"))
      << refused;
}

}  // namespace
}  // namespace heddle::hal
