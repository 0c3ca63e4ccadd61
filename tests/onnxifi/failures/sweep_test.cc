// SPDX-License-Identifier: Apache-2.0
// Every ONNXIFI function of the product's library, and the native session, with
// each allocation, thread and descriptor failing in turn.
#include "tests/onnxifi/failures/sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "runtime/session/session.h"
#include "runtime/session/test_package.h"
#include "tests/onnxifi/failures/product.h"

namespace heddle::tests {
namespace {

using faults::Kind;

// Bytes of the card's memory that are in use.
uint64_t DeviceMemoryUsed() {
  const auto devices = session::ListDevices();
  if (!devices.ok() || devices->empty()) return 0;
  const auto device = session::OpenDevice(devices->front().id);
  const auto memory = device.ok() ? (*device)->memory() : device.status();
  EXPECT_TRUE(memory.ok()) << memory.status();
  return memory.ok() ? memory->used : 0;
}

class Sweeping : public testing::Test {
 protected:
  // A case of `function` whose call stores its status.
  SweepCase Case(
      Function function, std::function<onnxStatus()> call,
      std::function<void()> undo = [] {}) {
    SweepCase made;
    made.name = onnxifi::FunctionName(function);
    made.prepare = made.clean = [] {};
    made.call = [this, call = std::move(call)] {
      status_ = call();
      return status_ == ONNXIFI_STATUS_SUCCESS ||
             status_ == ONNXIFI_STATUS_FALLBACK;
    };
    made.undo = std::move(undo);
    made.check = [this, function](Kind kind) {
      EXPECT_STATUS(onnxifi::Contracted(
                        function, kind == Kind::kAllocation
                                      ? ONNXIFI_STATUS_NO_SYSTEM_MEMORY
                                      : ONNXIFI_STATUS_NO_SYSTEM_RESOURCES),
                    status_)
          << onnxifi::FunctionName(function);
    };
    return made;
  }

  void All(const SweepCase& tested) {
    const uint64_t used = DeviceMemoryUsed();
    Sweep(tested, Kind::kAllocation, false);
    Sweep(tested, Kind::kAllocation, true);
    Sweep(tested, Kind::kThread, false);
    Sweep(tested, Kind::kDescriptor, false);
    Sweep(tested, Kind::kDescriptor, true);
    EXPECT_EQ(DeviceMemoryUsed(), used);
  }

