# SPDX-License-Identifier: Apache-2.0
"""Puts one fault of mutants.bzl into copies of the validator's sources.

  mutate.py TABLE NAME FOLDER SOURCE...     all sources to FOLDER, those of the fault changed
"""
import os
import runpy
import sys


def table(path):
    return runpy.run_path(path)["MUTANTS"]


def mutate(mutant, sources):
    """{file: text} with the fault; ValueError if it does not fit."""
    faulty = dict(sources)
    for file, text, becomes in mutant["edits"]:
        count = faulty[file].count(text) if file in faulty else 0
        if count != 1:
            raise ValueError(f"{mutant['name']}: '{text}' occurs {count} times in {file}")
        if text == becomes:
            raise ValueError(f"{mutant['name']}: changes nothing")
        faulty[file] = faulty[file].replace(text, becomes)
    return faulty


def read(paths):
    sources = {}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            sources[os.path.basename(path)] = f.read()
    return sources


def main(table_path, name, folder, *paths):
    (mutant,) = [m for m in table(table_path) if m["name"] == name]
    for file, text in mutate(mutant, read(paths)).items():
        with open(os.path.join(folder, file), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
