// SPDX-License-Identifier: Apache-2.0
// Resident tensors of packages that a simulated card and the host share: the
// same bytes as with host memory, in the order of the runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "absl/time/clock.h"
#include "runtime/session/session.h"
#include "runtime/session/test_card.h"
#include "runtime/session/test_package.h"

namespace heddle::session {
namespace {

constexpr uint64_t kBytes = 4096;
using Bytes = std::vector<uint8_t>;

absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

Bytes Counting(uint8_t first, uint64_t bytes = kBytes) {
  Bytes counting(bytes);
  std::iota(counting.begin(), counting.end(), first);
  return counting;
}

class ResidentSegments : public testing::Test {
 protected:
  void SetUp() override { Open(""); }
  void Open(const std::string& options) {
    device_ = OpenSim(options);
    ASSERT_NE(device_, nullptr);
  }
  std::shared_ptr<Graph> Load(const package::Package& package) {
    auto graph = LoadGraph(device_, package::Serialize(package));
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *graph : nullptr;
  }
  std::shared_ptr<Resident> Make(const Bytes& bytes) {
    auto made = MakeResident(device_, bytes.size());
    EXPECT_TRUE(made.ok()) << made.status();
    if (!made.ok()) return nullptr;
    EXPECT_TRUE((*made)->Write(bytes.data(), bytes.size()).ok());
    return *made;
  }
  static Bytes Read(const std::shared_ptr<Resident>& resident) {
    Bytes bytes(resident->size());
    EXPECT_TRUE(resident->Read(bytes.data(), bytes.size()).ok());
    return bytes;
  }
  static TensorBuffer On(const std::string& name,
                         const std::shared_ptr<Resident>& resident) {
    return {name, nullptr, resident->size(), resident};
  }
  static TensorBuffer Of(const std::string& name, Bytes* bytes) {
    return {name, bytes->data(), bytes->size()};
  }
  static std::shared_ptr<session::Run> Start(
      const std::shared_ptr<Graph>& graph, const std::vector<TensorBuffer>& in,
      const std::vector<TensorBuffer>& out,
      std::function<void(const absl::Status&)> done = nullptr,
      const RunOptions& options = {}) {
    auto run = graph->Start(in, out, std::move(done), options);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *run : nullptr;
  }

