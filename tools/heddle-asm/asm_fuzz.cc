// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as assembler text: refused or assembled, and what is assembled
// survives a round trip.
#include <cstdint>
#include <cstdlib>

#include "absl/strings/string_view.h"
#include "tools/heddle-asm/asm.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::assembler;  // NOLINT
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  DisassembleOptions raw;
  raw.raw = true;  // the text may hold .word
  if (auto words = Assemble(text, "fuzz"); words.ok()) {
    const auto canonical = Disassemble(words->data(), words->size(), raw);
    if (!canonical.ok()) std::abort();
    const auto again = Assemble(*canonical, "fuzz");
    if (!again.ok() || *again != *words) std::abort();
  }
  if (auto words = AssembleMicro(text, "fuzz"); words.ok()) {
    const auto canonical = DisassembleMicro(words->data(), words->size());
    if (!canonical.ok()) std::abort();
    const auto again = AssembleMicro(*canonical, "fuzz");
    if (!again.ok() || *again != *words) std::abort();
  }
  return 0;
}
