// SPDX-License-Identifier: Apache-2.0
// The product's library at the limits of its process and of its card: what is
// exhausted is said, comes back, and nobody waits for it.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runtime/session/session.h"
#include "runtime/session/test_package.h"
#include "tests/onnxifi/failures/product.h"
#include "tests/support/fault_injection.h"

namespace heddle::tests {
namespace {

Library& library() { return Library::Get(); }

// No descriptor can be opened while this lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    // A sanitizer would find none either, and report what it cannot look at.
    if (faults::Sanitized()) {
      faults::Arm({faults::Kind::kDescriptor, 0, true});
      return;
    }
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = kLimit;
    setrlimit(RLIMIT_NOFILE, &limit);
    for (int fd = dup(STDERR_FILENO); fd >= 0; fd = dup(STDERR_FILENO)) {
      filled_.push_back(fd);
    }
  }
  ~NoDescriptors() {
    if (faults::Sanitized()) {
      faults::Disarm();
      return;
    }
    for (const int fd : filled_) close(fd);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  static constexpr rlim_t kLimit = 256;
  rlimit before_ = {};
  std::vector<int> filled_;
};

onnxStatus Info(onnxBackendID id, onnxBackendInfo what, std::string* value) {
  char bytes[256];
  size_t size = sizeof(bytes);
  const onnxStatus status = library().GetBackendInfo(id, what, bytes, &size);
  if (status == ONNXIFI_STATUS_SUCCESS) value->assign(bytes, size);
  return status;
}

uint64_t MemorySize(onnxBackendID id) {
  std::string bytes;
  EXPECT_OK(Info(id, ONNXIFI_BACKEND_MEMORY_SIZE, &bytes));
  uint64_t size = 0;
  if (bytes.size() == sizeof(size))
    bytes.copy(reinterpret_cast<char*>(&size), sizeof(size));
  return size;
}

// The IDs that are listed; the caller releases them.
std::vector<onnxBackendID> List() {
  size_t count = 16;
  std::vector<onnxBackendID> ids(count);
  EXPECT_OK(library().GetBackendIDs(ids.data(), &count));
  ids.resize(count);
  return ids;
}

void Release(const std::vector<onnxBackendID>& ids) {
  for (onnxBackendID id : ids) EXPECT_OK(library().ReleaseBackendID(id));
}

TEST(Descriptors, ExhaustedIsNoSystemResources) {
  Objects objects;
  const std::string model = MatMulModel(4), symbolic = ReluModel({0});
  const onnxGraph other = objects.Graph(symbolic);
  const onnxEvent ready = objects.Event(true);
  onnxBackend backend = nullptr;
  onnxGraph graph = nullptr;
  onnxEvent done = nullptr;
  std::string name;
  {
    NoDescriptors none;
    EXPECT_STATUS(ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
                  library().InitBackend(objects.id, nullptr, &backend));
    EXPECT_STATUS(
        ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
        library().InitGraph(objects.backend, nullptr, model.size(),
                            model.data(), 0, nullptr, &graph, 0, nullptr));
    EXPECT_STATUS(ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
                  objects.Start(ready, &done));
    // Questions about a listed ID need none.
    EXPECT_OK(Info(objects.id, ONNXIFI_BACKEND_DEVICE, &name));
    EXPECT_OK(library().GetBackendCompatibility(objects.id, model.size(),
                                                model.data()));
    size_t count = 0;
    EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR,
                  library().GetBackendIDs(nullptr, &count));
    // Neither does giving back.
    EXPECT_OK(library().ReleaseGraph(other));
  }
  EXPECT_OK(objects.Run());
  EXPECT_OK(library().ReleaseEvent(ready));
}

TEST(Ids, ReleaseGivesEverythingBack) {
  TestCard::Get();
  Release(List());
  const faults::Holdings before = faults::Held();
  const auto ids = List();
  ASSERT_FALSE(ids.empty());
  std::string name;
  const std::string model = ReluModel({4});
  EXPECT_OK(Info(ids[0], ONNXIFI_BACKEND_DEVICE, &name));
  EXPECT_OK(
      library().GetBackendCompatibility(ids[0], model.size(), model.data()));
  EXPECT_EQ(faults::Held().threads, before.threads);
  Release(ids);
  EXPECT_EQ(faults::Held().descriptors, before.descriptors);
  EXPECT_EQ(faults::Held().threads, before.threads);
}