  Library& library() { return Library::Get(); }
  onnxStatus status_ = ONNXIFI_STATUS_SUCCESS;
};

TEST_F(Sweeping, BackendIds) {
  TestCard::Get();
  onnxBackendID ids[8];
  size_t count = 0;
  const auto list = [&] {
    count = 8;
    return library().GetBackendIDs(ids, &count);
  };
  const auto release = [&] {
    for (size_t i = 0; i < count; ++i)
      EXPECT_OK(library().ReleaseBackendID(ids[i]));
  };
  All(Case(Function::kGetBackendIDs, list, release));
  // The watch of the card ends with the ID, and begins with the next.
  SweepCase tested = Case(Function::kReleaseBackendID,
                          [&] { return library().ReleaseBackendID(ids[0]); });
  tested.prepare = [&] {
    EXPECT_OK(list());
    for (size_t i = 1; i < count; ++i)
      EXPECT_OK(library().ReleaseBackendID(ids[i]));
  };
  tested.absorbs = true;
  All(tested);
}

TEST_F(Sweeping, Backend) {
  Objects objects;
  char text[256];
  size_t size = 0;
  All(Case(Function::kGetBackendInfo, [&] {
    size = sizeof(text);
    return library().GetBackendInfo(objects.id, ONNXIFI_BACKEND_DEVICE, text,
                                    &size);
  }));
  onnxBackend backend = nullptr;
  const auto release = [&] { EXPECT_OK(library().ReleaseBackend(backend)); };
  All(Case(
      Function::kInitBackend,
      [&] { return library().InitBackend(objects.id, nullptr, &backend); },
      release));
  SweepCase tested = Case(Function::kReleaseBackend,
                          [&] { return library().ReleaseBackend(backend); });
  tested.prepare = [&] {
    EXPECT_OK(library().InitBackend(objects.id, nullptr, &backend));
  };
  tested.absorbs = true;
  All(tested);
  onnxExtensionFunctionPointer pointer = nullptr;
  All(Case(Function::kGetExtensionFunctionAddress, [&] {
    return library().GetExtensionFunctionAddress(objects.id, "onnxWaitEventFor",
                                                 &pointer);
  }));
}

TEST_F(Sweeping, Compatibility) {
  Objects objects;
  const std::string model = MatMulModel(4);
  All(Case(Function::kGetBackendCompatibility, [&] {
    return library().GetBackendCompatibility(objects.id, model.size(),
                                             model.data());
  }));
}

TEST_F(Sweeping, Events) {
  Objects objects;
  onnxEvent event = nullptr;
  const auto release = [&] { EXPECT_OK(library().ReleaseEvent(event)); };
  All(Case(
      Function::kInitEvent,
      [&] { return library().InitEvent(objects.backend, &event); }, release));
  SweepCase tested = Case(Function::kSignalEvent,
                          [&] { return library().SignalEvent(event); });
  tested.prepare = [&] { event = objects.Event(false); };
  tested.clean = release;
  tested.absorbs = true;
  All(tested);
  onnxEventState state;
  event = objects.Event(true);
  tested = Case(Function::kGetEventState,
                [&] { return library().GetEventState(event, &state); });
  tested.absorbs = true;
  All(tested);
  tested =
      Case(Function::kWaitEvent, [&] { return library().WaitEvent(event); });
  tested.absorbs = true;
  All(tested);
  release();
  tested = Case(Function::kReleaseEvent,
                [&] { return library().ReleaseEvent(event); });
  tested.prepare = [&] { event = objects.Event(false); };
  tested.absorbs = true;
  All(tested);
}

TEST_F(Sweeping, InitGraph) {
  Objects objects;
  const std::string model = MatMulModel(4);
  onnxGraph graph = nullptr;
  All(Case(
      Function::kInitGraph,
      [&] {
        return library().InitGraph(objects.backend, nullptr, model.size(),
                                   model.data(), 0, nullptr, &graph, 0,
                                   nullptr);
      },
      [&] { EXPECT_OK(library().ReleaseGraph(graph)); }));
}

TEST_F(Sweeping, InitGraphOfASplitModel) {
  Objects objects;
  const std::string model = SplitModel({4});
  onnxGraph graph = nullptr;
  SweepCase tested = Case(
      Function::kInitGraph,
      [&] {
        return library().InitGraph(objects.backend, nullptr, model.size(),
                                   model.data(), 0, nullptr, &graph, 0,
                                   nullptr);
      },
      [&] { EXPECT_OK(library().ReleaseGraph(graph)); });
  tested.name += " of card and host";
  All(tested);
}

TEST_F(Sweeping, ReleaseGraph) {
  Objects objects;
  const std::string model = ReluModel({4});
  onnxGraph graph = nullptr;
  SweepCase tested = Case(Function::kReleaseGraph,
                          [&] { return library().ReleaseGraph(graph); });
  tested.prepare = [&] { graph = objects.Graph(model); };
  tested.absorbs = true;
  All(tested);
}

TEST_F(Sweeping, SetGraphIO) {
  Objects objects;
  All(Case(Function::kSetGraphIO, [&] {
    return library().SetGraphIO(objects.graph, 1, &objects.in.value, 1,
                                &objects.out.value);
  }));
  // A graph that is compiled here.
  const std::string model = ReluModel({0});
  onnxGraph graph = nullptr;
  SweepCase tested = Case(Function::kSetGraphIO, [&] {
    return library().SetGraphIO(graph, 1, &objects.in.value, 1,
                                &objects.out.value);
  });
  tested.name += " of a symbolic graph";
  tested.prepare = [&] { graph = objects.Graph(model); };
  tested.clean = [&] { EXPECT_OK(library().ReleaseGraph(graph)); };
  All(tested);
}

TEST_F(Sweeping, RunGraph) {
  Objects objects;
  const onnxEvent ready = objects.Event(true);
  onnxEvent input = ready, output = nullptr;
  SweepCase tested = Case(
      Function::kRunGraph, [&] { return objects.Start(input, &output); },
      [&] {
        if (input != ready) {
          EXPECT_OK(library().SignalEvent(input));
        }
        EXPECT_OK(library().WaitEvent(output));
        EXPECT_OK(library().ReleaseEvent(output));
      });
  // A fresh graph: its first run makes the storage that later ones use again.
  onnxGraph kept = objects.graph;
  tested.prepare = [&] {
    objects.graph = objects.Graph(ReluModel({4}));
    EXPECT_OK(library().SetGraphIO(objects.graph, 1, &objects.in.value, 1,
                                   &objects.out.value));
  };
  tested.clean = [&] { EXPECT_OK(library().ReleaseGraph(objects.graph)); };
  All(tested);
  tested.name += " with an input that is not ready";
  const auto prepare = tested.prepare;
  tested.prepare = [&, prepare] {
    prepare();
    input = objects.Event(false);
  };
  const auto clean = tested.clean;
  tested.clean = [&, clean] {
    clean();
    EXPECT_OK(library().ReleaseEvent(input));
  };
  All(tested);
  objects.graph = kept;
  EXPECT_OK(library().ReleaseEvent(ready));
}

// From the signal to the end of the run: what the library's own threads do. Of
// a model that is the card's, and of one that it shares with the host.
class SweepingRuns : public Sweeping,
                     public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Split, SweepingRuns, testing::Bool());

TEST_P(SweepingRuns, WaitEvent) {
  Objects objects;
  const std::string model = GetParam() ? SplitModel({4}) : ReluModel({4});
  onnxEvent input = nullptr, output = nullptr;
  SweepCase tested = Case(Function::kWaitEvent, [&] {
    return library().SignalEvent(input) == ONNXIFI_STATUS_SUCCESS
               ? library().WaitEvent(output)
               : ONNXIFI_STATUS_INVALID_STATE;
  });
  const auto start = [&] {
    input = objects.Event(false);
    output = nullptr;
    EXPECT_OK(objects.Start(input, &output));
  };
  const auto end = [&] {
    EXPECT_OK(library().ReleaseEvent(output));
    EXPECT_OK(library().ReleaseEvent(input));
  };
  onnxGraph kept = objects.graph;
  tested.prepare = [&] {
    objects.graph = objects.Graph(model);
    EXPECT_OK(library().SetGraphIO(objects.graph, 1, &objects.in.value, 1,
                                   &objects.out.value));
    start();
  };
  // An event is signalled once: another run is the repetition.
  const auto check = tested.check;
  tested.check = [&, check](Kind kind) {
    check(kind);
    end();
    start();
  };
  tested.clean = [&] {
    end();
    EXPECT_OK(library().ReleaseGraph(objects.graph));
  };
  All(tested);
  objects.graph = kept;
}

// The extension: locations and run in one step.
TEST_F(Sweeping, SetIOAndRunGraph) {
  Objects objects;
  onnxExtensionFunctionPointer pointer = nullptr;
  EXPECT_OK(library().GetExtensionFunctionAddress(
      objects.id, "onnxSetIOAndRunGraphFunction", &pointer));
  const auto run = reinterpret_cast<onnxSetIOAndRunGraphFunction>(
      reinterpret_cast<void (*)()>(pointer));
  EXPECT_OK(library().GetExtensionFunctionAddress(
      objects.id, "onnxReleaseTraceEvents", &pointer));
  const auto release = reinterpret_cast<onnxReleaseTraceEventsFunction>(
      reinterpret_cast<void (*)()>(pointer));
  onnxMemoryFenceV1 fence;
  onnxTraceEventList trace;
  All(Case(
      Function::kSetIOAndRunGraph,
      [&] {
        fence = Fence();
        return run(objects.graph, 1, &objects.in.value, 1, &objects.out.value,
                   &fence, &trace);
      },
      [&] {
        EXPECT_OK(library().WaitEvent(fence.event));
        EXPECT_OK(library().ReleaseEvent(fence.event));
        EXPECT_OK(release(&trace));
      }));
}

// ---- The native session: a failed call leaves nothing behind

class SweepingSession : public Sweeping {
 protected:
  SweepCase SessionCase(const char* name, std::function<absl::Status()> call,
                        std::function<void()> undo) {
    SweepCase made;
    made.name = name;
    made.prepare = made.clean = [] {};
    made.call = [this, call = std::move(call)] {
      thrown_ = false;
      try {
        result_ = call();
      } catch (const std::bad_alloc&) {
        thrown_ = true;
        return false;
      }
      return result_.ok();
    };
    made.undo = std::move(undo);
    made.check = [this](Kind kind) {
      if (thrown_) {
        EXPECT_EQ(kind, Kind::kAllocation);
        return;
      }
      EXPECT_TRUE(absl::IsResourceExhausted(result_)) << result_;
      EXPECT_EQ(session::ExhaustedResource(result_),
                kind == Kind::kAllocation
                    ? session::ExhaustedKind::kSystemMemory
                    : session::ExhaustedKind::kSystemResources)
          << result_;
      result_ = absl::OkStatus();
    };
    return made;
  }

