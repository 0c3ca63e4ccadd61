// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The client against a server that the test plays by hand.
#include "kmd/hosted/client.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <thread>

#include "kmd/hosted/test_client.h"

namespace heddle::hosted {
namespace {

// A connection that has said hello, and its other end.
class ClientTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Short, and not below TEST_TMPDIR: the path of a socket has 108 bytes.
    std::string folder =
        std::filesystem::temp_directory_path() / "heddle-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/s";
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof(address.sun_path));
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(
        bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
        0);
    ASSERT_EQ(listen(listener, 1), 0);
    std::thread opens(
        [&] { EXPECT_EQ(HostedClient::Open(path, 0, &client_), 0); });
    server_ = accept(listener, nullptr, nullptr);
    const HelloReply answer;
    Reply(Request(), &answer, sizeof(answer));
    opens.join();
    close(listener);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  void TearDown() override { close(server_); }

  // The id of the next request.
  uint64_t Request() {
    Message message;
    EXPECT_EQ(ReceiveMessage(server_, &message), 0);
    return message.header.id;
  }
  void Reply(uint64_t id, const void* payload, size_t bytes) {
    MessageHeader header;
    header.id = id;
    header.bytes = static_cast<uint32_t>(bytes);
    EXPECT_EQ(SendMessage(server_, header, payload, -1), 0);
  }

  std::unique_ptr<HostedClient> client_;
  int server_ = -1;
};

TEST_F(ClientTest, AReplyForACallThatHasLeftIsNoFaultOfTheServer) {
  drm_heddle_context_create args[3] = {};
  std::future<int> results[2];
  uint64_t ids[2];
  for (int i = 0; i < 2; ++i) {
    results[i] = std::async(std::launch::async, [this, &args, i] {
      return client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args[i]);
    });
    ids[i] = Request();
  }
  // Nothing can be sent any more. Of the two the one that does not read ends by
  // that; the other still gets what the server has to say.
  shutdown(server_, SHUT_RD);
  EXPECT_EQ(client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args[2]), -ENODEV);
  int left = 0;
  while (results[left].wait_for(std::chrono::milliseconds(1)) !=
         std::future_status::ready) {
    left = 1 - left;
  }
  EXPECT_EQ(results[left].get(), -ENODEV);
  Reply(ids[left], &args[left], sizeof(args[left]));
  EXPECT_EQ(results[1 - left].get(), -ENODEV);
  EXPECT_EQ(client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args[2]), -ENODEV);
}

TEST_F(ClientTest, AReplyForNoCallIsTheServersFault) {
  drm_heddle_context_create args = {};
  int result = 0;
  std::thread caller(
      [&] { result = client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args); });
  Reply(Request() + 1, &args, sizeof(args));
  caller.join();
  EXPECT_EQ(result, -EPROTO);
}

}  // namespace
}  // namespace heddle::hosted
