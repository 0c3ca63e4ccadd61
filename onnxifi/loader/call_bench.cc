// SPDX-License-Identifier: Apache-2.0
// What a call costs through the loader beyond a direct one, over a vendor that
// does nothing:
//
//   call_bench [--limit=NS]     exit code 1 if a call costs more than that
//
// One line per function and ABI of the vendor: nanoseconds of a call, direct
// and routed, each the least of 40 series. Run below the folder with loader and
// stub.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "onnxifi/loader/descriptors.h"
#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kFolder[] = "onnxifi/loader/";

void Die(const char* what) {
  std::fprintf(stderr, "call_bench: %s\n", what);
  std::exit(2);
}

Vendor* Load(const std::string& path) {
  auto* vendor = new Vendor;
  std::string error;
  if (!Vendor::Load(path, vendor, &error)) Die(error.c_str());
  return vendor;
}

struct Objects {
  onnxBackendID id = nullptr;
  onnxBackend backend = nullptr;
  onnxGraph graph = nullptr;
  onnxEvent event = nullptr;
};

Objects Make(const Vendor& api) {
  Objects made;
  size_t count = 1;
  if (api.GetBackendIDs(&made.id, &count) != ONNXIFI_STATUS_SUCCESS ||
      api.InitBackend(made.id, nullptr, &made.backend) !=
          ONNXIFI_STATUS_SUCCESS ||
      api.InitGraph(made.backend, nullptr, 1, "m", 0, nullptr, &made.graph, 0,
                    nullptr) != ONNXIFI_STATUS_SUCCESS ||
      api.InitEvent(made.backend, &made.event) != ONNXIFI_STATUS_SUCCESS) {
    Die("the stub does not work");
  }
  return made;
}

double Nanoseconds(const std::function<void(int)>& series) {
  constexpr int kCalls = 20000;
  double best = 1e9;
  series(kCalls);
  for (int i = 0; i < 40; ++i) {
    const auto start = Clock::now();
    series(kCalls);
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    best = std::min(best, time.count() / kCalls);
  }
  return best;
}

struct Call {
  const char* name;
  std::function<void(const Vendor&, const Objects&, uint32_t, int)> series;
};

std::vector<Call> Calls() {
  static onnxTensorDescriptorV1 plain[3] = {};
  for (auto& one : plain) one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  return {
      {"onnxGetEventState",
       [](const Vendor& api, const Objects& o, uint32_t, int n) {
         onnxEventState state;
         while (n-- > 0) (void)!api.GetEventState(o.event, &state);
       }},
      {"onnxSignalEvent",
       [](const Vendor& api, const Objects& o, uint32_t, int n) {
         while (n-- > 0) (void)!api.SignalEvent(o.event);
       }},
      {"onnxGetBackendInfo",
       [](const Vendor& api, const Objects& o, uint32_t, int n) {
         size_t size = 0;
         while (n-- > 0) (void)!api.GetBackendInfo(o.id, 9, nullptr, &size);
       }},
      {"onnxSetGraphIO, 2 inputs, 1 output",
       [](const Vendor& api, const Objects& o, uint32_t bytes, int n) {
         const Descriptors given(plain, 3, kExtendedBytes, bytes);
         while (n-- > 0) {
           (void)!api.SetGraphIO(o.graph, 2, given.data(), 1, given.data());
         }
       }},
      {"onnxInitEvent, onnxReleaseEvent",
       [](const Vendor& api, const Objects& o, uint32_t, int n) {
         onnxEvent event;
         while (n-- > 0) {
           (void)!api.InitEvent(o.backend, &event);
           (void)!api.ReleaseEvent(event);
         }
       }},
      {"onnxRunGraph, onnxReleaseEvent",
       [](const Vendor& api, const Objects& o, uint32_t, int n) {
         onnxMemoryFenceV1 in = {}, out = {};
         in.tag = out.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
         in.event = o.event;
         while (n-- > 0) {
           (void)!api.RunGraph(o.graph, &in, &out);
           (void)!api.ReleaseEvent(out.event);
         }
       }},
  };
}

int Main(double limit) {
  char folder[] = "/tmp/call_bench.XXXXXX";
  if (mkdtemp(folder) == nullptr) Die("no folder");
  const std::string root = folder;
  setenv("ONNXIFI_CONFIG_DIR", folder, 1);
  bool within = true;
  std::printf("%-36s %-9s %7s %7s %7s   ns\n", "call", "vendor", "direct",
              "loader", "more");
  for (const char* abi : {"extended", "onnx1"}) {
    const std::string path = root + "/libonnxifi-" + abi + ".so";
    const std::string copy =
        std::string("cp -L ") + kFolder + "libonnxifi-stub.so " + path;
    if (std::system(copy.c_str()) != 0) Die("run it beside the stub");
    setenv("ONNXIFI_VENDOR_PATH", path.c_str(), 1);
    const Vendor& direct = *Load(path);
    const Vendor& loader = *Load(std::string("./") + kFolder + "libonnxifi.so");
    const Objects own = Make(direct), routed = Make(loader);
    const uint32_t bytes =
        std::strcmp(abi, "onnx1") == 0 ? kOnnx1Bytes : kExtendedBytes;
    for (const Call& call : Calls()) {
      const double a =
          Nanoseconds([&](int n) { call.series(direct, own, bytes, n); });
      const double b = Nanoseconds(
          [&](int n) { call.series(loader, routed, kOnnx1Bytes, n); });
      std::printf("%-36s %-9s %7.1f %7.1f %7.1f\n", call.name, abi, a, b,
                  b - a);
      within &= b - a <= limit;
    }
  }
  (void)!std::system(("rm -r " + root).c_str());
  return within ? 0 : 1;
}

}  // namespace
}  // namespace heddle::onnxifi_loader

int main(int argc, char** argv) {
  double limit = 1e9;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--limit=", 8) == 0) limit = atof(argv[i] + 8);
  }
  return heddle::onnxifi_loader::Main(limit);
}
