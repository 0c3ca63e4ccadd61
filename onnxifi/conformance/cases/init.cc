// SPDX-License-Identifier: Apache-2.0
// onnxInitBackend, its properties, and onnxReleaseBackend.
#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// Initialises with a list; releases what comes.
onnxStatus Try(Context& t, const std::vector<uint64_t>& list) {
  onnxBackend backend = CanaryPointer();
  const onnxStatus status = t.lib().InitBackend(t.id(), list.data(), &backend);
  if (status == ONNXIFI_STATUS_SUCCESS) {
    t.Check(backend != nullptr && backend != CanaryPointer(),
            "onnxInitBackend succeeded and stored no backend");
    t.Expect(t.lib().ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseBackend");
  } else {
    t.Check(backend == nullptr,
            absl::StrCat("onnxInitBackend returned ", StatusName(status),
                         " and did not set the handle to NULL"));
  }
  return status;
}

void BackendNull(Context& t) {
  t.Expect(t.lib().InitBackend(t.id(), nullptr, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxInitBackend without a place for the backend");
}

void NoProperties(Context& t) {
  onnxBackend backend = nullptr;
  t.Expect(t.lib().InitBackend(t.id(), nullptr, &backend),
           {ONNXIFI_STATUS_SUCCESS}, "onnxInitBackend without properties");
  t.Check(backend != nullptr, "onnxInitBackend stored no backend");
  t.Expect(t.lib().ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackend");
  t.Expect(Try(t, {ONNXIFI_BACKEND_PROPERTY_NONE}), {ONNXIFI_STATUS_SUCCESS},
           "onnxInitBackend with an empty list");
}

void Two(Context& t) {
  const onnxBackend first = t.NewBackend(), second = t.NewBackend();
  t.Check(first != second, "two backends are one handle");
  Job on_first(t, {2, 3}, first), on_second(t, {2, 3}, second);
  on_first.MustSetIO();
  on_second.MustSetIO();
  on_first.Run();
  on_second.Run();
}

void OptimizationValues(Context& t) {
  for (uint64_t value = 0; value < 4; ++value) {
    t.Expect(Try(t, {ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, value,
                     ONNXIFI_BACKEND_PROPERTY_NONE}),
             {ONNXIFI_STATUS_SUCCESS},
             absl::StrCat("onnxInitBackend with OPTIMIZATION ", value));
  }
  for (const uint64_t value :
       {uint64_t{5}, uint64_t{1000}, uint64_t{1} << 31, uint64_t{1} << 63}) {
    t.Expect(Try(t, {ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, value,
                     ONNXIFI_BACKEND_PROPERTY_NONE}),
             {ONNXIFI_STATUS_INVALID_PROPERTY},
             absl::StrCat("onnxInitBackend with OPTIMIZATION ", value));
  }
}

void LogLevelValues(Context& t) {
  for (const uint64_t value : {4, 3, 2, 1}) {
    t.Expect(Try(t, {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, value,
                     ONNXIFI_BACKEND_PROPERTY_NONE}),
             {ONNXIFI_STATUS_SUCCESS},
             absl::StrCat("onnxInitBackend with LOG_LEVEL ", value));
  }
  for (const uint64_t value : {0, 5, 100}) {
    t.Expect(Try(t, {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, value,
                     ONNXIFI_BACKEND_PROPERTY_NONE}),
             {ONNXIFI_STATUS_INVALID_PROPERTY},
             absl::StrCat("onnxInitBackend with LOG_LEVEL ", value));
  }
}

void UnknownProperty(Context& t) {
  const uint64_t vendor = t.InfoNumber(ONNXIFI_BACKEND_INIT_PROPERTIES);
  std::vector<uint64_t> unknown = {3, 5, 77, 1000};
  for (int bit = 32; bit < 64; ++bit) {
    if ((vendor >> bit & 1) == 0) {
      unknown.push_back(uint64_t{1} << bit);
      break;
    }
  }
  for (const uint64_t id : unknown) {
    t.Expect(Try(t, {id, 0, ONNXIFI_BACKEND_PROPERTY_NONE,
                     ONNXIFI_BACKEND_PROPERTY_NONE}),
             {ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
             absl::StrCat("onnxInitBackend with the unknown property ", id));
  }
}

void OtherApis(Context& t) {
  const auto answers = [&](onnxBackendInfo info) {
    size_t size = 0;
    return t.lib().GetBackendInfo(t.id(), info, nullptr, &size) ==
           ONNXIFI_STATUS_FALLBACK;
  };
  const bool cuda = answers(ONNXIFI_BACKEND_CUDA_INDEX);
  const bool opencl = answers(ONNXIFI_BACKEND_OPENCL_PLATFORM_ID);
  if (cuda && opencl) {
    t.Unsupported(
        "the backend is one of CUDA and of OpenCL, so these "
        "properties are its own");
  }
  if (!cuda) {
    t.Expect(
        Try(t, {ONNXIFI_BACKEND_CUDA_STREAM, 0, ONNXIFI_BACKEND_PROPERTY_NONE}),
        {ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
        "onnxInitBackend with CUDA_STREAM without CUDA");
  }
  if (!opencl) {
    t.Expect(Try(t, {ONNXIFI_BACKEND_OPENCL_CONTEXT, 0,
                     ONNXIFI_BACKEND_PROPERTY_NONE}),
             {ONNXIFI_STATUS_UNSUPPORTED_PROPERTY},
             "onnxInitBackend with OPENCL_CONTEXT without OpenCL");
  }
}

void ListMayVanish(Context& t) {
  std::vector<uint64_t> list = {ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION, 1,
                                ONNXIFI_BACKEND_PROPERTY_NONE};
  onnxBackend backend = nullptr;
  t.Expect(t.lib().InitBackend(t.id(), list.data(), &backend),
           {ONNXIFI_STATUS_SUCCESS}, "onnxInitBackend");
  list.assign(list.size(), kCanary);
  Job job(t, {2, 3}, backend);
  job.MustSetIO();
  const onnxEvent input = t.NewEvent(backend);
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxEvent output = job.Start(input);
  t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent");
  t.Check(job.Right(), "the result of a run is wrong");
  job.Release();
  for (const onnxEvent event : {input, output}) {
    t.Expect(t.lib().ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
             "onnxReleaseEvent");
    t.ForgetEvent(event);
  }
  t.Expect(t.lib().ReleaseBackend(backend), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseBackend");
}

void Duplicate(Context& t) {
  const onnxStatus status = Try(t, {ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, 4,
                                    ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL, 3,
                                    ONNXIFI_BACKEND_PROPERTY_NONE});
  t.ExpectRule(status,
               {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_INVALID_PROPERTY},
               "onnxInitBackend with LOG_LEVEL twice");
}

void ReleaseWithChildren(Context& t) {
  // The caller must not. It does not cost it the process.
  Library& lib = t.lib();
  const onnxBackend backend = t.NewBackend();
  const onnxEvent event = t.NewEvent(backend);
  Job job(t, {2, 3}, backend);
  t.Rule(lib.ReleaseBackend(backend) == ONNXIFI_STATUS_SUCCESS,
         "onnxReleaseBackend before its children are released is rejected");
  t.ForgetBackend(backend);
  (void)lib.ReleaseGraph(job.graph);
  t.ForgetGraph(job.graph);
  (void)lib.ReleaseEvent(event);
  t.ForgetEvent(event);
}

}  // namespace

std::vector<Case> InitCases() {
  return {
      {"init.backend_null", "backend NULL is INVALID_POINTER", BackendNull},
      {"init.no_properties", "no list and an empty list mean the same",
       NoProperties},
      {"init.two", "two backends of one device work side by side", Two},
      {"init.list_may_vanish", "the property list is not read after the call",
       ListMayVanish},
      {"init.release_with_children",
       "releasing a backend too early does no harm", ReleaseWithChildren,
       kRuleOnly},
      {"properties.optimization",
       "OPTIMIZATION accepts its four values; others are INVALID_PROPERTY",
       OptimizationValues},
      {"properties.log_level",
       "LOG_LEVEL accepts its four values; others are INVALID_PROPERTY",
       LogLevelValues},
      {"properties.unknown", "unknown properties are UNSUPPORTED_PROPERTY",
       UnknownProperty},
      {"properties.other_apis",
       "CUDA and OpenCL properties are UNSUPPORTED_PROPERTY without these APIs",
       OtherApis},
      {"properties.duplicate", "a property given twice does no harm", Duplicate,
       kRuleOnly},
  };
}

}  // namespace heddle::conformance
