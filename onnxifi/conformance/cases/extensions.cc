// SPDX-License-Identifier: Apache-2.0
// onnxGetExtensionFunctionAddress and onnxSetIOAndRunGraph.
#include <sstream>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

constexpr char kExtension[] = "onnx_extension_function";
constexpr char kSetIOAndRun[] = "onnxSetIOAndRunGraph";

std::vector<std::string> Listed(Context& t) {
  std::istringstream words(t.InfoText(ONNXIFI_BACKEND_EXTENSIONS));
  std::vector<std::string> names;
  for (std::string word; words >> word;) names.push_back(word);
  return names;
}

bool ListsExtension(Context& t) {
  for (const std::string& name : Listed(t)) {
    if (name == kExtension) return true;
  }
  return false;
}

void Need(Context& t) {
  if (!t.lib().has_extension_function()) {
    t.Unsupported("onnxGetExtensionFunctionAddress is not exported");
  }
}

onnxStatus Resolve(Context& t, const char* name,
                   onnxExtensionFunctionPointer* function) {
  *function = reinterpret_cast<onnxExtensionFunctionPointer>(kCanary);
  return t.lib().GetExtensionFunctionAddress(t.id(), name, function);
}

void IsListed(Context& t) {
  if (!t.lib().has_extension_function() && ListsExtension(t)) {
    t.Fail(
        "EXTENSIONS has onnx_extension_function and the library does not "
        "export onnxGetExtensionFunctionAddress");
  }
  Need(t);
  t.Check(ListsExtension(t),
          "onnxGetExtensionFunctionAddress is exported but "
          "onnx_extension_function is not in EXTENSIONS");
}

