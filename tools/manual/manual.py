# SPDX-License-Identifier: Apache-2.0
"""Writes the manual page and the completions of a program, all made of its --help.

manual.py --whatis TEXT --others NAME,... --man FILE --bash FILE --zsh FILE --fish FILE PROGRAM
"""

import argparse
import os
import sys

import completion
import help_text
import man_page


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--whatis", required=True)
    parser.add_argument("--others", default="", help="programs for SEE ALSO")
    for name in ("man", "bash", "zsh", "fish"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    name = os.path.basename(args.program)
    try:
        help_, version = help_text.read(os.path.abspath(args.program))
    except help_text.HelpError as error:
        print(f"{name} --help: {error}", file=sys.stderr)
        return 1
    others = [other for other in args.others.split(",") if other]
    for path, text in (
        (args.man, man_page.render(name, version, args.whatis, help_, others)),
        (args.bash, completion.bash(name, help_)),
        (args.zsh, completion.zsh(name, help_)),
        (args.fish, completion.fish(name, help_)),
    ):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
