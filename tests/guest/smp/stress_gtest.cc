// SPDX-License-Identifier: Apache-2.0
// Sixteen threads on the cards at once: jobs, files that two threads share,
// files and contexts that close while their jobs run, processes that are forked
// and killed, mappings that outlive their buffers, buffers and fences that go
// from file to file, and cards that come and go (HEDDLE_STRESS_CYCLES times
// [4]) meanwhile. Every call returns, with an answer that is allowed there;
// copied data is right; afterwards nothing is left on the cards. The kernel's
// log, which is the other half of the test, is read by the harness.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/guest/host_request.h"
#include "tests/uapi/calls.h"
#include "tests/uapi/drm_nodes.h"
#include "tests/uapi/streams.h"

namespace heddle::tests {
namespace {

namespace fs = std::filesystem;
using uapi::Client;

constexpr uint64_t kBytes = 16384;
constexpr uint64_t kWords = kBytes / 4;

// What any call may say: done, the card is gone, or too much is asked for at
// once.
const std::set<int> kAlways = {0, -ENODEV, -EAGAIN, -ENOSPC, -EDQUOT, -ENOMEM};

// Fails the test if `result` is not allowed. Whether the call was done.
bool Done(int result, const char* what, std::initializer_list<int> also = {}) {
  if (kAlways.count(result) == 0) {
    bool allowed = false;
    for (int error : also) allowed = allowed || error == result;
    EXPECT_TRUE(allowed) << what << " said " << result;
  }
  return result == 0;
}

// The same of how a job ended.
void JobDone(const drm_heddle_result& result,
             std::initializer_list<int> also = {}) {
  const std::string what = "a job (status " + std::to_string(result.status) +
                           ", step " + std::to_string(result.fault_step) +
                           ", stream offset " +
                           std::to_string(result.fault_offset) + ", address " +
                           std::to_string(result.fault_address) + ")";
  Done(-static_cast<int>(result.error), what.c_str(), also);
}

// A file of any card; null when there is none now.
std::shared_ptr<Client> OpenAny(std::mt19937* random) {
  const std::vector<std::string> nodes = uapi::DrmNodes();
  if (nodes.empty()) return nullptr;
  int error = 0;
  return uapi::OpenDrmNode(nodes[(*random)() % nodes.size()], &error);
}

bool Gone(Client* c) {
  uint32_t context = 0;
  const int err = uapi::CreateContext(c, 2, &context);
  if (err == 0) uapi::DestroyContext(c, context);
  return err == -ENODEV;
}

// What a job needs on one file.
struct Bench {
  explicit Bench(Client* client) : c(client) {
    ok = Done(uapi::CreateContext(c, 2, &context), "CONTEXT_CREATE") &&
         Done(uapi::CreateBo(c, kBytes, DRM_HEDDLE_HOST, &host), "BO_CREATE") &&
         Done(uapi::CreateBo(c, kBytes, DRM_HEDDLE_DEVICE, &from),
              "BO_CREATE") &&
         Done(uapi::CreateBo(c, kBytes, DRM_HEDDLE_DEVICE, &to), "BO_CREATE") &&
         Done(uapi::CreateStream(c, uapi::CopyStream(0, 1, 4096), &stream),
              "STREAM_CREATE");
    if (!ok) return;
    regions = {uapi::Region(0, from, kBytes),
               uapi::Region(1, to, kBytes, DRM_HEDDLE_REGION_WRITE)};
    drm_heddle_bo_info info = {};
    ok = Done(uapi::BoInfo(c, host, &info), "BO_INFO");
    int error = 0;
    if (ok)
      data = static_cast<uint32_t*>(c->Mmap(info.mmap_offset, kBytes, &error));
    ok = ok && Done(error, "mmap") && data != nullptr;
  }
  ~Bench() {
    if (data != nullptr) munmap(data, kBytes);
  }
  std::vector<drm_heddle_step> Job(uint32_t value) const {
    return {uapi::Fill(from, 4096, value), uapi::RunStream(stream, regions),
            uapi::CopyOut(to, host, 4096)};
  }

