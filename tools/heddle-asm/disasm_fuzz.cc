// SPDX-License-Identifier: Apache-2.0
//
// Any words: decoders accept or refuse them, and disassembly is exact either
// way.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rtl/spec/generated/isa.h"
#include "tools/heddle-asm/asm.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle::assembler;  // NOLINT
  namespace isa = heddle::isa;
  std::vector<uint32_t> words(size / 4);
  if (!words.empty()) std::memcpy(words.data(), data, 4 * words.size());
  DisassembleOptions raw;
  raw.raw = true;
  const auto text = Disassemble(words.data(), words.size(), raw);
  if (!text.ok()) std::abort();
  const auto again = Assemble(*text, "fuzz");
  if (!again.ok() || *again != words) std::abort();

  if (auto command = isa::DecodeAny(words.data(), words.size()); command.ok()) {
    std::vector<uint32_t> encoded;
    isa::Append(*command, &encoded);
    if (!std::equal(encoded.begin(), encoded.end(), words.begin()))
      std::abort();
  }
  std::vector<uint64_t> micro(size / 8);
  if (!micro.empty()) std::memcpy(micro.data(), data, 8 * micro.size());
  for (uint64_t w : micro) {
    const auto m = isa::MicroInstruction::Decode(w);
    if (m.ok() && m->Encode() != w) std::abort();
    const auto t = DisassembleMicro(&w, 1);
    if (t.ok() != m.ok()) std::abort();
    if (t.ok() && AssembleMicro(*t, "fuzz").value() != std::vector<uint64_t>{w})
      std::abort();
  }
  return 0;
}
