# SPDX-License-Identifier: Apache-2.0
"""The guest kernel's log: what belongs to which command, and what in it is a failure."""

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
