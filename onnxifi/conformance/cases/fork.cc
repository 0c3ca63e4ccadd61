// SPDX-License-Identifier: Apache-2.0
// Children of fork: the specification says nothing of them, but they are not
// to hang, and their parent is not to suffer.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/scarcity.h"

namespace heddle::conformance {
namespace {

// The exit code; -1: killed, or still there after five seconds.
int InChild(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) _exit(body());
  for (int i = 0; i < 500; ++i) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  return -1;
}

void ParentSurvives(Context& t) {
  Job job(t);
  job.MustSetIO();
  job.Run();
  const int code = InChild([] { return 7; });
  t.Check(code == 7, "a child that does nothing did not end");
  job.Run();
}

void ChildDoesNotHang(Context& t) {
  if (ThreadSanitized()) t.Unsupported("ThreadSanitizer has a thread, too");
  // Calls in the child of a process that has used the library give some status.
  Job job(t);
  job.MustSetIO();
  job.Run();
  const onnxBackendID id = t.id();
  const onnxEvent event = t.NewEvent();
  const int code = InChild([&] {
    size_t count = 0;
    size_t size = 0;
    onnxBackend backend = nullptr;
    onnxEventState state;
    (void)t.lib().GetBackendIDs(nullptr, &count);
    (void)t.lib().GetBackendInfo(id, ONNXIFI_BACKEND_NAME, nullptr, &size);
    (void)t.lib().InitBackend(id, nullptr, &backend);
    (void)t.lib().GetEventState(event, &state);
    return 7;
  });
  t.Check(code == 7, "calls in a child of fork crash or do not return");
  job.Run();
}

void FirstUseInChild(Context& t) {
  t.NeedDevice();
  // This process has loaded the library and not used it.
  const int code = InChild([&] {
    size_t count = 0;
    return t.lib().GetBackendIDs(nullptr, &count) == ONNXIFI_STATUS_FALLBACK &&
                   count > 0
               ? 7
               : 8;
  });
  t.Check(code == 7,
          "a child of fork that is the first to use the library "
          "finds no devices");
  Job job(t);
  job.MustSetIO();
  job.Run();
}

}  // namespace

std::vector<Case> ForkCases() {
  return {
      {"fork.parent_survives", "a fork does not disturb the parent",
       ParentSurvives, kRuleOnly},
      {"fork.child_does_not_hang", "calls in a child return", ChildDoesNotHang,
       kRuleOnly},
      {"fork.first_use_in_child",
       "a child that is the first to use the library can use it",
       FirstUseInChild, kRuleOnly | kColdStart},
  };
}

}  // namespace heddle::conformance
