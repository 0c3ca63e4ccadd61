# SPDX-License-Identifier: Apache-2.0
"""Copies build products into the SDK prefix, as listed in tools/dev/stage.txt.

Which files a label made is taken from Bazel's build events, so no output path is guessed. A
file is replaced by rename (a running program keeps its old one) and only when its bytes differ;
what an earlier run staged and the list no longer names is removed.
"""

import argparse
import filecmp
import json
import os
import shutil
import sys
import urllib.parse

MANIFEST = ".staged"


class StageError(Exception):
    """A line of the list cannot be carried out."""


def read_list(path):
    """Returns [(line number, source, destination)]."""
    entries = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            words = line.split("#", 1)[0].split()
            if not words:
                continue
            if len(words) != 2:
                raise StageError(f"{path}:{number}: want SOURCE DESTINATION, have {len(words)} words")
            destination = words[1]
            if destination.startswith("/") or ".." in destination.split("/"):
                raise StageError(f"{path}:{number}: {destination} leaves the prefix")
            entries.append((number, words[0], destination))
    return entries


def outputs_by_label(events_path):
    """Returns {label: [file path]} from a build event file (one JSON object per line)."""
    sets = {}
    targets = {}
    with open(events_path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            key = event["id"]
            if "namedSet" in key:
                sets[key["namedSet"]["id"]] = event.get("namedSetOfFiles", {})
            elif "targetCompleted" in key and event.get("completed", {}).get("success"):
                groups = event["completed"].get("outputGroup", [])
                targets[key["targetCompleted"]["label"]] = [
                    s["id"] for g in groups if g["name"] == "default" for s in g.get("fileSets", [])
                ]

    def expand(set_id, into):
        for entry in sets.get(set_id, {}).get("files", []):
            url = urllib.parse.urlparse(entry.get("uri", ""))
            if url.scheme == "file":
                into[urllib.parse.unquote(url.path)] = True
        for child in sets.get(set_id, {}).get("fileSets", []):
            expand(child["id"], into)

    result = {}
    for label, ids in targets.items():
        files = {}
        for set_id in ids:
            expand(set_id, files)
        result[label] = list(files)
    return result


def full_label(label):
    """//a/b means //a/b:b."""
    return label if ":" in label else f"{label}:{label.rsplit('/', 1)[1]}"


def plan(entries, outputs, source_root):
    """Returns {destination: file to copy}."""
    copies = {}
    for number, source, destination in entries:
        if source.startswith("//"):
            files = outputs.get(full_label(source))
            if not files:
                raise StageError(f"line {number}: {source} was not built or has no output file")
        else:
            path = os.path.join(source_root, source)
            if not os.path.isfile(path):
                raise StageError(f"line {number}: {source} is not a file in this repository")
            files = [path]
        if destination.endswith("/**"):
            folder = full_label(source)[2:].replace(":", "/") + "/"
            below = [(destination[:-2] + f.rpartition(f"/bin/{folder}")[2], f) for f in files]
            if any(f"/bin/{folder}" not in f for f in files):
                raise StageError(f"line {number}: a file of {source} is not in its folder {folder}")
            pairs = below
        elif destination.endswith("/"):
            pairs = [(destination + os.path.basename(f), f) for f in files]
        elif len(files) == 1:
            pairs = [(destination, files[0])]
        else:
            raise StageError(f"line {number}: {source} has {len(files)} files; end {destination} with a slash")
        for target, file in pairs:
            if copies.setdefault(target, file) != file:
                raise StageError(f"line {number}: {target} is staged twice")
    return copies


def is_executable(source, destination):
    """Bazel makes every output executable; of what it made, only programs, scripts and libraries are."""
    if not os.access(source, os.X_OK) or "/bazel-out/" not in source:
        return os.access(source, os.X_OK)
    if destination.startswith("bin/") or destination.endswith(".so"):
        return True
    with open(source, "rb") as file:
        start = file.read(4)
    return destination.startswith("lib/heddle/") and (start == b"\x7fELF" or start[:2] == b"#!")


def copy(source, target, executable):
    """Returns True when the target changed."""
    mode = 0o755 if executable else 0o644
    if os.path.isfile(target) and filecmp.cmp(source, target, shallow=False):
        os.chmod(target, mode)
        return False
    os.makedirs(os.path.dirname(target), exist_ok=True)
    fresh = target + ".new"
    shutil.copyfile(source, fresh)
    os.chmod(fresh, mode)
    os.replace(fresh, target)
    return True


def stage(copies, out):
    """Makes `out` hold exactly what `copies` says; returns the number of changed files."""
    os.makedirs(out, exist_ok=True)
    manifest = os.path.join(out, MANIFEST)
    before = []
    if os.path.exists(manifest):
        with open(manifest, encoding="utf-8") as lines:
            before = lines.read().split("\n")
    changed = 0
    for target in before:
        path = os.path.join(out, target)
        if target and target not in copies and os.path.isfile(path):
            os.remove(path)
            changed += 1
    # Written first: an interrupted run may leave a file that is not there, never an unknown one.
    with open(manifest, "w", encoding="utf-8") as lines:
        lines.write("".join(f"{t}\n" for t in sorted(copies)))
    for target, source in sorted(copies.items()):
        changed += copy(source, os.path.join(out, target), is_executable(source, target))
    return changed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", required=True)
    parser.add_argument("--events", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    try:
        copies = plan(read_list(args.list), outputs_by_label(args.events), args.source)
        changed = stage(copies, args.out)
    except (StageError, OSError) as error:
        print(f"dev: error: staging failed: {error}", file=sys.stderr)
        return 1
    print(f"dev: {len(copies)} files under {args.out}/, {changed} changed", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
