# SPDX-License-Identifier: Apache-2.0
"""Paths of this repository that documents and comments name, and that do not exist.

A path begins with a folder of the root. It may leave out a file's suffix (compiler/base/status for status.h and
status.cc) or be that of a target (tests/uapi/drm_uapi); one with a word in capitals (debian/PACKAGE.install) or with a
pattern stands for others.
"""

import os
import re

C_LIKE = (".c", ".cc", ".h", ".sv", ".svh")
HASH_LIKE = (".bzl", ".py", ".sh", ".toml")
PLACEHOLDER = re.compile(r"(?:^|[/_.-])[A-Z]{4,}(?:$|[/_.-])")
REAL_CAPITALS = re.compile(r"(?:^|/)(?:BUILD|README|LICENSE|VERSION|[A-Z_]+\.md)(?:$|/)")


def prose(path, line):
    """What of a line is no code."""
    if path.endswith(".md"):
        return line
    if path.endswith(C_LIKE):
        found = re.search(r"(?://|^\s*/?\*)(.*)", line)
    elif path.endswith(HASH_LIKE) or os.path.basename(path) in ("BUILD", "WORKSPACE", "Kbuild", "Makefile", "dev"):
        found = re.search(r"(?:^|\s)#(.*)", line)
    else:
        return ""
    return found[1] if found else ""


class NamedPaths:
    def __init__(self, files, read):
        """`files`: all paths of the repository; `read(path)` gives a BUILD file's text."""
        self._files = set(files)
        self._folders = set()
        self._stems = set()
        for path in files:
            self._stems.add(path.rsplit(".", 1)[0])
            while "/" in path:
                path = path.rsplit("/", 1)[0]
                self._folders.add(path)
        self._read = read
        tops = sorted({path.split("/")[0] for path in self._folders if not path.startswith(".")})
        self._path = (
            re.compile(rf"(?<![\w./$@{{}}~:-])(?:{'|'.join(map(re.escape, tops))})/[\w./-]*\w") if tops else None
        )

    def exists(self, path):
        if path in self._files or path in self._folders or path in self._stems:
            return True
        folder, name = os.path.split(path)
        build = folder + "/BUILD"
        return build in self._files and re.search(rf'"{re.escape(name)}"', self._read(build)) is not None

    def missing(self, path, text):
        """Yields (line number, finding) for one file."""
        if self._path is None:
            return
        for number, line in enumerate(text.split("\n"), 1):
            part = prose(path, line)
            for found in self._path.finditer(part):
                named = found[0]
                if found.end() < len(part) and part[found.end()] in "*{<$(":
                    continue
                if PLACEHOLDER.search(named) and not REAL_CAPITALS.search(named):
                    continue
                if not self.exists(named):
                    yield number, f"{named} does not exist"
