// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/runner.h"

#include <dirent.h>
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "onnxifi/conformance/child.h"

namespace heddle::conformance {
namespace {

constexpr double kLongFactor = 6;

// Memory that a child's record lies in.
struct Unmap {
  void operator()(Record* record) const { munmap(record, sizeof(Record)); }
};
using SharedRecord = std::unique_ptr<Record, Unmap>;

SharedRecord NewRecord() {
  void* memory = mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return SharedRecord(new (memory) Record());  // zero
}

int EntriesOf(const char* folder) {
  int count = 0;
  if (DIR* dir = opendir(folder)) {
    while (readdir(dir) != nullptr) ++count;
    closedir(dir);
  }
  return count;
}
int Descriptors() { return EntriesOf("/proc/self/fd"); }
int Threads() { return EntriesOf("/proc/self/task"); }

// Makes everything once that the library makes once for a process.
void WarmUp(const RunOptions& options) {
  SharedRecord scratch = NewRecord();
  auto library = Library::Load(options.library, options.abi, scratch.get());
  if (!library.ok()) return;
  // Fail() ends the process, so everything is asked for with care.
  Library& lib = **library;
  size_t count = 0;
  (void)lib.GetBackendIDs(nullptr, &count);
  if (count == 0 || count > 1024) return;
  std::vector<onnxBackendID> ids(count);
  if (lib.GetBackendIDs(ids.data(), &count) != ONNXIFI_STATUS_SUCCESS) return;
  onnxBackend backend = nullptr;
  if (lib.InitBackend(ids[0], nullptr, &backend) == ONNXIFI_STATUS_SUCCESS) {
    Model model;
    model.nodes = {{"Add", {"x", "z"}, {"y"}, "", {}}};
    model.inputs = {{"x", {2, 3}}, {"z", {2, 3}}};
    model.outputs = {{"y", {2, 3}}};
    const std::string bytes = model.Serialize();
    onnxGraph graph = nullptr;
    (void)lib.InitGraph(backend, nullptr, bytes.size(), bytes.data(), 0,
                        nullptr, &graph);
    onnxEvent input = nullptr;
    (void)lib.InitEvent(backend, &input);
    if (graph != nullptr && input != nullptr) {
      Tensor x("x", {2, 3}), z("z", {2, 3}), y("y", {2, 3});
      const DescriptorArray in(options.abi, {x.Describe(), z.Describe()});
      const DescriptorArray out(options.abi, {y.Describe()});
      onnxMemoryFenceV1 from = EventFence(input), to = EventFence(nullptr);
      if (lib.SetGraphIO(graph, 2, in.data(), 1, out.data()) ==
              ONNXIFI_STATUS_SUCCESS &&
          lib.SignalEvent(input) == ONNXIFI_STATUS_SUCCESS &&
          lib.RunGraph(graph, &from, &to) == ONNXIFI_STATUS_SUCCESS &&
          to.event != nullptr) {
        (void)lib.WaitEvent(to.event);
        (void)lib.ReleaseEvent(to.event);
      }
    }
    if (input != nullptr) (void)lib.ReleaseEvent(input);
    if (graph != nullptr) (void)lib.ReleaseGraph(graph);
    (void)lib.ReleaseBackend(backend);
  }
  for (size_t i = 0; i < count && i < ids.size(); ++i) {
    (void)lib.ReleaseBackendID(ids[i]);
  }
}

// In the child.
void Body(const Case& test, const RunOptions& options, Record* record) {
  auto library = Library::Load(options.library, options.abi, record);
  if (!library.ok()) {
    const std::string text = std::string(library.status().message());
    ++record->failures;
    AddLine(record, 'F', text.data(), text.size());
    record->done = 1;
    return;
  }
  const bool warm = (test.flags & kColdStart) == 0;
  // A library that lists no device may crash when it is asked for them, which
  // is for the case to find.
  if (warm && options.lists_device) WarmUp(options);
  const int descriptors = Descriptors(), threads = Threads();
  Context context(library->get(), record, options.seed, options.library,
                  options.provoker);
  context.set_lists_device(options.lists_device || test.group() == "ids");
  context.set_data(test.data);
  test.body(context);
  context.Clean();
  if (warm && !context.failed()) {
    // Threads that have ended may be seen for a moment.
    for (int i = 0;
         i < 100 && (Threads() > threads || Descriptors() > descriptors); ++i) {
      usleep(5000);
    }
    const int more_descriptors = Descriptors() - descriptors;
    const int more_threads = Threads() - threads;
    context.Rule(more_descriptors <= 0,
                 absl::StrCat("descriptors still open after everything was "
                              "released: ",
                              more_descriptors));
    context.Rule(
        more_threads <= 0,
        absl::StrCat("threads still running after everything was released: ",
                     more_threads));
  }
  record->done = 1;
  // The library stays: what it does when the process ends is a case of its own.
  library->release();
}

// After a device was plugged again: until it is listed, or for ten seconds.
void WaitForDevice(const RunOptions& options) {
  RunChild(10, [&] {
    SharedRecord scratch = NewRecord();
    auto library = Library::Load(options.library, options.abi, scratch.get());
    size_t count = 0;
    while (library.ok()) {
      (void)(*library)->GetBackendIDs(nullptr, &count);
      if (count > 0) break;
      usleep(20000);
    }
    if (library.ok()) library->release();
  });
}

std::string Inside(const Record& record) {
  std::string text;
  for (int f = 0; f < kFunctions; ++f) {
    if (record.inside[f] > 0) {
      absl::StrAppend(&text, text.empty() ? " in " : ", ", FunctionName(f));
    }
  }
  return text;
}

void ReadLines(const Record& record, Result* result) {
  std::set<std::string> seen;
  const absl::string_view text(
      record.text, std::min<uint32_t>(record.text_bytes, Record::kTextBytes));
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line.size() < 2) continue;
    const std::string rest(line.substr(2));
    // What a loop finds again is not told again.
    if (!seen.insert(std::string(line)).second) continue;
    if (line[0] == 'F') result->failures.push_back(rest);
    if (line[0] == 'W') result->warnings.push_back(rest);
    if (line[0] == 'N') result->notes.push_back(rest);
    if (line[0] == 'U') result->excuse = rest;
  }
}

