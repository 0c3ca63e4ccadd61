// SPDX-License-Identifier: Apache-2.0
// The loader as a program sees it, over vendors that do what their file names
// say (testing/stub_vendor.cc), in both ABIs.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "onnxifi/loader/descriptors.h"
#include "onnxifi/loader/loader_ext.h"
#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The loader, as that sees vendors.
Vendor& TheLoader() {
  static auto* loader = [] {
    // A crash of a vendor is to be one under a sanitizer, too.
    for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS"}) {
      const char* before = std::getenv(name);
      const std::string options = before == nullptr ? "" : before;
      setenv(name, (options + ":handle_segv=0:handle_abort=0").c_str(), 1);
    }
    auto* made = new Vendor;
    std::string error;
    if (!Vendor::Load(std::string("./") + std::getenv("LOADER"), made,
                      &error)) {
      ADD_FAILURE() << error;
    }
    return made;
  }();
  return *loader;
}

class Loader : public testing::TestWithParam<const char*> {
 protected:
  Loader() : api(TheLoader()) {
    char folder[] = "/tmp/loader_test.XXXXXX";
    folder_ = mkdtemp(folder);
    setenv("ONNXIFI_VENDOR_PATH", folder_.c_str(), 1);
    setenv("ONNXIFI_CONFIG_DIR", folder_.c_str(), 1);
    setenv("ONNXIFI_LOADER_LOG", "warning", 1);
    setenv("ONNXIFI_LOADER_ABI", GetParam(), 1);
  }
  ~Loader() override { (void)!std::system(("rm -r " + folder_).c_str()); }

  std::string Put(const std::string& words) {
    return Copy(std::getenv("STUB"), words);
  }
  std::string Copy(const std::string& from, const std::string& words) {
    const std::string path = folder_ + "/libonnxifi-" + words + ".so";
    // A file that is loaded is not to be written to.
    unlink(path.c_str());
    std::ofstream(path, std::ios::binary) << Read(from);
    return path;
  }
  void Configure(const std::string& library, const std::string& lines) {
    std::ofstream(library + ".conf") << "library = " << library << "\n"
                                     << lines;
  }
  void SetDevices(const std::string& library, const std::string& what) {
    std::ofstream(library + ".devices.new") << what;
    rename((library + ".devices.new").c_str(), (library + ".devices").c_str());
  }

  std::vector<onnxBackendID> List() {
    std::vector<onnxBackendID> ids(64);
    size_t count = ids.size();
    EXPECT_EQ(api.GetBackendIDs(ids.data(), &count), ONNXIFI_STATUS_SUCCESS);
    ids.resize(count);
    return ids;
  }
  std::string Device(onnxBackendID id) {
    char text[256] = "";
    size_t size = sizeof(text);
    EXPECT_EQ(api.GetBackendInfo(id, ONNXIFI_BACKEND_DEVICE, text, &size),
              ONNXIFI_STATUS_SUCCESS);
    return text;
  }
  std::multiset<std::string> Devices() {
    std::multiset<std::string> names;
    for (onnxBackendID id : List()) {
      names.insert(Device(id));
      EXPECT_EQ(api.ReleaseBackendID(id), ONNXIFI_STATUS_SUCCESS);
    }
    return names;
  }
  // Devices, and what is logged.
  std::multiset<std::string> Devices(std::string* log) {
    testing::internal::CaptureStderr();
    std::multiset<std::string> devices = Devices();
    *log = testing::internal::GetCapturedStderr();
    return devices;
  }

  Vendor& api;
  std::string folder_;
};

using Names = std::multiset<std::string>;

// ThreadSanitizer objects to an exit inside of dlopen(), with a code of its
// own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEDDLE_WITH_TSAN
#endif
#endif
#ifdef HEDDLE_WITH_TSAN
constexpr char kExitLoad[] =
    "libonnxifi-exit-load.so ended the process that tried it with code 66;";
#else
constexpr char kExitLoad[] =
    "libonnxifi-exit-load.so ended the process that tried it with code 3;";
#endif

