# SPDX-License-Identifier: Apache-2.0
"""C++: descriptors.h (namespace heddle::desc)."""

from emit_cpp import comment
from model import SCALARS, camel

TOP = """// {banner}
// SPDX-License-Identifier: Apache-2.0
// clang-format off
//
// Structures that card and driver exchange in memory: little-endian, naturally aligned, no
// implicit padding. Copy them with memcpy on a little-endian host.
#ifndef RTL_SPEC_GENERATED_DESCRIPTORS_H_
#define RTL_SPEC_GENERATED_DESCRIPTORS_H_

#include <cstddef>
#include <cstdint>

namespace heddle::desc {{

"""
TYPES = {"u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t"}


def header(spec):
    out = TOP.format(banner=spec.banner())
    for s in spec.structs:
        n = camel(s.name)
        out += comment(s.doc) + f"struct {n} {{\n"
        for m, offset, size in s.layout():
            if m is None:
                out += f"  uint8_t padding_{offset}[{size}] = {{}};\n"
                continue
            doc = m.doc + (f" (isa::{camel(m.enum.name)})" if m.enum else "")
            out += comment(doc, "  ")
            array = f"[{m.count}]" if m.count else ""
            init = " = {}" if m.count or m.struct else " = 0"
            out += f"  {camel(m.type) if m.struct else TYPES[m.type]} {m.name}{array}{init};\n"
        out += "};\n"
        out += f'static_assert(sizeof({n}) == {s.size}, "{s.name}");\n'
        for m in s.members:
            out += f'static_assert(offsetof({n}, {m.name}) == {m.offset}, "{s.name}.{m.name}");\n'
        for m in s.members:
            t = TYPES.get(m.type, "uint32_t") if m.type in SCALARS else "uint32_t"
            for b in m.bits:
                k = f"k{n}{camel(m.name)}{camel(b.name)}"
                out += comment(b.doc) + f"inline constexpr {t} {k}Mask = {b.mask:#x};\n"
                out += f"inline constexpr int {k}Shift = {b.lsb};\n"
        out += "\n"
    return out + "}  // namespace heddle::desc\n\n#endif  // RTL_SPEC_GENERATED_DESCRIPTORS_H_\n"
