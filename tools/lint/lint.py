# SPDX-License-Identifier: Apache-2.0
"""The repository's style, as far as a machine can tell: `./dev lint`, and `--fix` for `./dev fmt`.

Checks: the layout of C and C++ (clang-format; in the kernel's folders of kmd: tabs and line length), of Python (black),
of SystemVerilog (verilog_style.py), of BUILD files and Starlark (starlark_style.py); shellcheck (black and shellcheck
where they are installed); an SPDX line at the top of every source file; no source or document of more than 800 lines
(generated files excepted: their head says so); no path of somebody's machine; no link of a document to a file that is
not there, and no path of this repository in a document or comment that does not exist (named_paths.py); text hygiene
(final newline, no trailing blank, no tab in BUILD and Starlark); the packages of compiler/ and their sizes
(include_graph.py; only when all files are looked at).
A finding is printed as FILE:LINE: TEXT; the exit code is 1 when there is any.
"""

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys

import include_graph
import named_paths
import starlark_style
import verilog_style

MAX_LINES = 800
APACHE = "SPDX-License-Identifier: Apache-2.0"
KERNEL = "SPDX-License-Identifier: GPL-2.0-only OR MIT"

C_SUFFIXES = (".c", ".cc", ".h")
SOURCE_SUFFIXES = C_SUFFIXES + (
    ".bazelrc",
    ".bzl",
    ".fbs",
    ".lds",
    ".map",
    ".mk",
    ".py",
    ".sh",
    ".sv",
    ".svh",
    ".toml",
    ".vlt",
    ".ys",
)
SOURCE_NAMES = ("BUILD", "WORKSPACE", "Kbuild", "Makefile", "dev", "run")
TEXT_SUFFIXES = SOURCE_SUFFIXES + (".md", ".txt")
BUILD_LIKE = ("BUILD", "WORKSPACE")
TAB_FREE_SUFFIXES = (".bzl", ".toml", ".sv", ".svh")

# Kernel code follows the kernel's style, which clang-format cannot keep (aligned macros).
KERNEL_MODULES_OF_TESTS = ("tests/guest/debug/module/", "tests/guest/module/")
KERNEL_STYLE = ("kmd/core/", "kmd/include/", "kmd/linux/", *KERNEL_MODULES_OF_TESTS)
KERNEL_COLUMNS = 100

# The slashes are written as [/] so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.])[/](?:home[/][a-z]|root[/][\w.]|work[/](?:main|shared)|tmp[/]heddle\b)")


def is_source(path):
    name = os.path.basename(path)
    return name in SOURCE_NAMES or name.endswith(SOURCE_SUFFIXES) or name.endswith(".BUILD")


def is_text(path):
    return is_source(path) or path.endswith(TEXT_SUFFIXES)


def is_generated(text):
    head = "\n".join(text.split("\n", 5)[:5]).lower()
    return "@generated" in head or ("generated" in head and "do not edit" in head)


def is_build(path):
    return os.path.basename(path) in BUILD_LIKE or path.endswith(".BUILD")


def layout_of(path):
    """The module of this folder that lays a file out, or None."""
    if path.endswith((".sv", ".svh")):
        return verilog_style
    return starlark_style if is_build(path) or path.endswith(".bzl") else None


def licences_of(path):
    """The SPDX lines that `path` may have."""
    if path.startswith("rtl/spec/generated/"):  # also the kernel's headers and tables
        return [APACHE, KERNEL]
    if path.startswith(KERNEL_MODULES_OF_TESTS) and not is_build(path):
        return [KERNEL]
    return [KERNEL] if path.startswith("kmd/") else [APACHE]


def check_text(path, text):
    """Yields (line number, finding) for one file; `path` is relative to the root."""
    lines = text.split("\n")
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end of the file"
    if is_source(path):
        licences = licences_of(path)
        if not any(licence in line for licence in licences for line in lines[:3]):
            yield 1, f"the first line must be the comment {' or '.join(licences)}"
    if len(lines) - 1 > MAX_LINES and not is_generated(text):
        yield MAX_LINES, f"{len(lines) - 1} lines; split the file (limit {MAX_LINES})"
    tab_free = is_build(path) or path.endswith(TAB_FREE_SUFFIXES)
    for number, line in enumerate(lines, 1):
        if line != line.rstrip() and not path.endswith(".md"):
            yield number, "blank at the end of the line"
        if tab_free and "\t" in line:
            yield number, "tab; indent with blanks"
        if path.startswith(KERNEL_STYLE) and path.endswith((".c", ".h")):
            if line.startswith(" " * 8):
                yield number, "kernel style indents with tabs"
            if len(line.expandtabs(8)) > KERNEL_COLUMNS:
                yield number, f"longer than {KERNEL_COLUMNS} columns"
        if MACHINE_PATH.search(line):
            yield number, "path of one machine; use a path relative to the repository"


def broken_links(path, text, exists):
    """Yields (line number, finding) for links of a document; `exists` says whether a path from the root does."""
    for number, line in enumerate(text.split("\n"), 1):
        for link in re.findall(r"\]\(([^()\s#]+)(?:#[^()\s]*)?\)", line):
            target = os.path.normpath(os.path.join(os.path.dirname(path), link))
            if not re.match(r"\w+:", link) and not exists(target):
                yield number, f"link to {target}, which does not exist"


