// SPDX-License-Identifier: Apache-2.0
// A package on two simulated cards of this process, one of which is unplugged
// and plugged. Under load, and with other clients: tests/e2e/card_pool_test.cc.
#include "runtime/session/card_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <numeric>
#include <thread>

#include "absl/time/clock.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

constexpr uint64_t kBytes = 256;
using Bytes = std::vector<uint8_t>;

absl::Time Soon() { return absl::Now() + absl::Seconds(120); }

bool Eventually(const std::function<bool()>& condition) {
  for (const absl::Time end = Soon(); !condition();) {
    if (absl::Now() > end) return false;
    absl::SleepFor(absl::Milliseconds(2));
  }
  return true;
}

// Two cards of their own for each test; card 0 has a control socket.
class CardPoolTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_), nullptr);
    control_ = std::string(folder_) + "/ctl";
    const std::string cards = "sim:cards=2,control=" + control_;
    for (const char* card : {"#0", "#1"}) {
      auto device = OpenDevice(cards + card);
      ASSERT_TRUE(device.ok()) << device.status();
      devices_.push_back(*std::move(device));
    }
  }
  void TearDown() override {
    unlink(control_.c_str());
    rmdir(folder_);
  }

  std::shared_ptr<CardPool> Load(const package::Package& package,
                                 const CardPoolOptions& options = {}) {
    auto pool = TryLoad(devices_, package, options);
    EXPECT_TRUE(pool.ok()) << pool.status();
    return pool.ok() ? *std::move(pool) : nullptr;
  }
  static absl::StatusOr<std::shared_ptr<CardPool>> TryLoad(
      const std::vector<std::shared_ptr<Device>>& devices,
      const package::Package& package, const CardPoolOptions& options = {}) {
    const auto bytes =
        std::make_shared<const std::string>(package::Serialize(package));
    return CardPool::Load(devices, *bytes, bytes, options);
  }
  void Say(const std::string& line) {
    ASSERT_NE(Control(control_, line).find("true"), std::string::npos);
  }

  char folder_[16] = "/tmp/hcp-XXXXXX";
  std::string control_;
  std::vector<std::shared_ptr<Device>> devices_;
};

// Storage of one inference of CopyPackage(kBytes).
struct Job {
  explicit Job(uint8_t first) : x(kBytes), y(kBytes) {
    std::iota(x.begin(), x.end(), first);
  }
  std::vector<TensorBuffer> inputs() { return {{"x", x.data(), x.size()}}; }
  std::vector<TensorBuffer> outputs() { return {{"y", y.data(), y.size()}}; }
  absl::Status Run(Graph* graph) {
    auto run = graph->Start(inputs(), outputs(), nullptr);
    if (!run.ok()) return run.status();
    absl::Status status = (*run)->Wait(Soon());
    if (status.ok() && x != y) return absl::DataLossError("not a copy");
    return status;
  }
  Bytes x, y;
};

TEST_F(CardPoolTest, CardsTakeTurns) {
  const auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->package().inputs[0].name, "x");
  EXPECT_EQ(pool->device_bytes(), devices_[0]->memory()->used);
  EXPECT_EQ(devices_[1]->memory()->used, devices_[0]->memory()->used);
  for (uint8_t i = 0; i < 10; ++i) ASSERT_TRUE(Job(i).Run(pool.get()).ok());
  for (const CardPool::Card& card : pool->Cards()) {
    EXPECT_EQ(card.started, 5u) << card.id;
    EXPECT_EQ(card.in_flight, 0u);
    EXPECT_TRUE(card.status.ok());
    EXPECT_NE(card.device, nullptr);
  }
}

