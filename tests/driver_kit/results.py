# SPDX-License-Identifier: Apache-2.0
"""What the cases of a run came to, and the verdict."""

import dataclasses
import re

from tests.guest import run_guest

LOG_LINES = 40  # of the kernel's log, at a failure
OUTPUT_LINES = 60
TIME_STAMP = re.compile(r"^\[ *[\d.]+\] ")
# What is reported of every boot, and is no case of its own.
OF_THE_BOOT = re.compile(r"boot|start|shutdown|kernel_log|insmod_\w+|kcsan_on")


@dataclasses.dataclass
class Result:
    name: str  # GROUP.CASE[.SUITE.TEST]
    seconds: float
    failure: str = ""
    skipped: str = ""
    case: str = ""  # what --case takes to repeat it
    is_case: bool = True
    log: list = dataclasses.field(default_factory=list)
    output: str = ""

    @property
    def verdict(self):
        return "failed" if self.failure else "skipped" if self.skipped else "passed"


class GroupReport(run_guest.Report):
    """Collects the results of one boot."""

    multiplies = "--time-factor X multiplies"

    def __init__(self, group, progress, keep_logs=None):
        """`keep_logs(group, machine, outputs)` is called before the machine's files go."""
        super().__init__()
        self.results = []
        self.lost = ""  # why nothing could be tested, if so
        self._group = group
        self._progress = progress
        self._keep_logs = keep_logs
        self._unended = 0  # first result of the case that runs
        self._outputs = {}

    def add(self, suite, name, seconds, failure="", skipped=""):
        of_boot = suite == "guest" and OF_THE_BOOT.fullmatch(name)
        whole = f"{self._group}.{name}" if suite == "guest" else f"{self._group}.{suite}.{name}"
        case = self._group if of_boot else whole
        if suite != "guest" and name in ("kernel_log", "program"):
            case = f"{self._group}.{suite}"
        self.failed += bool(failure)
        self.results.append(Result(whole, seconds, failure, skipped, case, not of_boot))
        if failure and of_boot and (name in ("boot", "start") or name == "insmod_heddle"):
            self.lost = name

    def case_begins(self, case, machine, number):
        self._unended = len(self.results)
        self._progress.begin(f"{self._group}.{case['name']}", f"{machine.share}/out/{number}.out")

    def case_ended(self, case, log, output):
        self._outputs[case["name"]] = output
        for result in self.results[self._unended :]:
            if result.failure:
                result.log = log[-LOG_LINES:]
                result.output = run_guest.tail(output, OUTPUT_LINES)
        self._progress.end(f"{self._group}.{case['name']}")

    def say(self, case, output):
        pass

    def note(self, text):
        pass

    def machine_ends(self, machine):
        for result in self.results:
            if result.failure and not result.log:
                result.log = run_guest.tail(machine.console(), LOG_LINES).split("\n")
        if self._keep_logs:
            self._keep_logs(self._group, machine, self._outputs)


class Verdict:
    """Of all groups. `lost`: one sentence why nothing could be tested, or ""."""

    def __init__(self, driver, release):
        self.results = []
        self.lost = ""
        self._driver = driver
        self._release = release

    def take(self, report):
        """The results of a group; whether the others make sense."""
        ran_before = any(result.is_case for result in self.results)
        self.results += report.results
        if report.lost and not ran_before:
            first = next(result for result in report.results if result.failure)
            if report.lost == "insmod_heddle":
                said = [line for line in first.log if "heddle" in line and "heddle-guest:" not in line]
                why = TIME_STAMP.sub("", said[-1]) if said else first.failure.split("\n")[-1]
                self.lost = f"{self._driver} does not load in {self._release}: {why.strip()}"
            else:
                self.lost = f"the kernel {self._release} does not reach the tests: {first.failure.splitlines()[0]}"
            for result in report.results:
                if result.is_case and result.failure:  # not the cases' fault
                    result.failure, result.skipped, result.log = "", f"not run: {self.lost}", []
        return not self.lost

    def skip(self, names, why):
        self.results += [Result(name, 0, skipped=why, case=name) for name in names]

    def counts(self):
        """{"passed", "failed", "skipped"}: of the cases, and of what went wrong apart from them."""
        found = dict(passed=0, failed=0, skipped=0)
        for result in self.results:
            if result.is_case or result.failure:
                found[result.verdict] += 1
        return found

    @property
    def code(self):
        counts = self.counts()
        if self.lost or counts["passed"] + counts["failed"] == 0:
            return 3
        return 1 if counts["failed"] else 0

    @property
    def sentence(self):
        if self.lost:
            return self.lost
        counts = self.counts()
        said = ", ".join(f"{number} {word}" for word, number in counts.items())
        if self.code == 3:
            return f"no case ran ({said})"
        return f"{self._driver} {'passes' if self.code == 0 else 'does not pass'} in {self._release}: {said}"
