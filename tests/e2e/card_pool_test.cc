// SPDX-License-Identifier: Apache-2.0
// Two cards of a heddle-hosted under load of eight clients, and one of them is
// unplugged: who runs on the other one loses nothing; who runs on both loses
// what was in flight on the one, and goes on; who runs on that one is told.
#include "runtime/session/card_pool.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/session/test_package.h"
#include "tests/e2e/product.h"
#include "tests/support/virtual_card.h"

namespace heddle::tests {
namespace {

using session::CardPool;
using session::TensorBuffer;

constexpr size_t kBytes = 1024;
constexpr size_t kClients = 8;

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) throw std::runtime_error(value.status().ToString());
  return *std::move(value);
}

// Two cards, of which one goes and comes.
class TwoCards {
 public:
  TwoCards() {
    for (int i = 0; i < 2; ++i) Plug(i);
    driver_ = std::make_unique<HostedDriver>(
        folder_ / "driver", std::vector<std::string>{Socket(0), Socket(1)});
  }
  std::string device() const { return driver_->device(); }
  std::string device(size_t card) const {
    return device() + "#" + std::to_string(card);
  }
  void Plug(size_t card) {
    cards_[card].reset();
    CardOptions options;
    options.serial = static_cast<int>(card) + 1;
    cards_[card] = std::make_unique<VirtualCard>(Socket(card), options);
  }
  void Unplug(size_t card) { cards_[card]->Kill(); }
  // Jobs that a card has done.
  int Jobs(size_t card) const {
    return nlohmann::json::parse(cards_[card]->Control("status")).at("jobs");
  }

 private:
  std::string Socket(size_t card) const {
    return folder_ / ("card" + std::to_string(card));
  }
  TempFolder folder_;
  std::unique_ptr<VirtualCard> cards_[2];
  std::unique_ptr<HostedDriver> driver_;
};

// A client of the driver, with a connection and a thread of its own. It keeps
// some runs in flight, each with other values, and looks at every result.
class Client {
 public:
  // On one card.
  Client(const std::string& device, uint32_t seed, size_t in_flight)
      : Client(seed, in_flight) {
    const std::string bytes = package::Serialize(session::CopyPackage(kBytes));
    graph_ = Must(session::LoadGraph(Must(session::OpenDevice(device)), bytes));
  }
  // On several.
  Client(const std::vector<std::string>& devices, uint32_t seed,
         size_t in_flight)
      : Client(seed, in_flight) {
    const auto bytes = std::make_shared<const std::string>(
        package::Serialize(session::CopyPackage(kBytes)));
    std::vector<std::shared_ptr<session::Device>> opened;
    for (const std::string& device : devices) {
      opened.push_back(Must(session::OpenDevice(device)));
    }
    session::CardPoolOptions options;
    options.look_again = absl::Milliseconds(20);
    pool_ = Must(CardPool::Load(opened, *bytes, bytes, options));
    graph_ = pool_;
  }
  ~Client() { Stop(); }

