# SPDX-License-Identifier: Apache-2.0
"""For tests: the kit as it is when it is installed, made of Bazel's outputs, and its runs on @guest_kernel."""

import json
import os
import shutil
import subprocess

GUEST_KERNEL = os.path.abspath("../guest_kernel")


def make_prefix(folder, command):
    """The kit and what it takes from other packages, as they are when they are installed."""
    kit = os.path.join(os.path.dirname(command), "driver-tests")
    with open(os.path.join(kit, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    places = {where: os.path.abspath(path) for path, where in manifest["elsewhere"].items()}
    places.update({f"lib/heddle/driver-tests/{path}": os.path.join(kit, path) for path in manifest["files"]})
    places["lib/heddle/driver-tests/manifest.json"] = os.path.join(kit, "manifest.json")
    for where, path in places.items():
        target = os.path.join(folder, where)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # Python looks for modules where a file truly is, so those are copied.
        shutil.copy(path, target) if path.endswith(".py") else os.symlink(os.path.realpath(path), target)
    os.makedirs(os.path.join(folder, "bin"), exist_ok=True)
    return shutil.copy(command, os.path.join(folder, "bin"))


def run(program, release, module, words, scratch):
    """(exit code, {name: case of the report}, what it said)."""
    report = os.path.join(scratch, "report.json")
    if os.path.exists(report):
        os.unlink(report)
    module = shutil.copy(module, os.path.join(scratch, "heddle.ko"))
    command = [program, "--quiet", "--kernel", f"{GUEST_KERNEL}/vmlinux", "--modules", f"{GUEST_KERNEL}/root"]
    command += ["--build-tree", f"{GUEST_KERNEL}/headers/usr/src/linux-headers-{release}"]
    command += ["--time-factor", os.environ.get("HEDDLE_TEST_TIME_FACTOR", "1")]
    command += ["--module", module, "--report", report, *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    found = {}
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            found = {case["name"]: case for case in json.load(file)["cases"]}
    os.unlink(module)
    return done.returncode, found, done.stdout
