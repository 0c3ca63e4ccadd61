# SPDX-License-Identifier: Apache-2.0
"""C++: registers.h (namespace heddle::reg)."""

from emit_cpp import comment, quote
from model import camel, const

TOP = """// {banner}
// SPDX-License-Identifier: Apache-2.0
// clang-format off
//
// Registers of the card: byte offsets in BAR{bar}, masks and shifts of their fields, and a table of
// all registers for tests (reset value, which bits can be written, ...).
#ifndef RTL_SPEC_GENERATED_REGISTERS_H_
#define RTL_SPEC_GENERATED_REGISTERS_H_

#include <cstddef>
#include <cstdint>

namespace heddle::reg {{

inline constexpr int kBar = {bar};
inline constexpr uint32_t kBlockBytes = {size:#x};

"""

TABLE = """
enum class Access : uint8_t { kRo, kRw, kWo, kW1c, kW1s };

// A register as data. Bits of no mask are reserved: they read zero and ignore writes.
struct RegisterInfo {
  const char* name;
  uint32_t offset;
  uint32_t count;     // 1 for a single register
  uint32_t stride;    // bytes between the registers of an array
  Access access;      // of the register; fields may differ, see the masks
  bool is_volatile;   // the card changes it on its own: do not test read-back
  uint32_t reset;
  uint32_t ro_mask;
  uint32_t rw_mask;
  uint32_t wo_mask;
  uint32_t w1c_mask;
  uint32_t w1s_mask;
};

"""


def header(spec):
    out = TOP.format(banner=spec.banner(), bar=spec.block.bar, size=spec.block.size)
    for name, value in spec.pci.items():
        out += comment(spec.pci_doc[name])
        out += f"inline constexpr uint32_t kPci{camel(name)} = {value:#x};\n"
    out += "\n"
    for r in spec.registers:
        n = camel(r.name)
        out += comment(r.doc)
        if r.count:
            out += f"inline constexpr uint32_t k{n}Count = {r.count};\n"
            out += f"inline constexpr uint32_t k{n}Stride = {r.stride:#x};\n"
            out += f"constexpr uint32_t {n}Offset(uint32_t i) {{ return {r.offset:#x} + i * {r.stride:#x}; }}\n"
        else:
            out += f"inline constexpr uint32_t k{n}Offset = {r.offset:#x};\n"
        out += f"inline constexpr uint32_t k{n}Reset = {r.reset:#x};\n"
        for f in r.fields:
            out += comment(f.doc)
            out += f"inline constexpr uint32_t k{n}{camel(f.name)}Mask = {f.mask:#x};\n"
            out += f"inline constexpr int k{n}{camel(f.name)}Shift = {f.lsb};\n"
        out += "\n"
    out += TABLE + f"inline constexpr size_t kNumRegisters = {len(spec.registers)};\n"
    out += "inline constexpr RegisterInfo kRegisters[kNumRegisters] = {\n"
    for r in spec.registers:
        masks = ", ".join(f"{r.mask(a):#x}" for a in ("ro", "rw", "wo", "w1c", "w1s"))
        out += (
            f"    {{{quote(r.name)}, {r.offset:#x}, {max(r.count, 1)}, {r.stride:#x}, "
            f"Access::{const(r.access)}, {'true' if r.volatile else 'false'}, {r.reset:#x}, "
            f"{masks}}},\n"
        )
    return out + "};\n\n}  // namespace heddle::reg\n\n#endif  // RTL_SPEC_GENERATED_REGISTERS_H_\n"
