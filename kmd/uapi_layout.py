#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The layout of every structure of the uAPI header, the numbers of its ioctls and the values of its names.

usage: uapi_layout.py HEADER TARGET            prints it, as clang --target=TARGET lays it out
       uapi_layout.py HEADER --update FILE     writes FILE, unless something that is in it would change

Compiled programs have these numbers in them, on every kind of processor the same: uapi_layout.txt records
them, and its test compares. A line is a structure with its size, a field with offset and size, or a name
with its value. New lines may come; one that is there may only change where the interface's rules say
that a structure may grow, and then by hand.
"""
import os
import re
import subprocess
import sys
import tempfile

MARK = "@layout "


def members(text):
    """The structures in the order of the header: (name, [field])."""
    found = []
    for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", text, re.M | re.S):
        fields = re.findall(r"^\s+(?:struct \w+|__[us]\d+)\s+(\w+)(?:\[\w+\])?;", body, re.M)
        if len(fields) != len(re.findall(r";", body)):
            sys.exit(f"uapi_layout.py: struct {name} has a field of another form")
        found.append((name, fields))
    return found


def names(text):
    """Requests, macros with a value, and enumerators."""
    macros = re.findall(r"^#define ((?:DRM|HEDDLE)_\w+)[ \t\\]", text, re.M)
    enumerators = re.findall(r"^\t([A-Z]\w+) = ", text, re.M)
    return macros + enumerators


def lines(header, target):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    code = [f'#include "{os.path.abspath(header)}"\n#include <stddef.h>\nvoid layout(void)\n{{\n']

    def record(what, *values):
        operands = ", ".join(f'"i"((unsigned int)({value}))' for value in values)
        places = " ".join(f"%c{n}" for n in range(len(values)))
        code.append(f'\t__asm__ volatile("\\n{MARK}{what} {places} @" :: {operands});\n')

    for name, fields in members(text):
        record(f"struct {name}", f"sizeof(struct {name})")
        for field in fields:
            record(f"{name}.{field}", f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})")
    for name in names(text):
        record(name, name)
    code.append("}\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "layout.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(code))
        command = ["clang", f"--target={target}", "-S", "-O1", "-ffreestanding", "-fno-integrated-as", "-o", "-", path]
        # Headers of the system are the same text for every processor, but lie in a folder of this one's.
        command += [
            "-I/usr/include/libdrm",
            "-idirafter",
            "/usr/include/x86_64-linux-gnu",
            "-idirafter",
            "/usr/include",
        ]
        output = subprocess.run(command, capture_output=True, text=True, check=False)
    if output.returncode:
        sys.exit(output.stderr)
    return [match.group(1) for match in re.finditer(rf"{MARK}(.*?) @", output.stdout)]


def main():
    header = sys.argv[1]
    if sys.argv[2] != "--update":
        print("\n".join(lines(header, sys.argv[2])))
        return
    now = lines(header, "x86_64-linux-gnu")
    path = sys.argv[3]
    before = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.read().splitlines()
    lost = [line for line in before if line not in now]
    if lost:
        sys.exit("uapi_layout.py: programs that exist rely on:\n  " + "\n  ".join(lost))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(now) + "\n")


if __name__ == "__main__":
    main()
