# SPDX-License-Identifier: Apache-2.0
"""Runs the plan of a guest_test (guest.bzl): boots once, runs the cases, reports each.

run_guest.py PLAN.json. TESTBRIDGE_TEST_ONLY (bazel test --test_filter=REGEXP) chooses cases. The
report (XML_OUTPUT_FILE) has the form of GoogleTest's, which ./dev test counts. With
HEDDLE_GUEST_KEEP set, console, outputs and logs are printed also when all is well.
"""

import json
import os
import re
import signal
import sys
import time
import xml.etree.ElementTree as xml

from tests.guest import kernel_log
from tests.guest.limits import within
from tests.guest.machine import GuestError, TooSlow, kernel_info
from tests.guest.qemu_machine import QemuMachine
from tests.guest.uml_machine import UmlMachine

KERNEL_INFO = "../guest_kernel/kernel.txt"
VMLINUX = "../guest_kernel/vmlinux"
INITRD = "tests/guest/initramfs_image.cpio"
BOOT_SECONDS = 150
LOAD_SECONDS = 20
GRACE = 10  # for the guest to end what takes too long
KCSAN_ON = "echo on >/sys/kernel/debug/kcsan"
PASSED_ON = ("TEST_SRCDIR", "TEST_WORKSPACE", "RUNFILES_DIR", "HEDDLE_TEST_TIME_FACTOR")


class Report:
    """Results in GoogleTest's XML."""

    multiplies = "--test_env=HEDDLE_TEST_TIME_FACTOR=X multiplies"  # words of a message: what to do on a slow machine

    def __init__(self):
        self.failed = 0
        self.entries = []  # (suite.name, seconds, failure, skipped)
        self._root = xml.Element("testsuites", name="AllTests")
        self._suite = xml.SubElement(self._root, "testsuite", name="guest")

    def add(self, suite, name, seconds, failure="", skipped=""):
        case = xml.SubElement(self._suite, "testcase", classname=suite, name=name, time=f"{seconds:.3f}", status="run")
        case.set("result", "skipped" if skipped else "completed")
        if skipped:
            xml.SubElement(case, "skipped", message=clean(skipped))
        if failure:
            self.failed += 1
            xml.SubElement(case, "failure", message=clean(failure))
        self.entries.append((f"{suite}.{name}", seconds, failure, skipped))
        word = "FAILED " if failure else "skipped" if skipped else "ok     "
        print(f"{word} {suite}.{name} ({seconds:.2f} s){': ' + skipped if skipped else ''}", flush=True)
        if failure:
            print(failure, flush=True)

    def add_gtest(self, prefix, path):
        """The cases of a GoogleTest program; how many failed. None: there is no report."""
        try:
            root = xml.parse(path).getroot()
        except (OSError, xml.ParseError):
            return None
        failed = 0
        for case in root.iter("testcase"):
            failures = [f.get("message", "") for f in case.findall("failure")]
            skip = case.find("skipped")
            # GoogleTest puts "file:line" above the message.
            skipped = (skip.get("message") or "skipped").strip().split("\n")[-1] if skip is not None else ""
            if case.get("status") == "notrun":
                skipped = "disabled in the source"
            failed += bool(failures)
            self.add(
                f"{prefix}.{case.get('classname')}",
                case.get("name"),
                float(case.get("time") or 0),
                "\n".join(failures),
                "" if failures else skipped,
            )
        return failed

    def not_ready(self, why, log=""):
        """The guest took too long to be made ready for its cases; slow machine or broken driver, nobody knows."""
        self.add("guest", "start", 0, f"{why}; {self.multiplies} all time limits{log}")

    def not_run(self, name, why):
        """A case of the plan that never began."""
        self.add("guest", name, 0, f"not run: {why}")

    def case_begins(self, case, machine, number):
        """The guest starts a case; its output grows in out/NUMBER.out of the machine's shared folder."""

    def case_ended(self, case, log, output):
        """All entries of the case are there. `log`: the kernel's lines meanwhile."""

    def say(self, case, output):
        """What the case printed."""
        print(f"---- {case['name']}\n{tail(output, 2000)}" if output.strip() else f"---- {case['name']}", flush=True)

    def note(self, text):
        """An aside."""
        print(f"        {text}", flush=True)

    def machine_ends(self, machine):
        """The last look at it."""
        if self.failed or os.environ.get("HEDDLE_GUEST_KEEP"):
            print("==== console\n" + tail(machine.console(), 300))
            print(f"==== {machine.name}\n{machine.log()}")

    def write(self):
        if os.environ.get("XML_OUTPUT_FILE"):
            xml.ElementTree(self._root).write(os.environ["XML_OUTPUT_FILE"], encoding="utf-8")


