#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where the cycles go: the JSON of rtl_bench (standard input) as an SVG (standard output).

    bazel run //tests/lockstep:rtl_bench -- --json resnet50 vww > bench.json
    python3 tests/lockstep/cycles_chart.py < bench.json > cycles.svg

One bar per network and configuration, cut into what its cycles were for. Equal input gives equal
bytes.
"""

import json
import sys

# Name, colour, what it means (in the legend).
PARTS = [
    ("useful", "#1b7837", "MACs of the network, at full rate"),
    ("partly", "#a6dba0", "array works on fewer operands than it has lanes"),
    ("weights", "#c2a5cf", "array waits for weights"),
    ("operands", "#9970ab", "array waits for operands"),
    ("output", "#762a83", "array waits for the output stage"),
    ("vector", "#4393c3", "vector engine only"),
    ("transfer", "#f4a582", "load and store only"),
    ("nobody", "#bdbdbd", "no engine"),
]

LEFT, RIGHT, TOP, BAR, GAP = 230, 90, 30, 22, 10
WIDTH = 1000
SPAN = WIDTH - LEFT - RIGHT


def parts_of(network):
    """Cycles by the names of PARTS; they add up to the network's."""
    matrix = vector = transfer = nobody = 0
    for engines, cycles in network["cycles_by_engines"].items():
        names = engines.split("+")
        if "matrix" in names:
            matrix += cycles
        elif "vector" in names:
            vector += cycles
        elif names == ["nobody"]:
            nobody += cycles
        else:
            transfer += cycles
    waits = network["matrix_waits"]
    works = matrix - sum(waits.values())
    macs = sum(layer["macs"] for layer in network["layers"] if layer["engine"] == "matrix")
    useful = min(works, macs / network["macs_per_cycle"])
    return {
        "useful": useful,
        "partly": works - useful,
        "weights": waits["weights"],
        "operands": waits["operands"],
        "output": waits["output"],
        "vector": vector,
        "transfer": transfer,
        "nobody": nobody,
    }


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def name_of(network):
    """A model file is called after its folder."""
    pieces = network["network"].split("/")
    return pieces[-2] if len(pieces) > 1 else pieces[0]


def count(cycles):
    if cycles >= 1e6:
        return f"{cycles / 1e6:.2f} M"
    return f"{cycles / 1e3:.1f} k"


def text(x, y, what, anchor="start", size=13, fill="#222"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        f' fill="{fill}">{escape(what)}</text>'
    )


def chart(networks):
    """The SVG of rtl_bench's list of networks."""
    legend = TOP + len(networks) * (BAR + GAP) + 20
    height = legend + (len(PARTS) + 1) // 2 * 20 + 10
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<!-- SPDX-License-Identifier: Apache-2.0; made by tests/lockstep/cycles_chart.py -->",
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for percent in range(0, 101, 20):
        x = LEFT + SPAN * percent / 100
        lines.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{legend - 20}"' ' stroke="#ddd"/>')
        lines.append(text(x, TOP - 12, f"{percent} %", "middle", 11, "#666"))
    for i, network in enumerate(networks):
        y = TOP + i * (BAR + GAP)
        lines.append(text(LEFT - 8, y + 16, f"{name_of(network)}, {network['config']}", "end"))
        x = float(LEFT)
        parts = parts_of(network)
        for name, colour, _ in PARTS:
            share = parts[name] / network["cycles"]
            width = SPAN * share
            if width < 0.05:
                continue
            lines.append(
                f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{BAR}"'
                f' fill="{colour}"><title>{name} {100 * share:.1f} %</title></rect>'
            )
            if width > 40:
                dark = name in ("useful", "output", "operands")
                lines.append(
                    text(x + width / 2, y + 16, f"{100 * share:.1f}", "middle", 11, "#fff" if dark else "#222")
                )
            x += width
        lines.append(text(LEFT + SPAN + 8, y + 16, count(network["cycles"])))
    for i, (_, colour, meaning) in enumerate(PARTS):
        x = 40 + i % 2 * WIDTH / 2
        y = legend + i // 2 * 20
        lines.append(f'<rect x="{x:.1f}" y="{y}" width="14" height="14" fill="{colour}"/>')
        lines.append(text(x + 22, y + 12, meaning))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(chart(json.load(sys.stdin)))
