# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog: heddle_pkg.sv, in the subset that Verilator 5, yosys 0.23 and Icarus 11 share.

Constants have a packed range and no `int`; functions assign to their own name; no packed 2-D
arrays, no enums, no casts.  A member whose name is a word of SystemVerilog or C++ gets a trailing
'_'.
"""

import textwrap

from model import SpecErrors, upper

SV_WORDS = frozenset(
    """
accept_on alias always always_comb always_ff always_latch assert assign assume automatic before
begin bind bins binsof bit buf bufif0 bufif1 byte casex casez cell chandle checker clocking cmos
config constraint context cover covergroup coverpoint cross deassign defparam design disable dist
edge end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup
endinterface endmodule endpackage endprimitive endprogram endproperty endspecify endsequence
endtable endtask event eventually expect extends final first_match force foreach forever fork
forkjoin function generate genvar global highz0 highz1 ifnone iff ignore_bins illegal_bins
implements implies import incdir include initial inout input inside instance integer interconnect
interface intersect join join_any join_none large let liblist library local localparam logic
longint macromodule matches medium modport module nand negedge nettype nexttime nmos nor
noshowcancelled notif0 notif1 null output package packed parameter pmos posedge primitive priority
program property pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand
randc randcase randsequence rcmos real realtime ref reg reject_on release repeat rnmos rpmos rtran
rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint
shortreal showcancelled small soft solve specify specparam string strong strong0 strong1 super
supply0 supply1 sync_accept_on sync_reject_on table tagged task throughout time timeprecision
timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type unique unique0 until
until_with untyped use uwire var vectored wait wait_order wand weak weak0 weak1 wildcard wire with
within wor xnor
""".split()
)

# Words of C++ that Verilator warns about.
CPP_WORDS = frozenset(
    """
asm auto bool catch char delete double explicit false float friend inline list long map mutable
namespace operator private protected public set short sizeof template throw true try typename vector
volatile
""".split()
)


class Package:
    """Collects the package's lines and refuses two constants of one name."""

    def __init__(self):
        self.lines = []
        self.names = set()

    def add(self, *lines):
        self.lines += [f"  {x}".rstrip() for x in lines]

    def comment(self, text):
        self.add(*("// " + x for x in textwrap.wrap(" ".join(text.split()), 94)))

    def name(self, name):
        if name in self.names:
            raise SpecErrors([f"heddle_pkg.sv: {name}: two items get this name in the package"])
        self.names.add(name)
        return name

    def const(self, name, value, bits):
        digits = f"{bits}'h{value:x}" if value > 9 else f"{bits}'d{value}"
        self.add(f"localparam [{bits - 1}:0] {self.name(name)} = {digits};")


def member(name):
    return name + "_" if name in SV_WORDS or name in CPP_WORDS else name


def declare(f, name=None):
    sign = "signed " if f.signed else ""
    span = f"[{f.bits - 1}:0] " if f.bits > 1 else ""
    return f"logic {sign}{span}{member(name or f.name)};"


def packed(pkg, name, bits, items):
    """A packed struct; items = (lsb, bits, declaration), gaps become members rsvd_<lsb>."""
    rows, at = [], 0
    for lsb, width, text in sorted(items):
        if lsb > at:
            rows.append(f"logic [{lsb - at - 1}:0] rsvd_{at};")
        rows.append(text)
        at = lsb + width
    if at < bits:
        rows.append(f"logic [{bits - at - 1}:0] rsvd_{at};")
    pkg.add("typedef struct packed {", *("  " + r for r in reversed(rows)), f"}} {pkg.name(name)};", "")


def structure(pkg, s):
    """A struct in memory as a packed struct, byte 0 in bits 7:0; arrays are one vector."""
    prefix = upper(s.name)
    pkg.comment(s.doc)
    packed(
        pkg,
        f"{s.name}_t",
        8 * s.size,
        [(8 * m.offset, 8 * m.size, f"logic [{8 * m.size - 1}:0] {member(m.name)};") for m in s.members],
    )
    pkg.const(f"{prefix}_BYTES", s.size, 32)
    for m in s.members:
        pkg.const(f"{prefix}_{upper(m.name)}_OFFSET", m.offset, 32)
        for b in m.bits:
            pkg.const(f"{prefix}_{upper(m.name)}_{upper(b.name)}_MASK", b.mask, 8 * m.size)
            pkg.const(f"{prefix}_{upper(m.name)}_{upper(b.name)}_SHIFT", b.lsb, 32)
    pkg.add("")


def fields_of(fields):
    return [(f.position, f.bits, declare(f)) for f in fields]