TEST_F(CardPoolTest, WhoHasFewestInFlightGetsTheNext) {
  auto pool = Load(EndlessPackage(false, kBytes));
  ASSERT_NE(pool, nullptr);
  Bytes h(kBytes), z(kBytes);
  const auto start = [&] {
    return pool->Start({{"h", h.data(), kBytes}}, {{"z", z.data(), kBytes}},
                       nullptr);
  };
  std::vector<std::shared_ptr<session::Run>> runs;
  for (size_t i = 0; i < 2 * kMaxRunsInFlight; ++i) {
    auto run = start();
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*std::move(run));
    const auto cards = pool->Cards();
    EXPECT_EQ(cards[0].in_flight + cards[1].in_flight, i + 1);
    EXPECT_LE(cards[0].in_flight, cards[1].in_flight + 1);
    EXPECT_LE(cards[1].in_flight, cards[0].in_flight + 1);
  }
  const absl::Status full = start().status();
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_EQ(ExhaustedResource(full), ExhaustedKind::kDeviceResources);
  EXPECT_EQ(pool->Cards()[0].started + pool->Cards()[1].started, runs.size());
  // Where one ends, there is room again, and the next one goes there.
  runs[5]->Cancel();
  EXPECT_TRUE(absl::IsCancelled(runs[5]->Wait(Soon())));
  auto next = start();
  ASSERT_TRUE(next.ok()) << next.status();
  EXPECT_EQ(pool->Cards()[0].in_flight, kMaxRunsInFlight);
  EXPECT_EQ(pool->Cards()[1].in_flight, kMaxRunsInFlight);
  pool.reset();
  EXPECT_TRUE(absl::IsCancelled((*next)->Wait(Soon())));
  EXPECT_TRUE(absl::IsCancelled(runs[0]->Wait(Soon())));
}

TEST_F(CardPoolTest, ACardThatGoesLosesOnlyItsOwnAndComesBack) {
  const auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  // Card 0 is first, and does not finish.
  Say("fault stuck_engine");
  Job stuck(1);
  std::atomic<int> told{0};
  absl::Status status_told;
  auto lost = pool->Start(stuck.inputs(), stuck.outputs(),
                          [&](const absl::Status& status) {
                            status_told = status;
                            ++told;
                          });
  ASSERT_TRUE(lost.ok()) << lost.status();
  for (uint8_t i = 0; i < 5; ++i) ASSERT_TRUE(Job(i).Run(pool.get()).ok());
  EXPECT_EQ(pool->Cards()[1].started, 5u);
  Say("unplug");
  EXPECT_TRUE(absl::IsUnavailable((*lost)->Wait(Soon())));
  EXPECT_TRUE(Eventually([&] { return told == 1; }));
  EXPECT_TRUE(absl::IsUnavailable(status_told)) << status_told;
  EXPECT_EQ(stuck.y, Bytes(kBytes));
  for (uint8_t i = 0; i < 5; ++i) ASSERT_TRUE(Job(i).Run(pool.get()).ok());
  CardPool::Card card = pool->Cards()[0];
  EXPECT_EQ(card.device, nullptr);
  EXPECT_TRUE(absl::IsUnavailable(card.status)) << card.status;
  EXPECT_EQ(card.started, 1u);
  EXPECT_EQ(card.lost, 1u);
  EXPECT_EQ(pool->Cards()[1].lost, 0u);

  Say("plug");
  ASSERT_TRUE(Eventually([&] { return pool->Cards()[0].device != nullptr; }));
  for (uint8_t i = 0; i < 4; ++i) ASSERT_TRUE(Job(i).Run(pool.get()).ok());
  card = pool->Cards()[0];
  EXPECT_EQ(card.started, 3u);
  EXPECT_EQ(card.lost, 1u);
  EXPECT_TRUE(card.device->available());
  EXPECT_FALSE(devices_[0]->available());
}

TEST_F(CardPoolTest, WithoutACardRunsAreRefusedUntilOneIsThere) {
  devices_.pop_back();
  const auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  ASSERT_TRUE(Job(1).Run(pool.get()).ok());
  Say("unplug");
  ASSERT_TRUE(Eventually([&] { return pool->Cards()[0].device == nullptr; }));
  const absl::Status gone = Job(2).Run(pool.get());
  EXPECT_TRUE(absl::IsUnavailable(gone));
  EXPECT_NE(gone.message().find("no card is left"), std::string::npos) << gone;
  // Nor can it be loaded, with what is gone only.
  const absl::Status none = TryLoad(devices_, CopyPackage(kBytes)).status();
  EXPECT_TRUE(absl::IsUnavailable(none)) << none;
  Say("plug");
  ASSERT_TRUE(Eventually([&] { return pool->Cards()[0].device != nullptr; }));
  EXPECT_TRUE(Job(3).Run(pool.get()).ok());
}

