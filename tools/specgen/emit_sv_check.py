# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog: heddle_pkg_check.sv, which names every field of the package's structs.

crosscheck_test.cc encodes commands in C++, gives the words to this module and compares each field.
"""

from emit_sv import member

TOP = """// {banner}
// SPDX-License-Identifier: Apache-2.0
//
// Reads field number `index` of the command (or, with `micro`, of the micro-instruction) in `words`
// through its packed struct. Fields count in bit order, the header's first; signed ones are extended.
/* verilator lint_off UNUSED */
/* verilator lint_off WIDTH */
module heddle_pkg_check (
    input  logic [{top}:0] words,
    input  logic        micro,
    input  logic [7:0]  index,
    output logic [31:0] value,
    output logic        legal,
    output logic [7:0]  length,
    output logic [7:0]  engine
);
"""


def check(spec):
    longest = max(i.words for i in spec.instructions)
    op = next(f for f in spec.header.fields if f.name == "opcode")
    opcode = f"words[{op.lsb} +: {op.bits}]"
    out = TOP.format(banner=spec.banner(), top=32 * longest - 1)
    for i in spec.instructions:
        out += f"  heddle_pkg::{i.name}_t c_{i.name};\n"
        out += f"  assign c_{i.name} = words[{32 * i.words - 1}:0];\n"
    if spec.micro:
        out += f"  heddle_pkg::micro_t m;\n  assign m = words[{spec.micro.bits - 1}:0];\n"
    out += f"  assign legal = heddle_pkg::command_legal(words);\n"
    out += f"  assign length = heddle_pkg::command_words({opcode});\n"
    out += f"  assign engine = heddle_pkg::command_engine({opcode});\n\n"
    out += "  always_comb begin\n    value = 32'd0;\n"
    if spec.micro:
        out += "    if (micro) begin\n      case (index)\n"
        for n, f in enumerate(spec.micro.fields):
            out += f"        8'd{n}: value = m.{member(f.name)};\n"
        out += "        default: value = 32'd0;\n      endcase\n    end else begin\n"
    else:
        out += "    begin\n"
    out += f"      case ({opcode})\n"
    for i in spec.instructions:
        out += f"        heddle_pkg::OP_{i.name.upper()}:\n          case (index)\n"
        for n, f in enumerate(i.fields):
            path = f"header.{member(f.name)}" if f.header else member(f.name)
            out += f"            8'd{n}: value = c_{i.name}.{path};\n"
        out += "            default: value = 32'd0;\n          endcase\n"
    out += "        default: value = 32'd0;\n      endcase\n    end\n  end\nendmodule\n"
    return out + "/* verilator lint_on WIDTH */\n/* verilator lint_on UNUSED */\n"
