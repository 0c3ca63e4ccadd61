# SPDX-License-Identifier: Apache-2.0
"""Lines that a run has not reached, by function, each with the reason that a list has for it.

    unreached.py LCOV REASONS

REASONS has lines `FILE | FUNCTION | REASON`. Prints a table of files, then one of functions; ends with 1 if a function
has no reason (its lines are shown), or a reason no function.
"""

import re
import sys


def read_counts(path):
    """{file: {line: count}}; a line of several objects counts together."""
    files, lines = {}, {}
    with open(path, encoding="utf-8") as text:
        for entry in text:
            if entry.startswith("SF:"):
                name = entry[3:].strip()
                name = name[name.rfind("/onnxifi/") + 1 :] if "/onnxifi/" in name else name
                lines = files.setdefault(name, {})
            elif entry.startswith("DA:"):
                number, count = entry[3:].split(",")[:2]
                lines[int(number)] = lines.get(int(number), 0) + int(count)
    return files


def read_reasons(path):
    reasons = {}
    with open(path, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = [field.strip() for field in line.split(" | ")]
            if len(fields) != 3:
                sys.exit(f"{path}:{number}: not FILE | FUNCTION | REASON")
            reasons[fields[0], fields[1]] = fields[2]
    return reasons


# Of a function at the left, and of a class's member, which has a type before its name.
KEYWORDS = r"(?!(?:if|for|while|switch|return|else|namespace|using|extern|static_assert)\b)"
HEADS = [
    re.compile(KEYWORDS + r"(?=[A-Za-z_~])(?:[^=;(]*[ *&])?([~A-Za-z_:0-9]+)\([^;]*$"),
    re.compile(r"  " + KEYWORDS + r"(?=[A-Za-z_])[^=;(]*[ *&]([~A-Za-z_:0-9]+)\([^;]*$"),
]


def function_of(source, line):
    """The function that a line is in: the last head above it."""
    for number in range(line, 0, -1):
        for head in HEADS:
            found = head.match(source[number - 1])
            if found:
                return found.group(1)
    return "?"


def main(lcov, reasons_path):
    reasons = read_reasons(reasons_path)
    used, unexplained, found = set(), 0, []
    total_reached = total = 0
    print("| File | Lines | Reached |\n|---|---|---|")
    for name, lines in sorted(read_counts(lcov).items()):
        if not re.fullmatch(r"onnxifi/[a-z_0-9]+\.(cc|h)", name):
            continue
        reached = sum(1 for count in lines.values() if count > 0)
        total, total_reached = total + len(lines), total_reached + reached
        print(f"| {name} | {len(lines)} | {reached} |")
        with open(name, encoding="utf-8") as text:
            source = text.read().split("\n")
        for number in sorted(lines):
            if lines[number] > 0:
                continue
            function = function_of(source, number)
            reason = reasons.get((name, function))
            used.add((name, function))
            found.append((name, function, number, reason, source[number - 1].strip()))
    print(f"| all | {total} | {total_reached} |\n")
    print("| Function | Lines not reached | Why |\n|---|---|---|")
    groups = {}
    for name, function, number, reason, _ in found:
        groups.setdefault((name, function, reason), []).append(number)
    for (name, function, reason), numbers in groups.items():
        print(f"| {name}: {function} | {' '.join(map(str, numbers))} | {reason or 'NO REASON'} |")
    for name, _, number, reason, text in found:
        if reason is None:
            unexplained += 1
            print(f"no reason: {name}:{number}: {text}")
    unneeded = [reason for reason in reasons if reason not in used]
    for file, function in unneeded:
        print(f"a reason without a line: {file} | {function}")
    return 1 if unexplained or unneeded else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
