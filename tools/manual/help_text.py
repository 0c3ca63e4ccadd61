# SPDX-License-Identifier: Apache-2.0
"""Reads what a program of CLI11 prints for --help.

The text has one shape: paragraphs, "Usage: ...", sections of entries ("Positionals:", "Options:",
"[Option Group: NAME]", "Subcommands:"), paragraphs. Whatever does not fit is an error: a manual page that
leaves something out silently is worse than none.
"""

import dataclasses
import re
import subprocess

COLUMN = 30  # where CLI11 begins descriptions, from the section's own indentation
HEADING = re.compile(r"^( *)(Positionals|Options|Subcommands):$")
GROUP = re.compile(r"^\[Option Group: (.+)\]$")
# What may follow an option's names: a type, the values it takes, its default, how often, its relations.
RELATIONS = re.compile(r" (?:REQUIRED|(?:Needs|Excludes): )")


class HelpError(Exception):
    """The text has not the shape of CLI11's help."""


@dataclasses.dataclass
class Block:
    """A paragraph; one whose lines are indented is shown as it is, below its heading."""

    heading: str
    lines: list
    verbatim: bool


@dataclasses.dataclass
class Entry:
    """An option, an argument or a subcommand."""

    names: list  # ["-o", "--output"], ["model"]
    value: str = ""  # "FILE"; "" for a flag
    choices: list = dataclasses.field(default_factory=list)
    default: str = ""
    optional_value: bool = False  # --report or --report=json
    repeats: bool = False
    relations: str = ""  # "Needs: --check"
    text: list = dataclasses.field(default_factory=list)

    @property
    def takes_word(self):
        return bool(self.value) and not self.optional_value


@dataclasses.dataclass
class Section:
    """Entries of one kind: "Positionals", "Options", "Subcommands"."""

    kind: str
    group: str = ""  # of an option group: its name, and what it says of itself
    text: list = dataclasses.field(default_factory=list)
    entries: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Help:
    """One program, or one subcommand of it."""

    usage: str
    before: list
    sections: list
    after: list
    subcommands: dict = dataclasses.field(default_factory=dict)  # name: Help

    def entries(self, kind):
        return [entry for section in self.sections if section.kind == kind for entry in section.entries]


def indentation(line):
    return len(line) - len(line.lstrip(" "))


def blocks(lines):
    """Paragraphs; within one, indented lines are a block of their own, headed by a line that ends with a colon."""
    found = []
    paragraph = []
    for line in [*lines, ""]:
        if not line.strip():
            if paragraph:
                found.extend(_split(paragraph))
            paragraph = []
        else:
            paragraph.append(line)
    return found


def _split(paragraph):
    found = []
    for line in paragraph:
        indented = line.startswith("  ")
        if not found or found[-1].verbatim != indented:
            heading = ""
            if indented and found and found[-1].lines[-1].endswith(":"):
                heading = found[-1].lines.pop().rstrip(":")
                if not found[-1].lines:
                    found.pop()
            found.append(Block(heading, [], indented))
        found[-1].lines.append(line)
    return found


def _names_and_rest(text):
    names, _, rest = text.partition(" ")
    return names.split(","), rest


