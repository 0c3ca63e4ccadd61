# SPDX-License-Identifier: Apache-2.0
"""The layout of BUILD files and Starlark: fix(text) returns the text as the repository writes it, which is buildifier's.

Only blanks, indentation and empty lines change, never a token or a comment. (black would write name="x".) What is laid
out:

- A statement begins four columns inside its block; what stands in a bracket that ends its line, four columns inside the
  line of the bracket, and what closes it under that line. Lines that continue an expression move with its first line.
- Inside a line: one blank around = and the operators, one after , and after : outside of slices, none inside of brackets,
  none between a function and its bracket, two before a comment.
- One empty line at most, none at the beginning or end of the file or of a bracket, one around a def of the file and
  around a call of the file that takes several lines.

Where a line is broken and whether a last comma stands is not changed.
"""

import io
import tokenize

STEP = 4

OPENING = ("(", "[", "{")
CLOSING = (")", "]", "}")
# An operand or a bracket stands behind them.
WORDS = frozenset("and or not in if elif else for return def lambda".split())
# Of one side where no operand stands before.
UNARY = ("-", "+", "*", "**")
LAYOUT = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def tokens_of(text):
    """The tokens of `text`. Raises ValueError."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except tokenize.TokenError as error:
        what = "string" if "string" in error.args[0] else "bracket"
        raise ValueError(f"line {error.args[1][0]}: the file ends inside of a {what}") from error
    except IndentationError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    for token in found:
        if token.type == tokenize.ERRORTOKEN and token.string.strip():
            raise ValueError(f"line {token.start[0]}: {token.string} begins something that does not end")
    return [token for token in found if token.type != tokenize.ERRORTOKEN]


def words(text):
    """What must not change: the tokens, and where statements and blocks begin and end."""
    blocks = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return [
        (token.type, "" if token.type in LAYOUT else token.string)
        for token in tokens_of(text)
        if token.type in blocks or token.type not in LAYOUT
    ]


class Line:
    """A line of the source, or several that a string joins."""

    def __init__(self, token, empty, depth, inside):
        self.tokens = [token]
        self.old = token.start[1]
        self.new = None
        self.empty = empty  # whether an empty line stands above
        self.depth = depth  # blocks around it
        self.inside = inside  # whether it begins in a bracket
        self.starts = False  # whether a statement begins here
        self.ends = False  # whether one ends here

    def comment_only(self):
        return self.tokens[0].type == tokenize.COMMENT

    def text(self):
        return self.tokens[0].string


def lines_of(text):
    lines, depth, open_brackets, last_row = [], 0, 0, 0
    begins = True
    for token in tokens_of(text):
        if token.type == tokenize.INDENT:
            depth += 1
        elif token.type == tokenize.DEDENT:
            depth -= 1
        elif token.type == tokenize.NEWLINE:
            lines[-1].ends = begins = True
        if token.type in LAYOUT:
            continue
        row = token.start[0]
        if lines and row == last_row:
            lines[-1].tokens.append(token)
        elif begins or open_brackets or token.type == tokenize.COMMENT:
            lines.append(Line(token, row > last_row + 1, depth, open_brackets > 0))
        else:
            raise ValueError(f"line {row}: the line above ends in \\; put the expression into brackets")
        if token.type != tokenize.COMMENT:
            if begins:
                lines[-1].starts = True
            begins = False
            open_brackets += (token.string in OPENING) - (token.string in CLOSING)
        last_row = token.end[0]
    return lines


def place(lines):
    """Gives every line its column."""
    brackets = []  # of each open one: the column of its line, whether it ended that, and whether a `for` followed
    shift, before = 0, ","
    for line in lines:
        first = line.text()
        if not brackets:
            line.new = None if line.comment_only() else STEP * line.depth
        elif first in CLOSING and (brackets[-1]["ended"] or first == before):
            line.new = brackets[-1]["column"]
        elif brackets[-1]["ended"] and (before in (",", *OPENING) or line.comment_only() or loops(brackets[-1], first)):
            line.new = brackets[-1]["column"] + STEP
        else:
            line.new = max(line.old + shift, 0)
        if line.new is None:
            continue
        shift = line.new - line.old
        code = [token for token in line.tokens if token.type != tokenize.COMMENT]
        for number, token in enumerate(code):
            if token.string in OPENING:
                ended = number + 1 == len(code)
                brackets.append({"column": line.new, "ended": ended, "loop": False})
            elif token.string in CLOSING and brackets:
                brackets.pop()
            before = token.string
    place_comments(lines)


def loops(bracket, first):
    """Whether a line that begins with `first` is the next clause of a comprehension in the bracket."""
    bracket["loop"] |= first == "for"
    return first == "for" or first == "if" and bracket["loop"]


def place_comments(lines):
    """Comments between statements stand with the statement below, or end the block above it."""
    below = None
    above = [None] * len(lines)
    for number, line in enumerate(lines):
        above[number] = line if line.starts else above[number - 1] if number else None
    for number in reversed(range(len(lines))):
        line = lines[number]
        if line.starts:
            below = line
        if line.new is None:
            deeper = above[number] and (below is None or line.old > below.old) and line.old >= above[number].old
            of = above[number] if deeper else below
            line.new = of.new if of else 0


def is_operand(token):
    """Whether an operator behind it has two sides."""
    if token.type == tokenize.NAME:
        return token.string not in WORDS
    return token.type in (tokenize.NUMBER, tokenize.STRING) or token.string in CLOSING


def blanks(before, token, unary, bracket):
    """Blanks between two tokens of a line; `unary`: whether `before` belongs to `token`; `bracket`: the one around."""
    if token.type == tokenize.COMMENT:
        return 2
    if before.string in OPENING or token.string in CLOSING or "." in (before.string, token.string) or unary:
        return 0
    if token.string in (",", ";", ":"):
        return 0
    if before.string == ":":
        return 0 if bracket == "[" else 1
    if token.string in ("(", "[") and is_operand(before):
        return 0
    return 1


def spaced(line, brackets):
    """The text of a line without its indentation; `brackets` follows the open ones."""
    text, before, unary = "", None, False
    for token in line.tokens:
        if before is not None:
            text += " " * blanks(before, token, unary, brackets[-1] if brackets else "")
        text += token.string
        unary = token.string in UNARY and not (before is not None and is_operand(before))
        if token.string in OPENING:
            brackets.append(token.string)
        elif token.string in CLOSING and brackets:
            brackets.pop()
        before = token
    return text


def set_apart(lines):
    """The lines that want an empty one above, by id: of functions of the file and calls of several lines."""
    starts = [number for number, line in enumerate(lines) if line.starts and line.depth == 0]
    wanted, large_above = set(), False
    for place, number in enumerate(starts):
        tokens = lines[number].tokens
        called = len(tokens) > 1 and tokens[1].string == "(" and tokens[0].string != "load"
        large = tokens[0].string == "def" or called and not lines[number].ends
        first = number
        while first and lines[first - 1].comment_only() and lines[first - 1].new == 0 and not lines[first].empty:
            first -= 1
        if place and (large or large_above):
            wanted.add(id(lines[first]))
        large_above = large
    return wanted


def fix(text):
    """`text` as the repository writes it. Raises ValueError where it is not Starlark that this file knows."""
    lines = lines_of(text)
    place(lines)
    out, brackets, before = [], [], None
    apart = set_apart(lines)
    for line in lines:
        if before is not None:
            in_bracket = before.tokens[-1].string in OPENING or line.inside and line.text() in CLOSING
            if (line.empty and not in_bracket) or id(line) in apart:
                out.append("")
        out.append((" " * line.new + spaced(line, brackets)).rstrip(" "))
        before = line
    fixed = "\n".join(out) + "\n" if out else ""
    if words(fixed) != words(text):
        raise ValueError("its tokens would change with its layout: a fault of tools/lint/starlark_style.py")
    return fixed
