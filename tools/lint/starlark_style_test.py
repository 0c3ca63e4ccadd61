# SPDX-License-Identifier: Apache-2.0
"""Tests of starlark_style.py: what it lays out, what it leaves, and that it never changes a token.

starlark_style_test.py FILE...: the sources to try it on.
"""

import io
import os
import random
import sys
import tokenize
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import starlark_style  # noqa: E402

FILES = sys.argv[1:]

GOOD = '''\
# Licence
"""What it is for.

    Its indentation stays.
"""

load("//a:b.bzl", "c")
load(
    "//a:d.bzl",
    "e",
)

NUMBERS = {"a": -1, "b": 2 * 3}
PART = NUMBERS["a"][1:-1]

# Builds.
def build(name, srcs = [], **kwargs):
    """Builds.

    Args:
      name: of it
    """
    if not srcs or "a" in srcs and len(name) > 1:
        return None  # nothing

    # Every one.
    for src in [s for s in srcs if s != "b"]:
        print(src, -1, *srcs)
        # The end.
    return native.genrule(
        name = name,
        # A comment.
        outs = [
            "%s_%s" % (name, src)
            for src in srcs
            if src
        ],
        cmd = "cat " +
              "$<",
        **kwargs
    )

c(name = "x")
e(name = "y")

c(
    name = "z",
    deps = ["x"] + select({
        ":k": [],
    }),
)
'''


def tokens(text):
    """The tokens of the source without the places where they stand, found without the fixer."""
    layout = (tokenize.NL, tokenize.ENDMARKER)
    found = tokenize.generate_tokens(io.StringIO(text).readline)
    blank = (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE)
    return [(t.type, t.string if t.type not in blank else "") for t in found if t.type not in layout]


def spoil(text, chance):
    """The same tokens with other blanks: inside of the lines, before them, and empty lines."""
    out, row, column, depth = "", 1, 0, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        if token.start[0] > row:
            lines = token.start[0] - row
            out += "\n" * (lines + (2 if lines > 1 else 0))
            indent = token.start[1]
            # Blocks keep an order of columns; in a bracket anything goes, but continued expressions are the author's.
            out += " " * (indent * 2 if depth == 0 else indent)
        elif row > 1 or column:
            between = out[-1:].isalnum() and token.string[:1].isalnum()
            out += " " * chance.choice([1, 2, 3] if between or token.start[1] > column else [0, 1])
        out += token.string
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        row, column = token.end
    return out + "\n\n"


class StarlarkStyleTest(unittest.TestCase):
    def test_leaves_what_is_laid_out(self):
        self.assertEqual(starlark_style.fix(GOOD), GOOD)

    def test_blanks_in_a_line(self):
        for bad, good in (
            ('f(name="x")', 'f(name = "x")'),
            ('f( name  =  "x" , y = 1,)', 'f(name = "x", y = 1,)'),
            ("f (a)[ 0 ]", "f(a)[0]"),
            ("a=b+c", "a = b + c"),
            ("a = - b", "a = -b"),
            ("a = b -1", "a = b - 1"),
            ("a = [- b, * c]", "a = [-b, *c]"),
            ("f(* a, ** b)", "f(*a, **b)"),
            ("a = {b :c}", "a = {b: c}"),
            ("a = b[ 1 : 2 ]", "a = b[1:2]"),
            ("a = not(b)", "a = not (b)"),
            ("a = b . c", "a = b.c"),
            ("a = b# why", "a = b  # why"),
            ("a = b   ", "a = b"),
            ("a\t=\tb", "a = b"),
        ):
            self.assertEqual(starlark_style.fix(bad + "\n"), good + "\n")

    def test_indents(self):
        for bad, good in (
            ("def f():\n  if a:\n     b = 1\n  c = 2\n", "def f():\n    if a:\n        b = 1\n    c = 2\n"),
            (
                "f(\n  a = [\n  b,\n      # why\n      ],\n  )\n",
                "f(\n    a = [\n        b,\n        # why\n    ],\n)\n",
            ),
            ("f(\n  a = b +\n      c,\n)\n", "f(\n    a = b +\n        c,\n)\n"),
            ("[\n  a\n  for a in b\n  if a\n]\n", "[\n    a\n    for a in b\n    if a\n]\n"),
            ("def f():\n  a = 1\n  # why\n  # so\n", "def f():\n    a = 1\n    # why\n    # so\n"),
        ):
            self.assertEqual(starlark_style.fix(bad), good)

    def test_empty_lines(self):
        for bad, good in (
            ("\n\na = 1\n\n\n\nb = 2\n\n", "a = 1\n\nb = 2\n"),
            ("f(\n\n    a = 1,\n\n)\n", "f(\n    a = 1,\n)\n"),
            ("a = 1\n# why\ndef f():\n    pass\nb = 2\n", "a = 1\n\n# why\ndef f():\n    pass\n\nb = 2\n"),
            ("f(\n    a = 1,\n)\nf(b)\n", "f(\n    a = 1,\n)\n\nf(b)\n"),
            ("f(a)\nf(b)\n", "f(a)\nf(b)\n"),
            ("", ""),
        ):
            self.assertEqual(starlark_style.fix(bad), good)

    def test_strings_of_several_lines_stay(self):
        text = 'a = """x\n  y = 1 \n\n\n"""\n'
        self.assertEqual(starlark_style.fix(text), text)

    def test_says_where_it_cannot(self):
        for text, place in (
            ("a = 1\nf(\n", "line.*inside of a bracket"),
            ('a = 1\nb = """\n', "line.*inside of a string"),
            ("a = 1\nb = 'x\n", "line 2"),
            ("a = 1 + \\\n    2\n", "line 2.*brackets"),
            ("if a:\n        b()\n    c()\n", "line 3"),
        ):
            with self.assertRaisesRegex(ValueError, place):
                starlark_style.fix(text)

    def test_the_tokens_of_every_source_stay(self):
        self.assertGreater(len(FILES), 20)
        chance = random.Random(1)
        for name in FILES:
            with open(name, encoding="utf-8") as file:
                text = file.read()
            self.assertEqual(tokens(starlark_style.fix(text)), tokens(text), name)
            spoilt = spoil(text, chance)
            self.assertEqual(tokens(spoilt), tokens(text), name)
            self.assertEqual(starlark_style.fix(spoilt), starlark_style.fix(text), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
