# SPDX-License-Identifier: Apache-2.0
"""The kit finds each seeded fault of the driver, by the case that is meant for it.

    mutants_test.py DRIVER_TESTS KERNEL.TXT NAME=MODULE=CASE... [--only=NAME]...

The driver without a fault, named "none", passes all of those cases. Prints a table.
"""

import os
import sys
import tempfile

from tests.driver_kit import installed
from tests.guest.machine import kernel_info


def judge(code, found, case):
    """(whether the case found the fault, in a few words)."""
    failed = [name for name, result in found.items() if result["verdict"] == "failed"]
    inside = [name for name in failed if name == case or name.startswith(case + ".")]
    program = ".".join(case.split(".")[:2])  # it may have died, or the kernel has complained
    inside += [name for name in failed if name in (program, f"{program}.kernel_log", f"{program}.program")]
    if code != 1 or not inside:
        return False, f"NOT FOUND: exit code {code}, failed: {', '.join(failed) or 'nothing'}"
    lines = [line.strip() for line in found[inside[0]]["message"].split("\n") if line.strip()]
    said = [line for line in lines if not line.endswith(".cc") and ".cc:" not in line and line != "exit code 1"]
    return True, " ".join(said or lines)[:100]


def main():
    command, info, *words = sys.argv[1:]
    only = [word.removeprefix("--only=") for word in words if word.startswith("--only=")]
    rows = [word.split("=", 2) for word in words if not word.startswith("--")]
    kernel = kernel_info(info)
    if "absent" in kernel:
        print(f"SKIPPED: {kernel['absent']}")
        return 0
    bad = 0
    with tempfile.TemporaryDirectory(dir="/tmp") as scratch:
        program = installed.make_prefix(os.path.join(scratch, "usr"), os.path.abspath(command))
        cases = [case for name, _, case in rows if name != "none" and (not only or name in only)]
        for name, module, case in rows:
            if only and name not in only and name != "none":
                continue
            wanted = [f"--case={chosen}" for chosen in (cases if name == "none" else [case])]
            code, found, said = installed.run(program, kernel["release"], module, wanted, scratch)
            good, why = (code == 0, "passes all of these cases") if name == "none" else judge(code, found, case)
            bad += not good
            print(f"{'ok    ' if good else 'FAILED'} {name:<26} {case:<62} {why}", flush=True)
            if not good:
                print(said, flush=True)
    print(f"{len(cases)} faults, {bad} not found, in {kernel['release']}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
