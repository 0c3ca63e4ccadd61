// SPDX-License-Identifier: Apache-2.0
// The extension functions by name. onnxGetBackendInfo's list and the function
// addresses come from the same table.
#ifndef HEDDLE_ONNXIFI_EXTENSIONS_H_
#define HEDDLE_ONNXIFI_EXTENSIONS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace heddle::onnxifi {

enum class Extension {
  kNone,
  kGetExtensionFunctionAddress,
  kSetIOAndRunGraph,        // 6 arguments
  kSetIOAndRunGraphTraced,  // 7 arguments
  kWaitEventFor,
  kReleaseTraceEvents,
  kGetOutputShape,
  kSetOption,
  kGetOption,
};

// kNone for an unknown name. Does not allocate.
Extension FindExtension(absl::string_view name);

// All names, separated by blanks.
std::string ExtensionNames();

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_EXTENSIONS_H_
