# SPDX-License-Identifier: Apache-2.0
"""The verdict as files: one HTML page without scripts, JUnit, JSON. All from the one dictionary of describe()."""

import html
import json
import shlex
import xml.etree.ElementTree as xml

from tests.guest.run_guest import clean

STYLE = """
:root { color-scheme: light dark; --ink: #1d2126; --soft: #646c76; --line: #dfe2e6; --panel: #fff; --page: #fbfbfa;
  --passed: #2f8f5b; --failed: #c43b3b; --skipped: #98a1ab; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7ea; --soft: #98a2ad; --line: #2e343b; --panel: #1b1f24;
  --page: #14171b; } }
body { margin: 0 auto; max-width: 1100px; padding: 20px 24px 60px; background: var(--page); color: var(--ink);
  font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
section { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px;
  margin-top: 16px; break-inside: avoid; }
h1 { font-size: 22px; } h2 { font-size: 16px; margin: 4px 0 10px; } h3 { font-size: 14px; margin: 14px 0 4px; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { padding: 3px 10px; text-align: left; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td, code { overflow-wrap: anywhere; }
pre, code { font: 12px/1.5 "DejaVu Sans Mono", monospace; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid var(--line); border-radius: 5px; padding: 6px 10px;
  max-height: 320px; overflow: auto; }
.mark { color: #fff; border-radius: 5px; padding: 1px 10px; font-weight: 600; }
.passed { background: var(--passed); } .failed { background: var(--failed); } .skipped, .not-run { background: var(--skipped); }
.soft { color: var(--soft); }
"""


def describe(verdict, about, command, seconds):
    """`about`: {what: text} of kernel, driver and machine; `command`: words before --case; `seconds`: of the run."""
    return dict(
        verdict={0: "passed", 1: "failed", 3: "not tested"}[verdict.code],
        sentence=verdict.sentence,
        counts=verdict.counts(),
        about=about,
        run_seconds=round(seconds, 1),
        cases=[
            dict(
                name=result.name,
                verdict=result.verdict,
                seconds=round(result.seconds, 3),
                message=result.failure or result.not_run or result.skipped,
                output=result.output,
                kernel_log=result.log,
                repeat=shlex.join([*command, *(word for name in result.again for word in ("--case", name))]),
                is_case=result.is_case,
            )
            for result in verdict.results
        ],
        seconds=typical(verdict.results),
    )


def typical(results):
    """For seconds.json: of each case, of its whole program where it is one, and of a boot."""
    found = {}
    boots = [result.seconds for result in results if result.name.endswith(".boot")]
    for result in results:
        if result.verdict in ("passed", "failed") and result.is_case:
            name = ".".join(result.name.split(".")[:2])
            found[name] = round(found.get(name, 0) + result.seconds, 2)
    if boots:
        found["boot"] = round(sum(boots) / len(boots), 2)
    return found


def as_json(report):
    return json.dumps(report, indent=1) + "\n"


def as_junit(report):
    root = xml.Element("testsuites", name="heddle-driver-tests")
    suites = {}
    for case in report["cases"]:
        group, _, name = case["name"].partition(".")
        suite = suites.get(group)
        if suite is None:
            suite = suites[group] = xml.SubElement(root, "testsuite", name=group)
        entry = xml.SubElement(suite, "testcase", classname=group, name=name, time=str(case["seconds"]))
        if case["verdict"] in ("skipped", "not run"):  # JUnit has no word for the latter
            said = "not run: " if case["verdict"] == "not run" else ""
            xml.SubElement(entry, "skipped", message=clean(said + case["message"]))
        if case["verdict"] == "failed":
            first = case["message"].split("\n")[0]
            failure = xml.SubElement(entry, "failure", message=clean(first))
            log = "\n".join(case["kernel_log"])
            failure.text = clean(f"{case['message']}\n\nKernel's log:\n{log}\n\nAgain: {case['repeat']}\n")
    for suite in suites.values():
        cases = suite.findall("testcase")
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _groups(report):
    """{group: its cases}."""
    groups = {}
    for case in report["cases"]:
        groups.setdefault(case["name"].split(".")[0], []).append(case)
    return groups


def _table(heads, rows):
    """`heads`: names, with a minus before those of numbers; cells are HTML."""
    classes = [' class="n"' if head.startswith("-") else "" for head in heads]
    head = "".join(f"<th{kind}>{html.escape(name.lstrip('-'))}</th>" for kind, name in zip(classes, heads))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(classes, row)) + "</tr>\n" for row in rows
    )
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def _mark(verdict):
    return f'<span class="mark {verdict.replace(" ", "-")}">{verdict}</span>'


def _failure(case):
    name = html.escape(case["name"])
    parts = [f'<h3 id="{name}">{name}</h3>\n<pre>{html.escape(case["message"])}</pre>\n']
    for title, text in (("What the case said", case["output"]), ("The kernel's log", "\n".join(case["kernel_log"]))):
        if text.strip():
            parts.append(
                f'<details open><summary class="soft">{title}</summary><pre>{html.escape(text)}</pre></details>\n'
            )
    parts.append(f"<p>Again: <code>{html.escape(case['repeat'])}</code></p>\n")
    return "".join(parts)


def as_html(report):
    cases = report["cases"]
    failed = [case for case in cases if case["verdict"] == "failed"]
    kind = "passed" if report["verdict"] == "passed" else "failed"
    rows = []
    for group, members in _groups(report).items():
        counted = [case for case in members if case["is_case"] or case["verdict"] == "failed"]
        count = {word: sum(case["verdict"] == word for case in counted) for word in report["counts"]}
        rows.append([html.escape(group), *count.values(), f"{sum(case['seconds'] for case in members):.0f} s"])
    about = report["about"].items()
    text = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>heddle-driver-tests: {report['verdict']}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n",
        f'<h1>Driver tests <span class="mark {kind}">{report["verdict"]}</span></h1>\n',
        f"<p>{html.escape(report['sentence'])}</p>\n<section><h2>Tested</h2>\n",
        _table(["", ""], [[html.escape(what), f"<code>{html.escape(text)}</code>"] for what, text in about]),
        "</section>\n<section><h2>Groups</h2>\n",
        _table(["Group", *(f"-{word}" for word in report["counts"]), "-time"], rows),
        "</section>\n",
    ]
    if failed:
        text.append(f"<section><h2>Failed: {len(failed)}</h2>\n{''.join(map(_failure, failed))}</section>\n")
    for word in ("skipped", "not run"):
        pairs = [[html.escape(case["name"]), html.escape(case["message"])] for case in cases if case["verdict"] == word]
        if pairs:
            title = f"{word.capitalize()}: {report['counts'][word]}"
            text.append(f"<section><h2>{title}</h2>\n{_table(['Case', 'Why'], pairs)}</section>\n")
    every = [[html.escape(case["name"]), _mark(case["verdict"]), f"{case['seconds']:.2f} s"] for case in cases]
    text.append(
        f"<section><details><summary>All cases</summary>\n{_table(['Case', 'Verdict', '-time'], every)}</details></section>\n"
        "</body>\n</html>\n"
    )
    return "".join(text)


FORMATS = {".html": as_html, ".xml": as_junit, ".json": as_json}
