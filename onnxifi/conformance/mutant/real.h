// SPDX-License-Identifier: Apache-2.0
// The library that a mutant is made of, and which mutant this is.
#ifndef ONNXIFI_CONFORMANCE_MUTANT_REAL_H_
#define ONNXIFI_CONFORMANCE_MUTANT_REAL_H_

#include <onnx/onnxifi.h>
#include <onnx/onnxifi_ext.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace onnxifi_mutant {

// With all arguments of the extended ABI: a function of seven does not look at
// the last two, and a caller of one does not set them.
using InitGraphFunction = onnxStatus (*)(onnxBackend, const uint64_t*, size_t,
                                         const void*, uint32_t,
                                         const onnxTensorDescriptorV1*,
                                         onnxGraph*, uint32_t, void*);

struct Real {
  onnxGetBackendIDsFunction GetBackendIDs;
  onnxReleaseBackendIDFunction ReleaseBackendID;
  onnxGetBackendInfoFunction GetBackendInfo;
  onnxGetBackendCompatibilityFunction GetBackendCompatibility;
  onnxInitBackendFunction InitBackend;
  onnxReleaseBackendFunction ReleaseBackend;
  onnxInitEventFunction InitEvent;
  onnxSignalEventFunction SignalEvent;
  onnxGetEventStateFunction GetEventState;
  onnxWaitEventFunction WaitEvent;
  onnxReleaseEventFunction ReleaseEvent;
  InitGraphFunction InitGraph;
  onnxSetGraphIOFunction SetGraphIO;
  onnxRunGraphFunction RunGraph;
  onnxReleaseGraphFunction ReleaseGraph;
  onnxGetExtensionFunctionAddressFunction GetExtensionFunctionAddress;
};

// The library of ONNXIFI_MUTANT_LIBRARY; ends the process if it is not there.
const Real& TheReal();

// Whether ONNXIFI_MUTANT is `name`.
bool Is(const char* name);
// Whether its name begins so; whether it has none.
bool IsOneOf(const char* prefix);
bool IsNone();

// What the mutants that replace one status by another make of it.
onnxStatus Swapped(const char* function, onnxStatus status);

// Of calls whose status makes no difference. (gcc takes no cast to void for
// that where a header asks for the result to be used.)
inline void Discard(onnxStatus) {}

// What the real library calls an ID (mutant.cc).
onnxBackendID IdOf(onnxBackendID id);

// How many nodes a serialized ModelProto has; 0 where it cannot be read.
int NodesOf(const void* model, size_t size);

// The memory that descriptors name, in the ABI of ONNXIFI_MUTANT_ABI
// ("extended", "onnx1").
struct Range {
  char* at;
  size_t bytes;
};
std::vector<Range> Memory(const onnxTensorDescriptorV1* descriptors,
                          uint32_t count);
size_t DescriptorBytes();
const char* NameOf(const onnxTensorDescriptorV1* descriptors, uint32_t index);
bool IsQuantized(const onnxTensorDescriptorV1* descriptors, uint32_t index);
std::vector<uint64_t> ShapeOf(const onnxTensorDescriptorV1* descriptors,
                              uint32_t index);

}  // namespace onnxifi_mutant

#endif  // ONNXIFI_CONFORMANCE_MUTANT_REAL_H_
