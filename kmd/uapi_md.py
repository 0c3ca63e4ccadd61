#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Writes UAPI.md from the comments of the uAPI header.

usage: uapi_md.py include/uapi/drm/heddle_drm.h > UAPI.md

Every ioctl gets a section: its request macro, what its structure's comment says
and a table of the fields; then the other structures and the enumerations. A field
without a comment, or a comment without a field, is an error.
"""
import re
import sys


def unwrap(lines):
    """Comment lines without their stars, paragraphs joined."""
    paragraphs, current = [], []
    for line in lines:
        text = re.sub(r"^\s*\*? ?", "", line.rstrip())
        if text.strip():
            current.append(text.strip())
        elif current:
            paragraphs.append(" ".join(current))
            current = []
    if current:
        paragraphs.append(" ".join(current))
    return paragraphs


def split_comment(body):
    """(summary, paragraphs, {field: text}) of a kernel-doc comment."""
    lines = body.split("\n")
    first = re.sub(r"^\s*\*? ?", "", lines[0]).strip()
    rest = lines[1:]
    if not first:
        first, rest = re.sub(r"^\s*\*? ?", "", rest[0]).strip(), rest[1:]
    summary = first.split(" - ", 1)[1] if " - " in first else first
    prose, fields, name = [], {}, None
    for line in rest:
        text = re.sub(r"^\s*\*? ?", "", line.rstrip())
        m = re.match(r"@(\w+):\s*(.*)", text)
        if m:
            name = m.group(1)
            fields[name] = m.group(2)
        elif name and text.strip():
            fields[name] += " " + text.strip()
        elif not name:
            prose.append(line)
    return summary, unwrap(prose), fields


def parse(text):
    structs, enums = {}, {}
    for m in re.finditer(r"/\*\*(.*?)\*/\s*(struct|enum) (\w+) \{(.*?)\n\};", text, re.S):
        comment, kind, name, body = m.groups()
        summary, prose, fields = split_comment(comment)
        if kind == "enum":
            values = []
            for v in re.finditer(r"/\*\*\s*@(\w+):(.*?)\*/\s*(\w+) = (\d+)", body, re.S):
                if v.group(1) != v.group(3):
                    raise SystemExit(f"{name}: comment of {v.group(1)} stands before {v.group(3)}")
                values.append((v.group(3), v.group(4), " ".join(unwrap(v.group(2).split("\n")))))
            if len(values) != len(re.findall(r"\w+ = \d+", body)):
                raise SystemExit(f"enum {name}: a value has no comment")
            enums[name] = (summary, prose, values)
            continue
        members = re.findall(r"^\s*((?:struct )?\w+) (\w+);", body, re.M)
        names = [n for _, n in members]
        for n in names:
            if n not in fields:
                raise SystemExit(f"struct {name}: field {n} has no comment")
        for n in fields:
            if n not in names:
                raise SystemExit(f"struct {name}: comment for {n}, which does not exist")
        structs[name] = (summary, prose, [(t, n, fields[n]) for t, n in members])
    ioctls = re.findall(
        r"#define DRM_IOCTL_(HEDDLE_\w+) \\\s*DRM_(IOWR|IOW|IOR)\(DRM_COMMAND_BASE \+ (\w+), struct (\w+)\)", text
    )
    numbers = dict(re.findall(r"#define (DRM_HEDDLE_\w+)\s+(0x[0-9a-f]+)", text))
    return structs, enums, ioctls, numbers


def code(text):
    """Names of the interface and errno values as code."""
    text = re.sub(r"(?<![\w`])(-E[A-Z0-9]+|struct drm_\w+|enum \w+|DRM_\w+|@\w+)", r"`\1`", text)
    return text.replace("`@", "`").replace("|", "\\|")


def table(members):
    out = "| field | type | |\n|---|---|---|\n"
    for t, n, doc in members:
        out += f"| `{n}` | `{t}` | {code(doc)} |\n"
    return out + "\n"


def render(text):
    structs, enums, ioctls, numbers = parse(text)
    intro = re.search(r"/\*\n \* (User interface.*?)\*/", text, re.S).group(1)
    out = (
        "<!-- generated from kmd/include/uapi/drm/heddle_drm.h by kmd/uapi_md.py; do not edit -->\n"
        "# The Heddle driver's user interface\n\n"
    )
    for p in unwrap(intro.split("\n")):
        out += code(p) + "\n\n"
    out += "| ioctl | number | direction | structure |\n|---|---|---|---|\n"
    direction = {"IOWR": "in and out", "IOW": "in", "IOR": "out"}
    for name, kind, number, struct in ioctls:
        anchor = f"drm_ioctl_{name}".lower()
        out += f"| [`DRM_IOCTL_{name}`](#{anchor}) | {numbers[number]} | {direction[kind]} | `struct {struct}` |\n"
    done = set()
    for name, _, _, struct in ioctls:
        summary, prose, members = structs[struct]
        done.add(struct)
        out += f"\n## DRM_IOCTL_{name}\n\n{code(summary[0].upper() + summary[1:])}.\n\n"
        for p in prose:
            out += code(p) + "\n\n"
        out += table(members).rstrip("\n") + "\n"
    out += "\n## Structures\n"
    for name, (summary, prose, members) in structs.items():
        if name in done:
            continue
        out += f"\n### struct {name}\n\n{code(summary[0].upper() + summary[1:])}.\n\n"
        for p in prose:
            out += code(p) + "\n\n"
        out += table(members).rstrip("\n") + "\n"
    out += "\n## Enumerations\n"
    for name, (summary, prose, values) in enums.items():
        out += f"\n### enum {name}\n\n{code(summary[0].upper() + summary[1:])}.\n\n"
        for p in prose:
            out += code(p) + "\n\n"
        out += "| value | name | |\n|---|---|---|\n"
        for n, v, doc in values:
            out += f"| {v} | `{n}` | {code(doc)} |\n"
    return out


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        sys.stdout.write(render(f.read()))
