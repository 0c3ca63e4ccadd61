# SPDX-License-Identifier: Apache-2.0
"""Tests of form_rules.py; its arguments are the sources that must be free of findings."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import form_rules  # noqa: E402

SOURCES = sys.argv[1:]
FAULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms.sv")


def lines(text):
    return [line for line, _ in form_rules.findings(text)]


class FormRulesTest(unittest.TestCase):
    def test_cast_as_index(self):
        self.assertEqual(lines("x = 1;\nx[4'(k + 8)] = d;"), [2])
        self.assertEqual(lines("y = x[ CB'((r + 1) * 8) ][k[3:0]];"), [1])
        self.assertEqual(lines("y = x[p][\n  4'(k)\n];"), [1])

    def test_casts_elsewhere(self):
        self.assertEqual(lines("x[k[3:0] + 4'd8] = 8'(w >> (8 * k));"), [])
        self.assertEqual(lines("x[{1'b1, k[2:0]}] = 4'(k);"), [])
        self.assertEqual(lines("logic [32'(W)-1:0] v; y = m[r + IW'(1)];"), [])
        self.assertEqual(lines("// x[4'(k)]\n/* x[4'(k)]\n */"), [])

    def test_start_of_a_loop(self):
        self.assertEqual(lines("for (k = 0; k < 8; k = k + 1)"), [1])
        self.assertEqual(lines("\nfor (logic [31:0] k = 7; k < 8; k = k + 1)"), [2])
        self.assertEqual(lines("for (k = -1; k < 8; k = k + 1)"), [1])

    def test_starts_that_are_right(self):
        self.assertEqual(lines("for (k = 32'd0; k < 8; k = k + 1)"), [])
        self.assertEqual(lines("for (genvar g = 0; g < 8; g++) for (int i = 3; i < 8; i++)"), [])
        self.assertEqual(lines("for (k = first; k < 8; k = k + 1)"), [])

    def test_arrays_of_structs(self):
        self.assertEqual(lines("\nhd_dma_pkg::dma_t queue_q[0:7];"), [2])
        self.assertEqual(lines("pair_t [1:0] x;"), [1])
        self.assertEqual(lines("input hd_x_pkg::pair_t [1:0] x_i,"), [1])
        self.assertEqual(lines("pair_t one, more [0:N-1], other;"), [1])

    def test_structs_and_arrays_that_are_right(self):
        self.assertEqual(lines("pair_t one, other;\nlogic [$bits(one)-1:0] x [0:3];"), [])
        self.assertEqual(lines("input hd_x_pkg::pair_t c_i,\ninput logic [3:0] x_i,\noutput logic y_o [0:1]"), [])
        self.assertEqual(lines("typedef struct packed { logic [3:0] hi; } pair_t;\nassign x[0] = y[1];"), [])
        self.assertEqual(lines("function automatic pair_t f(input pair_t a, logic [3:0] b);"), [])

    def test_inout(self):
        self.assertEqual(lines("task t(input logic a,\n  inout logic [7:0] y);"), [2])
        self.assertEqual(lines("// inout\nlogic inout_q; task t(input logic a, output logic y);"), [])

    def test_the_forms_that_fail_in_synthesis(self):
        """Findings in the modules called wrong_*, and in no other."""
        with open(FAULTS, encoding="utf-8") as file:
            text = file.read()
        module = {}
        name = ""
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith("module "):
                name = line.split()[1]
            module[number] = name
        found = {module[line] for line in lines(text)}
        self.assertEqual(found, {name for name in module.values() if name.startswith("wrong_")})

    def test_the_sources(self):
        self.assertGreater(len(SOURCES), 50)
        self.assertEqual(form_rules.main(SOURCES), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
