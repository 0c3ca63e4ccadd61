// SPDX-License-Identifier: Apache-2.0
// What the library writes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// Both streams are files of the runner's.
off_t Written(int fd) {
  fflush(nullptr);
  struct stat info = {};
  return fstat(fd, &info) == 0 ? info.st_size : 0;
}

// Something of everything, with failures.
void Use(Context& t) {
  Job job(t);
  job.MustSetIO();
  job.Run();
  onnxGraph graph = nullptr;
  Model bad = t.Elementwise({2, 3});
  bad.nodes[0].op = "NoSuchOperatorOfOnnx";
  (void)t.Compatibility(bad.Serialize());
  (void)t.TryGraph(bad.Serialize(), &graph);
  (void)t.TryGraph(std::string(16, '\xFF'), &graph);
  (void)t.lib().ReleaseGraph(nullptr);
}

void Stdout(Context& t) {
  Use(t);
  t.Rule(Written(STDOUT_FILENO) == 0,
         "the library writes to stdout, which belongs to the program");
  t.Check(true, "");
}

void QuietWhenRight(Context& t) {
  // Nothing went wrong, and nobody asked for more than warnings.
  const off_t before = Written(STDERR_FILENO);
  Job job(t);
  job.MustSetIO();
  job.Run();
  const off_t more = Written(STDERR_FILENO) - before;
  t.Rule(more == 0, absl::StrCat("a successful run has written ", more,
                                 " bytes to stderr"));
  t.Check(true, "");
}

void LevelIsObeyed(Context& t) {
  const auto bytes_at = [&](uint64_t level) {
    const uint64_t list[] = {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, level,
                             ONNXIFI_BACKEND_PROPERTY_NONE};
    onnxBackend backend = nullptr;
    t.Expect(t.lib().InitBackend(t.id(), list, &backend),
             {ONNXIFI_STATUS_SUCCESS}, "onnxInitBackend with LOG_LEVEL");
    const off_t before = Written(STDERR_FILENO);
    {
      Job job(t, {2, 3}, backend);
      job.MustSetIO();
      job.Release();
    }
    const off_t more = Written(STDERR_FILENO) - before;
    t.Expect(t.lib().ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseBackend");
    return more;
  };
  const off_t errors = bytes_at(ONNXIFI_LOG_LEVEL_ERROR);
  const off_t debug = bytes_at(ONNXIFI_LOG_LEVEL_DEBUG);
  t.Rule(errors == 0,
         "LOG_LEVEL_ERROR does not silence messages that are not errors");
  t.Rule(debug >= errors, "LOG_LEVEL_DEBUG says less than LOG_LEVEL_ERROR");
}

}  // namespace

std::vector<Case> LoggingCases() {
  return {
      {"logging.stdout", "nothing is written to stdout", Stdout, kRuleOnly},
      {"logging.quiet_when_right",
       "successful calls write nothing at the default level", QuietWhenRight},
      {"logging.level_is_obeyed", "LOG_LEVEL decides what is written",
       LevelIsObeyed},
  };
}

}  // namespace heddle::conformance
