// SPDX-License-Identifier: Apache-2.0
// Probes which ABI a library speaks: it accepts two tensor descriptors in one
// layout; in the other, the second one's tag is in the wrong place.
#ifndef HEDDLE_ONNXIFI_LOADER_ABI_PROBE_H_
#define HEDDLE_ONNXIFI_LOADER_ABI_PROBE_H_

#include <cstdint>
#include <string>

namespace heddle::onnxifi_loader {

// Whether the first device of the library makes a graph of two inputs and takes
// their descriptors of `bytes` each. To be called in a process whose end does
// not matter.
bool TakesDescriptors(const char* library, uint32_t bytes);

// y = OP(x, z) of 2 x 3 floats, opset 7.
std::string BinaryModel(const std::string& op);

}  // namespace heddle::onnxifi_loader

#endif  // HEDDLE_ONNXIFI_LOADER_ABI_PROBE_H_
