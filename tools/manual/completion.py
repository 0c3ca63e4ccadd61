# SPDX-License-Identifier: Apache-2.0
"""Completions for bash, zsh and fish of a program's --help.

Options, the values of those that list theirs, subcommands, and files. An option whose value is a folder
completes folders; where the value is anything else (a shape, a device), nothing is proposed.
"""

import re

HEAD = "# Made of the output of {program} --help; do not edit.\n"
FOLDER = {"FOLDER", "DIR"}
FILE = {"FILE"}


def kind_of(entry):
    """What the option's value is: "none", "choices", "folder", "file" or "free"."""
    if not entry.value:
        return "none"
    if entry.choices:
        return "choices"
    if entry.value in FOLDER:
        return "folder"
    return "file" if entry.value in FILE else "free"


def _identifier(program):
    return re.sub(r"\W", "_", program)


def _sentence(entry):
    """The description up to the first stop, on one line, without what stands in brackets."""
    text = re.sub(r" *\([^()]*\)", "", " ".join(entry.text))
    return re.split(r"(?<=\w)[.;:](?: |$)", text)[0].strip()


# ---- bash ------------------------------------------------------------------------------------------


def _bash_words(help_):
    words = [name for entry in help_.entries("Options") for name in entry.names]
    for entry in help_.entries("Options"):
        if entry.optional_value:
            words += [f"{entry.names[-1]}={choice}" for choice in entry.choices]
    return words


def _bash_values(help_, indent):
    """Cases on $previous."""
    lines = []
    for entry in help_.entries("Options"):
        kind = kind_of(entry)
        if not entry.takes_word:
            continue
        action = {
            "choices": f'COMPREPLY=($(compgen -W "{" ".join(entry.choices)}" -- "$word"))',
            "folder": "compopt -o dirnames",
            "file": "compopt -o default",
            "free": ":",
        }[kind]
        lines.append(f"{indent}{'|'.join(entry.names)}) {action}; return ;;")
    return lines


def _bash_one(help_, indent, subcommands=()):
    words = " ".join(_bash_words(help_))
    lines = [f'{indent}case "$previous" in', *_bash_values(help_, indent + "  "), f"{indent}esac"]
    lines += [
        f'{indent}if [[ "$word" == -* ]]; then',
        f'{indent}  COMPREPLY=($(compgen -W "{words}" -- "$word"))',
        f"{indent}  return",
        f"{indent}fi",
    ]
    if subcommands:
        lines.append(f'{indent}COMPREPLY=($(compgen -W "{" ".join(subcommands)}" -- "$word"))')
    if help_.entries("Positionals"):
        lines.append(f"{indent}compopt -o default")
    return lines


def bash(program, help_):
    function = "_" + _identifier(program)
    lines = [
        HEAD.format(program=program) + f"{function}() {{",
        # COMP_WORDS has `=` as a word of its own: put the three together again.
        '  local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}" option=""',
        "  COMPREPLY=()",
        '  if [[ "$word" == "=" ]]; then',
        '    option="$previous" word=""',
        '  elif [[ "$previous" == "=" && $COMP_CWORD -gt 1 ]]; then',
        '    option="${COMP_WORDS[COMP_CWORD - 2]}"',
        "  fi",
        '  if [[ -n "$option" ]]; then',
        '    previous="$option"',
        '    case "$option" in',
    ]
    for entry in help_.entries("Options"):
        if entry.optional_value and entry.choices:
            choices = " ".join(entry.choices)
            lines.append(f'      {"|".join(entry.names)}) COMPREPLY=($(compgen -W "{choices}" -- "$word")); return ;;')
    lines += ["    esac", "  fi"]
    for name, sub in help_.subcommands.items():
        lines += [f'  if [[ " ${{COMP_WORDS[*]:1:COMP_CWORD-1}} " == *" {name} "* ]]; then']
        lines += [*_bash_one(sub, "    "), "    return", "  fi"]
    lines += _bash_one(help_, "  ", list(help_.subcommands))
    lines += ["}", f"complete -F {function} {program}"]
    return "\n".join(lines) + "\n"


