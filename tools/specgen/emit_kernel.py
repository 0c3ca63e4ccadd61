# SPDX-License-Identifier: Apache-2.0
"""Kernel C: heddle_hw.h, and the validator's tables heddle_isa_fields.h, heddle_isa_tables.c."""

from emit_cpp import quote
from model import SCALARS, upper

LICENSE = "GPL-2.0-only OR MIT"
KINDS = ("uint", "int", "bool", "f32", "enum", "sem", "region", "sram_word", "sram_byte", "dram_offset")


def doc(text, indent=""):
    """Text as a kernel style comment."""
    lines, line = [], ""
    for word in text.replace("*/", "* /").split():
        if line and len(line) + 1 + len(word) > 92:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    lines.append(line)
    if len(lines) == 1:
        return f"{indent}/* {lines[0]} */\n"
    return f"{indent}/*\n" + "".join(f"{indent} * {x}\n" for x in lines) + f"{indent} */\n"


def top(spec, text, guard=None, c_file=False):
    spdx = "// SPDX-License-Identifier: " + LICENSE if c_file else "/* SPDX-License-Identifier: " + LICENSE + " */"
    out = f"/* {spec.banner()} */\n{spdx}\n" + doc(text)
    if guard:
        out += f"#ifndef {guard}\n#define {guard}\n\n"
    return out


