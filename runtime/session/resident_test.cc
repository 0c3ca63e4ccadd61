// SPDX-License-Identifier: Apache-2.0
// Tensors that stay in the memory of a simulated card from run to run.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <numeric>

#include "absl/time/clock.h"
#include "runtime/session/session.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

constexpr uint64_t kBytes = 4096;
using Bytes = std::vector<uint8_t>;

absl::Time In(int seconds) { return absl::Now() + absl::Seconds(seconds); }

Bytes Counting(uint8_t first) {
  Bytes bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

class ResidentTest : public testing::Test {
 protected:
  void SetUp() override {
    device_ = OpenSim();
    ASSERT_NE(device_, nullptr);
    auto graph = LoadGraph(device_, package::Serialize(CopyPackage(kBytes)));
    ASSERT_TRUE(graph.ok()) << graph.status();
    graph_ = *std::move(graph);
  }
  std::shared_ptr<Resident> Make(uint64_t bytes = kBytes) {
    auto resident = MakeResident(device_, bytes);
    EXPECT_TRUE(resident.ok()) << resident.status();
    return resident.ok() ? *resident : nullptr;
  }
  static Bytes Read(Resident* resident) {
    Bytes bytes(resident->size());
    EXPECT_TRUE(resident->Read(bytes.data(), bytes.size()).ok());
    return bytes;
  }
  static TensorBuffer On(const std::string& name,
                         std::shared_ptr<Resident> resident) {
    return {name, nullptr, resident->size(), resident};
  }
  static TensorBuffer Host(const std::string& name, Bytes* bytes) {
    return {name, bytes->data(), bytes->size()};
  }
  std::shared_ptr<session::Run> Start(const TensorBuffer& x,
                                      const std::vector<TensorBuffer>& out) {
    auto run = graph_->Start({x}, out, nullptr);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *run : nullptr;
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<Graph> graph_;
};

TEST_F(ResidentTest, IsZeroThenWhatIsWritten) {
  for (const uint64_t bytes : {uint64_t{1}, kBytes, uint64_t{9'000'001}}) {
    const auto resident = Make(bytes);
    ASSERT_NE(resident, nullptr);
    EXPECT_EQ(Read(resident.get()), Bytes(bytes));
    Bytes data(bytes);
    std::iota(data.begin(), data.end(), 7);
    ASSERT_TRUE(resident->Write(data.data(), bytes).ok());
    EXPECT_EQ(Read(resident.get()), data);
  }
  EXPECT_FALSE(MakeResident(device_, 0).ok());
}

TEST_F(ResidentTest, IsInputAndOutput) {
  const auto from = Make(), to = Make();
  Bytes x = Counting(1), y(kBytes), w(256);
  // Beside outputs of the host, which keep theirs.
  ASSERT_TRUE(
      Start(Host("x", &x), {Host("w", &w), On("y", to)})->Wait(In(60)).ok());
  EXPECT_EQ(w[250], 250);
  EXPECT_EQ(Read(to.get()), x);
  ASSERT_TRUE(from->Write(Counting(9).data(), kBytes).ok());
  ASSERT_TRUE(Start(On("x", from), {Host("y", &y)})->Wait(In(60)).ok());
  EXPECT_EQ(y, Counting(9));
  const auto weights = Make(256);
  ASSERT_TRUE(
      Start(On("x", from), {On("w", weights), On("y", to)})->Wait(In(60)).ok());
  EXPECT_EQ(Read(to.get()), Counting(9));
  EXPECT_EQ(Read(weights.get()), w);
}

// A value goes round three tensors, fifty runs that nobody waits for; one of
// them is replaced on the way.
TEST_F(ResidentTest, RunsFollowEachOtherWithoutTheHost) {
  std::vector<std::shared_ptr<Resident>> ring = {Make(), Make(), Make()};
  ASSERT_TRUE(ring[0]->Write(Counting(3).data(), kBytes).ok());
  std::vector<std::shared_ptr<session::Run>> runs;
  for (size_t i = 0; i < 50; ++i) {
    runs.push_back(Start(On("x", ring[i % 3]), {On("y", ring[(i + 1) % 3])}));
    ASSERT_NE(runs.back(), nullptr);
  }
  EXPECT_EQ(Read(ring[50 % 3].get()), Counting(3)) << "behind all of them";
  for (const auto& run : runs) EXPECT_TRUE(run->Wait(In(60)).ok());
  Bytes fresh = Counting(200);
  const auto last = Start(Host("x", &fresh), {On("y", ring[0])});
  const auto same = Start(On("x", ring[0]), {On("y", ring[0])});
  EXPECT_EQ(Read(ring[0].get()), fresh);
  EXPECT_TRUE(last->Wait(In(60)).ok() && same->Wait(In(60)).ok());
}

// Of two models, and destroyed while runs need it.
TEST_F(ResidentTest, IsHeldByItsRuns) {
  auto other = LoadGraph(device_, package::Serialize(CopyPackage(kBytes)));
  ASSERT_TRUE(other.ok()) << other.status();
  const uint64_t used = device_->memory()->used;
  auto resident = Make();
  Bytes x = Counting(5), y(kBytes);
  const auto first = Start(Host("x", &x), {On("y", resident)});
  auto second = (*other)->Start({On("x", resident)}, {Host("y", &y)}, nullptr);
  ASSERT_TRUE(second.ok()) << second.status();
  resident.reset();
  EXPECT_TRUE((*second)->Wait(In(60)).ok());
  EXPECT_TRUE(first->Wait(In(60)).ok());
  EXPECT_EQ(y, x);
  EXPECT_EQ(device_->memory()->used, used);
}

TEST_F(ResidentTest, RefusesWhatDoesNotFit) {
  const auto resident = Make(), small = Make(16);
  Bytes x = Counting(1);
  const auto status = [&](const TensorBuffer& in, const TensorBuffer& out,
                          const RunOptions& options = {}) {
    return graph_->Start({in}, {out}, nullptr, options).status();
  };
  const TensorBuffer y = On("y", resident);
  EXPECT_TRUE(absl::IsInvalidArgument(status(On("x", small), y)));
  TensorBuffer wrong = On("x", small);
  wrong.size = kBytes;
  EXPECT_TRUE(absl::IsInvalidArgument(status(wrong, y)));
  wrong = y;
  wrong.data = x.data();
  EXPECT_TRUE(absl::IsInvalidArgument(status(Host("x", &x), wrong)));
  EXPECT_FALSE(resident->Write(x.data(), 17).ok());
  EXPECT_FALSE(resident->Read(x.data(), 17).ok());
  const auto stranger = OpenDevice(device_->description().id);
  ASSERT_TRUE(stranger.ok()) << stranger.status();
  const auto its = MakeResident(*stranger, kBytes);
  ASSERT_TRUE(its.ok()) << its.status();
  EXPECT_TRUE(absl::IsInvalidArgument(status(Host("x", &x), On("y", *its))));
  RunOptions traced;
  traced.trace = true;
  EXPECT_FALSE(status(Host("x", &x), y, traced).ok());
  // And what fits still runs.
  EXPECT_TRUE(Start(Host("x", &x), {y})->Wait(In(60)).ok());
}

TEST_F(ResidentTest, TheCardMayGo) {
  char folder[] = "/tmp/hrt-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  device_ = OpenSim("serial=12,control=" + control);
  ASSERT_NE(device_, nullptr);
  const auto resident = Make();
  ASSERT_NE(resident, nullptr);
  ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
  Bytes bytes(kBytes);
  absl::Status status;
  for (int i = 0; i < 500 && status.ok(); ++i) {
    status = resident->Read(bytes.data(), bytes.size());
    usleep(10'000);
  }
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  unlink(control.c_str());
  rmdir(folder);
}

// In the middle of a stream of runs: those that are queued end, with one
// status, and hold nothing.
TEST_F(ResidentTest, TheCardMayGoFromAStream) {
  char folder[] = "/tmp/hrt-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  device_ = OpenSim("serial=14,control=" + control);
  ASSERT_NE(device_, nullptr);
  auto graph = LoadGraph(device_, package::Serialize(CopyPackage(kBytes)));
  ASSERT_TRUE(graph.ok()) << graph.status();
  graph_ = *std::move(graph);
  const std::vector<std::shared_ptr<Resident>> ring = {Make(), Make()};
  std::vector<std::shared_ptr<session::Run>> runs;
  absl::Status refused;
  for (size_t i = 0; i < 200'000 && refused.ok(); ++i) {
    if (i == 100) {
      ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
    }
    auto run = graph_->Start({On("x", ring[i % 2])}, {On("y", ring[1 - i % 2])},
                             nullptr);
    if (run.ok()) {
      runs.push_back(*std::move(run));
    } else if (absl::IsResourceExhausted(run.status())) {
      usleep(1'000);
    } else {
      refused = run.status();
    }
  }
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  bool gone = false;
  for (const auto& run : runs) {
    const absl::Status status = run->Wait(In(60));
    EXPECT_TRUE(absl::IsUnavailable(status) || (status.ok() && !gone))
        << "nothing behind what is lost: " << status;
    gone = !status.ok();
    if (gone) continue;
    EXPECT_EQ(run->statistics().bytes_on_card, 2 * kBytes);
    EXPECT_EQ(run->statistics().bytes_in + run->statistics().bytes_out, 0u);
    EXPECT_EQ(run->statistics().bytes_by_host, 0u);
  }
  runs.clear();
  EXPECT_EQ(ring[0].use_count(), 1);
  unlink(control.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace heddle::session
