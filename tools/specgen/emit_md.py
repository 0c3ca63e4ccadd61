# SPDX-License-Identifier: Apache-2.0
"""Markdown: ISA.md and REGISTERS.md."""

import struct

from emit_cpp import default_bits

TYPES = {
    "uint": "unsigned",
    "int": "signed",
    "bool": "bool",
    "f32": "fp32",
    "sem": "semaphore",
    "region": "region",
    "sram_word": "SRAM word",
    "sram_byte": "SRAM byte",
    "dram_offset": "region offset",
}


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head, rows):
    out = "| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n"
    return out + "".join("| " + " | ".join(map(cell, r)) + " |\n" for r in rows) + "\n"


def meaning(item):
    """What the item means, and since which minor version if not the first."""
    return item.doc + (f" (since minor version {item.since})" if item.since else "")


def bits(lsb, n):
    return f"{lsb}" if n == 1 else f"{lsb + n - 1}:{lsb}"


def anchor(title):
    keep = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return keep.replace(" ", "-")


def legal(f, i=None):
    if i and f.fixed:
        return f"{i.fixed_value(f):#x}" if f.name == "opcode" else str(i.fixed_value(f))
    if f.enum:
        return f"[{f.enum.name}](#{anchor('enum ' + f.enum.name)})"
    if f.type == "f32":
        return "not 0" if f.nonzero else "any"
    if f.type == "bool":
        return "0, 1"
    return f"{f.min} .. {f.max}" + (", not 0" if f.nonzero else "")


def default(f):
    if f.fixed:
        return "-"
    if f.required:
        return "none"
    raw = default_bits(f)
    if f.enum:
        return next(v.name for v in f.enum.values if v.value == raw)
    if f.type == "f32":
        return f"{struct.unpack('<f', struct.pack('<I', raw))[0]:g}"
    return str(f.default)


def field_table(fields, i=None):
    rows = [
        (
            f.word,
            bits(f.lsb, f.bits),
            f"`{f.name}`",
            f.enum.name if f.enum else TYPES[f.type],
            legal(f, i),
            default(f),
            meaning(f),
        )
        for f in fields
    ]
    return table(("word", "bits", "field", "type", "legal", "default", "meaning"), rows)


def enum_rows(e):
    """Values in a table; runs of values with one text and numbered names become one row."""
    rows = []
    for v in e.values:
        stem, digits = v.name.rstrip("0123456789"), len(v.name) - len(v.name.rstrip("0123456789"))
        if rows and digits and rows[-1][3] == (stem, meaning(v)) and rows[-1][1] == v.value - 1:
            first = rows[-1][4]
            rows[-1] = (first, v.value, f"`{first[1]}` .. `{v.name}`", (stem, meaning(v)), first, meaning(v))
        else:
            first = (v.value, v.name)
            rows.append((first, v.value, f"`{v.name}`", (stem, meaning(v)), first, meaning(v)))
    return [(str(r[4][0]) if r[4][0] == r[1] else f"{r[4][0]} .. {r[1]}", r[2], r[5]) for r in rows]


def enum_section(e):
    return f"### enum {e.name}\n\n{e.doc[:1].upper() + e.doc[1:]} ({e.bits} bits).\n\n" + table(
        ("value", "name", "meaning"), enum_rows(e)
    )


def instruction(i):
    out = f"### {i.mnemonic}\n\n{i.summary}\n\n"
    out += f"Opcode `{i.opcode:#04x}`, engine **{i.engine}**, {i.words} words ({4 * i.words} bytes)"
    out += f", since minor version {i.since}.\n\n" if i.since else ".\n\n"
    out += i.semantics + "\n\n"
    plain = [f for f in i.own if not f.group]
    if plain:
        out += field_table(sorted(plain, key=lambda f: f.position), i)
    for u in i.groups:
        out += (
            f"Words {u.word} .. {u.word + u.group.words - 1}: group "
            f"[{u.group.name}](#{anchor('group ' + u.group.name)}), fields `{u.name}_*`"
            + (f": {u.doc}" if u.doc else "")
            + ".\n\n"
        )
    if not plain and not i.groups:
        out += "No fields beside the header's.\n\n"
    return out