// An ID names a card, whatever else is in its slot.
TEST(Ids, NameACardAndNotASlot) {
  if (TestCard::Get().card() == nullptr) GTEST_SKIP() << "not a virtual card";
  const auto old = List();
  ASSERT_EQ(old.size(), 1u);
  std::string name;
  EXPECT_OK(Info(old[0], ONNXIFI_BACKEND_DEVICE, &name));
  CardOptions options;
  options.serial = 2;
  TestCard::Get().Replace(options);
  const auto other = List();
  ASSERT_EQ(other.size(), 1u);
  EXPECT_NE(other[0], old[0]);
  onnxBackend backend = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE,
                library().InitBackend(old[0], nullptr, &backend));
  EXPECT_EQ(backend, nullptr);
  EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE,
                Info(old[0], ONNXIFI_BACKEND_DEVICE, &name));
  EXPECT_OK(library().InitBackend(other[0], nullptr, &backend));
  EXPECT_OK(library().ReleaseBackend(backend));
  TestCard::Get().Replace(CardOptions());
  const auto again = List();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0], old[0]);
  for (const auto& ids : {old, other, again}) Release(ids);
}

// A card that comes back with another configuration and other memory.
TEST(Ids, ValuesFollowTheCard) {
  if (TestCard::Get().card() == nullptr) GTEST_SKIP() << "not a virtual card";
  const auto ids = List();
  ASSERT_EQ(ids.size(), 1u);
  std::string name;
  EXPECT_OK(Info(ids[0], ONNXIFI_BACKEND_DEVICE, &name));
  EXPECT_NE(name.find("h256"), std::string::npos) << name;
  const uint64_t memory = MemorySize(ids[0]);
  CardOptions options;
  options.config = "h512";
  options.memory = "256M";
  TestCard::Get().Replace(options);
  EXPECT_OK(Info(ids[0], ONNXIFI_BACKEND_DEVICE, &name));
  EXPECT_NE(name.find("h512"), std::string::npos) << name;
  EXPECT_EQ(MemorySize(ids[0]), memory - (uint64_t{256} << 20));
  const auto again = List();
  EXPECT_EQ(again, ids);
  {
    Objects objects;
    EXPECT_EQ(objects.id, ids[0]);
    EXPECT_OK(objects.Run());
    EXPECT_EQ(objects.y[2], 2);
  }
  Release(ids);
  Release(again);
  TestCard::Get().Replace(CardOptions());
}

// More graphs than jobs may be in flight, on an engine that hangs: each run is
// accepted at once, although none has ended.
TEST(Runs, StartingNeverWaits) {
  if (TestCard::Get().card() == nullptr) GTEST_SKIP() << "not a virtual card";
  constexpr int kGraphs = session::kMaxRunsInFlight + 8;
  {
    Objects objects;
    const onnxEvent ready = objects.Event(true);
    std::vector<onnxGraph> graphs;
    std::vector<onnxEvent> ends;
    const std::string model = ReluModel({4});
    std::deque<std::vector<float>> places;
    for (int i = 0; i < kGraphs; ++i) {
      graphs.push_back(objects.Graph(model));
      places.emplace_back(4);
      const Tensor out("y", {4}, places.back().data());
      EXPECT_OK(library().SetGraphIO(graphs.back(), 1, &objects.in.value, 1,
                                     &out.value));
    }
    TestCard::Get().card()->Control("fault stuck_engine");
    const onnxGraph kept = objects.graph;
    for (onnxGraph graph : graphs) {
      objects.graph = graph;
      ends.emplace_back();
      EXPECT_OK(objects.Start(ready, &ends.back()));
    }
    objects.graph = kept;
    onnxEventState state = ONNXIFI_EVENT_STATE_INVALID;
    EXPECT_OK(library().GetEventState(ends.front(), &state));
    EXPECT_EQ(state, ONNXIFI_EVENT_STATE_NONSIGNALLED) << "starting waited";
    TestCard::Get().Replace(CardOptions());
    for (onnxEvent end : ends) {
      EXPECT_STATUS(ONNXIFI_STATUS_BACKEND_UNAVAILABLE,
                    library().WaitEvent(end));
      EXPECT_OK(library().ReleaseEvent(end));
    }
    for (onnxGraph graph : graphs) EXPECT_OK(library().ReleaseGraph(graph));
    EXPECT_OK(library().ReleaseEvent(ready));
  }
}