TEST_P(Loader, VendorsThatBreakHaveNoDevicesAndHideNone) {
  Put("good");
  for (const char* words :
       {"crash-load", "crash-ids", "crash-info", "exit-load", "error-ids"}) {
    Put(words);
  }
  Copy("/lib/x86_64-linux-gnu/libm.so.6", "no-functions");
  std::ofstream(folder_ + "/libonnxifi-text.so") << "no library at all";
  std::string log;
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-good.so 0"});
  for (const char* line :
       {"libonnxifi-crash-load.so crashed the process that tried it "
        "(Segmentation fault); it has no devices here\n",
        "libonnxifi-crash-ids.so crashed the process",
        "libonnxifi-crash-info.so crashed the process", kExitLoad,
        "libonnxifi-error-ids.so onnxGetBackendIDs returned 0x0406;",
        "libonnxifi-text.so cannot be loaded: "}) {
    EXPECT_NE(log.find(line), std::string::npos) << line << "\n" << log;
  }
  // It is not tried again, so nothing is said again.
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-good.so 0"});
  EXPECT_EQ(log, "");
}

TEST_P(Loader, VendorsThatHangHaveNoDevicesAndHideNone) {
  Put("good");
  for (const char* words : {"hang-load", "hang-ids", "hang-info"}) {
    Configure(Put(words), "discovery_seconds = 1\n");
  }
  const auto start = std::chrono::steady_clock::now();
  std::string log;
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-good.so 0"});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(8));
  for (const char* words : {"hang-load", "hang-ids", "hang-info"}) {
    const std::string line = std::string("libonnxifi-") + words +
                             ".so did not answer within 1 seconds; it has";
    EXPECT_NE(log.find(line), std::string::npos) << log;
  }
  // Nothing of them is left.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_P(Loader, WhatAVendorPrintsIsNoAnswer) {
  Put("noisy");
  std::string log;
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-noisy.so 0"});
}

TEST_P(Loader, ProgramsMayReapEverything) {
  Put("good");
  signal(SIGCHLD, SIG_IGN);
  EXPECT_EQ(Devices(), Names{"libonnxifi-good.so 0"});
  Put("crash-load");
  std::string log;
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-good.so 0"});
  EXPECT_NE(log.find("crash-load.so ended the process that tried it;"),
            std::string::npos)
      << log;
  signal(SIGCHLD, SIG_DFL);
}

TEST_P(Loader, WrongBuffersAreNotWritten) {
  SetDevices(Put("good"), "3");
  size_t count = 777;
  EXPECT_EQ(api.GetBackendIDs(nullptr, &count), ONNXIFI_STATUS_FALLBACK);
  EXPECT_EQ(count, 3u);
  onnxBackendID ids[4] = {nullptr, nullptr, nullptr, nullptr};
  count = 2;
  EXPECT_EQ(api.GetBackendIDs(ids, &count), ONNXIFI_STATUS_FALLBACK);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(ids[0], nullptr);
  EXPECT_EQ(api.GetBackendIDs(ids, nullptr), ONNXIFI_STATUS_INVALID_POINTER);
  count = 4;
  EXPECT_EQ(api.GetBackendIDs(ids, &count), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(ids[3], nullptr);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(api.ReleaseBackendID(ids[i]), ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.ReleaseBackendID(ids[i]), ONNXIFI_STATUS_INVALID_ID);
  }
}

TEST_P(Loader, IdsStayWhileDevicesComeAndGo) {
  const std::string vendor = Put("good");
  const onnxBackendID first = List().at(0);
  SetDevices(vendor, "12");
  std::vector<onnxBackendID> more = List();
  ASSERT_EQ(more.size(), 12u);
  EXPECT_EQ(more[0], first);
  EXPECT_EQ(std::set<onnxBackendID>(more.begin(), more.end()).size(), 12u);
  SetDevices(vendor, "0");
  EXPECT_EQ(List().size(), 0u);
  EXPECT_EQ(Device(more[11]), "libonnxifi-good.so 11");
  SetDevices(vendor, "1");
  EXPECT_EQ(List().at(0), first);
}

TEST_P(Loader, VendorsComeChangeAndGo) {
  EXPECT_EQ(Devices(), Names{});
  const std::string good = Put("good");
  EXPECT_EQ(Devices(), Names{"libonnxifi-good.so 0"});
  const std::string other = folder_ + "/libonnxifi-other.so";
  std::ofstream(other) << "not yet";
  std::string log;
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-good.so 0"});
  Put("other");
  EXPECT_EQ(Devices(),
            (Names{"libonnxifi-good.so 0", "libonnxifi-other.so 0"}));
  unlink(good.c_str());
  EXPECT_EQ(Devices(), Names{"libonnxifi-other.so 0"});
  Configure(other, "enabled = no\n");
  EXPECT_EQ(Devices(), Names{});
}

