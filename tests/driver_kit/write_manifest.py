# SPDX-License-Identifier: Apache-2.0
"""write_manifest.py OUT FRAME.JSON (GROUP PLAN.JSON)...: the manifest that kit.bzl describes."""

import json
import re
import sys

FILTER = re.compile(r"--gtest_filter=(\S+)")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def without(command, left_out):
    """The command without those words of its filter."""

    def keep(match):
        words = [word for word in match[1].split(":") if word not in left_out]
        if not words:
            sys.exit(f"write_manifest: error: nothing is left of '{command}'")
        return "--gtest_filter=" + ":".join(words)

    return FILTER.sub(keep, command)


def main():
    out, frame, *words = sys.argv[1:]
    manifest = read(frame)
    optional = manifest.pop("optional")
    left_out = manifest.pop("left_out")
    manifest["groups"] = {}
    for group, path in zip(words[::2], words[1::2]):
        plan = read(path)
        for case in plan["cases"]:
            case["command"] = without(case["command"], left_out)
        manifest["groups"][group] = dict(plan=plan, optional=group in optional)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
