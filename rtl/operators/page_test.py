# SPDX-License-Identifier: Apache-2.0
"""operators.toml against ONNX's list of operators and the instruction set."""

import collections
import pathlib
import subprocess
import sys
import tomllib
import unittest

from rtl.operators import page

# Later than the ONNX of Debian, which knows opset 1 to 17.
SINCE_18 = """AffineGrid Attention BitCast BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad
Col2Im CumProd DeformConv Gelu GroupNormalization ImageDecoder Mish RMSNormalization RegexFullMatch
RotaryEmbedding StringConcat StringSplit Swish TensorScatter""".split()


class OperatorsTest(unittest.TestCase):
    def setUp(self):
        self.spec = page.load()
        self.planned = self.additions("planned")
        isa = tomllib.loads(pathlib.Path("rtl/spec/isa_vector.toml").read_text())
        self.machine = {op["name"] for op in isa["micro_op"]}
        isa = tomllib.loads(pathlib.Path("rtl/spec/isa.toml").read_text())
        types = next(e for e in isa["enum"] if e["name"] == "element_type")["values"]
        self.streams = {f"{t['name']} streams" for t in types}

    def additions(self, state):
        return {a["name"] for a in self.spec["addition"] if a["state"] == state}

    def test_every_operator_is_listed_once(self):
        known = subprocess.run([NAMES], check=True, capture_output=True, text=True).stdout.split()
        self.assertGreater(len(known), 150)
        listed = collections.Counter(o for g in self.spec["group"] for o in g["operators"])
        self.assertEqual([o for o, n in listed.items() if n > 1], [])
        ours = {o for o in listed if not o.startswith("ms.")}
        self.assertEqual(ours, set(known) | set(SINCE_18))

    def test_uses_name_micro_instructions(self):
        for group in self.spec["group"]:
            self.assertIn(group["on"], page.ENGINES)
            self.assertTrue(group["how"].strip())
            unknown = set(group["uses"]) - self.machine - self.planned
            self.assertEqual(unknown, set(), group["operators"])

    def test_no_instruction_without_a_user(self):
        used = {u for g in self.spec["group"] for u in g["uses"]}
        self.assertEqual(self.machine - used - {"mov"}, set())
        names = {n for n in self.planned if " " not in n}  # others are no instructions
        self.assertEqual(names - used, set())

    def test_planned_is_not_there_yet(self):
        self.assertEqual(self.planned & (self.machine | self.streams), set())

    def test_what_is_called_added_is_there(self):
        for name in self.additions("machine"):
            if " with " not in name:  # another meaning of what there is
                self.assertIn(name, self.machine | self.streams)

    def test_states_are_known(self):
        self.assertEqual({a["state"] for a in self.spec["addition"]} - set(page.STATES), set())

    def test_page(self):
        text = (page.HERE / "OPERATORS.md").read_text()
        self.assertEqual(text, page.page(self.spec), "see the page's second line")


if __name__ == "__main__":
    NAMES = sys.argv.pop(1)
    unittest.main()