def parse_entry(left, text):
    """`left`: what stands before the description, without indentation."""
    names, rest = _names_and_rest(left)
    entry = Entry(names=names, text=text)
    # "--report{text}": a flag that may have a value.
    flag = re.fullmatch(r"(.*)\{(.*)\}", names[-1])
    if flag:
        entry.names[-1], entry.default = flag.groups()
        entry.optional_value = True
    relations = RELATIONS.search(" " + rest)
    if relations:
        rest, entry.relations = rest[: max(relations.start() - 1, 0)], rest[max(relations.start(), 0) :].strip()
        if entry.relations.startswith("REQUIRED"):
            entry.relations = entry.relations[len("REQUIRED") :].strip()
    rest = rest.strip().replace("UINT:SIZE [b, kb(=1024b), ...]", "SIZE")
    repeats = re.search(r"(?:^| )(?:\.\.\.|x \d+)$", rest)
    if repeats:
        entry.repeats = True
        rest = rest[: repeats.start()]
    choices = re.search(r":\{([^{}]*)\}", rest)
    if choices:
        entry.choices = choices.group(1).split(",")
        rest = rest[: choices.start()] + rest[choices.end() :]
    else:
        # "UINT:INT in [1 - 2]", "INT:NONNEGATIVE": of the check, only a range says something.
        rest = re.sub(r":(?:(?:INT|UINT|FLOAT) in (\[[^]]*\])|[A-Z_]+)", lambda m: f" in {m[1]}" if m[1] else "", rest)
    # Capitals are no default, but what the user puts there: NAME=D,D,...
    default = re.search(r"=(?![A-Z])([^=]*)$", rest)
    if default:
        entry.default = default.group(1)
        rest = rest[: default.start()]
    entry.value = " ".join(rest.split())
    if entry.optional_value:
        entry.value = entry.value or "VALUE"
    if not all(re.fullmatch(r"--?[A-Za-z0-9][-A-Za-z0-9]*|[a-z][-a-z0-9_]*", name) for name in entry.names):
        raise HelpError(f"'{left}' is not an option, argument or subcommand")
    return entry


def _cut(line, column):
    """(what stands left of the description, the description or None when it is on the next line)."""
    if len(line) > column and line[column - 1] == " ":
        left, right = line[:column].strip(), line[column:]
        whole = line.strip()
        # A long left side may have a blank there by chance.
        whole_left = all(left.count(a) == left.count(b) for a, b in ("[]", "{}", "()"))
        if right[0] != " " and whole_left and not re.match(r"(?:Needs:|Excludes:|REQUIRED|--?\w|x \d)", right):
            return left, right
        if right[0] == " " and not left:
            raise HelpError(f"unexpected line '{whole}'")
    return line.strip(), None


class _Parser:
    def __init__(self, text):
        self.lines = text.rstrip("\n").split("\n")
        self.at = 0

    def parse(self):
        usage = [n for n, line in enumerate(self.lines) if line.startswith("Usage: ")]
        if not usage:
            raise HelpError("there is no line 'Usage: '")
        result = Help(self.lines[usage[0]][len("Usage: ") :], blocks(self.lines[: usage[0]]), [], [])
        self.at = usage[0] + 1
        group = None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            heading, named = HEADING.match(line), GROUP.match(line)
            if not line.strip():
                self.at += 1
            elif named:
                group = Section("Options", named.group(1))
                self.at += 1
                while self.at < len(self.lines) and not HEADING.match(self.lines[self.at]):
                    if not self.lines[self.at].startswith("  "):
                        raise HelpError(f"the group '{group.group}' has no section")
                    group.text.append(self.lines[self.at].strip())
                    self.at += 1
            elif heading:
                indent = len(heading.group(1))
                if group and indent:
                    section, group = group, None
                else:
                    section = Section(heading.group(2))
                result.sections.append(section)
                self.at += 1
                self._entries(section, indent)
            else:
                result.after = blocks(self.lines[self.at :])
                break
        return result

    def _entries(self, section, indent):
        column = COLUMN + indent
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip() or indentation(line) <= indent:
                return
            if indentation(line) >= column:
                if not section.entries:
                    raise HelpError(f"'{line.strip()}' describes nothing")
                section.entries[-1].text.append(line.strip())
            elif indentation(line) == indent + 2:
                left, right = _cut(line, column)
                section.entries.append(parse_entry(left, [right] if right is not None else []))
            else:
                raise HelpError(f"unexpected line '{line.strip()}'")
            self.at += 1


def parse(text):
    result = _Parser(text).parse()
    for section in result.sections:
        for entry in section.entries:
            if not entry.text:
                raise HelpError(f"'{entry.names[-1]}' has no description")
    return result


def _output(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not done.stdout:
        raise HelpError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def read(program):
    """Help and version ("heddle-run 0.2.0") of a program, its subcommands' included."""
    result = parse(_output([program, "--help"]))
    for entry in result.entries("Subcommands"):
        name = entry.names[0]
        result.subcommands[name] = parse(_output([program, name, "--help"]))
    return result, _output([program, "--version"]).strip()
