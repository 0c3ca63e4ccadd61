// SPDX-License-Identifier: Apache-2.0
// Any bytes as a model through the whole compiler: refused with a sentence, or
// a package that the runtime accepts; never a crash, never an internal error.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "compiler/compiler.h"
#include "compiler/package/package.h"

namespace {

void Check(const absl::Status& status, const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heddle::compiler::CompileOptions options;
  options.open_dimensions_are_one = true;
  // The smallest card: models that grew by a mutation are refused early.
  options.device_memory_bytes = 63u << 20;
  const auto result = heddle::compiler::CompileOnnx(
      absl::string_view(reinterpret_cast<const char*>(data), size), options);
  if (!result.ok()) {
    if (result.status().code() == absl::StatusCode::kInternal ||
        result.status().message().empty()) {
      Check(result.status(), "refused without a reason");
    }
    return 0;
  }
  const auto package = heddle::package::Parse(result->package);
  if (!package.ok()) Check(package.status(), "the package is not accepted");
  return 0;
}
