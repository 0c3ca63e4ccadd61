# SPDX-License-Identifier: Apache-2.0
"""Counts the outcome of a `bazel test` run from its build events.

A GoogleTest case counts as one test, and so does a test target of another kind (a script). A
case is skipped when GoogleTest says so or when it is disabled; a script is skipped when it
prints a line "SKIPPED: reason" and succeeds. A target that fails although none of its cases did
(crash, leak, time-out, did not build) is one failure. The last line of the output is
"N passed, N failed, N skipped".
"""

import argparse
import collections
import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree

Case = collections.namedtuple("Case", "name outcome reason")  # outcome: passed, failed, skipped

BUILD_FAILED = "did not build"
SKIP_LINE = re.compile(r"^SKIPPED: (.*)$", re.MULTILINE)
# Of `bazel test`: success, build failed, tests failed, no tests found.
OK, NOT_BUILT, TESTS_FAILED, NO_TESTS = 0, 1, 3, 4


def read_text(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def gtest_cases(xml_text):
    """The cases of a GoogleTest report, or None when `xml_text` is not one."""
    try:
        root = xml.etree.ElementTree.fromstring(xml_text)
    except xml.etree.ElementTree.ParseError:
        return None
    if root.tag != "testsuites" or root.get("name") != "AllTests":
        return None
    cases = []
    for case in root.iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            cases.append(Case(name, "failed", ""))
        elif skip is not None or case.get("result") == "skipped":
            text = (skip.get("message") or skip.text or "") if skip is not None else ""
            # GoogleTest puts "file:line" above the message.
            lines = [line for line in text.strip().splitlines() if line.strip()]
            cases.append(Case(name, "skipped", lines[-1].strip() if lines else "no reason given"))
        elif case.get("status") == "notrun":
            cases.append(Case(name, "skipped", "disabled in the source"))
        else:
            cases.append(Case(name, "passed", ""))
    return cases


def run_cases(label, passed, xml_text, log_text):
    """The cases of one run (one shard) of one target."""
    cases = gtest_cases(xml_text)
    if cases is None:
        if not passed:
            return [Case(label, "failed", "")]
        skip = SKIP_LINE.search(log_text)
        return [Case(label, "skipped", skip.group(1).strip()) if skip else Case(label, "passed", "")]
    if not passed and not any(case.outcome == "failed" for case in cases):
        cases.append(Case(label, "failed", "failed outside its cases"))
    return cases


def merge_runs(label, runs):
    """Joins the shards of a target; a script counts once, whatever its number of shards."""
    merged = []
    script = None
    rank = {"passed": 1, "skipped": 0, "failed": 2}
    for cases in runs:
        for case in cases:
            if case.name != label or case.reason == "failed outside its cases":
                merged.append(case)
            elif script is None or rank[case.outcome] > rank[script.outcome]:
                script = case
    return merged + ([script] if script else [])


def local_path(uri):
    url = urllib.parse.urlparse(uri)
    return urllib.parse.unquote(url.path) if url.scheme == "file" else ""


def read_events(path):
    """Returns {label: [cases]}; labels that did not build get one failed case."""
    runs = collections.defaultdict(dict)
    broken = {}
    summaries = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            key = event["id"]
            if "testResult" in key and "testResult" in event:
                ident = key["testResult"]
                result = event["testResult"]
                files = {f["name"]: local_path(f.get("uri", "")) for f in result.get("testActionOutput", [])}
                slot = (ident.get("run", 1), ident.get("shard", 1))
                attempt = ident.get("attempt", 1)
                if attempt >= runs[ident["label"]].get(slot, (0,))[0]:
                    runs[ident["label"]][slot] = (attempt, result.get("status"), files)
            elif "testSummary" in key and "testSummary" in event:
                summaries[key["testSummary"]["label"]] = event["testSummary"].get("overallStatus")
            elif "targetCompleted" in key:
                if "aborted" in event or not event.get("completed", {}).get("success"):
                    # SKIPPED: not compatible, or left out by a filter; nothing was to be built.
                    if event.get("aborted", {}).get("reason") != "SKIPPED":
                        broken[key["targetCompleted"]["label"]] = BUILD_FAILED
            elif "aborted" in event:
                for kind in ("configuredLabel", "unconfiguredLabel"):
                    if kind in key and event["aborted"].get("reason") in (
                        "ANALYSIS_FAILURE",
                        "LOADING_FAILURE",
                    ):
                        broken[key[kind]["label"]] = BUILD_FAILED
    result = {}
    for label, slots in runs.items():
        cases = []
        for _, status, files in slots.values():
            cases.append(
                run_cases(
                    label,
                    status in ("PASSED", "FLAKY"),
                    read_text(files.get("test.xml", "")),
                    read_text(files.get("test.log", "")),
                )
            )
        result[label] = merge_runs(label, cases)
    for label, status in summaries.items():
        if label not in result and status not in ("PASSED", "FLAKY"):
            result[label] = [Case(label, "failed", "has no result: " + str(status))]
    for label, reason in broken.items():
        result.setdefault(label, [Case(label, "failed", reason)])
    return result


def report(results, bazel_status, no_skip, out):
    """Writes the summary to `out`; returns the exit code."""
    totals = collections.Counter(case.outcome for cases in results.values() for case in cases)
    skipped = collections.defaultdict(list)
    for label, cases in sorted(results.items()):
        for case in cases:
            name = label if case.name == label else f"{label} {case.name}"
            if case.outcome == "failed":
                out.write(f"FAILED  {name}{': ' + case.reason if case.reason else ''}\n")
            elif case.outcome == "skipped":
                skipped[case.reason].append(name)
    for reason, names in sorted(skipped.items()):
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        out.write(f"SKIPPED {len(names)}: {reason} ({', '.join(names[:3])}{more})\n")
    if bazel_status not in (OK, NO_TESTS) and totals["failed"] == 0:
        totals["failed"] = 1
        out.write(f"FAILED  Bazel ended with status {bazel_status}; its message is above\n")
    code = 1 if totals["failed"] else 0
    if no_skip and totals["skipped"]:
        out.write("error: tests were skipped, and --require-shared forbids that\n")
        code = 1
    if not sum(totals.values()):
        out.write("error: no test was found\n")
        code = 1
    out.write(f"{totals['passed']} passed, {totals['failed']} failed, {totals['skipped']} skipped\n")
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", help="file written by --build_event_json_file")
    parser.add_argument("--bazel-status", type=int, default=0)
    parser.add_argument("--no-skip", action="store_true")
    args = parser.parse_args()
    results = read_events(args.events) if os.path.exists(args.events) else {}
    code = report(results, args.bazel_status, args.no_skip, sys.stdout)
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
