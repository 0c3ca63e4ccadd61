// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: ParseShapeSet on arbitrary bytes. Size and checksum are
// repaired first; what parses must serialize, and parse again to the same
// bytes. Every package inside is put together, parsed and compared with what
// the set says; values around those that are held are looked for.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/package/reseal.h"
#include "compiler/package/shape_set.h"

namespace {

using heddle::package::ShapeSet;

void Use(const ShapeSet& set) {
  for (size_t i = 0; i < set.specialisations.size(); ++i) {
    const std::string bytes = set.PackageBytes(i);
    if (bytes.size() != set.specialisations[i].size) std::abort();
    const auto package = heddle::package::Parse(bytes);
    if (package.ok()) (void)set.Check(i, *package);
    for (size_t s = 0; s < set.symbols.size(); ++s) {
      auto values = set.specialisations[i].values;
      if (set.ValuesOf(set.ShapesOf(values)).value() != values) std::abort();
      if (set.Choose(values)->index != i) std::abort();
      --values[s];
      (void)set.Choose(values);
      (void)set.Missing(values);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)heddle::package::ParseShapeSet(bytes);
  if (bytes.size() < 64) return 0;
  heddle::package::Reseal(0, bytes.size(), &bytes);
  const auto set = heddle::package::ParseShapeSet(bytes);
  if (!set.ok()) return 0;
  const std::string again = heddle::package::Serialize(*set);
  const auto second = heddle::package::ParseShapeSet(again);
  if (!second.ok() || heddle::package::Serialize(*second) != again) {
    std::abort();
  }
  Use(*second);
  return 0;
}
