# SPDX-License-Identifier: Apache-2.0
"""What the cases of a run came to, and the verdict."""

import dataclasses
import re

from tests.driver_kit import cases
from tests.guest import run_guest

VERDICTS = ("passed", "failed", "skipped", "not run")
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
    again: list = dataclasses.field(default_factory=list)  # names for --case that repeat it
    is_case: bool = True
    log: list = dataclasses.field(default_factory=list)
    output: str = ""
    not_run: str = ""  # why it never began

    @property
    def verdict(self):
        if self.failure:
            return "failed"
        return "not run" if self.not_run else "skipped" if self.skipped else "passed"


class GroupReport(run_guest.Report):
    """Collects the results of one boot."""

    multiplies = "--time-factor X multiplies"

    def __init__(self, group, progress, keep_logs=None, tests=None, again=None):
        """`keep_logs(group, machine, outputs)` is called before the machine's files go; `tests`: {case: names of its
        chosen tests, or None where it has none}; `again`: of cases.again()."""
        super().__init__()
        self.results = []
        self.lost = None  # the result because of which nothing could be tested, if so
        self._tests = tests or {}
        self._again = again or {}
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
        self.results.append(Result(whole, seconds, failure, skipped, self._again.get(case, [case]), not of_boot))
        if failure and of_boot and (name in ("boot", "start") or name == "insmod_heddle"):
            self.lost = self.results[-1]

    def not_ready(self, why, log=""):
        why = f"{why}; {self.multiplies} all time limits"
        again = self._again.get(self._group, [self._group])
        self.lost = Result(f"{self._group}.start", 0, not_run=why, again=again, is_case=False)
        self.results.append(self.lost)

    def not_run(self, name, why):
        whole = f"{self._group}.{name}"
        self.results += not_run(whole, self._tests.get(name), why)
        self._progress.leave([whole])

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
            if (result.failure or result is self.lost) and not result.log:
                result.log = run_guest.tail(machine.console(), LOG_LINES).split("\n")
        if self._keep_logs:
            self._keep_logs(self._group, machine, self._outputs)


def not_run(case, tests, why):
    """Results of GROUP.CASE, each of its tests (None: it has none) counts."""
    return [Result(name, 0, again=[name], not_run=why) for name in cases.full_names(case, tests)]


class Verdict:
    """Of all groups. `lost`: one sentence why nothing could be tested, or ""."""

    def __init__(self, driver, release):
        self.results = []
        self.lost = ""
        self._driver = driver
        self._release = release

    def take(self, report):
        """The results of a group; whether the others make sense."""
        ran_before = any(result.verdict in ("passed", "failed") for result in self.results if result.is_case)
        self.results += report.results
        if report.lost and not ran_before:
            first = report.lost
            if first.not_run:
                self.lost = f"{self._driver} was not tested in {self._release}: {first.not_run}"
            elif first.name.endswith(".insmod_heddle"):
                said = [line for line in first.log if "heddle" in line and "heddle-guest:" not in line]
                why = TIME_STAMP.sub("", said[-1]) if said else first.failure.split("\n")[-1]
                self.lost = f"{self._driver} does not load in {self._release}: {why.strip()}"
            else:
                self.lost = f"the kernel {self._release} does not reach the tests: {first.failure.splitlines()[0]}"
        return not self.lost

    def skip(self, names, why):
        self.results += [Result(name, 0, skipped=why, again=[name]) for name in names]

    def leave(self, case, tests, why):
        """It will not be run: GROUP.CASE with these tests (None: it has none)."""
        self.results += not_run(case, tests, why)

    def counts(self):
        """{of VERDICTS: number}: of the cases, and of what went wrong apart from them."""
        found = dict.fromkeys(VERDICTS, 0)
        for result in self.results:
            if result.is_case or result.failure:
                found[result.verdict] += 1
        return found

    @property
    def code(self):
        counts = self.counts()
        if self.lost or counts["passed"] + counts["failed"] == 0:
            return 3
        if counts["failed"]:
            return 1
        return 3 if counts["not run"] else 0

    @property
    def sentence(self):
        counts = self.counts()
        said = ", ".join(f"{number} {word}" for word, number in counts.items() if number or word != "not run")
        if self.lost:
            return f"{self.lost} ({counts['not run']} not run)"
        if counts["passed"] + counts["failed"] == 0:
            return f"no case ran ({said})"
        what = {0: "passes", 1: "does not pass", 3: "was not tested completely"}[self.code]
        return f"{self._driver} {what} in {self._release}: {said}"
