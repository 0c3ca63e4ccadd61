#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints OPERATORS.md from operators.toml: python3 rtl/operators/page.py > rtl/operators/OPERATORS.md"""

import pathlib
import tomllib

HERE = pathlib.Path(__file__).parent

ENGINES = {
    "vector": "Vector engine",
    "matrix": "Matrix engine",
    "dma": "Load and store engines",
    "view": "Nothing to do at run time",
    "parts": "Made of others",
    "host": "On the host",
    "out": "Not of this project",
}

STATES = {
    "machine": "What revision 2 has added",
    "planned": "What it is to add",
    "no": "What it does not add",
}

HEAD = """# What the operators of ONNX need of the machine

Generated from operators.toml; do not edit. Refresh with
`python3 rtl/operators/page.py > rtl/operators/OPERATORS.md`.

Every operator of ONNX's default domain, opset 1 to 26, and those of com.microsoft (`ms.`) that
quantisers and exporters write: which engine is meant for it and which micro-instructions
([ISA.md](../spec/ISA.md)) its program needs. This is about what the machine must be able to do,
not about what the compiler emits today: that is [SUPPORTED_OPS.md](../../SUPPORTED_OPS.md).
{planned}Numbers of micro-instructions ("ops", per vector of 16 elements) are counted on paper.
"""

PLANNED = """Micro-instructions in italics are not in the machine yet: revision 2 of the contract is to add them.
"""


def load():
    return tomllib.loads((HERE / "operators.toml").read_text())


def line(text):
    return " ".join(text.split())


def page(spec):
    planned = {a["name"] for a in spec["addition"] if a["state"] == "planned"}
    out = [HEAD.format(planned=PLANNED if planned else "")]
    for key, title in ENGINES.items():
        out += [f"## {title}", "", "| Operators | Micro-instructions | How |", "|---|---|---|"]
        for group in spec["group"]:
            if group["on"] != key:
                continue
            uses = ", ".join(f"*{u}*" if u in planned else u for u in group["uses"])
            out.append(f"| {', '.join(group['operators'])} | {uses} | {line(group['how'])} |")
        out.append("")
    for state, title in STATES.items():
        rows = [a for a in spec["addition"] if a["state"] == state]
        if rows:
            out += [f"## {title}", "", "| What | Form | Saves | Why |", "|---|---|---|---|"]
        for a in rows:
            out.append(f"| {a['name']} | {a['form']} | {a['saves']} | {line(a['why'])} |")
        if rows:
            out.append("")
    return "\n".join(out).rstrip() + "\n"


if __name__ == "__main__":
    print(page(load()), end="")
