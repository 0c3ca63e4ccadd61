// SPDX-License-Identifier: Apache-2.0
// The two processes that stand for a machine with cards: heddle-hosted and
// heddle-sim, driven by clients of the socket. Everything here is the product
// except the client's shorthand.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kmd/hosted/test_client.h"
#include "tests/uapi/streams.h"

namespace heddle::hosted {
namespace {

constexpr char kSim[] = "simulator/platform/heddle-sim";
constexpr char kHosted[] = "kmd/hosted/heddle-hosted";

// A child process; killed at the latest when the test is over.
class Process {
 public:
  Process(const std::vector<std::string>& args, int stdin_fd = -1) {
    std::vector<char*> argv;
    for (const auto& a : args) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      if (stdin_fd >= 0) dup2(stdin_fd, 0);
      const int null = open("/dev/null", O_WRONLY);
      dup2(null, 1);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  void Kill(int signal) { kill(pid_, signal); }
  // Exit status, or -1 after that many milliseconds.
  int Join(int ms = 5000) {
    for (const uint64_t limit = InMs(ms); Now() < limit; usleep(5000)) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
};

class HostedSimTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // Short, and never another test's.
    base_ = std::filesystem::temp_directory_path() / "heddle-XXXXXX";
    ASSERT_NE(mkdtemp(base_.data()), nullptr);
    base_ += "/";
  }
  void TearDown() override {
    hosted_ = nullptr;
    for (auto& s : sims_) s = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  std::string Card(int i) { return base_ + "c" + std::to_string(i); }
  std::string Control(int i) { return base_ + "k" + std::to_string(i); }
  void StartSim(int i = 0, const std::string& core = "fast") {
    sims_[i] = nullptr;
    unlink(Card(i).c_str());
    unlink(Control(i).c_str());
    sims_[i] = std::make_unique<Process>(std::vector<std::string>{
        kSim, "--socket", Card(i), "--memory", "64M", "--serial",
        std::to_string(100 + i), "--core", core, "--control", Control(i)});
  }
  void StartHosted(int cards = 1, int timeout_ms = 500) {
    std::vector<std::string> args = {kHosted,
                                     "--socket",
                                     base_ + "s",
                                     "--log",
                                     "off",
                                     "--timeout-ms",
                                     std::to_string(timeout_ms)};
    for (int i = 0; i < cards; ++i) {
      args.push_back("--card");
      args.push_back(Card(i));
    }
    hosted_ = std::make_unique<Process>(args);
  }
  int Ctl(int i, const std::vector<std::string>& command) {
    std::vector<std::string> args = {kSim, "ctl", "--control", Control(i)};
    args.insert(args.end(), command.begin(), command.end());
    return Process(args).Join();
  }
  std::unique_ptr<HostedClient> Open(uint32_t card = 0) {
    std::unique_ptr<HostedClient> c;
    for (const uint64_t limit = InMs(10000); Now() < limit; usleep(10000)) {
      if (HostedClient::Open(base_ + "s", card, &c) == 0) return c;
    }
    ADD_FAILURE() << "the card cannot be opened";
    return nullptr;
  }

  std::string base_;
  std::unique_ptr<Process> sims_[2], hosted_;
};

// Copies 256 bytes of region 3 to region 4 through SRAM.
std::vector<uint32_t> CopyStream() {
  std::vector<uint32_t> load(20), store(20);
  load[0] = HEDDLE_OP_LOAD | 20 << 8;
  load[2] = 1 | 1 << 6 | 1 << 14;  // signal semaphore 0 when visible
  store[0] = HEDDLE_OP_STORE | 20 << 8;
  store[1] = 1 | 1 << 6;  // wait for it
  for (auto* w : {&load, &store}) {
    (*w)[4] = w == &load ? 3 : 4;
    (*w)[7] = 256 | 1 << 16;
    (*w)[8] = 1 | 1 << 16;
    (*w)[9] = (*w)[13] = 1;
  }
  load.insert(load.end(), store.begin(), store.end());
  for (uint32_t w : EndCommand()) load.push_back(w);
  return load;
}

TEST_F(HostedSimTest, RunsAStreamOnTwoCardsForTwoClientsEach) {
  StartSim(0);
  StartSim(1);
  StartHosted(2);
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto c = Open(t % 2);
      if (c == nullptr) return;
      const uint32_t context = NewContext(c.get());
      auto in = NewHost(c.get(), 4096), out = NewHost(c.get(), 4096);
      const uint32_t a = NewDevice(c.get(), 4096), b = NewDevice(c.get(), 4096);
      uint32_t stream = 0;
      EXPECT_EQ(NewStream(c.get(), CopyStream(), &stream), 0);
      const std::vector<drm_heddle_region> regions = {
          {3, a, 0, 4096, 0, 0}, {4, b, 0, 4096, DRM_HEDDLE_REGION_WRITE, 0}};
      for (int i = 0; i < 20; ++i) {
        std::memset(in->data, 0x10 * t + i + 1, 256);
        if (Do(c.get(), context,
               {CopyIn(in->handle, a, 4096), RunStream(stream, &regions),
                CopyOut(b, out->handle, 4096)}) == 0 &&
            std::memcmp(in->data, out->data, 256) == 0 && out->data[256] == 0) {
          good[t]++;
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(good, std::vector<int>(4, 20));
}

TEST_F(HostedSimTest, RefusesMemoryExactlyAtTheBoundary) {
  StartSim();
  StartHosted();
  auto c = Open();
  ASSERT_NE(c, nullptr);
  const uint64_t total =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY).total;
  EXPECT_EQ(total, 64 * kMiB - HEDDLE_DEVICE_RESERVE_BYTES);
  uint32_t half = 0, rest = 0;
  ASSERT_EQ(NewBo(c.get(), total / 2, DRM_HEDDLE_DEVICE, &half), 0);
  for (int64_t page = -3; page <= 3; ++page) {
    const uint64_t size = total / 2 + page * static_cast<int64_t>(kPage);
    const int err = NewBo(c.get(), size, DRM_HEDDLE_DEVICE, &rest);
    EXPECT_EQ(err, page <= 0 ? 0 : -ENOSPC) << page;
    if (err == 0) Close(c.get(), rest);
  }
}

TEST_F(HostedSimTest, CompactsAndKeepsContentsAndZeroes) {
  StartSim();
  StartHosted();
  auto c = Open();
  ASSERT_NE(c, nullptr);
  const uint32_t context = NewContext(c.get());
  const uint64_t total =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY).total;
  // Pieces of 3 MiB and a page: each second one goes; the neighbours overlap
  // when moved.
  const uint64_t piece = 3 * kMiB + kPage;
  auto host = NewHost(c.get(), piece);
  std::vector<uint32_t> bos;
  for (uint64_t i = 0; (i + 1) * piece <= total; ++i) {
    bos.push_back(NewDevice(c.get(), piece));
    for (uint64_t b = 0; b < piece; ++b) host->data[b] = (b >> 8) + i;
    ASSERT_EQ(Do(c.get(), context, {CopyIn(host->handle, bos[i], piece)}), 0u);
  }
  ASSERT_GT(bos.size(), 10u);
  for (size_t i = 0; i < bos.size(); i += 2) Close(c.get(), bos[i]);
  const uint64_t left =
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY).total -
      Query<drm_heddle_memory_info>(c.get(), DRM_HEDDLE_QUERY_MEMORY).used;
  uint32_t big = 0;
  EXPECT_EQ(NewBo(c.get(), left + 1, DRM_HEDDLE_DEVICE, &big), -ENOSPC);
  ASSERT_EQ(NewBo(c.get(), left, DRM_HEDDLE_DEVICE, &big), 0);
  EXPECT_GT(Query<drm_heddle_counters>(c.get(), DRM_HEDDLE_QUERY_COUNTERS)
                .compactions,
            0u);
  for (size_t i = 1; i < bos.size(); i += 2) {
    ASSERT_EQ(Do(c.get(), context, {CopyOut(bos[i], host->handle, piece)}), 0u);
    uint64_t wrong = 0;
    for (uint64_t b = 0; b < piece; ++b)
      wrong += host->data[b] != static_cast<uint8_t>((b >> 8) + i);
    EXPECT_EQ(wrong, 0u) << i;
  }
  ASSERT_EQ(
      Do(c.get(), context, {CopyOut(big, host->handle, piece, left - piece)}),
      0u);
  EXPECT_EQ(std::count(host->data, host->data + piece, 0),
            static_cast<ptrdiff_t>(piece));
}

TEST_F(HostedSimTest, EndsAStuckEngineAndSparesTheOtherClient) {
  StartSim();
  StartHosted();
  auto a = Open(), b = Open();
  ASSERT_NE(b, nullptr);
  const uint32_t ca = NewContext(a.get()), cb = NewContext(b.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(a.get(), EndCommand(), &stream), 0);
  const uint32_t bo = NewDevice(b.get(), kPage);
  auto host = NewHost(b.get(), kPage);
  std::memset(host->data, 9, kPage);
  ASSERT_EQ(Do(b.get(), cb, {CopyIn(host->handle, bo, kPage)}), 0u);
  ASSERT_EQ(Ctl(0, {"fault", "stuck_engine"}), 0);
  uint64_t bad = 0, good = 0;
  ASSERT_EQ(Submit(a.get(), ca, {RunStream(stream)}, &bad), 0);
  ASSERT_EQ(Submit(b.get(), cb, {CopyOut(bo, host->handle, kPage)}, &good), 0);
  drm_heddle_result result;
  ASSERT_EQ(Wait(a.get(), ca, bad, &result, InMs(10000)), 0);
  EXPECT_EQ(result.status, HEDDLE_ERROR_TIMEOUT + 0u);
  ASSERT_EQ(Wait(b.get(), cb, good, &result, InMs(10000)), 0);
  EXPECT_EQ(result.status, 0u);
  EXPECT_EQ(std::count(host->data, host->data + kPage, 9),
            static_cast<ptrdiff_t>(kPage));
  EXPECT_EQ(Do(a.get(), ca, {RunStream(stream)}), 0u);
}

// The card counts cycles, and the driver ends what takes more of them than it
// may. (No stream does that is accepted; one that hangs takes cycles as well as
// time.)
TEST_F(HostedSimTest, EndsAJobWithItsCycles) {
  constexpr uint64_t kCycles = 200000;
  StartSim(0, "rtl");
  StartHosted(1, 600000);
  auto c = Open();
  ASSERT_NE(c, nullptr);
  drm_heddle_context_control control = {};
  control.context = NewContext(c.get());
  control.flags = DRM_HEDDLE_CONTROL_RUN_CYCLES;
  control.run_cycles = kCycles;
  ASSERT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CONTROL, &control), 0);
  // Long enough to be looked at while they run; only together they take more.
  uint32_t stream = 0;
  const auto fill =
      uapi::Command("fill").Set("n0", 65535).Set("t0", 1).Set("n1", 8);
  ASSERT_EQ(NewStream(c.get(),
                      uapi::Stream({fill, fill, uapi::Command("barrier"),
                                    uapi::Command("end")}),
                      &stream),
            0);
  uint64_t cycles = 0;
  while (cycles <= kCycles) {
    uint64_t seqno = 0;
    ASSERT_EQ(Submit(c.get(), control.context, {RunStream(stream)}, &seqno), 0);
    drm_heddle_result result;
    ASSERT_EQ(Wait(c.get(), control.context, seqno, &result), 0);
    ASSERT_EQ(result.status, 0u);
    ASSERT_GT(result.cycles, kCycles / 4);
    cycles += result.cycles;
  }
  ASSERT_EQ(Ctl(0, {"fault", "stuck_engine"}), 0);
  uint64_t seqno = 0;
  ASSERT_EQ(Submit(c.get(), control.context, {RunStream(stream)}, &seqno), 0);
  drm_heddle_result result;
  // Long before the limit of a job without progress.
  ASSERT_EQ(Wait(c.get(), control.context, seqno, &result, InMs(60000)), 0);
  EXPECT_EQ(result.status, HEDDLE_ERROR_TIMEOUT + 0u);
  EXPECT_EQ(Do(c.get(), control.context, {RunStream(stream)}), 0u);
}

