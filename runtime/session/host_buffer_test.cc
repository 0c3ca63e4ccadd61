// SPDX-License-Identifier: Apache-2.0
// Runs whose tensors are in host memory that a simulated card reaches: the same
// bytes as with other memory, and no copy but the transfers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <numeric>

#include "absl/time/clock.h"
#include "runtime/session/session.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

constexpr uint64_t kBytes = 4096, kWeights = 256;
using Bytes = std::vector<uint8_t>;

absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

Bytes Counting(uint8_t first) {
  Bytes bytes(kBytes);
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

class HostBufferTest : public testing::Test {
 protected:
  void SetUp() override { Open(""); }
  void Open(const std::string& options) {
    device_ = OpenSim(options);
    ASSERT_NE(device_, nullptr);
    graph_ = Load(CopyPackage(kBytes, kWeights));
    ASSERT_NE(graph_, nullptr);
  }
  std::shared_ptr<Graph> Load(const package::Package& package) {
    auto graph = LoadGraph(device_, package::Serialize(package));
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *graph : nullptr;
  }
  std::shared_ptr<HostBuffer> Make(uint64_t bytes = kBytes) {
    auto made = MakeHostBuffer(device_, bytes);
    EXPECT_TRUE(made.ok()) << made.status();
    return made.ok() ? *made : nullptr;
  }
  // `size` bytes of it, from `at` on.
  static TensorBuffer In(const std::string& name,
                         const std::shared_ptr<HostBuffer>& host,
                         uint64_t at = 0, uint64_t size = kBytes) {
    return {name, host->data() + at, size, nullptr, host};
  }
  static TensorBuffer Of(const std::string& name, Bytes* bytes) {
    return {name, bytes->data(), bytes->size()};
  }
  static std::shared_ptr<session::Run> Start(
      Graph* graph, const std::vector<TensorBuffer>& in,
      const std::vector<TensorBuffer>& out) {
    auto run = graph->Start(in, out, nullptr);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *run : nullptr;
  }
  std::shared_ptr<session::Run> Start(const TensorBuffer& x,
                                      const std::vector<TensorBuffer>& out) {
    return Start(graph_.get(), {x}, out);
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<Graph> graph_;
};

void Put(const Bytes& bytes, uint8_t* to) {
  std::memcpy(to, bytes.data(), bytes.size());
}
Bytes Get(const uint8_t* from, uint64_t size = kBytes) {
  return Bytes(from, from + size);
}

// One piece of memory for all tensors of a run, at odd places.
TEST_F(HostBufferTest, IsReadAndWrittenWithoutCopies) {
  Bytes x = Counting(1), y(kBytes), w(kWeights);
  const auto plain = Start(Of("x", &x), {Of("w", &w), Of("y", &y)});
  ASSERT_TRUE(plain->Wait(Soon()).ok());
  EXPECT_EQ(plain->statistics().bytes_by_host, 2 * kBytes + kWeights);
  EXPECT_GE(plain->statistics().bytes_in, kBytes);

  const auto host = Make(3 * kBytes);
  EXPECT_EQ(Get(host->data(), host->size()), Bytes(3 * kBytes)) << "zeros";
  constexpr uint64_t kX = 7, kY = kX + kBytes + 1, kW = kY + kBytes + 3;
  Put(x, host->data() + kX);
  const auto bound = Start(In("x", host, kX),
                           {In("w", host, kW, kWeights), In("y", host, kY)});
  ASSERT_TRUE(bound->Wait(Soon()).ok());
  EXPECT_EQ(Get(host->data() + kY), y);
  EXPECT_EQ(Get(host->data() + kW, kWeights), w);
  EXPECT_EQ(Get(host->data() + kX), x);
  EXPECT_EQ(host->data()[kY - 1], 0) << "beside the tensors nothing is written";
  EXPECT_EQ(host->data()[kY + kBytes], 0);
  const RunStatistics s = bound->statistics();
  EXPECT_EQ(s.bytes_by_host, 0u);
  EXPECT_EQ(s.bytes_in, kBytes);
  EXPECT_EQ(s.bytes_out, kBytes + kWeights);
  EXPECT_EQ(s.bytes_on_card, 0u);
}

TEST_F(HostBufferTest, StandsBesideOtherTensors) {
  const auto host = Make();
  auto resident = MakeResident(device_, kBytes);
  ASSERT_TRUE(resident.ok()) << resident.status();
  Put(Counting(9), host->data());
  Bytes w(kWeights);
  const auto to_card = Start(
      In("x", host), {Of("w", &w), {"y", nullptr, kBytes, *resident, nullptr}});
  ASSERT_TRUE(to_card->Wait(Soon()).ok());
  EXPECT_EQ(w[250], 250);
  EXPECT_EQ(to_card->statistics().bytes_in, kBytes);
  EXPECT_EQ(to_card->statistics().bytes_on_card, kBytes);
  EXPECT_EQ(to_card->statistics().bytes_by_host, kWeights);
  Put(Bytes(kBytes), host->data());
  const auto to_host =
      Start({"x", nullptr, kBytes, *resident, nullptr}, {In("y", host)});
  ASSERT_TRUE(to_host->Wait(Soon()).ok());
  EXPECT_EQ(Get(host->data()), Counting(9));
  EXPECT_EQ(to_host->statistics().bytes_in, 0u);
  EXPECT_EQ(to_host->statistics().bytes_out, kBytes);
  EXPECT_EQ(to_host->statistics().bytes_by_host, 0u);
}

// Fifty runs of two models that nobody waits for, each of which reads what the
// one before wrote; one computes in place.
TEST_F(HostBufferTest, RunsFollowEachOther) {
  const auto other = Load(CopyPackage(kBytes));
  ASSERT_NE(other, nullptr);
  const std::vector<std::shared_ptr<HostBuffer>> ring = {Make(), Make(),
                                                         Make()};
  Put(Counting(3), ring[0]->data());
  std::vector<std::shared_ptr<session::Run>> runs;
  for (size_t i = 0; i < 50; ++i) {
    runs.push_back(Start(i % 2 == 0 ? graph_.get() : other.get(),
                         {In("x", ring[i % 3])}, {In("y", ring[(i + 1) % 3])}));
    ASSERT_NE(runs.back(), nullptr);
  }
  runs.push_back(Start(In("x", ring[2]), {In("y", ring[2])}));
  for (const auto& run : runs) {
    EXPECT_TRUE(run->Wait(Soon()).ok());
    EXPECT_EQ(run->statistics().bytes_by_host, 0u);
  }
  EXPECT_EQ(Get(ring[2]->data()), Counting(3));
}

TEST_F(HostBufferTest, IsHeldByItsRuns) {
  auto host = Make(2 * kBytes);
  Put(Counting(5), host->data());
  Bytes y(kBytes);
  const auto first = Start(In("x", host), {In("y", host, kBytes)});
  const auto second = Start(In("x", host, kBytes), {Of("y", &y)});
  host.reset();
  EXPECT_TRUE(second->Wait(Soon()).ok());
  EXPECT_TRUE(first->Wait(Soon()).ok());
  EXPECT_EQ(y, Counting(5));
}

// Segments of the host compute in the caller's memory; those of the card
// transfer from it and to it.
TEST_F(HostBufferTest, IsWhatSegmentsComputeWith) {
  const auto split = Load(SegmentedPackage(kBytes));
  ASSERT_NE(split, nullptr);
  Bytes h = Counting(1), x(kBytes), z(kBytes), w(kWeights);
  const auto plain = Start(split.get(), {Of("h", &h)},
                           {Of("x", &x), Of("z", &z), Of("w", &w)});
  ASSERT_TRUE(plain->Wait(Soon()).ok());

  const auto host = Make(4 * kBytes);
  Put(h, host->data());
  const auto bound = Start(split.get(), {In("h", host)},
                           {In("x", host, kBytes), In("z", host, 2 * kBytes),
                            In("w", host, 3 * kBytes, kWeights)});
  ASSERT_TRUE(bound->Wait(Soon()).ok());
  EXPECT_EQ(Get(host->data() + kBytes), x);
  EXPECT_EQ(Get(host->data() + 2 * kBytes), z);
  EXPECT_EQ(Get(host->data() + 3 * kBytes, kWeights), w);
  // What is left is between the segments: "y", from the card.
  EXPECT_EQ(bound->statistics().bytes_by_host, kBytes);
  EXPECT_EQ(bound->statistics().bytes_in, kBytes);
  // 4 copies of the caller's tensors, "x" to the card, and "w" and "y" from it.
  EXPECT_EQ(plain->statistics().bytes_by_host, 5 * kBytes + 2 * kWeights);

  // In place: not written before all have read it.
  const auto same = Start(split.get(), {In("h", host)}, {In("z", host)});
  ASSERT_TRUE(same->Wait(Soon()).ok());
  EXPECT_EQ(Get(host->data()), z);
}

// Values that the host has checked do not change behind that.
TEST_F(HostBufferTest, Int64IsReadAtTheStart) {
  const auto table = Load(LookUpPackage());
  ASSERT_NE(table, nullptr);
  const auto host = Make(16);
  const int64_t index = 7, far = 1 << 20;
  std::memcpy(host->data(), &index, sizeof(index));
  const auto run = Start(table.get(), {In("i", host, 0, sizeof(index))},
                         {In("o", host, 8, 1)});
  std::memcpy(host->data(), &far, sizeof(far));
  ASSERT_TRUE(run->Wait(Soon()).ok());
  EXPECT_EQ(host->data()[8], 255 - 7);
}

TEST_F(HostBufferTest, RefusesWhatDoesNotFit) {
  const auto host = Make();
  Bytes y(kBytes);
  const auto status = [&](const TensorBuffer& in) {
    const auto started = graph_->Start({in}, {Of("y", &y)}, nullptr);
    EXPECT_TRUE(absl::IsInvalidArgument(started.status())) << started.status();
  };
  status(In("x", host, 1));                        // beyond its end
  status({"x", y.data(), kBytes, nullptr, host});  // elsewhere
  status({"x", nullptr, kBytes, nullptr, host});   // nowhere
  status({"x", host->data() - 1, kBytes, nullptr, host});
  status({"x", host->data(), 16, nullptr, host});  // too small a tensor
  auto resident = MakeResident(device_, kBytes);
  ASSERT_TRUE(resident.ok());
  status({"x", nullptr, kBytes, *resident, host});  // two places
  EXPECT_FALSE(MakeHostBuffer(device_, 0).ok());
  EXPECT_FALSE(MakeHostBuffer(nullptr, kBytes).ok());
  const auto stranger = OpenDevice(device_->description().id);
  ASSERT_TRUE(stranger.ok()) << stranger.status();
  const auto its = MakeHostBuffer(*stranger, kBytes);
  ASSERT_TRUE(its.ok()) << its.status();
  status(In("x", *its));
  const auto split = Load(SegmentedPackage(kBytes));
  ASSERT_NE(split, nullptr);
  EXPECT_TRUE(absl::IsInvalidArgument(
      split->Start({In("h", *its)}, {}, nullptr).status()));
  EXPECT_TRUE(Start(In("x", host), {Of("y", &y)})->Wait(Soon()).ok());
}

// A run that is cancelled lets go of the caller's memory when it has ended.
TEST_F(HostBufferTest, ARunMayBeCancelled) {
  const auto endless = Load(EndlessPackage(true, kBytes));
  ASSERT_NE(endless, nullptr);
  auto host = Make();
  Put(Counting(2), host->data());
  std::vector<TensorBuffer> in, out;
  for (const auto& t : endless->package().inputs) {
    in.push_back(In(t.name, host, 0, t.size));
  }
  const auto run = Start(endless.get(), in, out);
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      run->Wait(absl::Now() + absl::Milliseconds(50))));
  EXPECT_GT(host.use_count(), 1);
  run->Cancel();
  EXPECT_TRUE(absl::IsCancelled(run->Wait(Soon())));
  for (int i = 0; i < 500 && host.use_count() > 1 + 1; ++i) usleep(10'000);
  in.clear();
  EXPECT_EQ(host.use_count(), 1);
  EXPECT_EQ(Get(host->data()), Counting(2));
}

// Jobs in flight end when the card goes; the memory is still there.
TEST_F(HostBufferTest, TheCardMayGo) {
  char folder[] = "/tmp/hhb-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  Open("serial=13,control=" + control);
  ASSERT_NE(graph_, nullptr);
  const auto host = Make();
  Put(Counting(4), host->data());
  std::vector<std::shared_ptr<session::Run>> runs;
  absl::Status refused;
  const auto fill = [&] {
    for (int i = 0; i < 40 && refused.ok(); ++i) {
      auto run = graph_->Start({In("x", host)}, {In("y", host)}, nullptr);
      refused = run.status();
      if (run.ok()) runs.push_back(*std::move(run));
    }
    if (absl::IsResourceExhausted(refused)) refused = absl::OkStatus();
  };
  fill();
  ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
  for (int i = 0; i < 500 && refused.ok(); ++i) {
    fill();
    usleep(10'000);
  }
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  for (const auto& run : runs) {
    const absl::Status status = run->Wait(Soon());
    EXPECT_TRUE(status.ok() || absl::IsUnavailable(status)) << status;
  }
  EXPECT_EQ(Get(host->data()), Counting(4));
  runs.clear();
  EXPECT_EQ(host.use_count(), 1);
  EXPECT_FALSE(MakeHostBuffer(device_, kBytes).ok());
  unlink(control.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace heddle::session