# ---- zsh -------------------------------------------------------------------------------------------


def _zsh_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def _zsh_text(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def _zsh_option(entry):
    value = {
        "none": "",
        "choices": f":{_zsh_text(entry.value)}:({' '.join(entry.choices)})",
        "folder": f":{_zsh_text(entry.value)}:_files -/",
        "file": f":{_zsh_text(entry.value)}:_files",
        "free": f":{_zsh_text(entry.value)}: ",
    }[kind_of(entry)]
    text = f"[{_zsh_text(_sentence(entry))}]"
    specs = []
    for name in entry.names:
        if entry.optional_value:
            specs.append(_zsh_quote(f"*{name}=-{text}:{value}"))
        else:
            specs.append(_zsh_quote(f"*{name}{text}{value}"))
    return specs


def _zsh_options(help_):
    return [spec for entry in help_.entries("Options") for spec in _zsh_option(entry)]


def zsh(program, help_):
    lines = [f"#compdef {program}", HEAD.format(program=program).rstrip("\n")]
    for name, sub in help_.subcommands.items():
        specs = [*_zsh_options(sub), _zsh_quote("*: :_files" if sub.entries("Positionals") else "*: : ")]
        lines += [f"if (( ${{words[(I){name}]}} && ${{words[(I){name}]}} < CURRENT )); then", "  _arguments -S \\"]
        lines += [*[f"    {spec} \\" for spec in specs[:-1]], f"    {specs[-1]}", "  return", "fi"]
    specs = _zsh_options(help_)
    if help_.subcommands:
        names = " ".join(
            f"{entry.names[0]}\\:{_zsh_quote(_zsh_text(_sentence(entry)))[1:-1].replace(' ', chr(92) + ' ')}"
            for entry in help_.entries("Subcommands")
        )
        specs.append(_zsh_quote(f"1: :(({names}))"))
    elif help_.entries("Positionals"):
        specs.append(_zsh_quote("*: :_files"))
    lines += ["_arguments -S \\", *[f"  {spec} \\" for spec in specs[:-1]], f"  {specs[-1]}"]
    return "\n".join(lines) + "\n"


# ---- fish ------------------------------------------------------------------------------------------


def _fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _fish_option(program, entry, condition):
    words = ["complete", "-c", program]
    if condition:
        words += ["-n", _fish_quote(condition)]
    for name in entry.names:
        words += ["-l", name[2:]] if name.startswith("--") else ["-s", name[1:]]
    kind = kind_of(entry)
    if entry.takes_word:
        words += ["-r"] if kind == "file" else ["-x"]
    if kind == "choices":
        words += ["-a", _fish_quote(" ".join(entry.choices))]
    elif kind == "folder":
        words += ["-a", _fish_quote("(__fish_complete_directories)")]
    return " ".join([*words, "-d", _fish_quote(_sentence(entry))])


def fish(program, help_):
    lines = [HEAD.format(program=program).rstrip("\n")]
    names = " ".join(help_.subcommands)
    if help_.subcommands and not help_.entries("Positionals"):
        lines.append(f"complete -c {program} -f")
    for entry in help_.entries("Options"):
        lines.append(_fish_option(program, entry, f"not __fish_seen_subcommand_from {names}" if names else ""))
    for entry in help_.entries("Subcommands"):
        condition = f"not __fish_seen_subcommand_from {names}"
        words = [f"complete -c {program} -n {_fish_quote(condition)} -f -a {entry.names[0]}"]
        lines.append(f"{words[0]} -d {_fish_quote(_sentence(entry))}")
        for option in help_.subcommands[entry.names[0]].entries("Options"):
            lines.append(_fish_option(program, option, f"__fish_seen_subcommand_from {entry.names[0]}"))
    return "\n".join(lines) + "\n"
