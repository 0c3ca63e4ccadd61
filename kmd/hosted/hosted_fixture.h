// SPDX-License-Identifier: GPL-2.0-only OR MIT
// Fixture of the tests of heddle-hosted: the driver in this process, fake cards
// behind it, clients over its socket.
#ifndef HEDDLE_KMD_HOSTED_HOSTED_FIXTURE_H_
#define HEDDLE_KMD_HOSTED_HOSTED_FIXTURE_H_
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "drm.h"
#include "gtest/gtest.h"
#include "kmd/hosted/client.h"
#include "kmd/hosted/core.h"
#include "kmd/hosted/fake_card.h"
#include "kmd/hosted/server.h"
#include "kmd/hosted/test_client.h"
#include "spdlog/spdlog.h"

namespace heddle::hosted {

class HostedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    spdlog::set_level(spdlog::level::off);
    // Socket paths must be short, so not below TEST_TMPDIR; process ids repeat
    // in sandboxes.
    folder_ = std::filesystem::temp_directory_path() / "heddle-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    card_path_ = folder_ + "/c";
    card2_path_ = folder_ + "/d";
    options_.socket = folder_ + "/s";
    options_.cards = {card_path_};
    options_.timeout_ns = 200 * 1000000ull;
  }
  void TearDown() override {
    StopServer();
    card_ = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void Plug(uint64_t bytes = 64 * kMiB) {
    card_ = nullptr;  // it removes its path
    card_ = std::make_unique<FakeCard>(card_path_, bytes, 42);
  }
  void StartServer() {
    auto server = Server::Start(options_);
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->Run(); });
  }
  void StopServer() {
    if (server_ == nullptr) return;
    server_->Stop();
    thread_.join();
    server_ = nullptr;
  }
  std::unique_ptr<HostedClient> Open(uint32_t card = 0) {
    std::unique_ptr<HostedClient> c;
    const int err = HostedClient::Open(options_.socket, card, &c);
    EXPECT_EQ(err, 0);
    return c;
  }
  // Waits until the card is open-able again.
  std::unique_ptr<HostedClient> OpenSoon(uint32_t card = 0) {
    std::unique_ptr<HostedClient> c;
    for (uint64_t limit = InMs(5000); Now() < limit; usleep(10000)) {
      if (HostedClient::Open(options_.socket, card, &c) == 0) return c;
    }
    return nullptr;
  }

  // Open files, as the server counts them.
  uint32_t server_clients() const { return server_->open_files(); }

  std::string folder_, card_path_, card2_path_;
  Server::Options options_;
  std::unique_ptr<FakeCard> card_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_HOSTED_FIXTURE_H_