// A job that streams: what comes in, moves and is filled beside one run is
// there for the next, and nobody's bytes change by it. Wrong order, on a card
// that executes them together, would show here.
class OverlapTest : public HostedSimTest,
                    public ::testing::WithParamInterface<const char*> {};

TEST_P(OverlapTest, GivesTheBytesThatItHasOneByOne) {
  constexpr uint64_t kRound = 256, kRounds = 8;
  StartSim(0, GetParam());
  StartHosted(1, 60000);
  auto c = Open();
  ASSERT_NE(c, nullptr);
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), CopyStream(), &stream), 0);
  auto in = NewHost(c.get(), kPage), out = NewHost(c.get(), 2 * kPage);
  for (uint64_t i = 0; i < kPage; ++i) in->data[i] = i * 7 + i / 256;
  const uint32_t staged = NewDevice(c.get(), kPage);
  const uint32_t from[] = {NewDevice(c.get(), kPage),
                           NewDevice(c.get(), kPage)};
  const uint32_t to = NewDevice(c.get(), kPage);
  uint64_t cycles = 0;  // one by one; 0 on a core without timing
  for (const uint32_t flags : {0u, unsigned{DRM_HEDDLE_STEP_OVERLAP}}) {
    std::vector<drm_heddle_region> regions[kRounds];
    std::vector<drm_heddle_step> steps = {CopyIn(in->handle, from[0], kRound)};
    for (uint64_t i = 0; i < kRounds; ++i) {
      regions[i] = {{3, from[i % 2], 0, kRound, 0, 0},
                    {4, to, i * kRound, kRound, DRM_HEDDLE_REGION_WRITE, 0}};
      steps.push_back(RunStream(stream, &regions[i]));
      // Two bytes further on each time, by way of another buffer, and the last
      // word of it is filled.
      drm_heddle_step next = CopyIn(in->handle, staged, kRound, 64);
      next.src_offset = (i + 1) * (kRound + 2);
      next.flags = flags;
      steps.push_back(next);
      next = {};
      next.type = DRM_HEDDLE_STEP_COPY;
      next.src = staged;
      next.src_offset = 64;
      next.dst = from[(i + 1) % 2];
      next.length = kRound;
      next.flags = flags;
      steps.push_back(next);
      next = {};
      next.type = DRM_HEDDLE_FILL;
      next.dst = from[(i + 1) % 2];
      next.dst_offset = kRound - 4;
      next.length = 4;
      next.fill_value = 0xa1b2c3d4;
      next.flags = flags;
      steps.push_back(next);
    }
    steps.push_back(CopyOut(to, out->handle, kPage));
    std::memset(out->data, 0xee, out->size);
    uint64_t seqno = 0;
    ASSERT_EQ(Submit(c.get(), context, steps, &seqno), 0);
    drm_heddle_result result;
    ASSERT_EQ(Wait(c.get(), context, seqno, &result, InMs(60000)), 0);
    ASSERT_EQ(result.status, 0u);
    RecordProperty(flags ? "cycles_overlap" : "cycles",
                   std::to_string(result.cycles));
    if (cycles != 0) {
      EXPECT_LT(result.cycles, cycles);
    }
    cycles = result.cycles;
    for (uint64_t i = 0; i < kRounds; ++i) {
      std::vector<uint8_t> want(in->data + i * (kRound + 2),
                                in->data + i * (kRound + 2) + kRound);
      const uint32_t last = 0xa1b2c3d4;
      if (i > 0) std::memcpy(&want[kRound - 4], &last, sizeof(last));
      EXPECT_EQ(std::memcmp(out->data + i * kRound, want.data(), kRound), 0)
          << "round " << i << ", flags " << flags;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cores, OverlapTest, ::testing::Values("fast", "rtl"),
                         [](const auto& info) { return info.param; });

// A wrong bit of SRAM is an event and no more; two end the job that met them,
// and no other.
class SramErrorTest : public HostedSimTest,
                      public ::testing::WithParamInterface<const char*> {};

TEST_P(SramErrorTest, AreToldAndNeverSeen) {
  StartSim(0, GetParam());
  StartHosted(1, 60000);
  auto c = Open(), other = Open();
  ASSERT_NE(other, nullptr);
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), CopyStream(), &stream), 0);
  auto in = NewHost(c.get(), kPage), out = NewHost(c.get(), kPage);
  const uint32_t a = NewDevice(c.get(), kPage), b = NewDevice(c.get(), kPage);
  const std::vector<drm_heddle_region> regions = {
      {3, a, 0, kPage, 0, 0}, {4, b, 0, kPage, DRM_HEDDLE_REGION_WRITE, 0}};
  auto run = [&](uint8_t value) {
    std::memset(in->data, value, kPage);
    std::memset(out->data, 0, kPage);
    uint64_t seqno = 0;
    EXPECT_EQ(Submit(c.get(), context,
                     {CopyIn(in->handle, a, kPage), RunStream(stream, &regions),
                      CopyOut(b, out->handle, kPage)},
                     &seqno),
              0);
    drm_heddle_result result = {};
    EXPECT_EQ(Wait(c.get(), context, seqno, &result), 0);
    return result;
  };
  auto next_event = [](HostedClient* client, int ms, drm_heddle_event* event) {
    drm_heddle_events events = {};
    events.events = {reinterpret_cast<uint64_t>(event), 1, sizeof(*event)};
    events.deadline_ns = InMs(ms);
    return client->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events);
  };
  drm_heddle_event event = {};
  for (uint64_t n = 1; n <= 2; ++n) {
    ASSERT_EQ(Ctl(0, {"fault", "sram_error", "single"}), 0);
    EXPECT_EQ(run(static_cast<uint8_t>(n)).status, 0u);
    EXPECT_EQ(std::memcmp(in->data, out->data, 256), 0);
    for (auto* client : {c.get(), other.get()}) {
      ASSERT_EQ(next_event(client, 5000, &event), 0);
      EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_CORRECTED + 0u);
      EXPECT_EQ(event.value, n);
    }
  }
  ASSERT_EQ(Ctl(0, {"fault", "sram_error", "double"}), 0);
  const drm_heddle_result lost = run(7);
  EXPECT_EQ(lost.status, HEDDLE_ERROR_SRAM_UNCORRECTABLE + 0u);
  EXPECT_EQ(lost.error, EIO);
  EXPECT_LT(lost.fault_address, 256u);
  EXPECT_EQ(std::count(out->data, out->data + 256, 0), 256) << "not copied out";
  EXPECT_EQ(run(8).status, 0u);
  EXPECT_EQ(std::memcmp(in->data, out->data, 256), 0);
  EXPECT_EQ(next_event(c.get(), 20, &event), -ETIME);
}