TEST_F(CardPoolTest, IsNotLookedForIfNobodyWants) {
  CardPoolOptions options;
  options.look_again = absl::InfiniteDuration();
  const auto still = Load(CopyPackage(kBytes), options);
  options.look_again = absl::Milliseconds(1);
  const auto looks = Load(CopyPackage(kBytes), options);
  ASSERT_TRUE(still != nullptr && looks != nullptr);
  Say("unplug");
  ASSERT_TRUE(Eventually([&] { return still->Cards()[0].device == nullptr; }));
  Say("plug");
  ASSERT_TRUE(Eventually([&] { return looks->Cards()[0].device != nullptr; }));
  EXPECT_EQ(still->Cards()[0].device, nullptr);
  EXPECT_TRUE(Job(1).Run(still.get()).ok());
}

TEST_F(CardPoolTest, ADeviceThatIsGoneMayComeLater) {
  Say("unplug");
  ASSERT_TRUE(Eventually([&] { return !devices_[0]->available(); }));
  const auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  EXPECT_TRUE(absl::IsUnavailable(pool->Cards()[0].status));
  for (uint8_t i = 0; i < 3; ++i) EXPECT_TRUE(Job(i).Run(pool.get()).ok());
  EXPECT_EQ(pool->Cards()[1].started, 3u);
  Say("plug");
  ASSERT_TRUE(Eventually([&] { return pool->Cards()[0].device != nullptr; }));
}

TEST_F(CardPoolTest, ResidentTensorsPinARunToTheirCard) {
  const auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  const auto make = [&](size_t card) {
    auto made = MakeResident(pool->Cards()[card].device, kBytes);
    EXPECT_TRUE(made.ok()) << made.status();
    return *made;
  };
  const auto from = make(0), to = make(0), other = make(1);
  const auto on = [](const char* name, const std::shared_ptr<Resident>& r) {
    return TensorBuffer{name, nullptr, kBytes, r};
  };
  Bytes x(kBytes, 7), y(kBytes);
  ASSERT_TRUE(from->Write(x.data(), kBytes).ok());
  for (int i = 0; i < 6; ++i) {
    auto run = pool->Start({on("x", from)}, {on("y", to)}, nullptr);
    ASSERT_TRUE(run.ok()) << run.status();
    ASSERT_TRUE((*run)->Wait(Soon()).ok());
  }
  EXPECT_EQ(pool->Cards()[0].started, 6u);
  ASSERT_TRUE(to->Read(y.data(), kBytes).ok());
  EXPECT_EQ(y, x);
  // Of two cards, or of a device that is not the pool's.
  EXPECT_TRUE(absl::IsInvalidArgument(
      pool->Start({on("x", from)}, {on("y", other)}, nullptr).status()));
  const auto stranger = OpenDevice(devices_[0]->description().id);
  ASSERT_TRUE(stranger.ok());
  const auto its = MakeResident(*stranger, kBytes);
  ASSERT_TRUE(its.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(
      pool->Start({on("x", *its)}, {{"y", y.data(), kBytes}}, nullptr)
          .status()));
  EXPECT_EQ(pool->Cards()[0].in_flight + pool->Cards()[1].in_flight, 0u);
  Say("unplug");
  ASSERT_TRUE(Eventually([&] { return pool->Cards()[0].device == nullptr; }));
  EXPECT_TRUE(absl::IsUnavailable(
      pool->Start({on("x", from)}, {on("y", to)}, nullptr).status()));
  auto run = pool->Start({on("x", other)}, {{"y", y.data(), kBytes}}, nullptr);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE((*run)->Wait(Soon()).ok());
  EXPECT_EQ(y, Bytes(kBytes));
}

