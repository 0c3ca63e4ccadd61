// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the report of arbitrary bytes. Size fields and checksums
// are repaired first, also those of packages inside. Of what is reported,
// layers add up to the whole.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/package/reseal.h"
#include "compiler/report/package_report.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.size() >= 64) heddle::package::ResealAll(&bytes);
  const auto made =
      heddle::compiler::ReportOfFile(bytes, nullptr, /*details=*/true);
  if (!made.ok()) return 0;
  uint64_t cycles = 0;
  for (const auto& layer : made->report.layers) {
    cycles += layer.estimated_cycles;
  }
  if (!made->report.layers.empty() && cycles > made->report.estimated_cycles) {
    std::abort();
  }
  return 0;
}
