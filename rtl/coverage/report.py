# SPDX-License-Identifier: Apache-2.0
"""What of the RTL a set of Verilator's coverage files has reached.

  report.py [--exceptions FILE] [--toggles FILE ...] LINES ...

Prints, for each module, the share of its lines (LINES: files of models built with --coverage-line)
and of its bits (--toggles: with --coverage-toggle) that were reached in any instance; then the
lines that were not. Lines are Verilator's points: a branch counts at the line where it begins, so
does an else. Fails on a line that was not reached and is not in the exceptions, and on an exception
whose line is reached or is not there any more.

Exceptions, one per line:

    hd_foo | text of the line | why it cannot be reached

The text is the line itself without what is around it (white space); it stands for all lines of the
module with that text.
"""
import argparse
import collections
import os
import re
import sys


def points(path):
    """Of every point of a file: (module file, line, kind, text), count."""
    with open(path, encoding="utf-8", errors="replace") as f:
        for row in f:
            match = re.match(r"C '(.*)' (\d+)$", row)
            if match is None:
                continue
            key = dict(field.split("\x02", 1) for field in match.group(1).split("\x01") if field)
            kind = key["page"].split("/")[0]
            yield (key["f"], int(key["l"]), kind, key.get("n", ""), key.get("o", "")), int(match.group(2))


def collect(paths, wanted):
    """module file -> {point: largest count of all instances}"""
    result = collections.defaultdict(lambda: collections.defaultdict(int))
    for path in paths:
        for (name, line, kind, column, text), count in points(path):
            if kind in wanted:
                point = (line, kind, column, text)
                module = result[name]
                module[point] = max(module[point], count)
    return result


def share(module):
    if not module:
        return "-"
    hit = sum(1 for count in module.values() if count > 0)
    return "%5.1f %% %5d of %5d" % (100.0 * hit / len(module), hit, len(module))


def exceptions(path):
    result = collections.OrderedDict()
    if path is None:
        return result
    with open(path, encoding="utf-8") as f:
        for number, row in enumerate(f, 1):
            row = row.strip()
            if not row or row.startswith("#"):
                continue
            parts = [part.strip() for part in row.split(" | ")]
            if len(parts) != 3 or not all(parts):
                raise ValueError("%s:%d: not 'module | text | reason'" % (path, number))
            result[parts[0], parts[1]] = parts[2]
    return result


def missing(lines, root):
    """(module, line, text of the line, what of it) of every line that was not reached."""
    for name in sorted(lines):
        with open(os.path.join(root, name), encoding="utf-8") as f:
            source = f.read().splitlines()
        module = os.path.basename(name)[: -len(".sv")]
        for (line, _, _, text), count in sorted(lines[name].items()):
            if count == 0:
                yield module, line, source[line - 1].strip(), text


def report(line_files, toggle_files, exception_file, root, out):
    """True if nothing is missing that should not be."""
    lines = collect(line_files, {"v_line", "v_branch"})
    toggles = collect(toggle_files, {"v_toggle"})
    out.write("%-26s %-24s %s\n" % ("module", "lines", "bits"))
    everything = [collections.Counter(), collections.Counter()]
    for name in sorted(set(lines) | set(toggles)):
        module = os.path.basename(name)[: -len(".sv")]
        out.write("%-26s %-24s %s\n" % (module, share(lines.get(name)), share(toggles.get(name))))
        for total, of in zip(everything, (lines, toggles)):
            total.update({(name, point): count for point, count in of.get(name, {}).items()})
    out.write("%-26s %-24s %s\n" % ("all", share(everything[0]), share(everything[1])))
    known = exceptions(exception_file)
    used, unknown = set(), 0
    for module, line, text, what in missing(lines, root):
        reason = known.get((module, text))
        used.add((module, text))
        unknown += reason is None
        out.write("not reached: %s:%d (%s): %s [%s]\n" % (module, line, what, text, reason or "NOT EXPECTED"))
    stale = [key for key in known if key not in used]
    for module, text in stale:
        out.write("reached, or not there: %s | %s\n" % (module, text))
    if not lines:
        out.write("no lines were counted\n")
    return bool(lines) and unknown == 0 and not stale


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exceptions")
    parser.add_argument("--toggles", nargs="*", default=[])
    parser.add_argument("lines", nargs="+")
    options = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    good = report(options.lines, options.toggles, options.exceptions, root, sys.stdout)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