TEST_P(Loader, AVendorThatFailsLaterHidesNone) {
  const std::string vendor = Put("good");
  Put("other");
  EXPECT_EQ(Devices().size(), 2u);
  SetDevices(vendor, "1 fail");
  std::string log;
  EXPECT_EQ(Devices(&log), Names{"libonnxifi-other.so 0"});
  EXPECT_NE(log.find("libonnxifi-good.so: onnxGetBackendIDs returned 0x0406"),
            std::string::npos);
  // Unless there is no other.
  unlink((folder_ + "/libonnxifi-other.so").c_str());
  size_t count = 0;
  EXPECT_EQ(api.GetBackendIDs(nullptr, &count), ONNXIFI_STATUS_INTERNAL_ERROR);
}

TEST_P(Loader, DescriptorsReachEachVendorInItsLayout) {
  Put("extended-crash-other-abi");
  Put("onnx1-crash-other-abi");
  const uint32_t bytes = std::string(GetParam()) == "onnx1" ? 56 : 96;
  onnxTensorDescriptorV1 plain[3] = {};
  for (auto& one : plain) one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  const Descriptors right(plain, 3, 96, bytes);
  const std::vector<onnxBackendID> ids = List();
  ASSERT_EQ(ids.size(), 2u);
  for (onnxBackendID id : ids) {
    onnxBackend backend;
    onnxGraph graph;
    ASSERT_EQ(api.InitBackend(id, nullptr, &backend), ONNXIFI_STATUS_SUCCESS);
    ASSERT_EQ(api.InitGraph(backend, nullptr, 1, "m", 3, right.data(), &graph,
                            0, nullptr),
              ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.SetGraphIO(graph, 3, right.data(), 3, right.data()),
              ONNXIFI_STATUS_SUCCESS);
  }
}

TEST_P(Loader, WrongTagsAreTheVendorsToRefuse) {
  Put("extended");
  Put("onnx1");
  onnxTensorDescriptorV1 plain[3] = {};
  for (auto& one : plain) one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  plain[2].tag = 1;
  const uint32_t bytes = std::string(GetParam()) == "onnx1" ? 56 : 96;
  const Descriptors wrong(plain, 3, 96, bytes);
  // (In the same layout nothing is copied; the third is there for both.)
  for (onnxBackendID id : List()) {
    onnxBackend backend;
    onnxGraph graph = nullptr;
    ASSERT_EQ(api.InitBackend(id, nullptr, &backend), ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.InitGraph(backend, nullptr, 1, "m", 3, wrong.data(), &graph,
                            0, nullptr),
              ONNXIFI_STATUS_UNSUPPORTED_TAG);
    EXPECT_EQ(graph, nullptr);
    ASSERT_EQ(
        api.InitGraph(backend, nullptr, 1, "m", 0, nullptr, &graph, 0, nullptr),
        ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.SetGraphIO(graph, 3, wrong.data(), 3, wrong.data()),
              ONNXIFI_STATUS_UNSUPPORTED_TAG);
  }
}

TEST_P(Loader, WhatOnnx1CannotSayIsRefused) {
  if (std::string(GetParam()) == "onnx1") return;  // nor can its callers
  Configure(Put("onnx1"), "abi = onnx1\n");
  onnxTensorDescriptorV1 one = {};
  one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  onnxBackend backend;
  onnxGraph graph = nullptr;
  ASSERT_EQ(api.InitBackend(List().at(0), nullptr, &backend),
            ONNXIFI_STATUS_SUCCESS);
  ASSERT_EQ(
      api.InitGraph(backend, nullptr, 1, "m", 1, &one, &graph, 0, nullptr),
      ONNXIFI_STATUS_SUCCESS);
  one.quantizationParams = 1;
  onnxGraph none = graph;
  EXPECT_EQ(api.InitGraph(backend, nullptr, 1, "m", 1, &one, &none, 0, nullptr),
            ONNXIFI_STATUS_UNSUPPORTED_DATATYPE);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(api.SetGraphIO(graph, 1, &one, 0, nullptr),
            ONNXIFI_STATUS_MISMATCHING_DATATYPE);
  one.isOffline = 1;
  EXPECT_EQ(api.InitGraph(backend, nullptr, 1, "m", 1, &one, &none, 0, nullptr),
            ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE);
  EXPECT_EQ(api.SetGraphIO(graph, 0, nullptr, 1, &one),
            ONNXIFI_STATUS_INVALID_MEMORY_LOCATION);
}