def legal(pkg, spec, i):
    """A function: 1 when the words are a legal encoding of instruction i."""
    bits = 32 * i.words
    mask = sum(m << (32 * n) for n, m in enumerate(i.reserved_masks()))
    pkg.add(f"function automatic {pkg.name(f'{i.name}_legal')}(input [{bits - 1}:0] w);")
    pkg.add(f"  {i.name}_legal = 1'b1;")
    if mask:
        pkg.add(f"  if ((w & {bits}'h{mask:x}) != {bits}'d0) {i.name}_legal = 1'b0;")
    for f in i.fields:
        part = f"w[{f.position} +: {f.bits}]" if f.bits > 1 else f"w[{f.position}]"
        tests = []
        if f.fixed:
            tests = [f"{part} != {f.bits}'d{i.fixed_value(f)}"]
        elif f.enum:
            known = {v.value for v in f.enum.values}
            if len(known) < 1 << f.bits:
                tests = [" && ".join(f"{part} != {f.bits}'d{v}" for v in sorted(known))]
        elif f.type == "f32":
            if f.nonzero:
                tests = [f"w[{f.position} +: 31] == 31'd0"]
        else:
            tests = ranges(f, part)
        for t in tests:
            pkg.add(f"  if ({t}) {i.name}_legal = 1'b0;")
    pkg.add("endfunction", "")


def ranges(f, part):
    low, high = (-(1 << (f.bits - 1)), (1 << (f.bits - 1)) - 1) if f.signed else (0, (1 << f.bits) - 1)
    const = (
        (lambda v: f"{f.bits}'sd{v}" if v >= 0 else f"-{f.bits}'sd{-v}") if f.signed else (lambda v: f"{f.bits}'d{v}")
    )
    value = f"$signed({part})" if f.signed else part
    tests = []
    if f.nonzero or (f.min == 1 and not f.signed):
        tests.append(f"{part} == {f.bits}'d0")
    if f.min > low and not (f.min == 1 and not f.signed):
        tests.append(f"{value} < {const(f.min)}")
    if f.max < high:
        tests.append(f"{value} > {const(f.max)}")
    return tests


def by_opcode(pkg, spec, name, width, value, fallback, doc):
    op = next(f for f in spec.header.fields if f.name == "opcode")
    pkg.comment(doc)
    pkg.add(f"function automatic [{width - 1}:0] {pkg.name(name)}(input [{op.bits - 1}:0] opcode);")
    pkg.add("  case (opcode)")
    for i in spec.instructions:
        pkg.add(f"    OP_{upper(i.name)}: {name} = {value(i)};")
    pkg.add(f"    default: {name} = {fallback};", "  endcase", "endfunction", "")


