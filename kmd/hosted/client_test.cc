// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The client against a server that the test plays by hand.
#include "kmd/hosted/client.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "kmd/hosted/results_board.h"
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
    AnswerForResults();
    opens.join();
    close(listener);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  void TearDown() override { close(server_); }

  // As a server that knows no pages of results.
  virtual void AnswerForResults() { Reply(Request(), nullptr, 0, -1, -EPROTO); }

  // The id of the next request.
  uint64_t Request() {
    Message message;
    EXPECT_EQ(ReceiveMessage(server_, &message), 0);
    return message.header.id;
  }
  void Reply(uint64_t id, const void* payload, size_t bytes, int fd = -1,
             int result = 0) {
    MessageHeader header;
    header.id = id;
    header.result = result;
    header.bytes = static_cast<uint32_t>(bytes);
    EXPECT_EQ(SendMessage(server_, header, payload, fd), 0);
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

// The reader that leaves wakes somebody who sleeps, not one who still sends:
// the server may not read that before its replies have been fetched.
TEST_F(ClientTest, WhoStillSendsIsNotTheNextReader) {
  drm_heddle_context_create args[2] = {};
  std::future<int> results[2];
  uint64_t ids[2];
  for (int i = 0; i < 2; ++i) {
    results[i] = std::async(std::launch::async, [this, &args, i] {
      return client_->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &args[i]);
    });
    ids[i] = Request();
    usleep(50000);  // the first one reads, the other sleeps
  }
  const std::vector<uint32_t> words(2 << 20);  // more than a socket takes
  uint32_t stream = 0;
  auto sends = std::async(std::launch::async, [&] {
    return NewStream(client_.get(), words, &stream);
  });
  pollfd begun = {server_, POLLIN, 0};
  EXPECT_EQ(poll(&begun, 1, 10000), 1);
  usleep(50000);
  for (int i = 0; i < 2; ++i) {
    Reply(ids[i], &args[i], sizeof(args[i]));
    EXPECT_EQ(results[i].wait_for(std::chrono::seconds(10)),
              std::future_status::ready)
        << "nobody reads the reply of call " << i;
  }
  Reply(Request(), nullptr, 0, -1, -EINVAL);
  EXPECT_EQ(sends.get(), -EINVAL);
  for (auto& result : results) EXPECT_EQ(result.get(), 0);
}

class PageTest : public ClientTest {
 protected:
  void AnswerForResults() override {
    int fd = -1;
    ASSERT_EQ(ResultsBoard::Create(&board_, &fd), 0);
    Reply(Request(), nullptr, 0, fd);
    close(fd);
  }
  // Has the client submit job `seqno` of context 1.
  void SubmitJob(uint64_t seqno) {
    uint64_t got = 0;
    std::thread caller(
        [&] { EXPECT_EQ(Submit(client_.get(), 1, {}, &got), 0); });
    drm_heddle_submit args = {};
    args.context = 1;
    args.seqno = seqno;
    Reply(Request(), &args, sizeof(args));
    caller.join();
    EXPECT_EQ(got, seqno);
  }
  bool Asked() {
    pollfd p = {server_, POLLIN, 0};
    return poll(&p, 1, 0) > 0;
  }

  std::unique_ptr<ResultsBoard> board_;
};

TEST_F(PageTest, APublishedResultIsNotAskedFor) {
  drm_heddle_result result = {}, got = {};
  result.cycles = 11;
  board_->Publish(1, 5, result);
  EXPECT_EQ(Wait(client_.get(), 1, 5, &got), 0);
  EXPECT_EQ(got.cycles, 11u);
  EXPECT_FALSE(Asked());
}

TEST_F(PageTest, TheLastJobIsAwaitedWithoutTheServer) {
  // On a busy machine it may take longer than the client waits by itself.
  int asked = 0;
  for (uint64_t i = 1; i <= 50; ++i) {
    SubmitJob(i);
    drm_heddle_result result = {}, got = {};
    result.cycles = i;
    std::atomic<bool> done{false};
    std::thread waiter([&] {
      EXPECT_EQ(Wait(client_.get(), 1, i, &got), 0);
      done = true;
    });
    usleep(100);
    board_->Publish(1, i, result);
    while (!done && !Asked()) usleep(10);
    if (!done) {
      asked++;
      uint8_t reply[sizeof(drm_heddle_wait) + 8 + sizeof(result)] = {};
      const uint32_t array[2] = {1, sizeof(result)};
      std::memcpy(reply + sizeof(drm_heddle_wait), array, sizeof(array));
      std::memcpy(reply + sizeof(drm_heddle_wait) + 8, &result, sizeof(result));
      Reply(Request(), reply, sizeof(reply));
    }
    waiter.join();
    EXPECT_EQ(got.cycles, i);
  }
  EXPECT_LT(asked, 50);
}

// A server that is killed publishes nothing and wakes nobody.
TEST_F(PageTest, WhoWaitsSeesTheEndOfTheServer) {
  SubmitJob(1);
  drm_heddle_result got;
  std::thread waiter(
      [&] { EXPECT_EQ(Wait(client_.get(), 1, 1, &got), -ENODEV); });
  usleep(100);
  shutdown(server_, SHUT_RDWR);
  waiter.join();
}

TEST_F(PageTest, AsksWhatThePageCannotKnow) {
  SubmitJob(1);
  drm_heddle_result result = {}, got;
  board_->Publish(1, 1, result);
  board_->Withdraw();
  std::thread waiter([&] {
    EXPECT_EQ(Wait(client_.get(), 1, 1, &got), -ENODEV);
    EXPECT_EQ(Wait(client_.get(), 1, 2, &got, 0), -ENOENT);
  });
  Reply(Request(), nullptr, 0, -1, -ENODEV);
  Reply(Request(), nullptr, 0, -1, -ENOENT);
  waiter.join();
}

}  // namespace
}  // namespace heddle::hosted
