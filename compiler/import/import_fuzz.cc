// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the front end on arbitrary bytes. What is accepted must be
// a valid graph, and everything else a rejection with a kind.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "compiler/base/diagnostic.h"
#include "compiler/compiler.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using heddle::compiler::AnalyseOnnx;
  using heddle::compiler::RejectionOf;
  heddle::compiler::CompileOptions options;
  options.open_dimensions_are_one = true;
  auto graph = AnalyseOnnx(
      absl::string_view(reinterpret_cast<const char*>(data), size), options);
  if (graph.ok()
          ? !graph->Verify().ok()
          : RejectionOf(graph.status()) == heddle::compiler::Rejection::kNone) {
    std::fprintf(stderr, "%s\n", graph.status().ToString().c_str());
    std::abort();
  }
  return 0;
}
