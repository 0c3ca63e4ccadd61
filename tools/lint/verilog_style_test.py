# SPDX-License-Identifier: Apache-2.0
"""Tests of verilog_style.py: what it lays out, what it leaves, and that it never changes a word.

verilog_style_test.py FILE...: the sources to try it on.
"""

import os
import random
import re
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import verilog_style  # noqa: E402

FILES = sys.argv[1:]

GOOD = """\
module m #(
    parameter int W = 4
) (
    input  logic         clk_i,
    input  logic [W-1:0] a_i,  // aligned
    output logic         b_o
);
  // above the state
  logic [1:0] q;
  hd_x u_x (
      .clk_i,
      .a_i  (a_i),
      .long_o(b_o)
  );
  always_ff @(posedge clk_i) begin
    if (a_i == '0
        || a_i[0]) begin
      q <= 2'd0;  // none
    end else if (b_o) q <= 2'd1;
    else
      for (int i = 0; i < 2; i = i + 1)
        q[i] <= 1'b1;
    unique case (q)
      2'd0: begin
        q <= 2'd1;
      end
      2'd1:
      if (b_o) begin
        q <= (a_i >= 3) ? 2'd2 : 2'd0;
      end
      default: ;
    endcase
  end
endmodule
"""


def flat(text):
    """Without any indentation of lines that begin a statement; others continue one, and are to keep their place."""
    begins = r"(?m)^ +(?=always|if|end|else|q |q\[|for|unique|2'd|default|hd_x|logic|//)"
    return re.sub(begins, "", text)


class VerilogStyleTest(unittest.TestCase):
    def test_leaves_what_is_laid_out(self):
        self.assertEqual(verilog_style.fix(GOOD), GOOD)

    def test_indents(self):
        fixed = verilog_style.fix(flat(GOOD)).split("\n")
        continued = ("|| a_i[0]", ".clk_i,", ".a_i ", ".long_o", ");", "if (b_o) begin", "q <= (a_i")
        for mine, line in zip(fixed, GOOD.split("\n")):
            if not line.strip().startswith(continued):
                self.assertEqual(mine, line)

    def test_continued_lines_move_with_their_statement(self):
        text = "module m;\nassign a = b\n    || c;\nendmodule\n"
        self.assertEqual(verilog_style.fix(text), "module m;\n  assign a = b\n      || c;\nendmodule\n")

    def test_blanks_in_a_line(self):
        for bad, good in (
            ("assign a=b;", "assign a = b;"),
            ("assign a  =  b ;", "assign a = b;"),
            ("assign a = ( b&&c ) ;", "assign a = (b && c);"),
            ("assign a = {b,c};", "assign a = {b, c};"),
            ("assign a = b<=c;", "assign a = b <= c;"),
            ("initial if(a) begin b = 1;end", "initial if (a) begin b = 1; end"),
            ("assign a =\tb;  ", "assign a = b;"),
            ("assign a = b;// why", "assign a = b; // why"),
        ):
            self.assertEqual(verilog_style.fix(f"module m;\n  {bad}\nendmodule\n"), f"module m;\n  {good}\nendmodule\n")

    def test_empty_lines(self):
        self.assertEqual(verilog_style.fix("package p;\n\n\n\nendpackage\n\n"), "package p;\n\nendpackage\n")

    def test_says_where_it_cannot(self):
        for text, place in (("module m;\n  if (a) begin\nendmodule\n", "line"), ('module m;\n  x = "a;\n', "line 2")):
            with self.assertRaisesRegex(ValueError, place):
                verilog_style.fix(text)

    def test_the_words_of_every_source_stay(self):
        self.assertGreater(len(FILES), 50)
        chance = random.Random(1)
        for number, name in enumerate(FILES):
            with open(name, encoding="utf-8") as file:
                text = file.read()
            words = verilog_style.words(text)
            self.assertEqual(verilog_style.words(verilog_style.fix(text)), words, name)
            if number % 8:
                continue
            # Another layout of the same words: more blanks where there are some, and other indentation.
            lines = [re.sub(r"^ *", " " * chance.randrange(9), line) for line in text.split("\n")]
            spoilt = "\n".join(line if "//" in line else re.sub(r"(?<=\w) (?=[=&|?])", "   ", line) for line in lines)
            fixed = verilog_style.fix(spoilt)
            self.assertNotEqual(fixed, spoilt, name)
            self.assertEqual(verilog_style.words(fixed), words, name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