// Runs of more graphs than jobs may be in flight take turns and are right.
TEST(Runs, MoreThanMayBeInFlightTakeTurns) {
  constexpr int kGraphs = session::kMaxRunsInFlight + 8;
  Objects objects;
  const onnxEvent input = objects.Event(false);
  std::vector<onnxGraph> graphs;
  std::vector<onnxEvent> ends;
  std::deque<std::vector<float>> places;
  const std::string model = ReluModel({4});
  const onnxGraph kept = objects.graph;
  for (int i = 0; i < kGraphs; ++i) {
    graphs.push_back(objects.Graph(model));
    places.emplace_back(4, -1.0f);
    const Tensor out("y", {4}, places.back().data());
    EXPECT_OK(library().SetGraphIO(graphs.back(), 1, &objects.in.value, 1,
                                   &out.value));
    objects.graph = graphs.back();
    ends.emplace_back();
    EXPECT_OK(objects.Start(input, &ends.back()));
  }
  objects.graph = kept;
  EXPECT_OK(library().SignalEvent(input));
  for (int i = 0; i < kGraphs; ++i) {
    EXPECT_OK(library().WaitEvent(ends[i]));
    EXPECT_EQ(places[i], (std::vector<float>{1, 0, 2, 0}));
    EXPECT_OK(library().ReleaseEvent(ends[i]));
    EXPECT_OK(library().ReleaseGraph(graphs[i]));
  }
  EXPECT_OK(library().ReleaseEvent(input));
}

TEST(Runs, TheLimitOfABackendAnswersAtOnce) {
  constexpr int kRuns = 1024;  // RULINGS.md
  Objects objects;
  const onnxEvent input = objects.Event(false);
  std::vector<onnxEvent> ends(kRuns);
  for (onnxEvent& end : ends) EXPECT_OK(objects.Start(input, &end));
  onnxEvent over = nullptr;
  EXPECT_STATUS(ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
                objects.Start(input, &over));
  EXPECT_EQ(over, nullptr);
  EXPECT_OK(library().SignalEvent(input));
  for (onnxEvent end : ends) {
    EXPECT_OK(library().WaitEvent(end));
    EXPECT_OK(library().ReleaseEvent(end));
  }
  EXPECT_OK(objects.Run());
  EXPECT_OK(library().ReleaseEvent(input));
}

// The native session: one run too many is refused at once and leaves nothing.
TEST(Session, TheLimitOfADeviceAnswersAtOnce) {
  if (TestCard::Get().card() == nullptr) GTEST_SKIP() << "not a virtual card";
  const auto devices = session::ListDevices();
  ASSERT_TRUE(devices.ok()) << devices.status();
  ASSERT_EQ(devices->size(), 1u);
  auto device = session::OpenDevice(devices->front().id);
  ASSERT_TRUE(device.ok()) << device.status();
  auto graph =
      session::LoadGraph(*device, package::Serialize(session::CopyPackage()));
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<uint8_t> x(4096), y(4096), w(256);
  const auto start = [&] {
    return (*graph)->Start(
        {{"x", x.data(), x.size()}},
        {{"w", w.data(), w.size()}, {"y", y.data(), y.size()}}, nullptr);
  };
  TestCard::Get().card()->Control("fault stuck_engine");
  std::vector<std::shared_ptr<session::Run>> runs;
  for (size_t i = 0; i < session::kMaxRunsInFlight; ++i) {
    auto run = start();
    ASSERT_TRUE(run.ok()) << run.status();
    runs.push_back(*std::move(run));
  }
  const auto over = start();
  EXPECT_EQ(session::ExhaustedResource(over.status()),
            session::ExhaustedKind::kDeviceResources)
      << over.status();
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(runs.front()->Wait(absl::InfinitePast())))
      << "starting waited";
  TestCard::Get().Replace(CardOptions());
  runs.clear();
  graph = absl::UnknownError("released");  // does not wait for the refused run
}

// ---- First use, in a process of its own ------------------------------------

// Runs `main` below with the name of a first use, and this device.
void InNewProcess(const std::string& name, const std::string& device,
                  const std::string& folder = "") {
  Command command;
  command.argv = {"/proc/self/exe", name};
  command.env["HEDDLE_TEST_DEVICE"] = device;
  command.env["HEDDLE_BIN_DIR"] =
      Runfile("kmd/hosted") + ":" + Runfile("simulator/platform");
  if (!folder.empty()) {
    command.env["XDG_RUNTIME_DIR"] = command.env["TMPDIR"] = folder;
  }
  const Finished child = RunCommand(command, absl::Seconds(100) * TimeFactor());
  EXPECT_EQ(child.code, 0) << child.out << child.err;
}