def isa(spec):
    titles = [s.title for s in spec.sections] + [
        "Limits and configurations",
        "Command header",
        "Instructions",
        "Repeating groups",
        "Micro-instructions",
        "Enumerations",
        "Status codes",
    ]
    out = f"<!-- {spec.banner()} -->\n# Heddle: instruction set\n\n"
    out += (
        "A command stream is a sequence of commands; a command is a sequence of 32-bit words, "
        "little-endian in memory. Bits that no field declares are reserved and must be zero.\n\n"
    )
    out += "".join(f"- [{t}](#{anchor(t)})\n" for t in titles) + "\n"
    for s in spec.sections:
        out += f"## {s.title}\n\n{s.text}\n\n"
    out += "## Limits and configurations\n\n"
    out += table(("limit", "value", "meaning"), [(f"`{k}`", v, spec.limits_doc[k]) for k, v in spec.limits.items()])
    out += table(
        ["key"] + [f"`{c.name}`" for c in spec.configs] + ["meaning"],
        [["`id`"] + [c.id for c in spec.configs] + [spec.config_doc.get("id", "")]]
        + [[f"`{k}`"] + [c.values[k] for c in spec.configs] + [spec.config_doc[k]] for k in spec.config_keys],
    )
    out += f"## Command header\n\n{spec.header.doc}\n\n" + field_table(spec.header.fields)
    out += "## Instructions\n\n"
    out += table(
        ("opcode", "instruction", "engine", "words", "what it does"),
        [
            (f"`{i.opcode:#04x}`", f"[{i.mnemonic}](#{anchor(i.mnemonic)})", i.engine, i.words, i.summary)
            for i in spec.instructions
        ],
    )
    out += "".join(map(instruction, spec.instructions))
    if spec.groups:
        out += "## Repeating groups\n\n"
        for g in spec.groups.values():
            out += f"### group {g.name}\n\n{g.doc}\n\nWords count from the group's first.\n\n"
            out += field_table(g.fields)
    if spec.micro:
        out += f"## Micro-instructions\n\n{spec.micro.doc}\n\n" + field_table(spec.micro.fields)
        out += table(
            ("code", "operation", "operands", "meaning"),
            [(f"`{o.opcode:#04x}`", f"`{o.name}`", ", ".join(o.operands), meaning(o)) for o in spec.micro_ops],
        )
    out += "## Enumerations\n\n" + "".join(map(enum_section, spec.enums.values()))
    out += "## Status codes\n\n"
    out += table(
        ("code", "name", "raised by", "errno", "absl", "ONNXIFI", "sentence", "meaning"),
        [(e.code, f"`{e.name}`", e.scope, e.errno, e.absl, e.onnxifi, e.text, e.doc) for e in spec.errors],
    )
    return out.rstrip() + "\n"


def bit_rows(fields, registers=False):
    for f in fields:
        where = f" ([{f.enum.name}](ISA.md#{anchor('enum ' + f.enum.name)}))" if f.enum else ""
        row = (bits(f.lsb, f.bits), f"`{f.name}`")
        yield row + ((f.access, f"{f.reset:#x}") if registers else ()) + (f.doc + where,)


def registers(spec):
    b = spec.block
    out = f"<!-- {spec.banner()} -->\n# Heddle: registers and structures in memory\n\n{b.doc}\n\n"
    out += (
        f"BAR{b.bar}, {b.size} bytes. Access: ro = read only, rw = read and write, wo = write only "
        "(reads zero), w1c = write one to clear, w1s = write one to set. *Volatile* registers are "
        "changed by the card.\n\n"
    )
    if spec.pci:
        out += "## PCI\n\n" + table(
            ("item", "value", "meaning"), [(f"`{k}`", f"{v:#x}", spec.pci_doc[k]) for k, v in spec.pci.items()]
        )
    out += "## Registers\n\n"
    rows = []
    for r in sorted(spec.registers, key=lambda r: r.offset):
        where = f"`{r.offset:#06x}`"
        if r.count:
            where += f" + {r.stride:#x}·i, i < {r.count}"
        access = r.access + (", volatile" if r.volatile else "")
        rows.append(
            (where, f"[{r.name}](#{anchor(r.name)})", access, f"`{r.reset:#x}`", r.doc.split(". ")[0].rstrip("."))
        )
    out += table(("offset", "name", "access", "reset", "what it is"), rows)
    for r in spec.registers:
        out += f"### {r.name}\n\n{r.doc}\n\n"
        if r.fields:
            out += table(("bits", "field", "access", "reset", "meaning"), bit_rows(r.fields, True))
    out += "## Structures in memory\n\nLittle-endian, naturally aligned, no hidden padding.\n\n"
    for s in spec.structs:
        out += f"### struct {s.name}\n\n{s.doc} ({s.size} bytes.)\n\n"
        rows = []
        for m in sorted(s.members, key=lambda m: m.offset):
            t = m.type + (f"[{m.count}]" if m.count else "")
            where = f" ([{m.enum.name}](ISA.md#{anchor('enum ' + m.enum.name)}))" if m.enum else ""
            rows.append((m.offset, t, f"`{m.name}`", m.doc + where))
        out += table(("offset", "type", "field", "meaning"), rows)
        for m in s.members:
            if m.bits:
                out += f"Bits of `{m.name}`:\n\n" + table(("bits", "field", "meaning"), bit_rows(m.bits))
    return out.rstrip() + "\n"