INSTANTIATE_TEST_SUITE_P(Cores, SramErrorTest, ::testing::Values("fast", "rtl"),
                         [](const auto& info) { return info.param; });

// It does not stop writing to host memory; the driver's end keeps it from
// there.
TEST_F(HostedSimTest, TakesTheBusFromACardThatRunsAway) {
  StartSim();
  StartHosted(1, 60000);
  auto c = Open();
  ASSERT_NE(c, nullptr);
  const uint32_t bo = NewDevice(c.get(), kPage);
  auto host = NewHost(c.get(), kPage);
  ASSERT_EQ(Ctl(0, {"fault", "runaway_dma"}), 0);
  uint64_t seqno = 0;
  ASSERT_EQ(Submit(c.get(), NewContext(c.get()),
                   {CopyOut(bo, host->handle, kPage)}, &seqno),
            0);
  const volatile uint8_t* const last = host->data + kPage - 1;
  while (*last == 0) usleep(1000);
  hosted_->Kill(SIGTERM);
  ASSERT_EQ(hosted_->Join(), 0);
  std::memset(host->data, 0, kPage);
  usleep(50000);  // it would write every millisecond
  EXPECT_EQ(std::count(host->data, host->data + kPage, 0),
            static_cast<ptrdiff_t>(kPage));
}