onnxMemoryFenceV1 Fence(onnxEvent event) {
  onnxMemoryFenceV1 fence = {};
  fence.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
  fence.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  fence.event = event;
  return fence;
}

TEST_P(Loader, HandlesAreRoutedAndOfOneVendorOnly) {
  // The vendors' own handles are equal, so mixing them up would go unnoticed
  // but for the loader.
  Put("one");
  Put("two");
  const std::vector<onnxBackendID> ids = List();
  ASSERT_EQ(ids.size(), 2u);
  onnxBackend backends[2];
  onnxGraph graphs[2];
  onnxEvent events[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(api.InitBackend(ids[i], nullptr, &backends[i]),
              ONNXIFI_STATUS_SUCCESS);
    ASSERT_EQ(api.InitGraph(backends[i], nullptr, 1, "m", 0, nullptr,
                            &graphs[i], 0, nullptr),
              ONNXIFI_STATUS_SUCCESS);
    ASSERT_EQ(api.InitEvent(backends[i], &events[i]), ONNXIFI_STATUS_SUCCESS);
  }
  EXPECT_NE(graphs[0], graphs[1]);
  const onnxMemoryFenceV1 in[2] = {Fence(events[0]), Fence(events[1])};
  onnxMemoryFenceV1 out = Fence(reinterpret_cast<onnxEvent>(0x1234));
  ASSERT_EQ(api.RunGraph(graphs[0], &in[0], &out), ONNXIFI_STATUS_SUCCESS);
  onnxEventState state = 0;
  EXPECT_EQ(api.GetEventState(out.event, &state), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_SIGNALLED);
  EXPECT_EQ(api.WaitEvent(out.event), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(api.ReleaseEvent(out.event), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(api.ReleaseEvent(out.event), ONNXIFI_STATUS_INVALID_EVENT);
  EXPECT_EQ(api.WaitEvent(out.event), ONNXIFI_STATUS_INVALID_EVENT);
  EXPECT_EQ(api.RunGraph(graphs[0], &in[1], &out),
            ONNXIFI_STATUS_INVALID_EVENT);
  EXPECT_EQ(out.event, nullptr);
  // A handle of another type.
  EXPECT_EQ(api.ReleaseGraph(events[0]), ONNXIFI_STATUS_INVALID_GRAPH);
  EXPECT_EQ(api.ReleaseBackend(graphs[0]), ONNXIFI_STATUS_INVALID_BACKEND);
  EXPECT_EQ(api.SignalEvent(ids[0]), ONNXIFI_STATUS_INVALID_EVENT);
  onnxBackend none = backends[0];
  EXPECT_EQ(api.InitBackend(backends[0], nullptr, &none),
            ONNXIFI_STATUS_INVALID_ID);
  EXPECT_EQ(none, nullptr);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(api.ReleaseGraph(graphs[i]), ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.ReleaseEvent(events[i]), ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.ReleaseBackend(backends[i]), ONNXIFI_STATUS_SUCCESS);
    EXPECT_EQ(api.ReleaseBackend(backends[i]), ONNXIFI_STATUS_INVALID_BACKEND);
  }
}

template <typename Function>
Function As(onnxExtensionFunctionPointer pointer) {
  return reinterpret_cast<Function>(reinterpret_cast<void (*)()>(pointer));
}

TEST_P(Loader, ExtensionsArePassedThrough) {
  Put("good");
  const onnxBackendID id = List().at(0);
  onnxBackend backend;
  onnxGraph graph;
  ASSERT_EQ(api.InitBackend(id, nullptr, &backend), ONNXIFI_STATUS_SUCCESS);
  ASSERT_EQ(
      api.InitGraph(backend, nullptr, 1, "m", 0, nullptr, &graph, 0, nullptr),
      ONNXIFI_STATUS_SUCCESS);
  onnxExtensionFunctionPointer f = nullptr;
  const auto find = [&](const char* name) {
    return api.GetExtensionFunctionAddress(id, name, &f);
  };
  EXPECT_EQ(find("nobody's"), ONNXIFI_STATUS_UNIDENTIFIED_NAME);
  EXPECT_EQ(f, nullptr);
  // A known one takes the loader's handles.
  ASSERT_EQ(find("onnxSetIOAndRunGraph"), ONNXIFI_STATUS_SUCCESS);
  onnxMemoryFenceV1 out = Fence(nullptr);
  EXPECT_EQ(As<heddleSetIOAndRunGraphFunction>(f)(graph, 0, nullptr, 0, nullptr,
                                                  &out),
            ONNXIFI_STATUS_SUCCESS);
  ASSERT_EQ(find("onnxWaitEventFor"), ONNXIFI_STATUS_SUCCESS);
  onnxEventState state = 0;
  EXPECT_EQ(As<onnxWaitEventForFunction>(f)(out.event, 1, &state, nullptr,
                                            nullptr, nullptr),
            ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(state, ONNXIFI_EVENT_STATE_SIGNALLED);
  // An unknown one the vendor's.
  ASSERT_EQ(find("stubTag"), ONNXIFI_STATUS_SUCCESS);
  const auto tag = As<int (*)(onnxGraph)>(f);
  EXPECT_EQ(tag(graph), 0);
  ASSERT_EQ(find(ONNXIFI_LOADER_VENDOR_HANDLE), ONNXIFI_STATUS_SUCCESS);
  const auto own = As<onnxifiLoaderVendorHandleFunction>(f);
  void* handle = nullptr;
  EXPECT_EQ(own(ONNXIFI_LOADER_GRAPH, graph, &handle), ONNXIFI_STATUS_SUCCESS);
  EXPECT_EQ(tag(handle), 77);
  EXPECT_EQ(own(ONNXIFI_LOADER_EVENT, graph, &handle),
            ONNXIFI_STATUS_INVALID_EVENT);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(own(9, graph, &handle), ONNXIFI_STATUS_INVALID_STATE);
}

TEST_P(Loader, AChildOfItsUserIsRefused) {
  Put("good");
  const onnxBackendID id = List().at(0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    size_t count = 0;
    const bool refused =
        api.GetBackendIDs(nullptr, &count) == ONNXIFI_STATUS_INTERNAL_ERROR;
    onnxBackend backend = nullptr;
    (void)!api.InitBackend(id, nullptr, &backend);  // the vendor decides
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(Loader, ThreadsListWhileVendorsChange) {
  const std::string vendor = Put("good");
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        std::vector<onnxBackendID> ids(8);
        size_t count = 8;
        ASSERT_EQ(api.GetBackendIDs(ids.data(), &count),
                  ONNXIFI_STATUS_SUCCESS);
        for (size_t n = 0; n < count; ++n) {
          ASSERT_EQ(api.ReleaseBackendID(ids[n]), ONNXIFI_STATUS_SUCCESS);
        }
      }
    });
  }
  for (int k = 0; k < 100; ++k) SetDevices(vendor, std::to_string(k % 8));
  for (std::thread& thread : threads) thread.join();
}

