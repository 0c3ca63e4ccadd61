# SPDX-License-Identifier: Apache-2.0
"""modules.bzl: which modules and packages each source of src/ names. Refresh with

  python3 rtl/modules.py > rtl/modules.bzl

A source uses a module or package if its name occurs outside of comments and strings; names in src/ are of use
for nothing else. //rtl:modules_test says when modules.bzl is stale; the modules' lint tests, which give Verilator
just these sources, say the same of what is missing or too much.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
GENERATED = HERE / "spec/generated/heddle_pkg.sv"

# Packages that others build on come first; the order of the rest is that of their names.
FIRST = ("heddle_pkg", "hd_pkg")

HEAD = '''# Generated from rtl/src by rtl/modules.py; do not edit. Refresh with
# `python3 rtl/modules.py > rtl/modules.bzl`.
# SPDX-License-Identifier: Apache-2.0
"""What each source of rtl/src names, for sources.bzl."""
'''


def code(text):
    """Without comments and strings."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', " ", text, flags=re.S)


def declared(text):
    """[(kind, name)] of what a source declares."""
    return re.findall(r"\b(module|package|interface|class|program)\s+(?:automatic\s+|static\s+)?(\w+)", code(text))


def load():
    """{name: text} of all sources."""
    paths = [GENERATED, *HERE.glob("src/*.sv")]
    return {path.stem: path.read_text(encoding="utf-8") for path in paths}


def uses(sources):
    """{name: sorted names of other sources that it names}; ValueError if a file does not declare just its own."""
    result = {}
    for name, text in sources.items():
        kind = "package" if name.endswith("_pkg") else "module"
        if declared(text) != [(kind, name)]:
            raise ValueError(f"{name}.sv declares {declared(text)}, not {kind} {name} alone")
        words = set(re.findall(r"[A-Za-z_]\w*", code(text)))
        result[name] = sorted((words & sources.keys()) - {name})
    return result


def packages(used):
    """Names of the packages, each behind those it uses."""
    names = [n for n in used if n.endswith("_pkg")]
    ordered = [n for n in FIRST if n in names] + sorted(set(names) - set(FIRST))
    for i, name in enumerate(ordered):
        late = set(used[name]) - set(ordered[:i])
        if late:
            raise ValueError(f"{name} uses {', '.join(sorted(late))}, which comes later: see FIRST")
    return ordered


def starlark_list(names, indent):
    one = "[" + ", ".join(f'"{n}"' for n in names) + "]"
    if len(names) < 2 or len(one) + indent < 70:
        return one
    blank = " " * indent
    return "[\n" + "".join(f'{blank}    "{n}",\n' for n in names) + blank + "]"


def page(sources):
    used = uses(sources)
    rows = "".join(f'    "{name}": {starlark_list(used[name], 4)},\n' for name in sorted(used))
    return (
        f"{HEAD}\n# In the order in which compilers read them.\n"
        f"PACKAGES = {starlark_list(packages(used), 0)}\n\nUSES = {{\n{rows}}}\n"
    )


if __name__ == "__main__":
    sys.stdout.write(page(load()))
