# SPDX-License-Identifier: Apache-2.0
"""Writes compile_commands.json for editors, clangd and clang-tidy, of what Bazel would run.

    bazel aquery --output=jsonproto 'mnemonic("CppCompile", ...)' | compile_commands.py ROOT EXECUTION_ROOT OUT

Commands run in Bazel's execution root, where the headers that are made lie; sources are named by their path in the
repository. Of a file that is compiled several times the first command is taken.
"""

import json
import os
import sys


def entries(graph, root, execution_root):
    """The list that compile_commands.json holds; sources that are made are left out."""
    found = {}
    for action in graph.get("actions", []):
        words = action.get("arguments", [])
        if "-c" not in words:
            continue
        source = words[words.index("-c") + 1]
        if os.path.isabs(source) or source.startswith(("bazel-out/", "external/")) or source in found:
            continue
        found[source] = dict(
            directory=execution_root,
            file=os.path.join(root, source),
            arguments=[os.path.join(root, source) if word == source else word for word in words],
        )
    return [found[source] for source in sorted(found)]


def main():
    root, execution_root, out = sys.argv[1:]
    commands = entries(json.load(sys.stdin), root, execution_root)
    if not commands:
        sys.exit("dev: error: Bazel names no C++ compilation")
    with open(out + ".new", "w", encoding="utf-8") as file:
        json.dump(commands, file, indent=1)
        file.write("\n")
    os.replace(out + ".new", out)
    print(f"dev: {len(commands)} files in {out}", file=sys.stderr)


if __name__ == "__main__":
    main()