  Client* const c;
  bool ok = false;
  uint32_t context = 0, host = 0, from = 0, to = 0, stream = 0;
  uint32_t* data = nullptr;
  std::vector<drm_heddle_region> regions;
};

// A card without hardware does nothing with the data.
bool IsReal(Client* c) {
  drm_heddle_device_info info = {};
  drm_heddle_query args = {};
  args.type = DRM_HEDDLE_QUERY_DEVICE;
  args.data = uapi::ArrayOf(&info, 1);
  return c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args) == 0 && info.pci_bdf != 0;
}

// Jobs whose results are looked at.
void Submitter(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  const bool real = IsReal(c.get());
  Bench bench(c.get());
  for (int i = 0; bench.ok && i < 16; ++i) {
    const uint32_t value = (*random)();
    uint64_t seqno = 0;
    drm_heddle_result result = {};
    if (!Done(uapi::Submit(c.get(), bench.context, bench.Job(value), &seqno),
              "SUBMIT") ||
        !Done(uapi::Wait(c.get(), bench.context, seqno, uapi::InMs(60000),
                         &result),
              "WAIT")) {
      return;
    }
    if (result.status != 0) {
      JobDone(result);
      return;
    }
    if (real) {
      EXPECT_EQ(bench.data[1023], value);
    }
  }
}

// The file that two threads have in common.
std::mutex shared_lock;
std::shared_ptr<Client> shared;

// Two threads with one file: each destroys what the other one uses.
void Sharer(std::mt19937* random) {
  static std::atomic<uint32_t> context{0}, buffer{0}, stream{0};
  std::shared_ptr<Client> c;
  {
    const std::lock_guard<std::mutex> held(shared_lock);
    if (shared == nullptr || (*random)() % 16 == 0 || Gone(shared.get())) {
      shared = OpenAny(random);
    }
    c = shared;
  }
  if (c == nullptr) return;
  for (int i = 0; i < 8; ++i) {
    uint32_t id = 0;
    if (Done(uapi::CreateContext(c.get(), 2, &id), "CONTEXT_CREATE")) {
      Done(uapi::DestroyContext(c.get(), context.exchange(id)),
           "CONTEXT_DESTROY", {-ENOENT});
    }
    if (Done(uapi::CreateBo(c.get(), kBytes, DRM_HEDDLE_DEVICE, &id),
             "BO_CREATE")) {
      Done(uapi::CloseBo(c.get(), buffer.exchange(id)), "GEM_CLOSE", {-EINVAL});
    }
    if (Done(uapi::CreateStream(c.get(), uapi::EmptyStream(), &id),
             "STREAM_CREATE")) {
      Done(uapi::DestroyStream(c.get(), stream.exchange(id)), "STREAM_DESTROY",
           {-ENOENT});
    }
    uint64_t seqno = 0;
    const uint32_t on = context;
    // The buffer's handle may be another placement's by now.
    if (Done(uapi::Submit(
                 c.get(), on,
                 {uapi::Fill(buffer, kBytes, 1), uapi::RunStream(stream)},
                 &seqno),
             "SUBMIT", {-ENOENT, -EINVAL})) {
      drm_heddle_result result = {};
      if (Done(uapi::Wait(c.get(), on, seqno, uapi::InMs(60000), &result),
               "WAIT", {-ENOENT})) {
        JobDone(result, {-ECANCELED});
      }
    }
  }
}

// The end of a file with jobs on it.
void Closer(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  Bench bench(c.get());
  for (int i = 0; bench.ok && i < 24; ++i) {
    if (!Done(uapi::Submit(c.get(), bench.context, bench.Job(i)), "SUBMIT"))
      return;
  }
}

// The end of a context with jobs on it, while another thread waits for them.
void Destroyer(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  Bench bench(c.get());
  if (!bench.ok) return;
  uint64_t seqno = 0;
  for (int i = 0; i < 16; ++i) {
    if (!Done(uapi::Submit(c.get(), bench.context, bench.Job(i), &seqno),
              "SUBMIT"))
      return;
  }
  std::thread waiter([&] {
    Done(uapi::Wait(c.get(), bench.context, seqno, uapi::InMs(60000)), "WAIT",
         {-ENOENT});
  });
  usleep((*random)() % 2000);
  Done(uapi::DestroyContext(c.get(), bench.context), "CONTEXT_DESTROY");
  waiter.join();
}

// A child that uses its parent's file and one of its own, and is killed at any
// time.
void Forker(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  Bench bench(c.get());
  if (!bench.ok) return;
  const auto own = OpenAny(random);
  const auto job = bench.Job(7);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // system calls only: other threads may have held locks
    for (int i = 0; i < 200; ++i) {
      uapi::Submit(c.get(), bench.context, job);
      drm_heddle_bo_create args = {};
      args.size = kBytes;
      args.placement = DRM_HEDDLE_DEVICE;
      if (own != nullptr) own->Ioctl(DRM_IOCTL_HEDDLE_BO_CREATE, &args);
    }
    _exit(0);
  }
  Done(uapi::Submit(c.get(), bench.context, bench.Job(8)), "SUBMIT");
  usleep((*random)() % 5000);
  kill(child, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
}

// Mappings that are there longer than handle and file.
void Mapper(std::mt19937* random) {
  auto c = OpenAny(random);
  if (c == nullptr) return;
  Bench bench(c.get());
  if (!bench.ok) return;
  Done(uapi::Submit(c.get(), bench.context, bench.Job(1)), "SUBMIT");
  Done(uapi::CloseBo(c.get(), bench.host), "GEM_CLOSE");
  if ((*random)() % 2 != 0) c.reset();
  for (uint64_t i = 2048; i < kWords; i += 512)
    bench.data[i] = static_cast<uint32_t>(i);
  for (uint64_t i = 2048; i < kWords; i += 512) EXPECT_EQ(bench.data[i], i);
}

// A buffer of one file in another one's jobs.
void Importer(std::mt19937* random) {
  const auto a = OpenAny(random), b = OpenAny(random);
  if (a == nullptr || b == nullptr) return;
  uint32_t handle = 0, imported = 0;
  int fd = -1;
  if (!Done(uapi::CreateBo(a.get(), kBytes, DRM_HEDDLE_HOST, &handle),
            "BO_CREATE") ||
      !Done(uapi::ExportBo(a.get(), handle, &fd), "PRIME_HANDLE_TO_FD")) {
    return;
  }
  const bool there =
      Done(uapi::ImportBo(b.get(), fd, &imported), "PRIME_FD_TO_HANDLE");
  if ((*random)() % 2 != 0) Done(uapi::CloseBo(a.get(), handle), "GEM_CLOSE");
  close(fd);
  Bench bench(b.get());
  if (!there || !bench.ok) return;
  uint64_t seqno = 0;
  if (Done(uapi::Submit(b.get(), bench.context,
                        {uapi::CopyIn(imported, bench.from, kBytes)}, &seqno),
           "SUBMIT")) {
    if ((*random)() % 2 != 0)
      Done(uapi::CloseBo(b.get(), imported), "GEM_CLOSE");
    Done(uapi::Wait(b.get(), bench.context, seqno, uapi::InMs(60000)), "WAIT");
  }
}

// Jobs of two contexts that wait for each other's fences.
void Syncer(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  Bench one(c.get()), two(c.get());
  drm_syncobj_create created = {};
  if (!one.ok || !two.ok ||
      !Done(c->Ioctl(DRM_IOCTL_SYNCOBJ_CREATE, &created), "SYNCOBJ_CREATE")) {
    return;
  }
  uint64_t point = 0;
  for (int i = 0; i < 8; ++i) {
    Bench& bench = i % 2 == 0 ? one : two;
    uapi::Syncs syncs;
    if (point != 0) syncs.in = {{created.handle, 0, point}};
    syncs.out = {{created.handle, 0, point + 1}};
    if (!Done(
            uapi::Submit(c.get(), bench.context, bench.Job(i), nullptr, syncs),
            "SUBMIT"))
      break;
    ++point;
  }
  if (point != 0 && (*random)() % 2 != 0) {
    Done(uapi::WaitPoint(c.get(), created.handle, point, uapi::InMs(60000)),
         "SYNCOBJ_TIMELINE_WAIT");
  }
  Done(uapi::DestroySyncobj(c.get(), created.handle), "SYNCOBJ_DESTROY");
}

// Everything that only looks.
void Watcher(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  for (int i = 0; i < 8; ++i) {
    drm_heddle_memory_info memory = {};
    drm_heddle_counters counters = {};
    drm_heddle_query args = {};
    args.type = DRM_HEDDLE_QUERY_MEMORY;
    args.data = uapi::ArrayOf(&memory, 1);
    if (Done(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), "QUERY")) {
      EXPECT_LE(memory.used, memory.total);
    }
    args.type = DRM_HEDDLE_QUERY_COUNTERS;
    args.data = uapi::ArrayOf(&counters, 1);
    Done(c->Ioctl(DRM_IOCTL_HEDDLE_QUERY, &args), "QUERY");
    drm_heddle_event event = {};
    Done(uapi::NextEvent(c.get(), uapi::NowNs() + 1000000, &event), "EVENTS",
         {-ETIME});
  }
  for (const char* folder : {"/proc/self/fdinfo", "/sys/kernel/debug/dri",
                             "/sys/kernel/debug/accel"}) {
    // Entries go meanwhile.
    std::error_code error;
    auto entry = fs::recursive_directory_iterator(folder, error);
    for (; !error && entry != fs::recursive_directory_iterator();
         entry.increment(error)) {
      std::error_code gone;
      if (!entry->is_regular_file(gone)) continue;
      std::ifstream file(entry->path());
      char text[4096];
      file.read(text, sizeof(text));
    }
  }
}