void ReadReturned(const Record& record, Result* result) {
  for (int f = 0; f < kFunctions; ++f) {
    for (int s = 0; s < kStatuses; ++s) {
      const uint32_t times = record.returned[f][s];
      if (times == 0) continue;
      result->returned.push_back(
          {FunctionName(f),
           s + 1 < kStatuses ? StatusName(StatusAt(s)) : "unknown code",
           times});
    }
  }
}

}  // namespace

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      return "pass";
    case Verdict::kFail:
      return "fail";
    case Verdict::kNotSupported:
      return "not supported";
    case Verdict::kWarning:
      return "quality warning";
    case Verdict::kWaived:
      return "waived";
    case Verdict::kNotRun:
      return "not run";
  }
  return "";
}

Result RunCase(const Case& test, const RunOptions& options) {
  SharedRecord record = NewRecord();
  const double limit =
      options.timeout_seconds * ((test.flags & kLong) != 0 ? kLongFactor : 1);
  const ChildEnd end =
      RunChild(limit, [&] { Body(test, options, record.get()); });

  if ((test.flags & kUnplugs) != 0 && !options.provoker.empty()) {
    RunChild(30, [&] {
      std::string why;
      options.provoker.Do("reset", 0, &why);
      options.provoker.Do("plug", 0, &why);
    });
    WaitForDevice(options);
  }

  Result result;
  result.test = &test;
  result.seconds = end.seconds;
  result.output = end.output;
  result.errors = end.errors;
  ReadLines(*record, &result);
  ReadReturned(*record, &result);
  if (end.timed_out) {
    result.failures.push_back(absl::StrCat("did not end within ", limit,
                                           " seconds", Inside(*record)));
  } else if (end.signal != 0) {
    result.failures.push_back(
        absl::StrCat("crashed with ", strsignal(end.signal), Inside(*record)));
  } else if (record->done == 0) {
    result.failures.push_back(
        absl::StrCat("the library ended the process with "
                     "code ",
                     end.exit_code, Inside(*record)));
  } else if (record->checks == 0 && record->not_supported == 0 &&
             record->not_run == 0 && result.failures.empty()) {
    result.failures.push_back("the case has checked nothing");
  }
  if (end.left_behind > 0) {
    result.warnings.push_back(
        absl::StrCat("processes that outlived the one that used the library: ",
                     end.left_behind));
  }
  if ((test.flags & kRuleOnly) != 0 && record->no_device == 0) {
    result.warnings.insert(result.warnings.end(), result.failures.begin(),
                           result.failures.end());
    result.failures.clear();
  }
  // A backend that could be made shows that there was a device.
  const int success = StatusIndex(ONNXIFI_STATUS_SUCCESS);
  result.no_device =
      record->no_device != 0 && record->returned[kInitBackend][success] == 0;
  result.verdict = !result.failures.empty()   ? Verdict::kFail
                   : record->not_run != 0     ? Verdict::kNotRun
                   : !result.excuse.empty()   ? Verdict::kNotSupported
                   : !result.warnings.empty() ? Verdict::kWarning
                                              : Verdict::kPass;
  return result;
}

