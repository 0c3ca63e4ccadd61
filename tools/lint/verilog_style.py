# SPDX-License-Identifier: Apache-2.0
"""The layout of SystemVerilog: fix(text) returns the text as the repository writes it.

Only blanks and indentation change, never a word of the source or of a comment. What is laid out:

- A statement begins two columns inside its block, or inside the `if`, `else` or `for` that it stands alone under; `end`
  and `else` stand under what they close or continue. Lines that continue a statement move with its first line: how a
  long expression is broken and aligned is the author's choice.
- Inside a line: one blank around assignments, comparisons and the operators && || ? =, one after , and ; and between a
  keyword and its bracket, none inside of ( ), none before , and ;. More blanks only where they align a word with one of
  the line above or below, in lists of ports, and before comments.
- One empty line at most, none at the end of the file, no tab, no blank at the end of a line.

Where a line is broken is not changed.
"""

import re

STEP = 2

TOKEN = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<string> "(?:\\.|[^"\\\n])*" )
    | (?P<directive> `(?:ifdef|ifndef|elsif|else|endif|include|define|undef|timescale|default_nettype)\b
        (?:[^\n\\/]|\\\n|\\.|/(?!/))* )
    | (?P<number> \d[\d_]*'[sS]?[bBoOdDhH][\w?]+ | '[sS]?[bBoOdDhH][\da-fA-F_xXzZ?]+ | '[01xXzZ](?!\w) | \d[\w.]* )
    | (?P<word> [`$\\]?[A-Za-z_][\w$]* )
    | (?P<op> <<<=|>>>=|===|!==|==\?|!=\?|<<<|>>>|<<=|>>=|\|->|\|=>|&&&|&&|\|\||==|!=|<=|>=|<<|>>|\*\*|->|\+:|-:|::
        |\+=|-=|\*=|/=|%=|\|=|&=|\^=|\+\+|--|~&|~\||~\^|\^~|\.\*|'\{|'\(|\#\#|\S )
    """,
    re.VERBOSE | re.DOTALL,
)

OPENING = ("(", "[", "{", "'{", "'(")
CLOSING = (")", "]", "}")
# With exactly one blank on either side; "<=" is an assignment or a comparison, "?" never a digit here.
SPACED = frozenset("= <= == != === !== ==? !=? >= && || ? += -= *= /= %= |= &= ^= <<= >>=".split())
# Which want a blank before their bracket.
SPACED_WORDS = frozenset("if for while foreach repeat case casez casex iff".split())
HEADERS = frozenset("if for while foreach repeat".split())
BARE_HEADERS = frozenset("always_comb always_latch initial final forever do".split())
EVENT_HEADERS = frozenset("always always_ff @ #".split())
CASES = frozenset("case casez casex".split())
# Their own statement ends with a semicolon.
REGIONS = {"module": "endmodule", "package": "endpackage", "interface": "endinterface", "class": "endclass"}
REGIONS |= {"function": "endfunction", "task": "endtask", "property": "endproperty", "sequence": "endsequence"}
BLOCKS = {"begin": ("end",), "generate": ("endgenerate",), "fork": ("join", "join_any", "join_none")}


class Token:
    def __init__(self, kind, text, gap, place):
        self.kind = kind
        self.text = text
        self.gap = gap  # blanks before it
        self.place = place  # number of its line, for messages
        self.line = None


class Line:
    def __init__(self, tokens):
        self.tokens = tokens
        self.old = tokens[0].gap if tokens else 0
        self.new = None
        for token in tokens:
            token.line = self


def lines_of(text):
    """The lines of `text` with their tokens; one of several lines stands in its first. Raises ValueError."""
    lines, row = [], []
    position, place, gap = 0, 1, 0
    while position < len(text):
        letter = text[position]
        if letter == "\n":
            lines.append(Line(row))
            row, place, gap = [], place + 1, 0
        elif letter in " \t\r":
            gap = gap + 1 if letter == " " else gap - gap % STEP + STEP
        else:
            match = TOKEN.match(text, position)
            word = match.group().rstrip()
            if word in ('"', "`", "\\") or word == "/" and text.startswith("/*", position):
                raise ValueError(f"line {place}: {word} begins something that does not end")
            row.append(Token(match.lastgroup, word, gap, place))
            place, gap = place + word.count("\n"), 0
            position += len(word)
            continue
        position += 1
    if row:
        lines.append(Line(row))
    return lines


def words(text):
    """What must not change: the tokens, without the blanks and line ends between them."""
    return [token.text for line in lines_of(text) for token in line.tokens]


def blanks(before, token, nesting, aligned):
    """Blanks between two tokens of one line; `nesting`: the brackets that are open between them."""
    gap = token.gap if aligned else min(token.gap, 1)
    if token.kind == "comment":
        return max(token.gap, 1)
    if before.kind == "comment":
        return gap
    if token.text in (",", ";"):
        return gap if before.text in ("(", ";", ":") else 0
    if before.text in ("(", "'(") or token.text == ")":
        return 0
    if before.text in (",", ";") or token.text in SPACED or before.text in SPACED:
        return max(gap, 1)
    if token.text in ("begin", "else") or before.text == "else" or token.text == "(" and before.text in SPACED_WORDS:
        return max(gap, 1)
    return gap


def offsets(line):
    """Where the tokens of a line begin, counted from its first."""
    place, result = 0, []
    for number, token in enumerate(line.tokens):
        place += token.gap if number else 0
        result.append(place)
        place += len(token.text)
    return result


def spaced(line, nesting=None, neighbours=()):
    """The text of a line without its indentation; `nesting` follows the brackets, `neighbours`: the lines beside it."""
    nesting = [] if nesting is None else nesting
    columns = {column for other in neighbours if other.old == line.old for column in offsets(other)}
    in_list = line.tokens[0].text in ("input", "output", "inout", ".")
    text, before = "", None
    for token, column in zip(line.tokens, offsets(line)):
        if before is not None:
            text += " " * blanks(before, token, nesting, in_list or column in columns)
        text += token.text
        if token.text in OPENING:
            nesting.append(token.text[-1])
        elif token.text in CLOSING and nesting:
            nesting.pop()
        before = token
    return text


class Layout:
    """Reads the statements of a file and gives every line its column."""

    def __init__(self, lines):
        self.code = [t for line in lines for t in line.tokens if t.kind not in ("comment", "directive")]
        self.next = 0
        self.shift = 0
        while self.next < len(self.code):
            self.statement(0)

    def peek(self):
        return self.code[self.next].text if self.next < len(self.code) else ""

    def skip(self):
        """Passes the next token; a line that nobody gave a column keeps its distance to its statement's first."""
        if self.next == len(self.code):
            raise ValueError(f"line {self.code[-1].place}: the file ends inside a statement or block")
        line = self.code[self.next].line
        if line.new is None:
            line.new = max(line.old + self.shift, 0)
        self.next += 1

    def place(self, column):
        """Gives the line of the next token its column, if that is the first there."""
        if self.leads():
            line = self.code[self.next].line
            line.new = column
            self.shift = column - line.old

    def leads(self):
        """Whether the next token is the first of its line."""
        return self.next < len(self.code) and self.code[self.next].line.new is None

    def skip_group(self):
        """Passes a bracket and what is in it."""
        depth = 0
        while True:
            depth += (self.peek() in OPENING) - (self.peek() in CLOSING)
            self.skip()
            if depth == 0:
                return

    def skip_to(self, end):
        """Passes everything to the word `end` outside of brackets, and that."""
        while self.peek() != end:
            if self.peek() in OPENING:
                self.skip_group()
            elif self.peek() in CLOSING:
                raise ValueError(f"line {self.code[self.next].place}: {self.peek()} closes nothing")
            else:
                self.skip()
        self.skip()

    def name(self):
        """Passes the name behind begin and end, if there is one."""
        if self.peek() == ":":
            self.skip()
            self.skip()

    def block(self, ends, column):
        """Statements to one of `ends`; what opens them is passed."""
        while self.peek() not in ends:
            self.statement(column + STEP)
        self.place(column)
        self.skip()
        self.name()

    def body(self, column):
        """What stands under a header whose line begins at `column`."""
        self.statement(column + STEP if self.leads() and self.peek() != "begin" else column)

    def cases(self, column):
        while self.peek() != "endcase":
            label = column + STEP
            self.place(label)
            if self.peek() == "default":
                self.skip()
                self.name_colon()
            else:
                self.skip_to(":")
            # Behind a label on a line of its own: under the label, or a step inside.
            inside = self.leads() and self.code[self.next].line.old + self.shift >= label + STEP
            self.statement(label + STEP if inside and self.peek() != "begin" else label)
        self.place(column)
        self.skip()

    def name_colon(self):
        if self.peek() == ":":
            self.skip()

    def statement(self, column):
        self.place(column)
        word = self.peek()
        if word in ("unique", "unique0", "priority"):
            self.skip()
            word = self.peek()
        if word in HEADERS:
            self.skip()
            self.skip_group()
            self.body(column)
            if word == "if" and self.peek() == "else":
                self.place(column)
                self.skip()
                self.body(column)
        elif word in BARE_HEADERS:
            self.skip()
            self.body(column)
        elif word in EVENT_HEADERS:
            self.skip()
            if self.peek() == "@":
                self.skip()
            if self.peek() == "(":
                self.skip_group()
            else:
                self.skip()
            self.body(column)
        elif word in CASES:
            self.skip()
            self.skip_group()
            if self.peek() == "inside":
                self.skip()
            self.cases(column)
        elif word in BLOCKS:
            self.skip()
            self.name()
            self.block(BLOCKS[word], column)
        elif word in REGIONS:
            self.skip_to(";")
            self.block((REGIONS[word],), column)
        else:
            self.skip_to(";")


def place_comments(lines):
    """Lines of comments move with the code behind them."""
    shift = 0
    for line in reversed(lines):
        if not line.tokens:
            continue
        if line.new is None:
            directive = line.tokens[0].kind == "directive"
            line.new = line.old if directive else max(line.old + shift, 0)
        shift = line.new - line.old


def laid_out(text):
    """`text` after one pass."""
    lines = lines_of(text)
    Layout(lines)
    place_comments(lines)
    out, nesting = [], []
    full = [line for line in lines if line.tokens]
    beside = dict(zip(map(id, full), zip([Line([]), *full], [*full[1:], Line([])])))
    for line in lines:
        if line.tokens:
            out.append(" " * line.new + spaced(line, nesting, beside[id(line)]))
        elif out and out[-1]:
            out.append("")
    while out and not out[-1]:
        out.pop()
    fixed = "\n".join(out) + "\n"
    return fixed


def fix(text):
    """`text` as the repository writes it. Raises ValueError where it is not SystemVerilog that this file knows."""
    fixed = laid_out(text)
    # A line may have been aligned with one that moved in this pass. Blanks only become fewer from here on.
    while (again := laid_out(fixed)) != fixed:
        fixed = again
    if words(fixed) != words(text):
        raise ValueError("its words would change with its layout: a fault of tools/lint/verilog_style.py")
    return fixed
