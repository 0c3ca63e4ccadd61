// SPDX-License-Identifier: Apache-2.0
// A vendor's library that computes nothing: runs end at once. What it does is
// in its file's name, libonnxifi-WORDS.so:
//
//   onnx1               takes 56-byte descriptors, else 96 bytes
//   crash-load, hang-load, exit-load      while it is loaded
//   crash-ids, hang-ids, error-ids        in onnxGetBackendIDs
//   crash-info, hang-info                 in onnxGetBackendInfo
//   crash-other-abi     on a descriptor of the other ABI
//   noisy               prints what the loader could take for an answer
//
// The number of devices is in FILE.devices (1 without it), and so is, in its
// second word, "fail" if onnxGetBackendIDs is to fail. Handles are small
// numbers, the same in all copies; an extension function, "stubTag", returns 77
// of a graph of its own and 0 of anything else.
#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "onnxifi/include/heddle/onnxifi_ext.h"

namespace {

constexpr uintptr_t kId = 0x100, kBackend = 0x200, kGraph = 0x300,
                    kEvent = 0x400;

std::string Path() {
  Dl_info here;
  return dladdr(reinterpret_cast<const void*>(&Path), &here) == 0
             ? ""
             : here.dli_fname;
}
const std::string& Name() {
  static const std::string* const name = [] {
    const std::string path = Path();
    return new std::string(path.substr(path.rfind('/') + 1));
  }();
  return *name;
}
bool Is(const char* word) { return Name().find(word) != std::string::npos; }

void Crash() { raise(SIGSEGV); }
void Hang() {
  for (;;) pause();
}

struct AtLoad {
  AtLoad() {
    if (Is("crash-load")) Crash();
    if (Is("hang-load")) Hang();
    if (Is("exit-load")) _exit(3);
    if (Is("noisy")) {
      std::printf("fail it is no answer\nend\n");
      std::fflush(stdout);
    }
  }
} at_load;

bool IsA(const void* handle, uintptr_t kind) {
  return (reinterpret_cast<uintptr_t>(handle) & ~uintptr_t{0xff}) == kind;
}
void* Handle(uintptr_t value) { return reinterpret_cast<void*>(value); }

size_t Bytes() { return Is("onnx1") ? 56 : 96; }

onnxStatus Check(const onnxTensorDescriptorV1* descriptors, uint32_t count) {
  static const size_t bytes = Bytes();
  static const bool crash = Is("crash-other-abi");
  for (uint32_t i = 0; i < count; ++i) {
    int32_t tag;
    std::memcpy(&tag, reinterpret_cast<const char*>(descriptors) + i * bytes,
                sizeof(tag));
    if (tag != ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1) {
      if (crash) Crash();
      return ONNXIFI_STATUS_UNSUPPORTED_TAG;
    }
  }
  return ONNXIFI_STATUS_SUCCESS;
}

int Tag(onnxGraph graph) { return IsA(graph, kGraph) ? 77 : 0; }

onnxStatus Wait(onnxEvent event, uint32_t, onnxEventState* state, onnxStatus*,
                char*, size_t*) {
  if (!IsA(event, kEvent)) return ONNXIFI_STATUS_INVALID_EVENT;
  *state = ONNXIFI_EVENT_STATE_SIGNALLED;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus SetAndRun(onnxGraph graph, uint32_t inputs_count,
                     const onnxTensorDescriptorV1* inputs, uint32_t,
                     const onnxTensorDescriptorV1*, onnxMemoryFenceV1* output) {
  if (!IsA(graph, kGraph)) return ONNXIFI_STATUS_INVALID_GRAPH;
  output->event = Handle(kEvent + 9);
  return Check(inputs, inputs_count);
}

}  // namespace

extern "C" {

onnxStatus onnxGetBackendIDs(onnxBackendID* ids, size_t* count) {
  if (Is("crash-ids")) Crash();
  if (Is("hang-ids")) Hang();
  if (Is("error-ids")) return ONNXIFI_STATUS_INTERNAL_ERROR;
  size_t devices = 1;
  std::string word;
  std::ifstream(Path() + ".devices") >> devices >> word;
  if (word == "fail") return ONNXIFI_STATUS_INTERNAL_ERROR;
  const size_t capacity = *count;
  *count = devices;
  if (ids == nullptr || capacity < devices) return ONNXIFI_STATUS_FALLBACK;
  for (size_t i = 0; i < devices; ++i) ids[i] = Handle(kId + i);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxReleaseBackendID(onnxBackendID id) {
  return IsA(id, kId) ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INVALID_ID;
}

onnxStatus onnxGetBackendInfo(onnxBackendID id, onnxBackendInfo type,
                              void* value, size_t* size) {
  if (Is("crash-info")) Crash();
  if (Is("hang-info")) Hang();
  if (!IsA(id, kId)) return ONNXIFI_STATUS_INVALID_ID;
  if (type != ONNXIFI_BACKEND_DEVICE) {
    return ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE;
  }
  const std::string text =
      Name() + " " + std::to_string(reinterpret_cast<uintptr_t>(id) - kId);
  const bool fits = value != nullptr && *size >= text.size() + 1;
  *size = text.size() + 1;
  if (!fits) return ONNXIFI_STATUS_FALLBACK;
  std::memcpy(value, text.c_str(), text.size() + 1);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxGetBackendCompatibility(onnxBackendID id, size_t, const void*) {
  return IsA(id, kId) ? ONNXIFI_STATUS_SUCCESS : ONNXIFI_STATUS_INVALID_ID;
}

onnxStatus onnxInitBackend(onnxBackendID id, const uint64_t*,
                           onnxBackend* backend) {
  if (!IsA(id, kId)) return ONNXIFI_STATUS_INVALID_ID;
  *backend = Handle(reinterpret_cast<uintptr_t>(id) - kId + kBackend);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxReleaseBackend(onnxBackend backend) {
  return IsA(backend, kBackend) ? ONNXIFI_STATUS_SUCCESS
                                : ONNXIFI_STATUS_INVALID_BACKEND;
}

onnxStatus onnxInitEvent(onnxBackend backend, onnxEvent* event) {
  if (!IsA(backend, kBackend)) return ONNXIFI_STATUS_INVALID_BACKEND;
  *event = Handle(kEvent + 1);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxSignalEvent(onnxEvent event) {
  return IsA(event, kEvent) ? ONNXIFI_STATUS_SUCCESS
                            : ONNXIFI_STATUS_INVALID_EVENT;
}

onnxStatus onnxGetEventState(onnxEvent event, onnxEventState* state) {
  if (!IsA(event, kEvent)) return ONNXIFI_STATUS_INVALID_EVENT;
  *state = ONNXIFI_EVENT_STATE_SIGNALLED;
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxWaitEvent(onnxEvent event) {
  return IsA(event, kEvent) ? ONNXIFI_STATUS_SUCCESS
                            : ONNXIFI_STATUS_INVALID_EVENT;
}

onnxStatus onnxReleaseEvent(onnxEvent event) {
  return IsA(event, kEvent) ? ONNXIFI_STATUS_SUCCESS
                            : ONNXIFI_STATUS_INVALID_EVENT;
}

onnxStatus onnxInitGraph(onnxBackend backend, const uint64_t*, size_t,
                         const void*, uint32_t count,
                         const onnxTensorDescriptorV1* weights,
                         onnxGraph* graph, uint32_t, void*) {
  if (!IsA(backend, kBackend)) return ONNXIFI_STATUS_INVALID_BACKEND;
  *graph = Handle(kGraph + 1);
  return Check(weights, count);
}

onnxStatus onnxSetGraphIO(onnxGraph graph, uint32_t inputs_count,
                          const onnxTensorDescriptorV1* inputs,
                          uint32_t outputs_count,
                          const onnxTensorDescriptorV1* outputs) {
  if (!IsA(graph, kGraph)) return ONNXIFI_STATUS_INVALID_GRAPH;
  const onnxStatus status = Check(inputs, inputs_count);
  return status != ONNXIFI_STATUS_SUCCESS ? status
                                          : Check(outputs, outputs_count);
}

onnxStatus onnxRunGraph(onnxGraph graph, const onnxMemoryFenceV1* input,
                        onnxMemoryFenceV1* output) {
  if (!IsA(graph, kGraph)) return ONNXIFI_STATUS_INVALID_GRAPH;
  if (!IsA(input->event, kEvent)) return ONNXIFI_STATUS_INVALID_EVENT;
  output->event = Handle(kEvent + 2);
  return ONNXIFI_STATUS_SUCCESS;
}

onnxStatus onnxReleaseGraph(onnxGraph graph) {
  return IsA(graph, kGraph) ? ONNXIFI_STATUS_SUCCESS
                            : ONNXIFI_STATUS_INVALID_GRAPH;
}

onnxStatus onnxGetExtensionFunctionAddress(
    onnxBackendID id, const char* name,
    onnxExtensionFunctionPointer* function) {
  if (!IsA(id, kId)) return ONNXIFI_STATUS_INVALID_ID;
  const auto plain = [](auto* f) {
    return reinterpret_cast<onnxExtensionFunctionPointer>(
        reinterpret_cast<void (*)()>(f));
  };
  *function = nullptr;
  if (std::strcmp(name, "stubTag") == 0) *function = plain(&Tag);
  if (std::strcmp(name, "onnxWaitEventFor") == 0) *function = plain(&Wait);
  if (std::strcmp(name, "onnxSetIOAndRunGraph") == 0) {
    *function = plain(&SetAndRun);
  }
  return *function == nullptr ? ONNXIFI_STATUS_UNIDENTIFIED_NAME
                              : ONNXIFI_STATUS_SUCCESS;
}

}  // extern "C"