TEST_F(HostedSimTest, SurvivesTheDeathOfACardWithJobsInFlight) {
  StartSim();
  StartHosted(1, 60000);
  auto c = Open();
  ASSERT_NE(c, nullptr);
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  ASSERT_EQ(Ctl(0, {"fault", "stuck_engine"}), 0);
  uint64_t seqno = 0;
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(Submit(c.get(), context, {RunStream(stream)}, &seqno), 0);
  int waited = 0;
  std::thread waiter([&] {
    drm_heddle_result r;
    waited = Wait(c.get(), context, seqno, &r);
  });
  usleep(50000);
  const uint64_t before = Now();
  sims_[0]->Kill(SIGKILL);
  waiter.join();
  EXPECT_EQ(waited, -ENODEV);
  EXPECT_LT(Now() - before, 1000000000u);
  std::unique_ptr<HostedClient> refused;
  EXPECT_EQ(HostedClient::Open(base_ + "s", 0, &refused), -ENXIO);
  StartSim();
  auto again = Open();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(Query<drm_heddle_device_info>(again.get(), DRM_HEDDLE_QUERY_DEVICE)
                .unique,
            100u);
  const uint32_t fresh = NewContext(again.get());
  ASSERT_EQ(NewStream(again.get(), EndCommand(), &stream), 0);
  EXPECT_EQ(Do(again.get(), fresh, {RunStream(stream)}), 0u);
  drm_heddle_context_create create = {};
  EXPECT_EQ(c->Ioctl(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &create), -ENODEV);
}

