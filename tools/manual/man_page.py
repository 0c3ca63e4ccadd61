# SPDX-License-Identifier: Apache-2.0
"""A manual page (man(7) macros) of a program's --help.

Not help2man: it runs the lines of an example together, does not know option groups and subcommands, and the
completions need the text taken apart anyway.
"""

import re

HEADINGS = {"Positionals": ".SH ARGUMENTS", "Options": ".SH OPTIONS"}


def roff(text):
    """Text that troff shows as it is; hyphens are those of options and file names."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped)


def _prose(lines):
    """Beside what roff() does: `words` of a command line, as the help quotes them, are bold."""
    return re.sub(r"`([^`]+)`", r"\\fB\1\\fR", "\n".join(roff(line) for line in lines)).split("\n")


def _paragraph(lines):
    return [".PP", *_prose([line.strip() for line in lines])]


def _verbatim(lines):
    # Four blanks less: .RS indents.
    return [".PP", ".RS 4", ".nf", *[roff(line[2:]) for line in lines], ".fi", ".RE"]


def _blocks(blocks):
    out = []
    for block in blocks:
        if block.heading:
            out += [".SS " + roff(block.heading)]
        out += _verbatim(block.lines) if block.verbatim else _paragraph(block.lines)
    return out


def _entry(entry):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in entry.names)
    if entry.value and entry.names[0].startswith("-"):
        value = "|".join(entry.choices) if entry.choices else entry.value
        names += f"[=\\fI{roff(value)}\\fR]" if entry.optional_value else f" \\fI{roff(value)}\\fR"
        names += " ..." if entry.repeats else ""
    notes = [f"(default: {entry.default})"] if entry.default else []
    if entry.relations:
        notes.append(f"({entry.relations[0].lower()}{entry.relations[1:]})")
    return [".TP", names, *_prose(entry.text), *[roff(note) for note in notes]]


def _sections(sections):
    out = []
    for section in sections:
        if section.kind == "Subcommands":
            continue
        if section.group:
            out += [".SS " + roff(section.group), *_paragraph(section.text)]
        else:
            out.append(HEADINGS[section.kind])
        for entry in section.entries:
            out += _entry(entry)
    return out


def _synopsis(name, usage):
    """ "heddle-run [OPTIONS] model" """
    words = usage.split()
    return f".B {roff(name)}\n{roff(' '.join(words[len(name.split()) :]))}"


def render(program, version, whatis, help_, others):
    """`version`: "heddle-run 0.2.0"; `others`: programs for SEE ALSO."""
    number = version.rsplit(" ", 1)[-1]
    examples = [b for b in help_.before if b.verbatim and b.heading.startswith("Example")]
    out = [
        f'.\\" Made of the output of {program} \\-\\-help; do not edit.',
        f'.TH {roff(program).upper()} 1 "" "Heddle {number}" "User Commands"',
        ".ad l",  # full lines would be stretched: "heddle-smi  -  show"
        ".SH NAME",
        f"{roff(program)} \\- {roff(whatis)}",
        ".SH SYNOPSIS",
        _synopsis(program, help_.usage),
    ]
    for name, sub in help_.subcommands.items():
        out += [".br", _synopsis(f"{program} {name}", sub.usage)]
    out += [".SH DESCRIPTION", *_blocks([b for b in help_.before if b not in examples])]
    out += _sections(help_.sections)
    for name, sub in help_.subcommands.items():
        out += [f'.SH "COMMAND {roff(name).upper()}"', *_blocks(sub.before)]
        for section in sub.sections:
            for entry in section.entries:
                out += _entry(entry)
        # CLI11 prints a program's footer for its subcommands, too.
        out += _blocks([block for block in sub.after if block not in help_.after])
    if examples:
        out += [".SH EXAMPLES"]
        for block in examples:
            out += _verbatim(block.lines)
    notes, status = [], []
    for block in help_.after:
        if block.lines[0].startswith("Exit codes: "):
            block.lines[0] = block.lines[0].removeprefix("Exit codes: ")
            status.append(block)
        else:
            notes.append(block)
    out += [".SH EXIT STATUS", *_blocks(status)] if status else []
    out += [".SH NOTES", *_blocks(notes)] if notes else []
    out += [".SH SEE ALSO", ",\n".join(f".BR {roff(other)} (1)" for other in others if other != program)]
    return "\n".join(out) + "\n"