// Streams that come and go, some of them refused.
void Streamer(std::mt19937* random) {
  const auto c = OpenAny(random);
  if (c == nullptr) return;
  for (int i = 0; i < 8; ++i) {
    auto words = uapi::CopyStream(0, 1, 4096);
    const bool broken = (*random)() % 2 != 0;
    if (broken) words[0] ^= 0xff;
    uint32_t id = 0;
    if (Done(uapi::CreateStream(c.get(), words, &id), "STREAM_CREATE",
             {-ENOEXEC})) {
      EXPECT_FALSE(broken);
      Done(uapi::DestroyStream(c.get(), id), "STREAM_DESTROY");
    }
  }
}

// The device of a node in sysfs.
fs::path DeviceOf(const std::string& node) {
  const fs::path name = fs::path(node).filename();
  const char* kind =
      name.string()[0] == 'a' ? "/sys/class/accel" : "/sys/class/drm";
  std::error_code error;
  return fs::canonical(kind / name / "device", error);
}

class Stress : public testing::Test {
 protected:
  static constexpr void (*kRoles[])(std::mt19937*) = {
      Submitter, Submitter, Submitter, Submitter, Sharer, Sharer,
      Closer,    Destroyer, Forker,    Forker,    Mapper, Importer,
      Importer,  Syncer,    Watcher,   Streamer};
  static constexpr int kThreads = sizeof(kRoles) / sizeof(kRoles[0]);