TEST_F(HostedSimTest, FollowsUnplugPlugLinkAndMemory) {
  StartSim();
  StartHosted();
  auto c = Open();
  ASSERT_NE(c, nullptr);
  auto next_event = [](HostedClient* client) {
    drm_heddle_event event = {};
    drm_heddle_events events = {};
    events.events = {reinterpret_cast<uint64_t>(&event), 1, sizeof(event)};
    events.deadline_ns = InMs(3000);
    EXPECT_EQ(client->Ioctl(DRM_IOCTL_HEDDLE_EVENTS, &events), 0);
    return event;
  };
  ASSERT_EQ(Ctl(0, {"memory", "128M"}), 0);
  auto event = next_event(c.get());
  EXPECT_EQ(event.type, DRM_HEDDLE_EVENT_MEMORY + 0u);
  EXPECT_EQ(event.value, 128 * kMiB - HEDDLE_DEVICE_RESERVE_BYTES);
  ASSERT_EQ(Ctl(0, {"unplug"}), 0);
  EXPECT_EQ(next_event(c.get()).type, DRM_HEDDLE_EVENT_REMOVED + 0u);
  ASSERT_EQ(Ctl(0, {"plug"}), 0);
  auto d = Open();
  ASSERT_NE(d, nullptr);
  EXPECT_GT(d->generation(), c->generation());
  ASSERT_EQ(Ctl(0, {"fault", "link_down"}), 0);
  EXPECT_EQ(next_event(d.get()).type, DRM_HEDDLE_EVENT_REMOVED + 0u);
}

