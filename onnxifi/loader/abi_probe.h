// SPDX-License-Identifier: Apache-2.0
// Tries which ABI a library speaks: it takes two tensor descriptors in the one
// layout, and in the other the second one's tag is not where it should be.
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