  void Start() {
    for (int i = 0; i < kThreads; ++i) {
      threads_.emplace_back([this, i] {
        std::mt19937 random(i);
        while (!stop_) {
          kRoles[i](&random);
          ++rounds_[i];
        }
      });
    }
  }
  void Stop() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    shared.reset();
  }
  void TearDown() override { Stop(); }

  // Every thread has gone round twice: once from beginning to end.
  bool AllWork() {
    uint64_t before[kThreads];
    for (int i = 0; i < kThreads; ++i) before[i] = rounds_[i];
    for (const uint64_t end = uapi::InMs(120000); uapi::NowNs() < end;
         usleep(2000)) {
      int done = 0;
      for (int i = 0; i < kThreads; ++i) done += rounds_[i] >= before[i] + 2;
      if (done == kThreads) return true;
    }
    for (int i = 0; i < kThreads; ++i) {
      if (rounds_[i] < before[i] + 2)
        ADD_FAILURE() << "thread " << i << " does not get on";
    }
    return false;
  }

  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> rounds_[kThreads] = {};
  std::vector<std::thread> threads_;
};

bool Write(const fs::path& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool written = fd >= 0 && write(fd, text.data(), text.size()) ==
                                      static_cast<ssize_t>(text.size());
  close(fd);
  return written;
}

TEST_F(Stress, CardsComeAndGo) {
  const char* text = std::getenv("HEDDLE_STRESS_CYCLES");
  const int cycles = text == nullptr ? 4 : std::atoi(text);
  const bool surprise = std::getenv("HEDDLE_STRESS_SURPRISE") != nullptr;
  const size_t cards = uapi::DrmNodes().size();
  ASSERT_GT(cards, 0u);
  Start();
  for (int n = 0; n < cycles && !HasFailure(); ++n) {
    ASSERT_TRUE(AllWork()) << "cycle " << n;
    if (surprise && n % 2 != 0) {
      ASSERT_TRUE(HostRequest("kill 0").ok);
      const HostAnswer gone = HostRequest("unplug 0", 120);
      ASSERT_TRUE(gone.ok) << gone.text;
      const HostAnswer come = HostRequest("plug 0 --memory 64M", 120);
      ASSERT_TRUE(come.ok) << come.text;
    } else {
      const fs::path device = DeviceOf(uapi::DrmNodes().front());
      const fs::path driver = fs::canonical(device / "driver");
      ASSERT_TRUE(Write(driver / "unbind", device.filename()));
      usleep(20000);
      ASSERT_TRUE(Write(driver / "bind", device.filename()));
    }
    for (const uint64_t end = uapi::InMs(60000);
         uapi::DrmNodes().size() != cards; usleep(2000)) {
      ASSERT_LT(uapi::NowNs(), end) << "the card does not come back";
    }
  }
  ASSERT_TRUE(AllWork());
  Stop();
  for (const std::string& node : uapi::DrmNodes()) {
    int error = 0;
    const auto c = uapi::OpenDrmNode(node, &error);
    ASSERT_NE(c, nullptr);
    for (const uint64_t end = uapi::InMs(60000);; usleep(2000)) {
      const uint64_t used = uapi::MemoryInfo(c.get()).used;
      const uint64_t queued = uapi::Counters(c.get()).queued;
      if (used == 0 && queued == 0) break;
      ASSERT_LT(uapi::NowNs(), end)
          << used << " bytes, " << queued << " jobs are left";
    }
    Bench bench(c.get());
    ASSERT_TRUE(bench.ok);
    EXPECT_EQ(uapi::Do(c.get(), bench.context, bench.Job(5)).status, 0u);
  }
  uint64_t sum = 0;
  for (const auto& rounds : rounds_) sum += rounds;
  std::printf("%d cycles, %llu rounds\n", cycles,
              static_cast<unsigned long long>(sum));
}

}  // namespace
}  // namespace heddle::tests