std::string DeviceOfCard() {
  TestCard::Get();
  return getenv("HEDDLE_DEVICE");
}

// A failure for want of descriptors is not remembered.
void WithoutDescriptors() {
  TestCard::Get();
  Library::Get();
  size_t count = 0;
  {
    NoDescriptors none;
    EXPECT_STATUS(ONNXIFI_STATUS_INTERNAL_ERROR,
                  library().GetBackendIDs(nullptr, &count));
  }
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                library().GetBackendIDs(nullptr, &count));
  EXPECT_EQ(count, 1u);
}

TEST(FirstUse, WithoutDescriptorsOnACard) {
  InNewProcess("without-descriptors", DeviceOfCard());
}

TEST(FirstUse, WithoutDescriptorsOnASimulatedCard) {
  InNewProcess("without-descriptors", "sim");
}

// The first listing starts a simulated card: with each descriptor and a sample
// of the allocations failing in turn. Each failure is said, and none is kept.
void EachFailing() {
  TestCard::Get();
  Library::Get();
  // Makes the library itself; libprotobuf's tables do not survive a failure.
  EXPECT_STATUS(ONNXIFI_STATUS_INVALID_POINTER,
                library().GetBackendIDs(nullptr, nullptr));
  const auto each = [](faults::Kind kind, long step, onnxStatus expected) {
    for (long n = 0;; n += step) {
      SCOPED_TRACE(testing::Message() << faults::Name(kind) << " " << n);
      size_t count = 0;
      faults::Arm({kind, n});
      const onnxStatus status = library().GetBackendIDs(nullptr, &count);
      if (!faults::Disarm().failed) return n;
      // A card that is there is not started again.
      if (status == ONNXIFI_STATUS_FALLBACK) return n;
      EXPECT_STATUS(expected, status);
      if (testing::UnitTest::GetInstance()->Failed()) return n;
    }
  };
  EXPECT_GT(each(faults::Kind::kAllocation, 7, ONNXIFI_STATUS_NO_SYSTEM_MEMORY),
            7);
  size_t count = 0;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                library().GetBackendIDs(nullptr, &count));
  EXPECT_EQ(count, 1u);
  // Another private card.
  setenv("HEDDLE_DEVICE", "sim:memory=64M", 1);
  EXPECT_GT(each(faults::Kind::kDescriptor, 1, ONNXIFI_STATUS_INTERNAL_ERROR),
            3);
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                library().GetBackendIDs(nullptr, &count));
  EXPECT_EQ(count, 1u);
}

TEST(FirstUse, EachFailing) {
  TempFolder folder;
  InNewProcess("each-failing", "sim", folder.path());
  // Started cards end and tidy up.
  EXPECT_TRUE(
      Eventually([&] { return std::filesystem::is_empty(folder.path()); }));
}

// No card and no program that simulates one: no device, until there is one.
void WithoutPrograms() {
  TestCard::Get();
  const std::string programs = getenv("HEDDLE_BIN_DIR");
  setenv("HEDDLE_BIN_DIR", "/nowhere", 1);
  size_t count = 7;
  EXPECT_STATUS(ONNXIFI_STATUS_FALLBACK,
                library().GetBackendIDs(nullptr, &count));
  EXPECT_EQ(count, 0u);
  onnxBackendID id = nullptr;
  count = 1;
  EXPECT_OK(library().GetBackendIDs(&id, &count));
  EXPECT_EQ(count, 0u);
  setenv("HEDDLE_BIN_DIR", programs.c_str(), 1);
  count = 1;
  EXPECT_OK(library().GetBackendIDs(&id, &count));
  EXPECT_EQ(count, 1u);
}

TEST(FirstUse, WithoutPrograms) { InNewProcess("without-programs", "sim"); }

}  // namespace
}  // namespace heddle::tests

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string first_use = argc > 1 ? argv[1] : "";
  if (first_use.empty()) return RUN_ALL_TESTS();
  if (first_use == "without-descriptors") heddle::tests::WithoutDescriptors();
  if (first_use == "each-failing") heddle::tests::EachFailing();
  if (first_use == "without-programs") heddle::tests::WithoutPrograms();
  return testing::UnitTest::GetInstance()->Failed() ? 1 : 0;
}
