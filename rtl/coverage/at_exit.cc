// SPDX-License-Identifier: Apache-2.0
// Linked into a unit's test whose model counts its coverage: writes the counts
// of all models of the process to $HEDDLE_COVERAGE_FILE at its end. They
// outlive the models (tools/bazel/verilator.bzl).
#include <verilated.h>
#include <verilated_cov.h>

#include <cstdlib>

namespace heddle::rtl {
namespace {

struct AtExit {
  // Made before, so that it is there when this is destroyed.
  AtExit() : context(Verilated::defaultContextp()) {}
  ~AtExit() {
    const char* file = std::getenv("HEDDLE_COVERAGE_FILE");
    if (file != nullptr) context->coveragep()->write(file);
  }
  VerilatedContext* context;
} at_exit;

}  // namespace
}  // namespace heddle::rtl
