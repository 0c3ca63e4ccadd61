# SPDX-License-Identifier: Apache-2.0
"""Tests of the generator on testdata/mini, a small description that uses every feature."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# pylint: disable=wrong-import-position
import load  # noqa: E402
import specgen  # noqa: E402
from model import SpecErrors  # noqa: E402

MINI = HERE / "testdata" / "mini"


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        for name in load.FILES:
            shutil.copy(MINI / name, self.dir / name)

    def edit(self, name, old, new):
        path = self.dir / name
        text = path.read_text()
        self.assertIn(old, text, "the test's edit does not apply")
        path.chmod(0o644)
        path.write_text(text.replace(old, new, 1))

    def problems(self):
        with self.assertRaises(SpecErrors) as caught:
            load.load(self.dir)
        return caught.exception.items


class ChecksTest(Case):
    def check(self, name, old, new, want):
        self.edit(name, old, new)
        items = self.problems()
        self.assertTrue(any(want in i for i in items), f"{want!r} is not in {items}")

    def test_mini_is_clean(self):
        load.load(self.dir)

    def test_since_beyond_version(self):
        self.check(
            "isa.toml",
            "value = 3, doc",
            "value = 3, since = 9, doc",
            "registers.toml: register VERSION: its minor number is 0, but isa.toml: enum kind.three is since 9",
        )

    def test_since_is_a_minor_version(self):
        self.check(
            "isa.toml", "value = 3, doc", "value = 3, since = -1, doc", "enum kind.three: 'since' = -1: a minor version"
        )

    def test_overlap(self):
        self.check(
            "isa.toml",
            '"flag", word = 2, lsb = 4',
            '"flag", word = 2, lsb = 3',
            "isa.toml: instruction move.flag: overlaps 'region' at bit 3 of word 2",
        )

    def test_overlap_of_group_and_field(self):
        self.check(
            "isa.toml",
            '"b", group = "stream", word = 6',
            '"b", group = "stream", word = 5',
            "instruction move.b_base: overlaps 'a_stride'",
        )

    def test_overlap_with_header(self):
        self.check(
            "isa.toml",
            '"region", word = 2',
            '"region", word = 1',
            "instruction move.wait_sem: overlaps 'region' at bit 0 of word 1",
        )

    def test_crosses_word(self):
        self.check(
            "isa.toml",
            "word = 8, lsb = 29, bits = 3",
            "word = 8, lsb = 30, bits = 3",
            "instruction move.kind: bits 30..32 cross the end of a 32-bit word",
        )

    def test_beyond_length(self):
        self.check(
            "isa.toml",
            '"offset", word = 9',
            '"offset", word = 12',
            "instruction move.offset: word 12 is beyond the length of 12 words",
        )

    def test_group_beyond_length(self):
        self.check(
            "isa.toml",
            '"b", group = "stream", word = 6',
            '"b", group = "stream", word = 11',
            "instruction move group b: words 11..12 are beyond the length of 12 words",
        )

    def test_duplicate_field(self):
        self.check("isa.toml", 'name = "flag"', 'name = "region"', "field name region is already used")

    def test_duplicate_opcode(self):
        self.check("isa.toml", "opcode = 0x10", "opcode = 2", "opcode 0x2 is already used by 'stop'")

    def test_duplicate_mnemonic(self):
        self.check("isa.toml", 'mnemonic = "move"', 'mnemonic = "stop"', "mnemonic stop is already used")

    def test_opcode_too_wide(self):
        self.check("isa.toml", "opcode = 0x10", "opcode = 256", "does not fit the header's 8 bits")

    def test_words_multiple_of_four(self):
        self.check("isa.toml", "words = 12", "words = 13", "13 words: a multiple of 4")

    def test_enum_value_too_wide(self):
        self.check("isa.toml", "value = 3, doc", "value = 8, doc", "enum kind.three: value 8 does not fit")

    def test_enum_too_wide_for_field(self):
        self.check("isa.toml", "lsb = 29, bits = 3", "lsb = 30, bits = 1", "a value of enum 'kind' does not fit 1 bits")

    def test_unknown_enum(self):
        self.check("isa.toml", '"enum:kind", doc', '"enum:kin", doc', "unknown enum 'kin'")

    def test_unknown_type(self):
        self.check("isa.toml", 'type = "dram_offset"', 'type = "dram"', "unknown type 'dram'")

    def test_unknown_group(self):
        self.check("isa.toml", 'group = "stream", word = 4', 'group = "strm", word = 4', "unknown group 'strm'")

    def test_unknown_engine(self):
        self.check("isa.toml", 'engine = "dma"', 'engine = "dna"', "'dna' is not a value of enum 'engine'")

    def test_unknown_key(self):
        self.check("isa.toml", "nonzero = true", "non_zero = true", "unknown key 'non_zero'")

    def test_undocumented_field(self):
        self.check("isa.toml", 'doc = "how many"', 'doc = ""', "move.count: 'doc' is empty")

    def test_undocumented_limit(self):
        self.check(
            "config.toml", 'regions = "entries of the region table"\n', "", "config.toml: limits.regions: has no text"
        )

    def test_range_too_wide(self):
        self.check("isa.toml", "max = 127", "max = 256", "range -128..256 does not fit 9 bits")

    def test_default_out_of_range(self):
        self.check("isa.toml", "max = 127", "max = 127, default = 128", "default 128 is not a legal value")

    def test_unknown_limit(self):
        self.check("isa.toml", '"regions - 1"', '"region - 1"', "there is no limit named 'region'")

    def test_expressions_run_no_code(self):
        self.check("isa.toml", '"regions - 1"', "\"__import__('os').getpid()\"", "only limits, integers")

    def test_c_word(self):
        self.check("isa.toml", 'name = "flag"', 'name = "switch"', "reserved word in C or C++")

    def test_type_names_collide(self):
        self.check(
            "isa.toml", 'name = "stream"\nwords', 'name = "move"\nwords', "its C++ type name Move is already used"
        )

    def test_micro_operand(self):
        self.check("isa.toml", 'operands = "d,a"', 'operands = "d,x"', "operand 'x' is not a field")

    def test_config_keys_differ(self):
        self.check("config.toml", "cells = 8", "cell_s = 8", "is not in every configuration")

    def test_struct_overlap(self):
        self.check("descriptors.toml", "offset = 60", "offset = 55", "struct job.kind: overlaps 'list'")

    def test_struct_alignment(self):
        self.check(
            "descriptors.toml", '"length", offset = 8', '"length", offset = 10', "offset 0xa is not aligned to 4"
        )

    def test_struct_too_small(self):
        self.check("descriptors.toml", "size = 64", "size = 56", "beyond the size 56")

    def test_register_offset_twice(self):
        self.check(
            "registers.toml",
            "offset = 4\n",
            "offset = 0x140\n",
            "register RING_BASE: offset 0x140 is already used by 'STATUS'",
        )

    def test_register_reset_too_wide(self):
        self.check("registers.toml", "reset = 0x1234", "reset = 0x1_0000_0000", "does not fit 32 bits")

    def test_register_reset_outside_fields(self):
        self.check(
            "registers.toml", "reset = 0\nvolatile", "reset = 2\nvolatile", "reset 0x2 sets bits that no field declares"
        )

    def test_register_fields_overlap(self):
        self.check("registers.toml", "lsb = 4, bits = 3", "lsb = 0, bits = 3", "overlaps 'done'")

    def test_register_outside_block(self):
        self.check("registers.toml", "size = 4096", "size = 256", "is outside the block's 0x100 bytes")

    def test_unknown_access(self):
        self.check("registers.toml", 'access = "w1c"', 'access = "rc"', "unknown access 'rc'")

    def test_error_codes(self):
        self.check("errors.toml", "code = 3", "code = 0", "errors.toml: bounds: code 0x0 is already used")

    def test_error_errno(self):
        self.check("errors.toml", "EFAULT", "EFALT", "unknown errno 'EFALT'")

    def test_error_absl(self):
        self.check("errors.toml", "OUT_OF_RANGE", "RANGE", "unknown absl code 'RANGE'")

    def test_all_problems_are_reported_at_once(self):
        self.edit("errors.toml", "EFAULT", "EFALT")
        self.edit("isa.toml", 'type = "dram_offset"', 'type = "dram"')
        self.assertEqual([i.split(":")[0] for i in self.problems()], ["isa.toml", "errors.toml"])

    def test_missing_file_and_broken_syntax(self):
        (self.dir / "errors.toml").unlink()
        self.edit("config.toml", "[limits]", "[limits")
        items = self.problems()
        self.assertTrue(any(i.startswith("errors.toml: file: cannot be read") for i in items), items)
        self.assertTrue(any(i.startswith("config.toml: syntax:") for i in items), items)


class OutputTest(Case):
    def compile(self, command, text):
        run = subprocess.run(command, input=text, capture_output=True, text=True, cwd=self.dir)
        self.assertEqual(run.returncode, 0, run.stderr)

    def write(self):
        root = self.dir / "rtl" / "spec"
        for path, text in specgen.generate(self.dir).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    def test_output_is_deterministic_and_says_so(self):
        a, b = specgen.generate(self.dir), specgen.generate(MINI)
        self.assertEqual(a, b)
        for path, text in a.items():
            first = text.splitlines()[0]
            self.assertIn("generated from rtl/spec by tools/specgen; do not edit.", first, path)
            self.assertNotIn(str(self.dir), text)
            self.assertEqual(text, re.sub(r"[ \t]+$", "", text, flags=re.M), f"{path}: trailing blanks")

    def test_a_register_changes_no_file_of_the_instruction_set(self):
        old = specgen.generate(self.dir)
        self.edit("registers.toml", 'name = "ID"', 'name = "IDENTITY"')
        new = specgen.generate(self.dir)
        self.assertNotEqual(old["generated/registers.h"], new["generated/registers.h"])
        for path in ("ISA.md", "generated/isa.h", "generated/isa.cc", "generated/descriptors.h"):
            self.assertEqual(old[path], new[path], path)

    def test_layout_in_cpp(self):
        text = specgen.generate(self.dir)["generated/isa.cc"]
        # kind is in the top bits of word 8, zero is signed, the group's second instance starts at 6
        self.assertIn("words[8] |= (static_cast<uint32_t>(kind) & 0x7u) << 29;", text)
        self.assertIn("r.zero = SignExtend(words[2] >> 5, 9);", text)
        self.assertIn("r.b_stride = SignExtend(words[7], 24);", text)

    def test_reserved_masks(self):
        move = next(i for i in load.load(self.dir).instructions if i.name == "move")
        masks = move.reserved_masks()
        self.assertEqual(masks[0], 0xFFFF0000)
        self.assertEqual(masks[1], 0xFFFFFFE0)
        self.assertEqual(masks[8], 0x1FFFFFFF)
        self.assertEqual(masks[11], 0xFFFFFFFF)

    def test_c_compiles(self):
        root = self.write()
        self.compile(
            [
                "cc",
                "-std=c11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
                str(root / "generated/heddle_isa_tables.c"),
            ],
            "",
        )

    def test_cpp_compiles(self):
        self.write()
        text = (
            '#include "rtl/spec/generated/isa.cc"\n#include "rtl/spec/generated/registers.h"\n'
            '#include "rtl/spec/generated/descriptors.h"\n'
            'static_assert(heddle::reg::RingBaseOffset(2) == 0x140, "");\n'
            'static_assert(heddle::isa::Move().scale == 1.5f, "");\n'
        )
        self.compile(
            ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I.", "-x", "c++", "-"], text
        )

    def test_systemverilog_is_accepted(self):
        pkg = str(self.write() / "generated/heddle_pkg.sv")
        top = self.dir / "top.sv"
        top.write_text(
            "module top(input [383:0] w, output ok, output signed [23:0] s, output i);\n"
            "  heddle_pkg::move_t c;\n  assign c = w;\n  assign s = c.b_stride;\n"
            "  assign i = c.initial_ | (c.header.opcode == heddle_pkg::OP_MOVE);\n"
            "  assign ok = heddle_pkg::command_legal(w);\nendmodule\n"
        )
        ran = 0
        for tool, args in (
            ("verilator", ["--lint-only", "-Wall", "-Wno-UNUSED", "--top-module", "top"]),
            ("yosys", ["-q", "-p", f"read_verilog -sv {pkg} {top}; hierarchy -check -top top; proc; check -assert"]),
        ):
            if shutil.which(tool):
                files = [] if tool == "yosys" else [pkg, str(top)]
                self.compile([tool, *args, *files], "")
                ran += 1
        if shutil.which("iverilog"):  # crashes on struct variables from a package: without them
            text = re.sub(r"heddle_pkg::move_t c;|assign [csi] = .*", "", top.read_text())
            top.write_text(text)
            self.compile(["iverilog", "-g2012", "-Wall", "-o", "/dev/null", pkg, str(top)], "")
            ran += 1
        if not ran:
            self.skipTest("none of verilator, yosys and iverilog is installed")

    def test_systemverilog_has_registers_and_structures(self):
        text = (self.write() / "generated/heddle_pkg.sv").read_text()
        for line in (
            "localparam [31:0] REG_STATUS_W1C_BITS = 32'd1;",
            "localparam [31:0] REG_STATUS_RW_BITS = 32'h70;",
            "localparam [31:0] REG_RING_BASE_RW_BITS = 32'hffffffff;",
            "localparam [31:0] JOB_BYTES = 32'h40;",
            "localparam [31:0] JOB_LIST_OFFSET = 32'd8;",
            "localparam [31:0] JOB_FLAGS_CLEAR_MASK = 32'h18;",
        ):
            self.assertIn(line, text)
        self.assertNotIn("REG_ID_RW_BITS", text)
        self.assertIn(
            "    logic [7:0] kind;\n    logic [31:0] rsvd_448;\n    logic [383:0] list_;\n"
            "    logic [31:0] rsvd_32;\n    logic [31:0] flags;\n  } job_t;\n",
            text,
        )

    def test_check_mode(self):
        out = self.dir / "out"
        args = ["--spec", str(self.dir), "--out", str(out)]
        self.assertEqual(specgen.main(args), 0)
        self.assertEqual(specgen.main(args + ["--check"]), 0)
        (out / "ISA.md").write_text("stale")
        self.assertEqual(specgen.main(args + ["--check"]), 1)


if __name__ == "__main__":
    unittest.main()
