# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""Writes what faults.toml says as a page or as a C++ table.

    python3 kmd/faults.py page  kmd/faults.toml rtl/spec/errors.toml > kmd/FAULTS.md
    python3 kmd/faults.py table kmd/faults.toml rtl/spec/errors.toml > faults_table.inc
"""

import sys
import tomllib

JOBS = {"copy_in": "kCopyIn", "copy_out": "kCopyOut", "fill": "kFill", "run": "kRun", "none": "kNone"}
EVENTS = {
    "": "0",
    "REMOVED": "DRM_HEDDLE_EVENT_REMOVED",
    "RESET": "DRM_HEDDLE_EVENT_RESET",
    "MEMORY": "DRM_HEDDLE_EVENT_MEMORY",
    "CORRECTED": "DRM_HEDDLE_EVENT_CORRECTED",
}
UEVENTS = {"": "", "REMOVED": "OFFLINE", "RESET": "RESET", "MEMORY": "MEMORY", "CORRECTED": "CORRECTED"}


def load(faults_file, errors_file):
    with open(faults_file, "rb") as file:
        faults = tomllib.load(file)["fault"]
    with open(errors_file, "rb") as file:
        errors = {e["name"]: e for e in tomllib.load(file)["error"]}
    for fault in faults:
        if fault["job"] not in JOBS or fault["event"] not in EVENTS:
            sys.exit(f"{faults_file}: {fault['name']}: unknown job or event")
        if fault["status"] not in errors:
            sys.exit(f"{faults_file}: {fault['name']}: errors.toml has no status {fault['status']}")
    return faults, errors


def page(faults, errors):
    yes = {True: "yes", False: "no"}
    lines = [
        "<!-- generated from kmd/faults.toml by kmd/faults.py; do not edit. -->",
        "# Faults of a card, and how the driver reacts",
        "",
        "`inject` is a command of `heddle-sim ctl`. Each row is a test: `./dev test //tests/driver:faults_test`.",
        "",
        "| fault | inject | job | status | fence error | event | uevent | coredump | ONNXIFI | card survives |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for f in faults:
        error = errors[f["status"]]
        errno = "-" if error["errno"] == "0" else error["errno"]
        uevent = UEVENTS[f["event"]]
        lines.append(
            f"| {f['name']} | `{f['inject']}` | {f['job']} | {f['status']} | {errno} | "
            f"{f['event'] or '-'} | {'HEDDLE_EVENT=' + uevent if uevent else '-'} | "
            f"{yes[f['coredump']]} | {error['onnxifi']} | {yes[f['survives']]} |"
        )
    lines.append("")
    for f in faults:
        lines.append(f"- **{f['name']}**: {f['doc']}")
    return "\n".join(lines) + "\n"


def table(faults, errors):
    rows = ["// generated from kmd/faults.toml by kmd/faults.py"]
    for f in faults:
        error = errors[f["status"]]
        flag = {True: "true", False: "false"}
        rows.append(
            f'{{"{f["name"]}", "{f["inject"]}", Job::{JOBS[f["job"]]}, '
            f'HEDDLE_ERROR_{f["status"].upper()}, {error["errno"]}, '
            f'{EVENTS[f["event"]]}, "{UEVENTS[f["event"]]}", {flag[f["coredump"]]}, '
            f'{flag[f["survives"]]}, '
            f'"{error["onnxifi"]}"}},'
        )
    return "\n".join(rows) + "\n"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("page", "table"):
        sys.exit(__doc__)
    faults, errors = load(sys.argv[2], sys.argv[3])
    sys.stdout.write((page if sys.argv[1] == "page" else table)(faults, errors))


main()