std::string WhyNoDevice(const RunOptions& options) {
  SharedRecord record = NewRecord();
  const ChildEnd end = RunChild(options.timeout_seconds, [&] {
    auto library = Library::Load(options.library, options.abi, record.get());
    if (!library.ok()) return;
    size_t count = 0;
    const onnxStatus status = (*library)->GetBackendIDs(nullptr, &count);
    std::string text;
    if (status != ONNXIFI_STATUS_FALLBACK && status != ONNXIFI_STATUS_SUCCESS) {
      text = absl::StrCat("it returned ", StatusName(status));
    } else if (count == 0) {
      text =
          absl::StrCat("it returned ", StatusName(status), " and the number 0");
    }
    if (!text.empty()) AddLine(record.get(), 'N', text.data(), text.size());
    record->done = 1;
    library->release();
  });
  if (end.timed_out) {
    return absl::StrCat("it did not return within ", options.timeout_seconds,
                        " seconds");
  }
  if (end.signal != 0) {
    return absl::StrCat("it crashed with ", strsignal(end.signal));
  }
  if (record->done == 0) {
    return absl::StrCat("it ended the process with code ", end.exit_code);
  }
  Result result;
  ReadLines(*record, &result);
  return result.notes.empty() ? "" : result.notes[0];
}

absl::Status TryLoad(const std::string& library) {
  SharedRecord record = NewRecord();
  const ChildEnd end = RunChild(30, [&] {
    auto loaded = Library::Load(library, Abi::kOnnx1, record.get());
    if (!loaded.ok()) {
      const std::string text(loaded.status().message());
      AddLine(record.get(), 'F', text.data(), text.size());
    }
    record->done = 1;
    if (loaded.ok()) loaded->release();
  });
  Result result;
  ReadLines(*record, &result);
  if (!result.failures.empty()) {
    return absl::NotFoundError(result.failures[0]);
  }
  if (record->done == 0) {
    return absl::NotFoundError(
        absl::StrCat(library, end.timed_out ? ": dlopen does not return"
                                            : ": dlopen ends the process"));
  }
  return absl::OkStatus();
}

Abi ProbeAbi(const std::string& library, double timeout_seconds,
             std::string* how) {
  // A graph with two inputs: the second descriptor lies elsewhere in the other
  // ABI, so its tag does not match there.
  static const Case kProbe = {"probe", "", [](Context& t) {
                                Job job(t);
                                job.MustSetIO();
                              }};
  bool takes[2] = {};
  for (const Abi abi : {Abi::kOnnx1, Abi::kExtended}) {
    RunOptions options;
    options.library = library;
    options.abi = abi;
    options.timeout_seconds = timeout_seconds;
    SharedRecord record = NewRecord();
    const ChildEnd end = RunChild(timeout_seconds, [&] {
      Case cold = kProbe;
      cold.flags = kColdStart;
      Body(cold, options, record.get());
    });
    takes[static_cast<int>(abi)] = !end.timed_out && end.signal == 0 &&
                                   record->done != 0 && record->failures == 0 &&
                                   record->not_supported == 0;
  }
  const bool onnx1 = takes[static_cast<int>(Abi::kOnnx1)];
  const bool extended = takes[static_cast<int>(Abi::kExtended)];
  if (onnx1 != extended) {
    *how = "it accepts descriptors of this layout and not of the other";
    return extended ? Abi::kExtended : Abi::kOnnx1;
  }
  *how = onnx1
             ? "assumed: it accepts both descriptor layouts; --abi overrides"
             : "assumed: it accepts neither descriptor layout; --abi overrides";
  return Abi::kOnnx1;
}

}  // namespace heddle::conformance
