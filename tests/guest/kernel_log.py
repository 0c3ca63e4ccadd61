# SPDX-License-Identifier: Apache-2.0
"""The guest kernel's log: what belongs to which command, and what in it is a failure."""

import os
import re

# Reports of the kernel about itself, with or without debugging options.
FINDING = re.compile(
    r"WARNING[: ]|\bBUG\b[: ]|Oops|Call Trace|INFO: (task|rcu|trying to|possible|suspicious|NMI)|lockdep|UBSAN|KASAN|KCSAN"
    r"|general protection fault|Kernel panic|refcount_t|list_(add|del) corruption|unreferenced object|rcu:.* stall"
    r"|soft lockup|hard LOCKUP|scheduling while atomic|sleeping function|bad page|DMA-API|Unable to handle"
    r"|unhandled irq|nobody cared|segfault at|Trying to free|still has|leaked|sysfs: cannot create duplicate"
)
# Emulated processors and firmware have quirks that the kernel reports at boot; and debugging options
# say that they are on.
HARMLESS = re.compile(
    r"x86/cpu: |ACPI BIOS|Unknown NMI|kernel command line parameters"
    r"|RCU lockdep checking is enabled|DMA-API: (preallocated|debugging enabled)"
)
MARK = re.compile(r"heddle-guest: (begin|end) (\d+)")


def findings(lines, allow=""):
    """The lines that are a failure, with what follows the first (a trace)."""
    allowed = re.compile(allow) if allow else None
    for index, line in enumerate(lines):
        if FINDING.search(line) and not HARMLESS.search(line) and not (allowed and allowed.search(line)):
            return lines[index : index + 60]
    return []


def split(text):
    """The lines by command number; those of none are under None."""
    parts = {None: []}
    current = None
    for line in text.replace("\r", "").split("\n"):
        mark = MARK.search(line)
        if mark:
            current = int(mark.group(2)) if mark.group(1) == "begin" else None
            continue
        parts.setdefault(current, []).append(line)
    return parts


def take_races(lines):
    """(the other lines, KCSAN's reports, each a list of lines)."""
    rest, reports, current = [], [], None
    for line in lines:
        if "BUG: KCSAN:" in line:
            current = [line]
            reports.append(current)
        elif current is None:
            rest.append(line)
        else:
            current.append(line)
            if "=======" in line:
                current = None
    return rest, reports


def argued_races(text):
    """The regular expressions of races.txt: a title and what must be in the report."""
    entries = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            title, inside, _ = (part.strip() for part in line.split("|", 2))
            entries.append((re.compile(title), re.compile(inside)))
    return entries


def races(reports, argued):
    """The lines of those in which a module had a part, but for what has been argued."""
    lines = []
    for report in reports:
        text = "\n".join(report)
        known = any(title.search(report[0]) and inside.search(text) for title, inside in argued)
        if re.search(r"\[(heddle|planted_bugs)\]", text) and not known:
            lines += report
    return lines


def read_argued_races():
    with open(os.path.join(os.path.dirname(__file__), "races.txt"), encoding="utf-8") as file:
        return argued_races(file.read())