def list_files(root):
    """Every file of the repository, also of a copy without git."""
    git = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        capture_output=True,
        check=False,
    )
    if git.returncode == 0:
        names = git.stdout.decode().split("\0")
        return sorted(n for n in names if n and os.path.isfile(os.path.join(root, n)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [d for d in folders if d not in (".git", "out", "__pycache__") and not d.startswith("bazel-")]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    return sorted(found)


def read_text(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def unformatted_lines(root, name, text):
    """Yields the first line that clang-format would change, if there is one."""
    done = subprocess.run(["clang-format", name], cwd=root, capture_output=True, check=True)
    formatted = done.stdout.decode("utf-8", errors="replace")
    if formatted != text:
        yield first_difference(text, formatted)


def first_difference(text, formatted):
    """The number of the first line in which the two differ."""
    pairs = itertools.zip_longest(text.split("\n"), formatted.split("\n"))
    return next(number for number, (mine, theirs) in enumerate(pairs, 1) if mine != theirs)


def layout_findings(style, text):
    """Yields (line number, finding) for what the module `style` would lay out in another way."""
    try:
        fixed = style.fix(text)
    except ValueError as error:
        yield 1, f"./dev fmt cannot lay it out: {error}"
        return
    if fixed != text:
        yield first_difference(text, fixed), f"not as tools/lint/{style.__name__}.py lays it out; run ./dev fmt"


def fix_layout(style, root, name, text):
    """Lays a file out in place; returns whether that could be done."""
    try:
        fixed = style.fix(text)
    except ValueError as error:
        print(f"{name}: left as it is: {error}", file=sys.stderr)
        return False
    if fixed != text:
        with open(os.path.join(root, name), "w", encoding="utf-8") as file:
            file.write(fixed)
    return True


def run_tool(command, files, root):
    """Runs a tool over files in groups; returns whether it was content, as one that is not installed is."""
    if not shutil.which(command[0]):
        print(f"lint: {command[0]} is not installed (./dev setup); its files were left out", file=sys.stderr)
        return True
    content = True
    for start in range(0, len(files), 200):
        content &= subprocess.run(command + files[start : start + 200], cwd=root, check=False).returncode == 0
    return content


def shell_scripts(files, root):
    for name in files:
        if name.endswith(".sh"):
            yield name
        elif "." not in os.path.basename(name):
            with open(os.path.join(root, name), "rb") as file:
                if re.match(rb"#!.*\b(ba)?sh\b", file.readline()):
                    yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--fix",
        action="store_true",
        help="format C, C++, Python, SystemVerilog and BUILD files in place, check nothing",
    )
    parser.add_argument("paths", nargs="*", help="only files below these paths")
    args = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    files = list_files(root)
    named = named_paths.NamedPaths(files, lambda name: read_text(root, name))
    if args.paths:
        wanted = [os.path.normpath(path) for path in args.paths]
        files = [f for f in files if any(f == p or f.startswith(p + "/") for p in wanted)]

    texts = {name: read_text(root, name) for name in files if is_text(name)}
    own_c = [
        name
        for name, text in texts.items()
        if name.endswith(C_SUFFIXES) and not name.startswith(KERNEL_STYLE) and not is_generated(text)
    ]
    python = [name for name in texts if name.endswith(".py")]
    laid_out = [name for name, text in texts.items() if layout_of(name) and not is_generated(text)]
    if args.fix:
        done = run_tool(["clang-format", "-i"], own_c, root) & run_tool(["black", "-q"], python, root)
        return 0 if all([fix_layout(layout_of(name), root, name, texts[name]) for name in laid_out]) and done else 1

    findings = 0
    for name, text in texts.items():
        for number, finding in check_text(name, text):
            print(f"{name}:{number}: {finding}")
            findings += 1
        links = (
            broken_links(name, text, lambda p: os.path.exists(os.path.join(root, p))) if name.endswith(".md") else ()
        )
        paths = () if is_generated(text) else named.missing(name, text)
        for number, finding in itertools.chain(links, paths):
            print(f"{name}:{number}: {finding}")
            findings += 1
    for name in own_c:
        for number in unformatted_lines(root, name, texts[name]):
            print(f"{name}:{number}: not as clang-format writes it; run ./dev fmt")
            findings += 1
    for name in laid_out:
        for number, finding in layout_findings(layout_of(name), texts[name]):
            print(f"{name}:{number}: {finding}")
            findings += 1
    if not args.paths:
        for finding in include_graph.findings(texts):
            print(f"{include_graph.FOLDER}: {finding}")
            findings += 1
    content = findings == 0
    content &= run_tool(["shellcheck", "-x", "-S", "warning"], list(shell_scripts(files, root)), root)
    if not run_tool(["black", "--check", "-q"], python, root):
        run_tool(["black", "--check"], python, root)  # names them
        print("lint: ./dev fmt formats what black names above", file=sys.stderr)
        content = False
    print(f"lint: {len(files)} files, {'no finding' if content else 'findings above'}", file=sys.stderr)
    return 0 if content else 1


if __name__ == "__main__":
    sys.exit(main())