def package(spec):
    pkg = Package()
    pkg.comment("Limits that hold for every configuration.")
    for name, value in spec.limits.items():
        pkg.comment(spec.limits_doc[name])
        pkg.const(upper(name), value, 32 if value < 1 << 32 else 64)
    pkg.add("")
    pkg.comment("Configurations: values of parameter CONFIG, and what each one says.")
    for c in spec.configs:
        pkg.const(f"CONFIG_{upper(c.name)}", c.id, 32)
    for k in spec.config_keys:
        name = pkg.name(f"cfg_{k}")
        pkg.comment(spec.config_doc[k])
        pkg.add(f"function automatic [31:0] {name}(input [31:0] id);", "  case (id)")
        for c in spec.configs:
            pkg.add(f"    CONFIG_{upper(c.name)}: {name} = 32'd{c.values[k]};")
        pkg.add(f"    default: {name} = 32'd0;", "  endcase", "endfunction")
    pkg.add("")
    for e in spec.enums.values():
        pkg.comment(e.doc)
        for v in e.values:
            pkg.const(f"{upper(e.name)}_{upper(v.name)}", v.value, e.bits)
        pkg.add("")
    op = next(f for f in spec.header.fields if f.name == "opcode")
    pkg.comment("Opcodes and lengths of commands in 32-bit words.")
    for i in spec.instructions:
        pkg.const(f"OP_{upper(i.name)}", i.opcode, op.bits)
    for i in spec.instructions:
        pkg.const(f"{upper(i.name)}_WORDS", i.words, 32)
    longest = max(i.words for i in spec.instructions)
    pkg.const("LONGEST_COMMAND_WORDS", longest, 32)
    pkg.const("HEADER_WORDS", spec.header.words, 32)
    pkg.add("")
    pkg.comment("First word of each repeating group.")
    for g in spec.groups.values():
        pkg.const(f"{upper(g.name)}_WORDS", g.words, 32)
    for i in spec.instructions:
        for u in i.groups:
            pkg.const(f"{upper(i.name)}_{upper(u.name)}_WORD", u.word, 32)
    pkg.add("")
    pkg.comment(
        "A command is a vector of its words, word 0 in bits 31:0. Assign it to the packed struct "
        "of its instruction to name the fields."
    )
    pkg.comment(spec.header.doc)
    packed(pkg, "header_t", 32 * spec.header.words, fields_of(spec.header.fields))
    for g in spec.groups.values():
        pkg.comment(g.doc)
        packed(pkg, f"{g.name}_t", 32 * g.words, fields_of(g.fields))
    for i in spec.instructions:
        pkg.comment(f"{i.mnemonic}: {i.summary}")
        items = fields_of(i.own) + [(0, 32 * spec.header.words, "header_t header;")]
        packed(pkg, f"{i.name}_t", 32 * i.words, items)
    if spec.micro:
        pkg.comment("Operations of micro-instructions.")
        f = next(f for f in spec.micro.fields if f.name == "op")
        for o in spec.micro_ops:
            pkg.const(f"UOP_{upper(o.name)}", o.opcode, f.bits)
        pkg.comment(spec.micro.doc)
        packed(pkg, "micro_t", spec.micro.bits, fields_of(spec.micro.fields))
    width = next(e.bits for e in spec.enums.values() if e.name == "engine")
    by_opcode(
        pkg,
        spec,
        "command_words",
        8,
        lambda i: f"8'd{i.words}",
        "8'd0",
        "Length of a command in 32-bit words; 0 for an unknown opcode.",
    )
    by_opcode(
        pkg,
        spec,
        "command_engine",
        width,
        lambda i: f"ENGINE_{upper(i.engine)}",
        f"{width}'d0",
        "Engine of a command (0 for an unknown opcode: look at command_words).",
    )
    pkg.comment(
        "Encoding checks: opcode, length, reserved bits, enumerations and ranges. The rules between "
        'fields ("Legal if" of each instruction) are the decoder\'s own.'
    )
    for i in spec.instructions:
        legal(pkg, spec, i)
    pkg.comment("The same for the command whose words are in w, whatever its opcode is.")
    pkg.add(f"function automatic {pkg.name('command_legal')}(input [{32 * longest - 1}:0] w);")
    pkg.add(f"  case (w[{op.lsb} +: {op.bits}])")
    for i in spec.instructions:
        pkg.add(f"    OP_{upper(i.name)}: command_legal = {i.name}_legal(w[{32 * i.words - 1}:0]);")
    pkg.add("    default: command_legal = 1'b0;", "  endcase", "endfunction", "")
    pkg.comment("Structures that card and driver exchange in memory.")
    for s in spec.structs:
        structure(pkg, s)
    pkg.comment(
        "Byte offsets of the registers in the BAR (of the first one of an array), their reset "
        "values, the bits of each kind of access (none is written as no constant) and the masks "
        "of their fields."
    )
    pkg.const("REG_BLOCK_BYTES", spec.block.size, 32)
    for r in spec.registers:
        pkg.const(f"REG_{upper(r.name)}", r.offset, 32)
        pkg.const(f"REG_{upper(r.name)}_RESET", r.reset, 32)
        if r.count:
            pkg.const(f"REG_{upper(r.name)}_COUNT", r.count, 32)
            pkg.const(f"REG_{upper(r.name)}_STRIDE", r.stride, 32)
        for a in ("ro", "rw", "wo", "w1c", "w1s"):
            if r.mask(a):
                pkg.const(f"REG_{upper(r.name)}_{upper(a)}_BITS", r.mask(a), 32)
        for f in r.fields:
            pkg.const(f"REG_{upper(r.name)}_{upper(f.name)}_MASK", f.mask, 32)
            pkg.const(f"REG_{upper(r.name)}_{upper(f.name)}_SHIFT", f.lsb, 32)
    pkg.add("")
    pkg.comment("Status codes.")
    for e in spec.errors:
        pkg.const(f"ERROR_{upper(e.name)}", e.code, 32)
    top = [
        f"// {spec.banner()}",
        "// SPDX-License-Identifier: Apache-2.0",
        "//",
        "// The hardware description for RTL. Use it as heddle_pkg::NAME, without import.",
        "/* verilator lint_off UNUSED */",
        "package heddle_pkg;",
        "",
    ]
    return "\n".join(top + pkg.lines + ["", "endpackage", "/* verilator lint_on UNUSED */"]) + "\n"
