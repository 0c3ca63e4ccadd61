#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_traces.py A.json B.json: whether two traces of heddle-run --trace tell the same times.

Of every command: when it began and ended, counted from the first command of its stream. What is
in front of a stream (descriptors, copies, the card's other work) is not compared, nor are stalls.
Prints the number of commands and of those that differ, the first ten of them. Exit code 1 if any.
"""
import json
import sys


def commands(path):
    """(stream, offset) -> (layer, command, begin, end) of a trace, relative to its stream."""
    try:
        with open(path, encoding="utf-8") as file:
            trace = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}")
    lost = trace["otherData"]["lost_for_room"] + trace["otherData"]["lost_by_card"]
    if lost:
        sys.exit(f"{path}: {lost} commands are lost, so it cannot be compared")
    events = [e["args"] for e in trace["traceEvents"] if e["ph"] == "X"]
    first = {}
    for e in events:
        first[e["stream"]] = min(e["begin"], first.get(e["stream"], e["begin"]))
    found = {}
    for e in events:
        at = first[e["stream"]]
        found[e["stream"], e["offset"]] = (e["layer"], e["command"], e["begin"] - at, e["end"] - at)
    return trace["otherData"]["times"], found


def main(argv):
    if len(argv) != 3:
        print(__doc__)
        return 2
    (times_a, a), (times_b, b) = commands(argv[1]), commands(argv[2])
    if not a:
        sys.exit(f"{argv[1]}: no commands")
    differing = [k for k in sorted(a.keys() | b.keys()) if a.get(k) != b.get(k)]
    for key in differing[:10]:
        print(f"stream {key[0]}, offset {key[1]}: {a.get(key)} and {b.get(key)}")
    print(f"{len(a)} commands, times {times_a} and {times_b}: {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