  void Begin() {
    thread_ = std::thread([this] { Work(); });
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  CardPool* pool() { return pool_.get(); }
  uint64_t done() const { return done_; }
  // Behind Stop(): runs that were accepted and ended as they must not; those
  // that ended with Unavailable; the status that Start refused one with.
  uint64_t wrong() const { return wrong_; }
  uint64_t lost() const { return lost_; }
  const absl::Status& refused() const { return refused_; }
  size_t in_flight() const { return jobs_.size(); }

 private:
  struct Job {
    std::vector<uint8_t> x, y;
    std::shared_ptr<session::Run> run;
  };
  Client(uint32_t seed, size_t in_flight) : random_(seed), jobs_(in_flight) {}

  bool Start(Job* job) {
    job->x.resize(kBytes);
    for (uint8_t& byte : job->x) byte = static_cast<uint8_t>(random_());
    job->y.assign(kBytes, 0);
    auto run = graph_->Start({{"x", job->x.data(), kBytes}},
                             {{"y", job->y.data(), kBytes}}, nullptr);
    if (run.ok()) {
      job->run = *std::move(run);
    } else {
      refused_ = run.status();
    }
    return run.ok();
  }
  void End(Job* job) {
    if (job->run == nullptr) return;
    const absl::Status status = job->run->Wait(absl::InfiniteFuture());
    job->run.reset();
    if (absl::IsUnavailable(status)) {
      ++lost_;
    } else if (!status.ok() || job->x != job->y) {
      ++wrong_;
    } else {
      ++done_;
    }
  }
  void Work() {
    for (size_t i = 0; !stop_; i = (i + 1) % jobs_.size()) {
      End(&jobs_[i]);
      if (!Start(&jobs_[i])) break;
    }
    for (Job& job : jobs_) End(&job);
  }

  std::mt19937 random_;
  std::shared_ptr<CardPool> pool_;
  std::shared_ptr<session::Graph> graph_;
  std::vector<Job> jobs_;
  std::atomic<uint64_t> done_{0};
  uint64_t wrong_ = 0, lost_ = 0;
  absl::Status refused_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class CardPoolUnderLoad : public testing::TestWithParam<uint32_t> {};

TEST_P(CardPoolUnderLoad, ACardThatGoesLosesItsOwnRunsOnly) {
  std::mt19937 random(GetParam());
  TwoCards cards;
  UseDevice(cards.device());
  const size_t victim = random() % 2, other = 1 - victim;
  std::vector<std::unique_ptr<Client>> on_other, on_victim, on_both;
  for (size_t i = 0; i < kClients; ++i) {
    const uint32_t seed = random();
    const size_t in_flight = 1 + random() % 4;
    if (i < 3) {
      on_other.push_back(
          std::make_unique<Client>(cards.device(other), seed, in_flight));
    } else if (i < 5) {
      on_victim.push_back(
          std::make_unique<Client>(cards.device(victim), seed, in_flight));
    } else {
      on_both.push_back(std::make_unique<Client>(
          std::vector<std::string>{cards.device(0), cards.device(1)}, seed,
          in_flight));
    }
  }
  const std::vector<const std::vector<std::unique_ptr<Client>>*> all = {
      &on_other, &on_victim, &on_both};
  const auto each = [&](const auto& have, uint64_t runs) {
    for (const auto* clients : have) {
      for (const auto& client : *clients) {
        if (client->done() < runs) return false;
      }
    }
    return true;
  };
  for (const auto* clients : all) {
    for (const auto& client : *clients) client->Begin();
  }
  // Everybody works, and then it goes, somewhere in the middle.
  const uint64_t before = 5 + random() % 100;
  ASSERT_TRUE(Eventually([&] { return each(all, before); }));
  cards.Unplug(victim);
  for (const auto& client : on_victim) client->Stop();

  // The others go on, those on both with one card.
  const auto more = [&](const std::vector<std::unique_ptr<Client>>& clients) {
    std::vector<uint64_t> want;
    for (const auto& client : clients) want.push_back(client->done() + 50);
    return Eventually([&] {
      for (size_t i = 0; i < clients.size(); ++i) {
        if (clients[i]->done() < want[i]) return false;
      }
      return true;
    });
  };
  EXPECT_TRUE(more(on_other));
  EXPECT_TRUE(more(on_both));
  for (const auto& client : on_both) {
    EXPECT_TRUE(Eventually(
        [&] { return client->pool()->Cards()[victim].device == nullptr; }));
  }
  // It comes back, and gets runs again.
  std::vector<uint64_t> started;
  for (const auto& client : on_both) {
    started.push_back(client->pool()->Cards()[victim].started);
  }
  cards.Plug(victim);
  for (size_t i = 0; i < on_both.size(); ++i) {
    EXPECT_TRUE(Eventually([&] {
      return on_both[i]->pool()->Cards()[victim].started > started[i] + 10;
    }));
  }
  for (const auto* clients : all) {
    for (const auto& client : *clients) client->Stop();
  }

  for (const auto& client : on_other) {
    EXPECT_EQ(client->lost(), 0u);
    EXPECT_EQ(client->wrong(), 0u);
    EXPECT_TRUE(client->refused().ok()) << client->refused();
  }
  for (const auto& client : on_both) {
    EXPECT_LE(client->lost(), client->in_flight());
    EXPECT_EQ(client->wrong(), 0u);
    EXPECT_TRUE(client->refused().ok()) << client->refused();
    const auto state = client->pool()->Cards();
    EXPECT_EQ(state[victim].lost, client->lost());
    EXPECT_EQ(state[other].lost, 0u);
    EXPECT_EQ(state[0].started + state[1].started,
              client->done() + client->lost());
  }
  for (const auto& client : on_victim) {
    EXPECT_LE(client->lost(), client->in_flight());
    EXPECT_EQ(client->wrong(), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, CardPoolUnderLoad, testing::Values(1, 2, 3, 4));

// A card that comes back as another one is not taken, and the pool says why.
TEST(CardPool, SaysWhyACardStaysOut) {
  TempFolder folder;
  auto first = std::make_unique<VirtualCard>(folder / "card0", CardOptions());
  VirtualCard second(folder / "card1", {.serial = 2});
  HostedDriver driver(folder / "driver", {folder / "card0", folder / "card1"});
  UseDevice(driver.device());
  Client client({driver.device() + "#0", driver.device() + "#1"}, 1, 2);
  client.Begin();
  ASSERT_TRUE(Eventually([&] { return client.done() > 20; }));
  first->Kill();
  first = std::make_unique<VirtualCard>(folder / "card0",
                                        CardOptions{.config = "h512"});
  EXPECT_TRUE(Eventually([&] {
    return absl::IsFailedPrecondition(client.pool()->Cards()[0].status);
  })) << client.pool()->Cards()[0].status;
  const uint64_t done = client.done();
  EXPECT_TRUE(Eventually([&] { return client.done() > done + 20; }));
  client.Stop();
  EXPECT_TRUE(client.refused().ok()) << client.refused();
  EXPECT_EQ(client.wrong(), 0u);
}

// The same with eight processes of heddle-run.
TEST(CardPool, ProcessesOnTheOtherCardLoseNothing) {
  TempFolder folder;
  const std::string package = folder / "digits.hpk";
  ASSERT_EQ(HeddleCompile({Digits("digits_int8.onnx"), "-o", package}).code, 0);
  for (const size_t victim : {0, 1}) {
    SCOPED_TRACE(victim);
    TwoCards cards;
    const auto start = [&](std::vector<std::string> arguments) {
      Command command;
      command.argv = {Runfile("tools/heddle-run/heddle-run"), package,
                      "--bench", "400", "--json"};
      command.argv.insert(command.argv.end(), arguments.begin(),
                          arguments.end());
      return Process::Start(command);
    };
    std::vector<std::unique_ptr<Process>> on_other, on_victim, on_both;
    for (int i = 0; i < 3; ++i) {
      on_other.push_back(start({"--device", cards.device(1 - victim)}));
      on_victim.push_back(start({"--device", cards.device(victim)}));
    }
    on_both.push_back(start({"--device", cards.device(), "--devices", "all"}));
    on_both.push_back(start(
        {"--device", cards.device(), "--devices", "all", "--in-flight", "8"}));
    // Who has not begun by then finds one card less, which is right, too.
    ASSERT_TRUE(Eventually([&] { return cards.Jobs(victim) > 100; },
                           absl::Seconds(60)));
    cards.Unplug(victim);
    const absl::Duration limit = absl::Seconds(60) * TimeFactor();
    for (const auto& process : on_victim) {
      EXPECT_EQ(process->Wait(limit), 3) << process->err();
    }
    for (const auto& process : on_other) {
      ASSERT_EQ(process->Wait(limit), 0) << process->err();
      const auto bench = nlohmann::json::parse(process->out()).at("bench");
      EXPECT_EQ(bench.at("runs"), 400);
      EXPECT_EQ(bench.at("lost"), 0);
    }
    for (const auto& process : on_both) {
      ASSERT_EQ(process->Wait(limit), 0) << process->err();
      const auto bench = nlohmann::json::parse(process->out()).at("bench");
      EXPECT_EQ(bench.at("runs"), 400);
      EXPECT_LE(bench.at("lost"), bench.at("in_flight"));
    }
  }
}

}  // namespace
}  // namespace heddle::tests