  void SetUp() override {
    TestCard::Get();
    const auto devices = session::ListDevices();
    ASSERT_TRUE(devices.ok()) << devices.status();
    ASSERT_FALSE(devices->empty());
    id_ = devices->front().id;
  }

  std::string id_;
  bool thrown_ = false;
  absl::Status result_;
};

TEST_F(SweepingSession, OpenLoadStart) {
  std::shared_ptr<session::Device> device;
  All(SessionCase(
      "OpenDevice",
      [&] {
        auto opened = session::OpenDevice(id_);
        if (opened.ok()) device = *std::move(opened);
        return opened.status();
      },
      [&] { device = nullptr; }));
  std::shared_ptr<session::Watch> watch;
  All(SessionCase(
      "WatchDevice",
      [&] {
        auto opened = session::WatchDevice(id_);
        if (opened.ok()) watch = *std::move(opened);
        return opened.status();
      },
      [&] { watch = nullptr; }));

  auto opened = session::OpenDevice(id_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  device = *opened;
  const std::string package = package::Serialize(session::CopyPackage());
  std::shared_ptr<session::Graph> graph;
  const auto load = [&] {
    auto loaded = session::LoadGraph(device, package);
    if (loaded.ok()) graph = *std::move(loaded);
    return loaded.status();
  };
  All(SessionCase("LoadGraph", load, [&] { graph = nullptr; }));

  std::vector<uint8_t> x(4096, 7), y(4096), w(256);
  const std::vector<session::TensorBuffer> inputs = {{"x", x.data(), x.size()}};
  const std::vector<session::TensorBuffer> outputs = {
      {"w", w.data(), w.size()}, {"y", y.data(), y.size()}};
  std::shared_ptr<session::Run> run;
  SweepCase start = SessionCase(
      "Start",
      [&] {
        auto started = graph->Start(inputs, outputs, nullptr);
        if (started.ok()) run = *std::move(started);
        return started.status();
      },
      [&] {
        EXPECT_TRUE(run->Wait(absl::InfiniteFuture()).ok());
        EXPECT_EQ(y, x);
        run = nullptr;
      });
  start.prepare = [&] { EXPECT_TRUE(load().ok()); };
  start.clean = [&] { graph = nullptr; };
  All(start);
}

// A package of card and host: the threads that it has, and what they need.
TEST_F(SweepingSession, SplitGraph) {
  auto opened = session::OpenDevice(id_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::shared_ptr<session::Device> device = *opened;
  const std::string package = package::Serialize(session::SegmentedPackage());
  std::shared_ptr<session::Graph> graph;
  const auto load = [&] {
    session::LoadOptions options;
    options.host_threads = 2;
    auto loaded = session::LoadGraph(device, package, options);
    if (loaded.ok()) graph = *std::move(loaded);
    return loaded.status();
  };
  All(SessionCase("LoadGraph of segments", load, [&] { graph = nullptr; }));

  std::vector<uint8_t> h(4096, 7), z(4096), w(256);
  h[0] = 1;
  const std::vector<session::TensorBuffer> inputs = {{"h", h.data(), h.size()}};
  const std::vector<session::TensorBuffer> outputs = {
      {"z", z.data(), z.size()}, {"w", w.data(), w.size()}};
  SweepCase run = SessionCase(
      "Start and Wait",
      [&] {
        auto started = graph->Start(inputs, outputs, nullptr);
        return started.ok() ? (*started)->Wait(absl::InfiniteFuture())
                            : started.status();
      },
      [&] {
        EXPECT_EQ(z, h);
        std::fill(z.begin(), z.end(), 0);
      });
  run.prepare = [&] { EXPECT_TRUE(load().ok()); };
  run.clean = [&] { graph = nullptr; };
  All(run);
}

// Memory that a run's tensors may be in instead of the caller's: made, filled,
// read, and used by graphs of the card and of segments.
TEST_F(SweepingSession, HostBuffersAndResidents) {
  constexpr uint64_t kBytes = 4096;
  auto opened = session::OpenDevice(id_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::shared_ptr<session::Device> device = *opened;
  std::shared_ptr<session::HostBuffer> host;
  const auto make_host = [&] {
    auto made = session::MakeHostBuffer(device, 2 * kBytes);
    if (made.ok()) host = *std::move(made);
    return made.status();
  };
  All(SessionCase("MakeHostBuffer", make_host, [&] { host = nullptr; }));
  std::shared_ptr<session::Resident> state;
  const auto make_resident = [&] {
    auto made = session::MakeResident(device, kBytes);
    if (made.ok()) state = *std::move(made);
    return made.status();
  };
  All(SessionCase("MakeResident", make_resident, [&] { state = nullptr; }));

  EXPECT_TRUE(make_host().ok() && make_resident().ok());
  std::vector<uint8_t> bytes(kBytes, 7), read(kBytes);
  bytes[0] = 1;
  All(SessionCase(
      "Resident::Write", [&] { return state->Write(bytes.data(), kBytes); },
      [] {}));
  All(SessionCase(
      "Resident::Read", [&] { return state->Read(read.data(), kBytes); },
      [&] {
        EXPECT_EQ(read, bytes);
        std::fill(read.begin(), read.end(), 0);
      }));

  std::shared_ptr<session::Graph> graph;
  const auto sweep = [&](const char* name, const package::Package& package,
                         const std::vector<session::TensorBuffer>& inputs,
                         const std::vector<session::TensorBuffer>& outputs) {
    const std::string serialized = package::Serialize(package);
    SweepCase run = SessionCase(
        name,
        [&] {
          auto started = graph->Start(inputs, outputs, nullptr);
          return started.ok() ? (*started)->Wait(absl::InfiniteFuture())
                              : started.status();
        },
        [&] {
          EXPECT_TRUE(
              std::equal(bytes.begin(), bytes.end(), host->data() + kBytes));
          std::fill_n(host->data() + kBytes, kBytes, 0);
        });
    run.prepare = [&] {
      auto loaded = session::LoadGraph(device, serialized);
      EXPECT_TRUE(loaded.ok()) << loaded.status();
      if (loaded.ok()) graph = *std::move(loaded);
    };
    run.clean = [&] { graph = nullptr; };
    All(run);
  };
  const session::TensorBuffer y = {"y", host->data() + kBytes, kBytes, nullptr,
                                   host};
  sweep("Start with bound tensors", session::CopyPackage(kBytes),
        {{"x", nullptr, kBytes, state}}, {y});
  // Read by the host; what it writes becomes resident at the end.
  const auto reversed = session::MakeResident(device, kBytes);
  ASSERT_TRUE(reversed.ok()) << reversed.status();
  session::TensorBuffer z = y;
  z.name = "z";
  sweep("Start with bound tensors of segments", session::SegmentedPackage(),
        {{"h", nullptr, kBytes, state}},
        {z, {"x", nullptr, kBytes, *reversed}});
  EXPECT_TRUE((*reversed)->Read(read.data(), kBytes).ok());
  EXPECT_TRUE(std::equal(read.rbegin(), read.rend(), bytes.begin()));
}

// A Loop whose body the card and the host share, and an If in it.
TEST_F(SweepingSession, Loop) {
  auto opened = session::OpenDevice(id_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::shared_ptr<session::Device> device = *opened;
  const std::string package = package::Serialize(session::LoopPackage());
  std::shared_ptr<session::Graph> graph;
  const auto load = [&] {
    session::LoadOptions options;
    options.host_threads = 1;
    auto loaded = session::LoadGraph(device, package, options);
    if (loaded.ok()) graph = *std::move(loaded);
    return loaded.status();
  };
  All(SessionCase("LoadGraph of a Loop", load, [&] { graph = nullptr; }));

  int64_t n = 2;
  bool flag = true;
  std::vector<uint8_t> h(4096, 7), z(4096);
  h[0] = 1;
  const std::vector<session::TensorBuffer> inputs = {
      {"n", &n, sizeof(n)}, {"flag", &flag, 1}, {"h", h.data(), h.size()}};
  const std::vector<session::TensorBuffer> outputs = {
      {"z", z.data(), z.size()}};
  SweepCase run = SessionCase(
      "Start and Wait for a Loop",
      [&] {
        auto started = graph->Start(inputs, outputs, nullptr);
        return started.ok() ? (*started)->Wait(absl::InfiniteFuture())
                            : started.status();
      },
      [&] {
        EXPECT_EQ(z, h);
        std::fill(z.begin(), z.end(), 0);
      });
  run.prepare = [&] { EXPECT_TRUE(load().ok()); };
  run.clean = [&] { graph = nullptr; };
  All(run);
}

// The sweep is nothing if its faults do not hit.
TEST_F(SweepingSession, FaultsWereInjected) {
  EXPECT_GT(Injected(), 100);
  RecordProperty("faults", static_cast<int>(Injected()));
}

}  // namespace
}  // namespace heddle::tests
