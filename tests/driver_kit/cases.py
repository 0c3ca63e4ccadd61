# SPDX-License-Identifier: Apache-2.0
"""Names of cases, and plans of those that are chosen.

A case's name is GROUP.CASE, or GROUP.CASE.SUITE.TEST where the case is a GoogleTest program. A group is one boot.
"""

import copy
import difflib
import fnmatch
import os
import re
import subprocess

FUZZ = "HEDDLE_FUZZ_SECONDS"
FILTER = re.compile(r"--gtest_filter=(\S+)")
# A program that runs as it stands: alone, after loading the module, or by with_parameters.sh.
PROGRAM = re.compile(
    r"(?:^|&& |with_parameters\.sh \S+ \S+ )(?P<program>tests/\S+|runtime/\S+)(?: --gtest_filter=\S+)?$"
)


class CaseError(Exception):
    """No such case; the text says which there are."""


def tests_of(case, root):
    """Names SUITE.TEST of a GoogleTest case; None: it can only be run as a whole."""
    program = PROGRAM.search(case["command"]) if case["gtest"] else None
    if not program or program["program"].endswith(".sh"):
        return None
    words = [os.path.join(root, program["program"]), "--gtest_list_tests"]
    chosen = FILTER.search(case["command"])
    if chosen:
        words.append("--gtest_filter=" + chosen[1])
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    if said.returncode:
        raise CaseError(f"{words[0]} does not run: {said.stderr.strip() or said.returncode}")
    names, suite = [], ""
    for line in said.stdout.split("\n"):
        line = line.split("#")[0].rstrip()
        if line.startswith("  "):
            if not line.strip().startswith("DISABLED_"):
                names.append(suite + line.strip())
        elif line.endswith("."):
            suite = line
    return names


def full_names(case, tests):
    """Of GROUP.CASE and the names of its tests (None: it has none)."""
    return [case] if tests is None else [f"{case}.{test}" for test in tests]


def names(groups, root):
    """{group: {case: tests or None}}."""
    return {
        group: {case["name"]: tests_of(case, root) for case in entry["plan"]["cases"]}
        for group, entry in groups.items()
    }


def below(name, wanted):
    """Whether `wanted` is the name, or one that it lies below, or a pattern of one."""
    return name == wanted or name.startswith(wanted + ".") or fnmatch.fnmatchcase(name, wanted)


def similar(word, all_names):
    """Up to three names, of all that --case accepts, that may be meant: those that end so, or else those like it."""
    known = {}  # in order, each once
    for group, tests_by_case in all_names.items():
        known[group] = None
        for case, tests in tests_by_case.items():
            known[f"{group}.{case}"] = None
            for test in tests or []:
                known[f"{group}.{case}.{test.split('.')[0]}"] = None
                known[f"{group}.{case}.{test}"] = None
    return [name for name in known if name.endswith("." + word)][:3] or difflib.get_close_matches(word, known, 3, 0.7)


def choose(groups, all_names, wanted, rtl):
    """{group: {case: tests to run; None: the whole case}} of the names `wanted`; all that need not be asked for if
    there are none. `all_names`: of names()."""
    if not wanted:
        return {
            group: dict.fromkeys(cases) for group, cases in all_names.items() if rtl or not groups[group]["optional"]
        }
    chosen = {}
    for word in wanted:
        found = False
        for group, cases in all_names.items():
            for case, tests in cases.items():
                whole = f"{group}.{case}"
                if below(whole, word):
                    chosen.setdefault(group, {})[case] = None
                    found = True
                    continue
                some = [test for test in tests or [] if below(f"{whole}.{test}", word)]
                found = found or bool(some)
                if some and chosen.get(group, {}).get(case, []) is not None:
                    chosen.setdefault(group, {}).setdefault(case, []).extend(some)
        if not found:
            near = similar(word, all_names)
            meant = f"; did you mean {', '.join(near)}?" if near else ""
            raise CaseError(f"there is no case '{word}'{meant}; --list has them, groups are {', '.join(all_names)}")
    return chosen


def again(group, all_names, wanted):
    """{GROUP or GROUP.CASE: names for --case that run it again, with no more of it than the names `wanted` had chosen}.

    `all_names`: {case: tests}, of names().
    """
    found = {}
    for case, tests in all_names.items():
        whole = f"{group}.{case}"
        parts = [word for word in wanted if any(below(name, word) for name in full_names(whole, tests))]
        found[whole] = [whole] if any(below(whole, word) for word in wanted) or not parts else parts
    some = [word for word in wanted if any(word in words or below(case, word) for case, words in found.items())]
    found[group] = some or [group]
    return found


def plan(entry, chosen, config, fuzz_seconds, without):
    """(the plan of a group for the chosen cases, [(name, why) of those that cannot be run]).

    `without`: {file name of a module that there is not: why}.
    """
    result = copy.deepcopy(entry["plan"])
    result["cards"] = [f"{card} --config {config}".strip() for card in result["cards"]]
    result["env"] = dict(result.get("env", {}), **{FUZZ: str(fuzz_seconds), "HEDDLE_CONFIG": config})
    result["modules"] = [path for path in result["modules"] if os.path.basename(path) not in without]
    cases, impossible = [], []
    for case in result["cases"]:
        if case["name"] not in chosen:
            continue
        if case.get("needs") in without:
            impossible.append((case["name"], without[case["needs"]]))
            continue
        if FUZZ in case["command"]:
            case["seconds"] += fuzz_seconds
        tests = chosen[case["name"]]
        if tests is not None:
            case["command"] = FILTER.sub("", case["command"]).rstrip() + " --gtest_filter=" + ":".join(tests)
        cases.append(case)
    result["cases"] = cases
    return result, impossible