TEST_F(HostedSimTest, TakesLostLateAndSpuriousInterrupts) {
  StartSim();
  StartHosted();
  auto c = Open();
  ASSERT_NE(c, nullptr);
  const uint32_t context = NewContext(c.get());
  uint32_t stream = 0;
  ASSERT_EQ(NewStream(c.get(), EndCommand(), &stream), 0);
  for (const auto& fault : std::vector<std::vector<std::string>>{
           {"fault", "lost_interrupt", "3"},
           {"fault", "late_interrupt", "200"},
           {"fault", "spurious_interrupt", "0"},
           {"fault", "spurious_interrupt", "3"}}) {
    ASSERT_EQ(Ctl(0, fault), 0);
    for (int i = 0; i < 5; ++i)
      EXPECT_EQ(Do(c.get(), context, {RunStream(stream)}), 0u);
  }
}

TEST_F(HostedSimTest, EndsWithItsParentsPipe) {
  StartSim();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  hosted_ = std::make_unique<Process>(
      std::vector<std::string>{kHosted, "--socket", base_ + "s", "--card",
                               Card(0), "--log", "off", "--idle-exit"},
      ends[0]);
  close(ends[0]);
  { auto c = Open(); }
  EXPECT_EQ(hosted_->Join(300), -1) << "clients come and go";
  close(ends[1]);
  EXPECT_EQ(hosted_->Join(), 0);
}

TEST_F(HostedSimTest, HasDocumentedExitCodes) {
  EXPECT_EQ(Process({kHosted, "--help"}).Join(), 0);
  EXPECT_EQ(Process({kHosted}).Join(), 2);
  EXPECT_EQ(
      Process({kHosted, "--socket", "/nonexistent/s", "--card", "x"}).Join(),
      3);
  StartHosted();
  std::vector<CardEntry> cards;
  for (const uint64_t limit = InMs(5000); Now() < limit && cards.empty();
       usleep(10000)) {
    HostedClient::List(base_ + "s", &cards);
  }
  EXPECT_EQ(Process({kHosted, "--socket", base_ + "s", "--card", "x"}).Join(),
            3);
  hosted_->Kill(SIGTERM);
  EXPECT_EQ(hosted_->Join(), 0);
}

}  // namespace
}  // namespace heddle::hosted
