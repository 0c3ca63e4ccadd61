# SPDX-License-Identifier: Apache-2.0
"""The packages of compiler/ and who includes whom.

    python3 tools/lint/include_graph.py                  # as it is
    python3 tools/lint/include_graph.py --rev a0c9046    # as it was in a commit

A package is a folder. Its size is that of its C++ files, tests beside the units among them; an edge is an include of
a file that is no test and no fuzzer. ./dev lint fails where packages include each other in a circle, or where one has more than a
quarter of all lines: it has become the place for whatever has no other.
"""

import argparse
import collections
import io
import os
import re
import subprocess
import sys
import tarfile

FOLDER = "compiler"
LARGEST_SHARE = 0.25
SUFFIXES = (".cc", ".h")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


class Package:
    def __init__(self):
        self.files = 0
        self.lines = 0
        self.edges = collections.Counter()  # includes by package


def is_test(path):
    return path.endswith(("_test.cc", "_fuzz.cc"))


def packages_of(texts):
    """By name; `texts` has the files by path."""
    packages = collections.defaultdict(Package)
    for path, text in texts.items():
        if not path.startswith(FOLDER + "/") or not path.endswith(SUFFIXES):
            continue
        name = os.path.dirname(path)
        package = packages[name]
        package.files += 1
        package.lines += text.count("\n")
        if is_test(path):
            continue
        for included in INCLUDE.findall(text):
            other = os.path.dirname(included)
            if included.startswith(FOLDER + "/") and other != name:
                package.edges[other] += 1
    return dict(packages)


def cycles_of(packages):
    """Sets of packages of which each includes, directly or not, each other one."""
    reach = {}
    for start in packages:
        seen, todo = set(), list(packages[start].edges)
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += packages[name].edges if name in packages else ()
        reach[start] = seen
    cycles = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in packages if a in reach[a]}
    return sorted(sorted(cycle) for cycle in cycles)


def findings(texts):
    """What ./dev lint says, a sentence each."""
    packages = packages_of(texts)
    for cycle in cycles_of(packages):
        yield f"packages include each other in a circle: {', '.join(cycle)}"
    lines = sum(p.lines for p in packages.values())
    for name, package in sorted(packages.items()):
        if package.lines > LARGEST_SHARE * lines:
            yield (
                f"{name} has {package.lines} of {lines} lines, {100 * package.lines / lines:.1f} %; "
                f"split the package (limit {100 * LARGEST_SHARE:.0f} %)"
            )


def table(packages):
    """Markdown: a row per package, the largest first."""
    lines = sum(p.lines for p in packages.values())
    rows = ["| package | files | lines | share | includes |", "|---|---|---|---|---|"]
    for name in sorted(packages, key=lambda n: (-packages[n].lines, n)):
        package = packages[name]
        edges = ", ".join(other.removeprefix(FOLDER + "/") for other in sorted(package.edges)) or "-"
        share = 100 * package.lines / lines
        rows.append(f"| {name} | {package.files} | {package.lines:,} | {share:.1f} % | {edges} |")
    rows.append(
        f"| {len(packages)} packages | {sum(p.files for p in packages.values())} | {lines:,} | | "
        f"{sum(len(p.edges) for p in packages.values())} edges |"
    )
    return "\n".join(rows)


def texts_of_revision(root, revision):
    archive = subprocess.run(
        ["git", "-c", "safe.directory=*", "archive", revision, FOLDER], cwd=root, capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        return {
            member.name: tar.extractfile(member).read().decode("utf-8", errors="replace")
            for member in tar.getmembers()
            if member.isfile() and member.name.endswith(SUFFIXES)
        }


def texts_of_folder(root):
    texts = {}
    for folder, _, names in os.walk(os.path.join(root, FOLDER)):
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts[os.path.relpath(path, root)] = file.read()
    return texts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rev", help="a commit instead of the files as they are")
    args = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    texts = texts_of_revision(root, args.rev) if args.rev else texts_of_folder(root)
    print(table(packages_of(texts)))
    found = list(findings(texts))
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
