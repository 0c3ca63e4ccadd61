# SPDX-License-Identifier: Apache-2.0
"""How long the tests of each package ran, from the build events of a `bazel test` run.

Seconds are of the wall, summed over shards and attempts; results that Bazel had kept count with
the time that they took when they were made. FIGURES.md has such a table: ./dev test --seconds.
"""

import argparse
import collections
import json
import sys


def package_of(label):
    return label.removeprefix("//").split(":")[0] or "(root)"


def read_seconds(lines):
    """{package: (seconds, targets)} of build events, one JSON object a line."""
    seconds = collections.Counter()
    targets = collections.defaultdict(set)
    for line in lines:
        event = json.loads(line)
        ident = event["id"].get("testResult")
        if ident is None or "testResult" not in event:
            continue
        package = package_of(ident["label"])
        seconds[package] += int(event["testResult"].get("testAttemptDurationMillis", 0)) / 1000
        targets[package].add(ident["label"])
    return {package: (seconds[package], len(targets[package])) for package in targets}


def table(packages):
    """Rows of a Markdown table, the longest first, and their sum."""
    rows = ["| package | targets | seconds |", "|---|---|---|"]
    for package, (seconds, targets) in sorted(packages.items(), key=lambda item: (-item[1][0], item[0])):
        rows.append(f"| {package} | {targets} | {seconds:.0f} |")
    total = sum(seconds for seconds, _ in packages.values())
    rows.append(f"| all | {sum(targets for _, targets in packages.values())} | {total:.0f} |")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", help="file written by --build_event_json_file")
    args = parser.parse_args()
    with open(args.events, encoding="utf-8") as lines:
        print("\n".join(table(read_seconds(lines))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