TEST_P(Loader, ProgramsOfTheExtendedAbiHaveAFunctionOfTheirOwn) {
  Put("good");
  const auto list = reinterpret_cast<onnxGetBackendIDsFunction>(
      dlsym(api.library, "onnxGetBackendIDsExtended"));
  ASSERT_NE(list, nullptr);
  onnxBackendID id = nullptr;
  size_t count = 1;
  ASSERT_EQ(list(&id, &count), ONNXIFI_STATUS_SUCCESS);
  // The ABI is the ID's.
  EXPECT_EQ(List().at(0) == id, std::string(GetParam()) == "extended");
  onnxBackend backend;
  onnxGraph graph;
  ASSERT_EQ(api.InitBackend(id, nullptr, &backend), ONNXIFI_STATUS_SUCCESS);
  ASSERT_EQ(
      api.InitGraph(backend, nullptr, 1, "m", 0, nullptr, &graph, 0, nullptr),
      ONNXIFI_STATUS_SUCCESS);
  onnxTensorDescriptorV1 two[2] = {};
  for (auto& one : two) one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  EXPECT_EQ(api.SetGraphIO(graph, 2, two, 2, two), ONNXIFI_STATUS_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Abis, Loader, testing::Values("extended", "onnx1"));

}  // namespace
}  // namespace heddle::onnxifi_loader
