// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/extensions.h"

#include "absl/strings/str_cat.h"

namespace heddle::onnxifi {
namespace {

struct Entry {
  const char* name;
  Extension extension;
};
constexpr Entry kExtensions[] = {
    // ONNX's name for "there is onnxGetExtensionFunctionAddress".
    {"onnx_extension_function", Extension::kGetExtensionFunctionAddress},
    {"onnxGetExtensionFunctionAddress",
     Extension::kGetExtensionFunctionAddress},
    {"onnxSetIOAndRunGraph", Extension::kSetIOAndRunGraph},
    {"onnxSetIOAndRunGraphFunction", Extension::kSetIOAndRunGraphTraced},
    {"onnxWaitEventFor", Extension::kWaitEventFor},
    {"onnxWaitEventForFunction", Extension::kWaitEventFor},
    {"onnxReleaseTraceEvents", Extension::kReleaseTraceEvents},
    {"onnxReleaseTraceEventsFunction", Extension::kReleaseTraceEvents},
    {"heddleGetOutputShape", Extension::kGetOutputShape},
    {"onnxSetOption", Extension::kSetOption},
    {"onnxSetOptionFunction", Extension::kSetOption},
    {"onnxGetOption", Extension::kGetOption},
    {"onnxGetOptionFunction", Extension::kGetOption},
};

}  // namespace

Extension FindExtension(absl::string_view name) {
  for (const Entry& entry : kExtensions) {
    if (name == entry.name) return entry.extension;
  }
  return Extension::kNone;
}

std::string ExtensionNames() {
  std::string names;
  for (const Entry& entry : kExtensions) {
    absl::StrAppend(&names, names.empty() ? "" : " ", entry.name);
  }
  return names;
}

}  // namespace heddle::onnxifi
