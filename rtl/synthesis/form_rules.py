# SPDX-License-Identifier: Apache-2.0
"""Refuses four forms of SystemVerilog of which synthesis makes something else than simulation does.

  form_rules.py FILE...      prints FILE:LINE: TEXT for each; the exit code is 1 if there is any

1. A size cast as the index of an array or vector, x[4'(k + 8)]. Cut the counter instead:
   x[k[3:0] + 4'd8], or concatenate: x[{1'b1, k[2:0]}].
2. A loop over a counter of its own or the block's that starts from a literal without a size,
   for (k = 0; ...), unless the loop declares it as genvar or int. Write 32'd0.
3. An array, packed or not, of a type called *_t, which a struct may be: x_t q [0:3]. Declare its bits:
   logic [$bits(one)-1:0] q [0:3], where `one` is a variable of the type.
4. inout, of a task or of anything else. Give a task an input and an output.

forms.sv shows what comes out otherwise.
"""
import re
import sys

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CAST = re.compile(r"\[\s*\w+'\(")
START = re.compile(r"\bfor\s*\(\s*([^;=]*?)\s*=\s*([^;]*?)\s*;")
# A type and its first bracket: at once, or behind names of which each but the last has its comma.
ARRAY = re.compile(r"\b\w+_t\s*(?:\[|\s(?:\w+\s*,\s*)*(?!logic\b)\w+\s*\[)")
INOUT = re.compile(r"\binout\b")
SIGNED = ("genvar", "int", "integer")
SIZED = re.compile(r"\d+'[bdoh]|'0$")


def closing(text, at):
    """The place of the parenthesis that closes the one at `at`; the end of the text if there is none."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if not depth:
            return place
    return len(text)


def findings(text):
    """Yields (line number, finding)."""
    # Comments become blanks: lines keep their numbers.
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    for match in CAST.finditer(text):
        behind = text[closing(text, match.end() - 1) + 1 :].lstrip()
        if behind.startswith("]"):
            yield text.count("\n", 0, match.start()) + 1, "a cast as an index; cut the counter to bits"
    for match in START.finditer(text):
        counter, start = match.groups()
        if counter.split()[0] not in SIGNED and re.match(r"-?\d", start) and not SIZED.match(start):
            yield text.count("\n", 0, match.start()) + 1, "a loop starts from a literal without a size"
    for match in ARRAY.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, "an array of structs; declare an array of their bits"
    for match in INOUT.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, "an inout; separate input and output"


def main(paths):
    found = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line, finding in findings(file.read()):
                print(f"{path}:{line}: {finding}")
                found += 1
    if not paths:
        print("no file to look at", file=sys.stderr)
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
