// SPDX-License-Identifier: Apache-2.0
// What the system refuses the process: the library says so, and goes on when
// there is enough again.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/scarcity.h"

namespace heddle::conformance {
namespace {

// One life of everything, whatever it returns: the wrapper looks whether it
// may. True if all of it succeeded.
bool TryAll(Context& t, const std::string& model, onnxStatus* first) {
  Library& lib = t.lib();
  *first = ONNXIFI_STATUS_SUCCESS;
  const auto good = [first](onnxStatus status) {
    if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK) {
      return true;
    }
    if (*first == ONNXIFI_STATUS_SUCCESS) *first = status;
    return false;
  };
  onnxBackend backend = nullptr;
  if (!good(lib.InitBackend(t.id(), nullptr, &backend))) return false;
  onnxGraph graph = nullptr;
  onnxEvent input = nullptr, output = nullptr;
  bool all = good(lib.InitEvent(backend, &input));
  all &= good(lib.InitGraph(backend, nullptr, model.size(), model.data(), 0,
                            nullptr, &graph));
  Tensor x("x", {2, 3}), z("z", {2, 3}), y("y", {2, 3});
  if (graph != nullptr && input != nullptr) {
    if (good(t.SetIO(graph, {x.Describe(), z.Describe()}, {y.Describe()})) &&
        good(lib.SignalEvent(input))) {
      const onnxMemoryFenceV1 in = EventFence(input);
      onnxMemoryFenceV1 out = EventFence(nullptr);
      all &= good(lib.RunGraph(graph, &in, &out));
      output = out.event;
      if (output != nullptr) all &= good(lib.WaitEvent(output));
    } else {
      all = false;
    }
  }
  // Releasing needs nothing.
  if (output != nullptr) {
    t.Expect(lib.ReleaseEvent(output), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
  }
  if (input != nullptr) {
    t.Expect(lib.ReleaseEvent(input), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
  }
  if (graph != nullptr) {
    t.Expect(lib.ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseGraph");
  }
  t.Expect(lib.ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackend");
  return all;
}

// Takes every descriptor that the process may have, and gives some back.
class AllDescriptors {
 public:
  AllDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int highest = dup(STDIN_FILENO);
    close(highest);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(highest) + 64;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  // Leaves `free` of them.
  void Leave(size_t free) {
    for (int fd; (fd = dup(STDIN_FILENO)) >= 0;) held_.push_back(fd);
    for (; free > 0 && !held_.empty(); --free) {
      close(held_.back());
      held_.pop_back();
    }
  }
  void GiveBack() {
    for (int fd : held_) close(fd);
    held_.clear();
  }
  ~AllDescriptors() {
    GiveBack();
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_ = {};
  std::vector<int> held_;
};

void Descriptors(Context& t) {
  const std::string model = t.Elementwise({2, 3}).Serialize();
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  AllDescriptors descriptors;
  // From none to some more than it takes.
  for (size_t free = 0; free <= 24; free = free < 4 ? free + 1 : free * 2) {
    descriptors.Leave(free);
    const bool all = TryAll(t, model, &status);
    descriptors.GiveBack();
    t.Rule(all || status == ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
           absl::StrCat("without descriptors the first function that fails "
                        "returns ",
                        StatusName(status), ", not NO_SYSTEM_RESOURCES"));
    if (!t.Check(TryAll(t, model, &status),
                 absl::StrCat("with descriptors again, a function returns ",
                              StatusName(status)))) {
      return;
    }
  }
}

void AddressSpace(Context& t) {
  if (Sanitized()) {
    t.Unsupported("a sanitizer ends the process when it gets no memory");
  }
  const std::string model = t.Elementwise({2, 3}).Serialize();
  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  onnxStatus status = ONNXIFI_STATUS_SUCCESS;
  for (const rlim_t mebibytes : {0, 1, 4, 16}) {
    rlimit limit = before;
    limit.rlim_cur = pages * 4096 + (mebibytes << 20);
    setrlimit(RLIMIT_AS, &limit);
    const bool all = TryAll(t, model, &status);
    setrlimit(RLIMIT_AS, &before);
    t.Rule(all || status == ONNXIFI_STATUS_NO_SYSTEM_MEMORY ||
               status == ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
           absl::StrCat("without memory the first function that fails returns ",
                        StatusName(status)));
    if (!t.Check(TryAll(t, model, &status),
                 absl::StrCat("with memory again, a function returns ",
                              StatusName(status)))) {
      return;
    }
  }
}

}  // namespace

std::vector<Case> ResourceCases() {
  return {
      {"resources.descriptors",
       "a process that runs out of descriptors gets a status, and continues "
       "when it has some again",
       Descriptors},
      {"resources.address_space",
       "a process that runs out of memory gets a status, and continues when it "
       "has some again",
       AddressSpace, kRuleOnly},
  };
}

}  // namespace heddle::conformance
