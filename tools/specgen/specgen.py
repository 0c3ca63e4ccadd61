#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""specgen: writes everything that follows from the hardware description rtl/spec/*.toml.

Example:  specgen.py --spec rtl/spec --out rtl/spec
Writes OUT/generated/* and OUT/*.md. With --check nothing is written: the exit status is 1 when a
file differs from what would be written.
"""

import argparse
import pathlib
import sys

import emit_cpp
import emit_descriptors
import emit_kernel
import emit_md
import emit_registers
import emit_sv
import emit_sv_check
from load import load
from model import SpecErrors

OUTPUTS = {
    "ISA.md": emit_md.isa,
    "REGISTERS.md": emit_md.registers,
    "generated/isa.h": emit_cpp.header,
    "generated/isa.cc": emit_cpp.source,
    "generated/registers.h": emit_registers.header,
    "generated/descriptors.h": emit_descriptors.header,
    "generated/heddle_pkg.sv": emit_sv.package,
    "generated/heddle_pkg_check.sv": emit_sv_check.check,
    "generated/heddle_hw.h": emit_kernel.hardware,
    "generated/heddle_isa_fields.h": emit_kernel.fields,
    "generated/heddle_isa_tables.c": emit_kernel.tables,
}


def generate(folder):
    """All files for the description in `folder`: relative path -> text."""
    spec = load(folder)
    return {path: emit(spec) for path, emit in OUTPUTS.items()}


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spec", default="rtl/spec", help="folder of the TOML files")
    parser.add_argument("--out", default="rtl/spec", help="folder to write to")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    args = parser.parse_args(argv)
    try:
        files = generate(args.spec)
    except SpecErrors as e:
        print(
            f"specgen: the description in {args.spec} has {len(e.items)} error{'s' * (len(e.items) != 1)}:",
            file=sys.stderr,
        )
        print(e, file=sys.stderr)
        return 1
    stale = []
    for path, text in files.items():
        target = pathlib.Path(args.out) / path
        old = target.read_text() if target.exists() else None
        if old == text:
            continue
        stale.append(path)
        if not args.check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    if args.check and stale:
        print("specgen: out of date: " + " ".join(stale), file=sys.stderr)
        print("refresh with: tools/specgen/generate.sh", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
