# SPDX-License-Identifier: Apache-2.0
"""Those of waivers.vlt that are about some modules.

  waivers.py WAIVERS MODULE...    a .vlt file to standard output
"""
import fnmatch
import re
import sys

RULE = re.compile(r'lint_off -rule \w+ -file "([^"]+)"( -match "[^"]+")?')


def rules(text):
    """[(line, pattern of files)]; ValueError for a line that is no waiver."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("//") or line == "`verilator_config":
            continue
        rule = RULE.fullmatch(line)
        if not rule:
            raise ValueError(f"not understood: {line}")
        found.append((line, rule.group(1)))
    return found


def concerns(pattern, module):
    return fnmatch.fnmatchcase(f"rtl/src/{module}.sv", pattern)


def select(text, modules):
    lines = [line for line, pattern in rules(text) if any(concerns(pattern, m) for m in modules)]
    return "\n".join(["`verilator_config"] + lines) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as f:
        sys.stdout.write(select(f.read(), sys.argv[2:]))