TEST_F(CardPoolTest, SaysWhatCannotBeLoaded) {
  EXPECT_TRUE(
      absl::IsInvalidArgument(TryLoad({}, CopyPackage(kBytes)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      TryLoad({devices_[0], nullptr}, CopyPackage(kBytes)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      TryLoad({devices_[0], devices_[0]}, CopyPackage(kBytes)).status()));
  const auto another = OpenSim("config=h512");
  ASSERT_NE(another, nullptr);
  const absl::Status status =
      TryLoad({devices_[0], another}, CopyPackage(kBytes)).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_NE(status.message().find("sim:config=h512#0: "), std::string::npos)
      << status;
  EXPECT_EQ(devices_[0]->memory()->used, 0u) << "nothing is left";
}

// Who waits in no thread: each callback starts the next run of its chain.
TEST_F(CardPoolTest, CallbacksStartRuns) {
  auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  constexpr int kChains = 8, kRuns = 20;
  std::atomic<int> left{kChains * kRuns}, wrong{0};
  struct Chain {
    Job job{0};
    int runs = 0;
    std::function<void(const absl::Status&)> next;
  };
  std::vector<std::unique_ptr<Chain>> chains;
  for (int c = 0; c < kChains; ++c) {
    Chain* chain = chains.emplace_back(std::make_unique<Chain>()).get();
    chain->next = [&, chain](const absl::Status& status) {
      if (!status.ok() || chain->job.x != chain->job.y) ++wrong;
      chain->job = Job(static_cast<uint8_t>(++chain->runs));
      const bool more = chain->runs < kRuns;
      if (more &&
          !pool->Start(chain->job.inputs(), chain->job.outputs(), chain->next)
               .ok()) {
        ++wrong;
      }
      --left;
    };
    ASSERT_TRUE(
        pool->Start(chain->job.inputs(), chain->job.outputs(), chain->next)
            .ok());
  }
  EXPECT_TRUE(Eventually([&] { return left == 0; }));
  EXPECT_EQ(wrong, 0);
  const auto cards = pool->Cards();
  EXPECT_EQ(cards[0].started + cards[1].started, unsigned{kChains * kRuns});
  EXPECT_GT(cards[0].started, 0u);
  EXPECT_GT(cards[1].started, 0u);
}

TEST_F(CardPoolTest, MayEndInACallback) {
  for (const bool unplugged : {false, true}) {
    auto pool = Load(CopyPackage(kBytes));
    ASSERT_NE(pool, nullptr);
    if (unplugged) Say("fault stuck_engine");
    Job job(1);
    std::atomic<bool> ended{false};
    auto* last = new std::shared_ptr<CardPool>(pool);
    const auto run = pool->Start(job.inputs(), job.outputs(),
                                 [&ended, last](const absl::Status&) {
                                   delete last;
                                   ended = true;
                                 });
    ASSERT_TRUE(run.ok()) << run.status();
    pool.reset();
    if (unplugged) Say("unplug");
    EXPECT_TRUE(Eventually([&] { return ended.load(); }));
  }
}

TEST_F(CardPoolTest, ForkIsSafe) {
  auto pool = Load(CopyPackage(kBytes));
  ASSERT_NE(pool, nullptr);
  Job job(1);
  auto run = pool->Start(job.inputs(), job.outputs(), nullptr);
  ASSERT_TRUE(run.ok());
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    bool good =
        absl::IsUnavailable((*run)->Wait(absl::InfiniteFuture())) &&
        absl::IsUnavailable(
            pool->Start(job.inputs(), job.outputs(), nullptr).status()) &&
        pool->Cards().empty();
    run = absl::UnknownError("");
    pool.reset();
    devices_.clear();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE((*run)->Wait(Soon()).ok());
  EXPECT_TRUE(job.Run(pool.get()).ok());
}

}  // namespace
}  // namespace heddle::session
