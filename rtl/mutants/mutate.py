# SPDX-License-Identifier: Apache-2.0
"""Puts one fault of mutants.bzl into a source.

  mutate.py TABLE NAME SOURCE     the faulty source to standard output
"""
import runpy
import sys


# What a fault leaves unused is not what finds it.
QUIET = "/* verilator lint_off UNUSEDSIGNAL */ /* verilator lint_off UNUSEDPARAM */ "


def table(path):
    return runpy.run_path(path)["MUTANTS"]


def mutate(mutant, source):
    """The faulty text; ValueError if the fault does not fit the source."""
    text = mutant["text"]
    if "\n" in text + mutant["becomes"]:
        raise ValueError(f"{mutant['name']}: more than one line")
    if source.count(text) != 1:
        raise ValueError(f"{mutant['name']}: '{text}' occurs {source.count(text)} times in {mutant['file']}.sv")
    if text == mutant["becomes"]:
        raise ValueError(f"{mutant['name']}: changes nothing")
    return QUIET + source.replace(text, mutant["becomes"])


def main(table_path, name, source_path):
    (mutant,) = [m for m in table(table_path) if m["name"] == name]
    with open(source_path, encoding="utf-8") as f:
        sys.stdout.write(mutate(mutant, f.read()))


if __name__ == "__main__":
    main(*sys.argv[1:])