void Arguments(Context& t) {
  Need(t);
  onnxExtensionFunctionPointer function = nullptr;
  t.Expect(t.lib().GetExtensionFunctionAddress(t.id(), nullptr, &function),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxGetExtensionFunctionAddress without a name");
  t.Expect(t.lib().GetExtensionFunctionAddress(t.id(), kSetIOAndRun, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxGetExtensionFunctionAddress without a place for the function");
  t.Expect(
      t.lib().GetExtensionFunctionAddress(nullptr, kSetIOAndRun, &function),
      {ONNXIFI_STATUS_INVALID_ID}, "onnxGetExtensionFunctionAddress of NULL");
}

void Unknown(Context& t) {
  Need(t);
  for (const char* name : {"onnxNoSuchFunction", "", "onnx"}) {
    onnxExtensionFunctionPointer function = nullptr;
    t.Expect(Resolve(t, name, &function), {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
             absl::StrCat("onnxGetExtensionFunctionAddress of \"", name, "\""));
    t.Check(function == nullptr,
            "onnxGetExtensionFunctionAddress failed and did not store NULL");
  }
}

void ListedResolve(Context& t) {
  // Names of EXTENSIONS may be those of functions or of whole extensions.
  Need(t);
  for (const std::string& name : Listed(t)) {
    onnxExtensionFunctionPointer function = nullptr;
    t.ExpectRule(Resolve(t, name.c_str(), &function), {ONNXIFI_STATUS_SUCCESS},
                 "onnxGetExtensionFunctionAddress of " + name +
                     ", which EXTENSIONS has,");
  }
  t.Check(true, "");
}

onnxSetIOAndRunGraphFunction SetIOAndRun(Context& t) {
  Need(t);
  onnxExtensionFunctionPointer function = nullptr;
  const onnxStatus status = Resolve(t, kSetIOAndRun, &function);
  if (status == ONNXIFI_STATUS_UNIDENTIFIED_NAME) {
    for (const std::string& name : Listed(t)) {
      t.Check(name != kSetIOAndRun,
              "EXTENSIONS has onnxSetIOAndRunGraph, which is not resolved");
    }
    t.Unsupported("onnxSetIOAndRunGraph is not resolved");
  }
  t.Expect(status, {ONNXIFI_STATUS_SUCCESS},
           "onnxGetExtensionFunctionAddress of onnxSetIOAndRunGraph");
  if (function == nullptr) t.Fail("no function was stored");
  return ExtensionAs<onnxSetIOAndRunGraphFunction>(function);
}

void RunsInOneCall(Context& t) {
  const auto function = SetIOAndRun(t);
  Job job(t);
  for (int i = 0; i < 3; ++i) {
    job.Refill();
    const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
    const DescriptorArray out(t.abi(), {job.y.Describe()});
    onnxMemoryFenceV1 fence = EventFence(nullptr);
    if (!t.Expect(t.lib().SetIOAndRunGraph(function, job.graph, 2, in.data(), 1,
                                           out.data(), &fence),
                  {ONNXIFI_STATUS_SUCCESS}, "onnxSetIOAndRunGraph")) {
      return;
    }
    t.Expect(t.lib().WaitEvent(fence.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    t.Check(job.Right(), "the result of onnxSetIOAndRunGraph is wrong");
    t.KeepEvent(fence.event);
  }
}

void ChecksArguments(Context& t) {
  const auto function = SetIOAndRun(t);
  Job job(t);
  const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
  const DescriptorArray out(t.abi(), {job.y.Describe()});
  onnxMemoryFenceV1 fence = EventFence(nullptr);
  t.Expect(t.lib().SetIOAndRunGraph(function, job.graph, 2, in.data(), 1,
                                    nullptr, &fence),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxSetIOAndRunGraph without outputDescriptors");
  t.Expect(t.lib().SetIOAndRunGraph(function, job.graph, 1, in.data(), 1,
                                    out.data(), &fence),
           {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
           "onnxSetIOAndRunGraph without one of two inputs");
  t.Expect(t.lib().SetIOAndRunGraph(function, t.backend(), 2, in.data(), 1,
                                    out.data(), &fence),
           {ONNXIFI_STATUS_INVALID_GRAPH},
           "onnxSetIOAndRunGraph of a backend for a graph");
}

void ChecksDescriptors(Context& t) {
  const auto function = SetIOAndRun(t);
  Job job(t);
  const auto call = [&](const std::vector<Descriptor>& d) {
    const DescriptorArray in(t.abi(), {d[0], d[1]}), out(t.abi(), {d[2]});
    onnxMemoryFenceV1 fence = EventFence(nullptr);
    return t.lib().SetIOAndRunGraph(function, job.graph, 2, in.data(), 1,
                                    out.data(), &fence);
  };
  static const uint64_t kZero[] = {0, 3}, kOther[] = {3, 2};
  const struct {
    onnxStatus want;
    void (*change)(Descriptor*);
  } faults[] = {
      {ONNXIFI_STATUS_INVALID_NAME, [](Descriptor* d) { d->name = "nobody"; }},
      {ONNXIFI_STATUS_INVALID_SHAPE, [](Descriptor* d) { d->shape = kZero; }},
      {ONNXIFI_STATUS_INVALID_DATATYPE,
       [](Descriptor* d) { d->data_type = 99; }},
      {ONNXIFI_STATUS_INVALID_MEMORY_TYPE,
       [](Descriptor* d) { d->memory_type = 0x1000; }},
      {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
       [](Descriptor* d) { d->buffer = 0; }},
      {ONNXIFI_STATUS_UNSUPPORTED_TAG, [](Descriptor* d) { d->tag = 1; }},
      {ONNXIFI_STATUS_MISMATCHING_SHAPE,
       [](Descriptor* d) { d->shape = kOther; }},
      {ONNXIFI_STATUS_MISMATCHING_DATATYPE,
       [](Descriptor* d) { d->data_type = ONNXIFI_DATATYPE_INT32; }},
  };
  for (const auto& fault : faults) {
    for (const size_t which : {0, 2}) {
      std::vector<Descriptor> d = {job.x.Describe(), job.z.Describe(),
                                   job.y.Describe()};
      fault.change(&d[which]);
      t.Expect(call(d), {fault.want},
               absl::StrCat("onnxSetIOAndRunGraph with ",
                            StatusName(fault.want), " in descriptor ", which));
    }
  }
  if (t.Has(ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE)) {
    const onnxGraph graph = t.NewGraph(t.Elementwise({"N", 4}).Serialize());
    Tensor x("x", {1, 4}), z("z", {1, 4}), y("y", {1, 4});
    for (Tensor* tensor : {&x, &z, &y}) tensor->shape = {uint64_t{1} << 40, 4};
    const DescriptorArray in(t.abi(), {x.Describe(), z.Describe()});
    const DescriptorArray out(t.abi(), {y.Describe()});
    onnxMemoryFenceV1 fence = EventFence(nullptr);
    t.Expect(t.lib().SetIOAndRunGraph(function, graph, 2, in.data(), 1,
                                      out.data(), &fence),
             {ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_NO_DEVICE_MEMORY,
              ONNXIFI_STATUS_NO_SYSTEM_MEMORY,
              ONNXIFI_STATUS_INVALID_MEMORY_LOCATION},
             "onnxSetIOAndRunGraph with 2^40 for a symbolic dimension");
  }
  if ((t.InfoNumber(ONNXIFI_BACKEND_MEMORY_TYPES) & 1) == 0) {
    std::vector<Descriptor> d = {job.x.Describe(), job.z.Describe(),
                                 job.y.Describe()};
    d[0].memory_type = ONNXIFI_MEMORY_TYPE_CUDA_BUFFER;
    t.Expect(call(d), {ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE},
             "onnxSetIOAndRunGraph with memory that is not advertised");
  }
}

void ChecksFence(Context& t) {
  // The list has codes for what is wrong with descriptors alone.
  const auto function = SetIOAndRun(t);
  Job job(t);
  const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
  const DescriptorArray out(t.abi(), {job.y.Describe()});
  const auto call = [&](onnxMemoryFenceV1* fence) {
    return t.lib().SetIOAndRunGraph(function, job.graph, 2, in.data(), 1,
                                    out.data(), fence);
  };
  t.Expect(call(nullptr), {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxSetIOAndRunGraph without a fence");
  onnxMemoryFenceV1 fence = EventFence(nullptr);
  fence.tag = 1;
  t.Expect(call(&fence), {ONNXIFI_STATUS_UNSUPPORTED_TAG},
           "onnxSetIOAndRunGraph with a fence of another tag");
  fence = EventFence(nullptr);
  fence.type = 77;
  t.Expect(call(&fence), {ONNXIFI_STATUS_INVALID_FENCE_TYPE},
           "onnxSetIOAndRunGraph with a fence of an unknown type");
  if ((t.InfoNumber(ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES) &
       ONNXIFI_SYNCHRONIZATION_IMPLICIT) == 0) {
    fence.type = ONNXIFI_SYNCHRONIZATION_IMPLICIT;
    t.Expect(call(&fence), {ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE},
             "onnxSetIOAndRunGraph with an IMPLICIT fence");
  }
}

}  // namespace

std::vector<Case> ExtensionCases() {
  return {
      {"extensions.is_listed",
       "EXTENSIONS lists the extension entry point if and only if it is "
       "exported",
       IsListed},
      {"extensions.arguments",
       "bad arguments are INVALID_POINTER and INVALID_ID", Arguments},
      {"extensions.unknown",
       "an unknown function is UNIDENTIFIED_NAME, and NULL is stored", Unknown},
      {"extensions.listed_resolve", "every name in EXTENSIONS can be resolved",
       ListedResolve},
      {"extensions.runs_in_one_call",
       "onnxSetIOAndRunGraph does what the two functions do", RunsInOneCall},
      {"extensions.checks_arguments",
       "onnxSetIOAndRunGraph checks its arguments", ChecksArguments},
      {"extensions.checks_descriptors",
       "onnxSetIOAndRunGraph checks descriptors as onnxSetGraphIO does",
       ChecksDescriptors},
      {"extensions.checks_fence", "onnxSetIOAndRunGraph checks its fence",
       ChecksFence, kRuleOnly},
  };
}

}  // namespace heddle::conformance