def clean(text):
    """Without the characters that XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)


def tail(text, lines=80):
    return "\n".join(text.strip().split("\n")[-lines:])


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


class Runner:
    def __init__(self, machine, report):
        self.machine = machine
        self.report = report
        self.argued = kernel_log.read_argued_races()
        self.numbers = {}  # of command: its case
        self.failures = {}  # number of command: what is wrong but for the kernel's log

    def command(self, case, text):
        """Runs it in the guest; returns (seconds, exit code, output)."""
        number = len(self.numbers)
        self.numbers[number] = case
        self.report.case_begins(case, self.machine, number)
        started = time.monotonic()
        self.machine.put(f"commands/{number}", text + "\n")
        self.machine.wait_for(f"out/{number}.rc", within(case["seconds"]) + GRACE)
        seconds = time.monotonic() - started
        out = os.path.join(self.machine.share, "out", str(number))
        return number, seconds, int(read(out + ".rc")), read(out + ".out")

    def run(self, case):
        """Runs it and reports; whether all is well."""
        failed_before = self.report.failed
        text = f"exec timeout -k 5 {within(case['seconds']):g} sh -c {quoted(case['command'])}"
        if case.get("loads"):  # in the kernel no signal reaches it, and it succeeds although it is late
            text = case["command"]
        xml_path = f"out/{len(self.numbers)}.xml"
        if case["gtest"]:
            text = f"export GTEST_OUTPUT=xml:/run/heddle/{xml_path}\n{text}"
        number, seconds, code, output = self.command(case, text)
        self.report.say(case, output)
        log = kernel_log.split(self.machine.console()).get(number, [])
        failure = ""
        # Exit codes of GNU's and busybox's timeout, and of what it had to kill.
        if code in (124, 137, 143) and seconds >= within(case["seconds"]) * 0.9:
            failure = f"still ran after {within(case['seconds']):g} s"
        elif code != 0:
            failure = f"exit code {code}"
        failed = None
        if case["gtest"]:
            failed = self.report.add_gtest(case["name"], os.path.join(self.machine.share, xml_path))
        expect = case.get("expect")
        if expect and not any(re.search(expect, line) for line in log):
            failure = failure or f"the kernel's log has no line with {expect}"
        log_but_races, races = kernel_log.take_races(log)
        found = []
        if not expect:
            found = kernel_log.findings(log_but_races, case["allow"]) or kernel_log.races(races, self.argued)
        if races:
            self.report.note(f"{len(races)} reports of KCSAN")
        if found:
            self.report.add(case["name"], "kernel_log", seconds, "in the kernel's log:\n" + "\n".join(found))
        if failed is None:
            if failure:
                failure += f"\n{tail(output)}\nkernel's log:\n" + "\n".join(log[-40:])
            elif case["gtest"]:
                failure = "the program wrote no report"
            skip = re.search(r"^SKIPPED: (.*)$", output, re.MULTILINE)
            self.report.add("guest", case["name"], seconds, failure, skip.group(1) if skip else "")
        elif failure and failed == 0:
            self.report.add(case["name"], "program", seconds, failure)
        self.report.case_ended(case, log, output)
        return self.report.failed == failed_before


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def boot(machine, plan, report):
    """Waits for the guest."""
    variables = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    variables.update(
        HOME="/root",
        LANG="C.UTF-8",
        PATH="/run/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        HEDDLE_GUEST_SHARE="/run/heddle",
        TEST_TMPDIR="/tmp",
        TMPDIR="/tmp",
        **plan.get("env", {}),
    )
    machine.set_environment(variables, os.getcwd())
    started = time.monotonic()
    try:
        machine.wait_for("ready", within(BOOT_SECONDS))
    except TooSlow as error:
        raise TooSlow(f"the kernel did not boot within {within(BOOT_SECONDS):g} s") from error
    report.add("guest", "boot", time.monotonic() - started)
    report.note(f"{machine.cpu_seconds():.1f} s of processor time")


def chosen_cases(plan):
    chosen = re.compile(os.environ.get("TESTBRIDGE_TEST_ONLY", ""))
    return [case for case in plan["cases"] if chosen.search(case["name"])]


def load_case(module):
    """Loading a module, as a case; `loads` is its file."""
    file = os.path.basename(module)
    name = re.sub(r"\W", "_", file[: -len(".ko")])
    return dict(
        name=f"insmod_{name}", command=f"insmod {module}", seconds=LOAD_SECONDS, gtest=False, allow="", loads=file
    )


def leave(pending, why, report):
    """What will not be run of that; loading a module is not worth a word."""
    for case in pending:
        if "loads" not in case:
            report.not_run(case["name"], why)


def run_plan(plan, machine, report):
    runner = Runner(machine, report)
    pending = [load_case(module) for module in plan["modules"]] + chosen_cases(plan)
    if kernel_info(KERNEL_INFO).get("kcsan"):
        pending.insert(0, dict(name="kcsan_on", command=KCSAN_ON, seconds=20, gtest=False, allow=""))
    last = [
        dict(name=name, command=command, seconds=s, gtest=False, allow="") for name, command, s in machine.last_cases
    ]
    pending += last
    try:
        while pending:
            good = runner.run(pending[0])
            case = pending.pop(0)
            if case.get("loads") and not good:
                leave([other for other in pending if other not in last], f"{case['loads']} does not load", report)
                pending = list(last)
        machine.shut_down(20)
    except GuestError as error:
        hung = machine.process.poll() is None
        if hung:
            machine.trace()
        log = f"\nkernel's log:\n{tail(machine.console(), 60)}"
        case = pending.pop(0) if pending else dict(name="shutdown")
        if case.get("loads") and isinstance(error, TooSlow):
            report.not_ready(f"loading {case['loads']} did not finish within {within(LOAD_SECONDS) + GRACE:g} s", log)
            leave(pending, "the guest was not ready", report)
        else:
            report.add("guest", case["name"], 0, f"{error}{log}")
            leave(pending, "the guest was lost before", report)
    outside, races = kernel_log.take_races(kernel_log.split(machine.console())[None])
    races = kernel_log.races(races, runner.argued)
    found = kernel_log.findings(outside)
    # Boot, and what was logged between two cases.
    early = kernel_log.findings(read(os.path.join(machine.share, "dmesg")).split("\n"))
    report.add("guest", "kernel_log", 0, "\n".join(found or early or races))


def execute(plan, report):
    """Boots, runs the plan, ends the guest; everything that happens is in the report."""
    machine = None
    try:
        kind = UmlMachine if kernel_info(KERNEL_INFO).get("arch") == "um" else QemuMachine
        machine = kind(
            os.path.realpath(VMLINUX),
            os.path.realpath(INITRD),
            cards=plan["cards"],
            cpus=plan["cpus"],
            memory=plan["memory"],
            parallel=plan.get("parallel", False),
            kernel_options=plan.get("kernel_options", ""),
        )
        boot(machine, plan, report)
    except (GuestError, RuntimeError) as error:
        if isinstance(error, TooSlow):
            report.not_ready(str(error))
        else:
            report.add("guest", "start", 0, str(error))
        leave(chosen_cases(plan), "the guest was not ready", report)
    else:
        run_plan(plan, machine, report)
    finally:
        if machine is not None:
            report.machine_ends(machine)
            machine.close()


def main():
    # So that QEMU and cards end, and their files go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    absent = kernel_info(KERNEL_INFO).get("absent")
    if absent:
        print(f"SKIPPED: {absent}")
        return 0
    report = Report()
    execute(plan, report)
    report.write()
    print(f"{report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