def define(name, value):
    tabs = max(1, (48 - len(f"#define {name}") + 7) // 8)
    return f"#define {name}" + "\t" * tabs + f"{value}\n"


def unsigned(value):
    return f"{value:#x}ULL" if value >= 1 << 32 else f"{value:#x}U" if value > 9 else f"{value}U"


def memory_type(scalar):
    """Little-endian in memory: sparse sees who forgets to convert."""
    return "__" + (scalar if SCALARS[scalar] == 1 else scalar.replace("u", "le"))


def hardware(spec):
    out = top(
        spec,
        "The card as the driver sees it: registers, structures in memory, limits, opcodes "
        "and status codes. Structures are little-endian and have no implicit padding.",
        "HEDDLE_HW_H",
    )
    out += "#include <linux/types.h>\n\n/* Limits that hold for every configuration. */\n"
    for name, value in spec.limits.items():
        out += doc(spec.limits_doc[name]) + define(f"HEDDLE_{upper(name)}", unsigned(value))
    out += "\n/* Configurations: values of the CONFIG register. */\n"
    for c in spec.configs:
        out += define(f"HEDDLE_CONFIG_{upper(c.name)}", c.id)
    out += doc("Sizes of one configuration.") + "struct heddle_config {\n\tconst char *name;\n\t__u32 id;\n"
    for k in spec.config_keys:
        out += doc(spec.config_doc[k], "\t") + f"\t__u32 {k};\n"
    out += "};\n\n"
    out += define("HEDDLE_BAR", spec.block.bar) + define("HEDDLE_BAR_BYTES", unsigned(spec.block.size))
    for name, value in spec.pci.items():
        out += doc(spec.pci_doc[name]) + define(f"HEDDLE_PCI_{upper(name)}", f"{value:#x}")
    out += "\n"
    for r in spec.registers:
        n = upper(r.name)
        out += doc(r.doc)
        if r.count:
            out += define(f"HEDDLE_REG_{n}(i)", f"({r.offset:#06x} + (i) * {r.stride:#x})")
            out += define(f"HEDDLE_REG_{n}_COUNT", r.count)
        else:
            out += define(f"HEDDLE_REG_{n}", f"{r.offset:#06x}")
        if r.reset:
            out += define(f"HEDDLE_REG_{n}_RESET", unsigned(r.reset))
        for f in r.fields:
            out += define(f"HEDDLE_{n}_{upper(f.name)}_MASK", f"{f.mask:#010x}U")
            out += define(f"HEDDLE_{n}_{upper(f.name)}_SHIFT", f.lsb)
        out += "\n"
    for e in spec.enums.values():
        out += doc(e.doc)
        for v in e.values:
            out += define(f"HEDDLE_{upper(e.name)}_{upper(v.name)}", v.value)
        out += "\n"
    for s in spec.structs:
        out += doc(s.doc) + f"struct heddle_{s.name} {{\n"
        for m, offset, size in s.layout():
            if m is None:
                out += f"\t__u8 padding_{offset}[{size}];\n"
                continue
            array = f"[{m.count}]" if m.count else ""
            t = f"struct heddle_{m.type}" if m.struct else memory_type(m.type)
            out += doc(m.doc, "\t") + f"\t{t} {m.name}{array};\n"
        out += "};\n" + define(f"HEDDLE_{upper(s.name)}_BYTES", s.size)
        for m in s.members:
            wide = SCALARS.get(m.type, 4) == 8
            for b in m.bits:
                k = f"HEDDLE_{upper(s.name)}_{upper(m.name)}_{upper(b.name)}"
                out += define(k + "_MASK", f"{b.mask:#x}{'ULL' if wide else 'U'}")
                out += define(k + "_SHIFT", b.lsb)
                if b.since:
                    out += define(k + "_SINCE", b.since)
        out += "\n"
    out += "/* Opcodes. */\n"
    for i in spec.instructions:
        out += define(f"HEDDLE_OP_{upper(i.name)}", f"{i.opcode:#04x}")
    out += "\n/* Status codes of completion records and of the error register. */\n"
    for e in spec.errors:
        out += doc(e.doc) + define(f"HEDDLE_ERROR_{upper(e.name)}", e.code)
    return out + "\n#endif /* HEDDLE_HW_H */\n"


FIELDS_TEXT = """#include <linux/types.h>

#include "heddle_hw.h"

/* Kinds of fields: what a validator may assume about a value. */
%(kinds)s
/* The value is two's complement. */
#define HEDDLE_FIELD_SIGNED	0x1
/* Zero is not legal. */
#define HEDDLE_FIELD_NONZERO	0x2

/* Bits [lsb, lsb + bits) of a 32-bit word of a command. */
struct heddle_isa_field {
	const char *name;
	__u8 word;
	__u8 lsb;
	__u8 bits;
	__u8 kind;
	__u8 flags;
	/* Smallest and largest legal value; not used for F32 and ENUM. */
	__s64 min;
	__s64 max;
	/* ENUM: bit v is set when v is a legal value. */
	__u64 legal;
};

struct heddle_isa_command {
	const char *name;
	__u8 opcode;
	__u8 engine;
	/* Length in 32-bit words, header included. */
	__u16 words;
	__u16 num_fields;
	/* Header fields included, in bit order. */
	const struct heddle_isa_field *fields;
	/* One mask per word: bits that must be zero. */
	const __u32 *reserved;
};

/* What a status code of the card means to user space. */
struct heddle_error_info {
	__u32 code;
	/* Negative errno, 0 for success. */
	int err;
	const char *name;
};

#define HEDDLE_NUM_COMMANDS	%(num)d
#define HEDDLE_LONGEST_COMMAND_WORDS	%(longest)d
#define HEDDLE_HEADER_WORDS	%(header)d
#define HEDDLE_NUM_CONFIGS	%(configs)d
#define HEDDLE_NUM_ERRORS	%(errors)d

extern const struct heddle_isa_command heddle_isa_commands[HEDDLE_NUM_COMMANDS];
/* Index into heddle_isa_commands plus one by opcode; 0: there is no such opcode. */
extern const __u8 heddle_isa_by_opcode[%(opcodes)d];
extern const struct heddle_config heddle_configs[HEDDLE_NUM_CONFIGS];
extern const struct heddle_error_info heddle_errors[HEDDLE_NUM_ERRORS];

/*
 * Accessors: the value of each field from the words of a command. The header's are
 * heddle_header_*, an instruction's own are heddle_<instruction>_*, a repeating group's take the
 * first word of the group (HEDDLE_<INSTRUCTION>_<INSTANCE>_WORD) and are heddle_<group>_*.
 */
"""


def accessor(prefix, f, name=None):
    raw = f"w[{f.word}]"
    if f.signed:
        up = 32 - f.bits - f.lsb
        shifted = f"({raw} << {up})" if up else raw
        body = f"(__s32){shifted}" + (f" >> {32 - f.bits}" if f.bits < 32 else "")
        t = "__s32"
    else:
        body = raw if not f.lsb else f"{raw} >> {f.lsb}"
        if f.bits < 32 and f.lsb + f.bits < 32:
            body = f"({body}) & {(1 << f.bits) - 1:#x}U" if f.lsb else f"{body} & {(1 << f.bits) - 1:#x}U"
        t = "__u32"
    return f"static inline {t} heddle_{prefix}_{name or f.name}(const __u32 *w)\n{{\n\treturn {body};\n}}\n\n"


def fields(spec):
    out = top(
        spec, "Tables and accessors of the command validator. Words are in CPU byte order.", "HEDDLE_ISA_FIELDS_H"
    )
    kinds = "".join(define(f"HEDDLE_KIND_{upper(k)}", n) for n, k in enumerate(KINDS))
    out += FIELDS_TEXT % {
        "kinds": kinds,
        "num": len(spec.instructions),
        "configs": len(spec.configs),
        "longest": max(i.words for i in spec.instructions),
        "header": spec.header.words,
        "errors": len(spec.errors),
        "opcodes": 1 << spec.opcode_bits(),
    }
    for f in spec.header.fields:
        out += accessor("header", f)
    for g in spec.groups.values():
        for f in g.fields:
            out += accessor(g.name, f)
    for i in spec.instructions:
        for u in i.groups:
            out += define(f"HEDDLE_{upper(i.name)}_{upper(u.name)}_WORD", u.word)
        if i.groups:
            out += "\n"
        for f in i.own:
            out += accessor(i.name, f)
    return out + "#endif /* HEDDLE_ISA_FIELDS_H */\n"


def tables(spec):
    out = top(spec, "Tables of the command validator; see heddle_isa_fields.h.", c_file=True)
    out += '#include "heddle_isa_fields.h"\n\n#ifdef __KERNEL__\n#include <linux/errno.h>\n'
    out += "#else\n#include <errno.h>\n#endif\n\n"
    for i in spec.instructions:
        out += f"static const struct heddle_isa_field {i.name}_fields[] = {{\n"
        for f in i.fields:
            flags = [n for n, b in (("HEDDLE_FIELD_SIGNED", f.signed), ("HEDDLE_FIELD_NONZERO", f.nonzero)) if b]
            low, high = (i.fixed_value(f),) * 2 if f.fixed else (f.min, f.max)
            legal = f.enum.mask() if f.enum else 0
            out += (
                f"\t{{ {quote(f.name)}, {f.word}, {f.lsb}, {f.bits}, HEDDLE_KIND_{upper(f.kind)}, "
                f"{' | '.join(flags) or 0}, {low}LL, {high}LL, {legal:#x}ULL }},\n"
            )
        out += f"}};\n\nstatic const __u32 {i.name}_reserved[] = {{\n"
        masks = i.reserved_masks()
        for at in range(0, len(masks), 6):
            out += "\t" + " ".join(f"{m:#010x}," for m in masks[at : at + 6]) + "\n"
        out += "};\n\n"
    out += "const struct heddle_isa_command heddle_isa_commands[HEDDLE_NUM_COMMANDS] = {\n"
    for i in spec.instructions:
        out += (
            f"\t{{ {quote(i.mnemonic)}, HEDDLE_OP_{upper(i.name)}, HEDDLE_ENGINE_{upper(i.engine)}, "
            f"{i.words}, {len(i.fields)},\n\t  {i.name}_fields, {i.name}_reserved }},\n"
        )
    out += f"}};\n\nconst __u8 heddle_isa_by_opcode[{1 << spec.opcode_bits()}] = {{\n"
    for n, i in enumerate(spec.instructions):
        out += f"\t[HEDDLE_OP_{upper(i.name)}] = {n + 1},\n"
    out += "};\n\nconst struct heddle_config heddle_configs[HEDDLE_NUM_CONFIGS] = {\n"
    for c in spec.configs:
        values = ", ".join(str(c.values[k]) for k in spec.config_keys)
        out += f"\t{{ {quote(c.name)}, HEDDLE_CONFIG_{upper(c.name)}, {values} }},\n"
    out += "};\n\nconst struct heddle_error_info heddle_errors[HEDDLE_NUM_ERRORS] = {\n"
    for e in spec.errors:
        err = "0" if e.errno == "0" else f"-{e.errno}"
        out += f"\t{{ HEDDLE_ERROR_{upper(e.name)}, {err}, {quote(e.name)} }},\n"
    return out + "};\n"