  std::shared_ptr<Device> device_;
};

// A state of the card's part goes round three tensors, fifty runs that nobody
// waits for; the host's part has its own tensors.
TEST_F(ResidentSegments, AStateOfTheCardIsNotCopiedByTheHost) {
  const auto graph = Load(BesidePackage());
  ASSERT_NE(graph, nullptr);
  Bytes x = Counting(3), h = Counting(5), y(kBytes), z(kBytes);
  const auto plain =
      Start(graph, {Of("x", &x), Of("h", &h)}, {Of("y", &y), Of("z", &z)});
  ASSERT_TRUE(plain->Wait(Soon()).ok());
  EXPECT_EQ(y, x);
  const std::vector<std::shared_ptr<Resident>> ring = {Make(x), Make(y),
                                                       Make(z)};
  std::vector<std::shared_ptr<session::Run>> runs;
  std::vector<Bytes> hosts(50, Bytes(kBytes));
  for (size_t i = 0; i < 50; ++i) {
    runs.push_back(Start(graph, {On("x", ring[i % 3]), Of("h", &h)},
                         {On("y", ring[(i + 1) % 3]), Of("z", &hosts[i])}));
    ASSERT_NE(runs.back(), nullptr);
  }
  EXPECT_EQ(Read(ring[50 % 3]), x) << "behind all of them";
  for (size_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(runs[i]->Wait(Soon()).ok());
    EXPECT_EQ(hosts[i], z);
    const RunStatistics s = runs[i]->statistics();
    EXPECT_EQ(s.bytes_on_card, 2 * kBytes);
    EXPECT_EQ(s.bytes_in + s.bytes_out, 0u);
    EXPECT_EQ(s.bytes_by_host, 2 * kBytes) << "h and z";
  }
  EXPECT_EQ(plain->statistics().bytes_by_host, 6 * kBytes);
}

// Host segments read and write them by way of a buffer of the session's.
TEST_F(ResidentSegments, AStateOfTheHostIsTransferred) {
  const auto graph = Load(SegmentedPackage(kBytes));
  ASSERT_NE(graph, nullptr);
  Bytes h = Counting(1), w(256), plain_x(kBytes), plain_z(kBytes);
  const auto plain = Start(graph, {Of("h", &h)},
                           {Of("z", &plain_z), Of("x", &plain_x), Of("w", &w)});
  ASSERT_TRUE(plain->Wait(Soon()).ok());
  const auto from = Make(h), x = Make(Bytes(kBytes)), z = Make(Bytes(kBytes));
  const auto run =
      Start(graph, {On("h", from)}, {On("z", z), On("x", x), Of("w", &w)});
  ASSERT_TRUE(run->Wait(Soon()).ok());
  Bytes reversed = Counting(1);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(Read(x), reversed);
  EXPECT_EQ(plain_x, reversed);
  EXPECT_EQ(Read(z), plain_z);
  EXPECT_EQ(w[250], 250);
  const RunStatistics s = run->statistics();
  // "h" to the host; at the end "x" and "z" to their tensors.
  EXPECT_EQ(s.bytes_out, plain->statistics().bytes_out + kBytes);
  EXPECT_EQ(s.bytes_in, plain->statistics().bytes_in + 2 * kBytes);
  EXPECT_EQ(s.bytes_on_card, 0u);
  EXPECT_EQ(s.bytes_by_host, kBytes + 2 * w.size()) << "y and w";
}

// The card writes the tensor that the host reads as an input later.
TEST_F(ResidentSegments, AnInputIsNotWrittenBeforeItIsRead) {
  const auto graph = Load(LatePackage(kBytes));
  ASSERT_NE(graph, nullptr);
  Bytes x = Counting(1);
  const auto state = Make(x);
  for (int i = 0; i < 5; ++i) {
    Bytes z(kBytes);
    const auto run =
        Start(graph, {On("x", state)}, {On("y", state), Of("z", &z)});
    ASSERT_TRUE(run->Wait(Soon()).ok());
    std::reverse(x.begin(), x.end());
    Bytes sum = x;
    for (uint8_t& byte : sum) byte *= 2;
    EXPECT_EQ(z, sum);
    EXPECT_EQ(Read(state), x);
    EXPECT_EQ(run->statistics().bytes_on_card, 2 * kBytes)
        << "to a tensor of its own, and from it";
  }
}

// Outputs that are inputs, too; at the end two tensors change places.
TEST_F(ResidentSegments, AnInputMayBeAnOutput) {
  package::Package package = BesidePackage();
  package.outputs = package.inputs;
  const auto graph = Load(package);
  ASSERT_NE(graph, nullptr);
  const Bytes one = Counting(1), two = Counting(77);
  const auto a = Make(one), b = Make(two), c = Make(two);
  const auto swap =
      Start(graph, {On("x", a), On("h", b)}, {On("x", b), On("h", a)});
  EXPECT_EQ(Read(a), two);
  EXPECT_EQ(Read(b), one);
  const auto same =
      Start(graph, {On("x", a), On("h", b)}, {On("x", a), On("h", c)});
  EXPECT_EQ(Read(a), two);
  EXPECT_EQ(Read(c), one);
  Bytes x(kBytes), h = Counting(9);
  const auto mixed =
      Start(graph, {On("x", a), Of("h", &h)}, {Of("x", &x), On("h", c)});
  ASSERT_TRUE(mixed->Wait(Soon()).ok());
  EXPECT_EQ(x, two);
  EXPECT_EQ(Read(c), Counting(9));
  for (const auto& run : {swap, same}) EXPECT_TRUE(run->Wait(Soon()).ok());
}

// Any of the tensors in any place, in runs that nobody waits for, against one
// run after another.
TEST_F(ResidentSegments, RandomDagsGiveTheSameBytes) {
  constexpr size_t kSize = 256, kRuns = 6;
  for (uint32_t seed = 0; seed < 16; ++seed) {
    std::mt19937 random(seed);
    const package::Package package = MakeRandomDag(seed).package;
    const auto graph = Load(package);
    ASSERT_NE(graph, nullptr);
    std::vector<std::shared_ptr<Resident>> residents;
    std::vector<Bytes> state;
    for (size_t i = 0; i < package.outputs.size() + 1; ++i) {
      state.push_back(Counting(static_cast<uint8_t>(random()), kSize));
      residents.push_back(Make(state.back()));
    }
    int64_t index = 0;
    std::vector<Bytes> from(kRuns);
    std::vector<std::map<std::string, Bytes>> results(kRuns), expected(kRuns);
    std::vector<std::shared_ptr<session::Run>> runs;
    for (size_t r = 0; r < kRuns; ++r) {
      std::vector<TensorBuffer> in = {{"i", &index, sizeof(index)}}, out;
      from[r] = Counting(static_cast<uint8_t>(random()), kSize);
      if (random() % 4 != 0) {
        const size_t which = random() % residents.size();
        in.push_back(On("v0", residents[which]));
        from[r] = state[which];
      } else {
        in.push_back(Of("v0", &from[r]));
      }
      const auto values = RunInOrder(package, from[r]);
      std::vector<size_t> free(residents.size());
      std::iota(free.begin(), free.end(), 0);
      std::shuffle(free.begin(), free.end(), random);
      for (const package::TensorInfo& output : package.outputs) {
        size_t v = 0;
        while (package.values[v].name != output.name) ++v;
        switch (random() % 3) {
          case 0:
            break;  // nobody wants it
          case 1:
            results[r][output.name].resize(kSize);
            expected[r][output.name] = values[v];
            out.push_back(Of(output.name, &results[r][output.name]));
            break;
          default:
            state[free.back()] = values[v];
            out.push_back(On(output.name, residents[free.back()]));
            free.pop_back();
        }
      }
      runs.push_back(Start(graph, in, out));
      ASSERT_NE(runs.back(), nullptr);
    }
    for (size_t i = 0; i < residents.size(); ++i) {
      EXPECT_EQ(Read(residents[i]), state[i]) << seed << ": resident " << i;
    }
    for (size_t r = 0; r < kRuns; ++r) {
      ASSERT_TRUE(runs[r]->Wait(Soon()).ok());
      EXPECT_EQ(results[r], expected[r]) << seed << ": run " << r;
    }
  }
}

// A run that reads the tensor until it is cancelled.
TEST_F(ResidentSegments, OthersWaitForTheirTurn) {
  const auto endless = Load(EndlessPackage(false)),
             beside = Load(BesidePackage());
  const auto whole = Load(CopyPackage(kBytes));
  ASSERT_TRUE(endless != nullptr && beside != nullptr && whole != nullptr);
  const auto state = Make(Counting(1)), other = Make(Counting(2));
  Bytes h(kBytes), x = Counting(50), y(kBytes);
  const auto reader = Start(endless, {On("h", state)}, {});
  // Those that only read it, or use another tensor, do not wait.
  const auto beside_it = Start(beside, {On("x", state), Of("h", &h)}, {});
  const auto copy = Start(whole, {On("x", state)}, {On("y", other)});
  ASSERT_TRUE(beside_it->Wait(Soon()).ok() && copy->Wait(Soon()).ok());
  EXPECT_EQ(Read(state), Counting(1));
  EXPECT_EQ(Read(other), Counting(1));
  // A model that the card has alone cannot wait.
  const absl::Status refused =
      whole->Start({Of("x", &x)}, {On("y", state)}, nullptr).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_EQ(ExhaustedResource(refused), ExhaustedKind::kDeviceResources);
  EXPECT_NE(refused.message().find("'y'"), std::string::npos) << refused;
  const auto writer =
      Start(beside, {Of("x", &x), Of("h", &h)}, {On("y", state)});
  const auto behind =
      Start(beside, {On("x", state), Of("h", &h)}, {Of("y", &y)});
  std::atomic<bool> written{false};
  std::thread transfer([&] {
    EXPECT_TRUE(state->Write(Counting(99).data(), kBytes).ok());
    written = true;
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      writer->Wait(absl::Now() + absl::Milliseconds(50))));
  EXPECT_TRUE(absl::IsDeadlineExceeded(behind->Wait(absl::Now())));
  EXPECT_FALSE(written);
  // One that waits may be cancelled, or come too late.
  const auto given_up =
      Start(beside, {Of("x", &h), Of("h", &h)}, {On("y", state)});
  RunOptions options;
  options.deadline = absl::Now() + absl::Milliseconds(20);
  const auto late = Start(beside, {Of("x", &h), Of("h", &h)}, {On("y", state)},
                          nullptr, options);
  given_up->Cancel();
  EXPECT_TRUE(absl::IsCancelled(given_up->Wait(Soon())));
  EXPECT_TRUE(absl::IsDeadlineExceeded(late->Wait(Soon())));
  EXPECT_FALSE(written);
  reader->Cancel();
  EXPECT_TRUE(absl::IsCancelled(reader->Wait(Soon())));
  EXPECT_TRUE(writer->Wait(Soon()).ok());
  EXPECT_TRUE(behind->Wait(Soon()).ok());
  EXPECT_EQ(y, x);
  transfer.join();
  EXPECT_EQ(Read(state), Counting(99));
  EXPECT_TRUE(Start(whole, {Of("x", &x)}, {On("y", state)})->Wait(Soon()).ok());
  EXPECT_EQ(Read(state), x);
}

// A run that fails leaves what only the end would have written, and lets the
// next one have the tensors.
TEST_F(ResidentSegments, AFailedRunEnds) {
  const auto endless = Load(EndlessPackage(true));
  ASSERT_NE(endless, nullptr);
  auto state = Make(Counting(1));
  for (int i = 0; i < 3; ++i) {
    const auto run = Start(endless, {On("h", state)}, {On("z", state)});
    EXPECT_TRUE(absl::IsDeadlineExceeded(
        run->Wait(absl::Now() + absl::Milliseconds(20))));
    run->Cancel();
    EXPECT_TRUE(absl::IsCancelled(run->Wait(Soon())));
    EXPECT_EQ(Read(state), Counting(1));
  }
  const uint64_t used = device_->memory()->used;
  std::weak_ptr<Resident> weak = state;
  state.reset();
  EXPECT_TRUE(weak.expired()) << "no run holds it";
  EXPECT_LT(device_->memory()->used, used);
}

TEST_F(ResidentSegments, ACallbackCannotTransfer) {
  const auto graph = Load(BesidePackage());
  ASSERT_NE(graph, nullptr);
  const auto state = Make(Counting(1));
  Bytes h(kBytes), read(kBytes);
  absl::Status from_callback;
  std::atomic<bool> called{false};
  const auto run =
      Start(graph, {On("x", state), Of("h", &h)}, {}, [&](const absl::Status&) {
        from_callback = state->Read(read.data(), kBytes);
        called = true;
      });
  ASSERT_TRUE(run->Wait(Soon()).ok());
  for (int i = 0; i < 6000 && !called; ++i) usleep(10'000);
  ASSERT_TRUE(called);
  EXPECT_EQ(from_callback.code(), absl::StatusCode::kFailedPrecondition)
      << from_callback;
}

TEST_F(ResidentSegments, RefusesWhatDoesNotFit) {
  const auto graph = Load(BesidePackage());
  ASSERT_NE(graph, nullptr);
  const auto state = Make(Counting(1)), small = Make(Bytes(16));
  Bytes x = Counting(1), h(kBytes);
  const auto refused = [&](const std::vector<TensorBuffer>& in,
                           const std::vector<TensorBuffer>& out,
                           const char* named) {
    const absl::Status status = graph->Start(in, out, nullptr).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_NE(status.message().find(named), std::string::npos) << status;
  };
  refused({On("x", small), Of("h", &h)}, {}, "'x'");
  TensorBuffer wrong = On("x", small);
  wrong.size = kBytes;
  refused({wrong, Of("h", &h)}, {}, "'x'");
  refused({Of("x", &x), Of("h", &h)}, {On("y", state), On("z", state)}, "'z'");
  const auto stranger = OpenDevice(device_->description().id);
  ASSERT_TRUE(stranger.ok()) << stranger.status();
  auto its = MakeResident(*stranger, kBytes);
  ASSERT_TRUE(its.ok()) << its.status();
  refused({Of("x", &x), On("h", *its)}, {}, "'h'");
  refused({Of("x", &x), Of("h", &h)}, {On("z", *its)}, "'z'");
  // And nothing is left that others would have to wait for.
  EXPECT_TRUE(Start(graph, {On("x", state), Of("h", &h)}, {On("y", state)})
                  ->Wait(Soon())
                  .ok());
  const auto table = Load(LookUpPackage());
  ASSERT_NE(table, nullptr);
  const absl::Status int64 =
      table->Start({On("i", Make(Bytes(sizeof(int64_t))))}, {}, nullptr)
          .status();
  EXPECT_NE(int64.message().find("int64"), std::string::npos) << int64;
  EXPECT_TRUE(absl::IsInvalidArgument(int64)) << int64;
}

// More runs than may be in flight are refused, and do not stand in the way.
TEST_F(ResidentSegments, RefusesTooManyRuns) {
  const auto endless = Load(EndlessPackage(false));
  ASSERT_NE(endless, nullptr);
  const auto state = Make(Counting(1));
  std::vector<std::shared_ptr<session::Run>> runs;
  absl::Status status;
  while (status.ok() && runs.size() < 10 * kMaxRunsInFlight) {
    auto run = endless->Start({On("h", state)}, {On("z", state)}, nullptr);
    status = run.status();
    if (run.ok()) runs.push_back(*std::move(run));
  }
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_EQ(runs.size(), kMaxRunsInFlight);
  for (const auto& run : runs) run->Cancel();
  for (const auto& run : runs)
    EXPECT_TRUE(absl::IsCancelled(run->Wait(Soon())));
  EXPECT_EQ(Read(state), Counting(1));
}

// The card goes in the middle of a stream of runs that share a state: each run
// has one status, and nothing is held.
TEST_F(ResidentSegments, TheCardMayGoFromAStream) {
  char folder[] = "/tmp/hrs-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string control = std::string(folder) + "/ctl";
  Open("serial=15,control=" + control);
  auto graph = Load(LatePackage(kBytes));
  ASSERT_NE(graph, nullptr);
  const std::vector<std::shared_ptr<Resident>> ring = {Make(Counting(1)),
                                                       Make(Counting(2))};
  std::vector<std::shared_ptr<session::Run>> runs;
  std::atomic<size_t> told{0};
  absl::Status refused;
  for (size_t i = 0; i < 200'000 && refused.ok(); ++i) {
    if (i == 40) {
      ASSERT_NE(Control(control, "unplug").find("true"), std::string::npos);
    }
    auto run = graph->Start({On("x", ring[i % 2])}, {On("y", ring[1 - i % 2])},
                            [&told](const absl::Status&) { ++told; });
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
    const absl::Status status = run->Wait(Soon());
    EXPECT_TRUE(absl::IsUnavailable(status) || (status.ok() && !gone))
        << "nothing behind what is lost: " << status;
    gone = !status.ok();
  }
  for (int i = 0; i < 6000 && told < runs.size(); ++i) usleep(10'000);
  EXPECT_EQ(told, runs.size());
  runs.clear();
  graph.reset();
  EXPECT_EQ(ring[0].use_count(), 1);
  EXPECT_EQ(ring[1].use_count(), 1);
  Bytes bytes(kBytes);
  EXPECT_TRUE(absl::IsUnavailable(ring[0]->Read(bytes.data(), kBytes)));
  unlink(control.c_str());
  rmdir(folder);
}

}  // namespace
}  // namespace heddle::session
