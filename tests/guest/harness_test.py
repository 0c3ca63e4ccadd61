# SPDX-License-Identifier: Apache-2.0
"""Nothing bad passes: one boot with cases that fail in every way there is, the last one a panic."""

import contextlib
import io
import os
import tempfile
import unittest
import unittest.mock

from tests.guest import run_guest
from tests.guest.limits import within
from tests.guest.machine import TooSlow, kernel_info

WARNING = "echo 'WARNING: CPU: 0 PID: 1 at here' >/dev/kmsg"


def case(name, command, seconds=20, gtest=False, allow=""):
    return dict(name=name, command=command, seconds=seconds, gtest=gtest, allow=allow)


class HarnessTest(unittest.TestCase):
    def setUp(self):
        kernel = kernel_info(run_guest.KERNEL_INFO)
        absent = kernel.get("absent")
        if absent:
            print(f"SKIPPED: {absent}")
            self.skipTest(absent)
        if kernel.get("arch") == "um":
            self.panic = ("linux ended with -6", "sysrq triggered crash")
        else:
            self.panic = ("QEMU ended with 0", "sysrq_handle_crash")

    def run_plan(self, plan, report):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            run_guest.execute(plan, report)
        # Indented: what is skipped in there is not skipped here.
        print("".join(f"| {line}\n" for line in said.getvalue().split("\n")))

    def run_cases(self, cases, cards=()):
        report = run_guest.Report()
        plan = dict(cards=list(cards), cpus=1, memory="512M", env={"COLOUR": "o'range"}, modules=[], cases=cases)
        self.run_plan(plan, report)
        self.assertEqual(report.failed, sum(bool(failure) for _, _, failure, _ in report.entries))
        self.seconds = {name: seconds for name, seconds, _, _ in report.entries}
        return {name: (failure, skipped) for name, _, failure, skipped in report.entries}

    def test_failures_are_failures(self):
        results = self.run_cases(
            [
                case("good", 'test "$COLOUR" = "o\'range" && test "$(id -u)" = 0'),
                case("code", "echo some output; exit 3"),
                case("warning", WARNING),
                case("allowed", WARNING, allow="at here"),
                case("slow", "sleep 60", seconds=1),
                case("stubborn", "trap '' TERM; while :; do sleep 1; done", seconds=1),
                case("clock", "sleep 2"),
                case("left_behind", "setsid sleep 60 &"),
                case("skipped", "echo SKIPPED: not today"),
                case("no_report", "true", gtest=True),
                case("not_there", "tests/guest/no_such_program"),
                case("read_only", "touch /etc/hostname && test \"$(cat /run/heddle/ready)\" = ''"),
                case("panic", "echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger; sleep 10"),
                case("after", "true"),
            ]
        )
        for good in ("boot", "good", "warning", "allowed", "clock", "left_behind", "read_only"):
            self.assertEqual(results[f"guest.{good}"], ("", ""), good)
        for bad, text in [
            ("guest.code", "exit code 3"),
            ("guest.code", "some output"),
            ("warning.kernel_log", "at here"),
            ("guest.slow", f"still ran after {within(1):g} s"),
            ("guest.stubborn", f"still ran after {within(1):g} s"),
            ("guest.no_report", "wrote no report"),
            ("guest.not_there", "exit code 127"),
            ("guest.panic", self.panic[0]),
            ("guest.panic", self.panic[1]),
            ("guest.after", "not run"),
        ]:
            self.assertIn(text, results[bad][0], bad)
        self.assertNotIn("allowed.kernel_log", results)
        self.assertGreater(self.seconds["guest.clock"], 1.9)
        self.assertEqual(results["guest.skipped"], ("", "not today"))

    def test_a_card_that_does_not_start(self):
        results = self.run_cases([case("good", "true")], cards=["--memory 1K"])
        self.assertIn("--memory", results["guest.start"][0])

    def test_a_machine_that_does_not_start(self):
        report = run_guest.Report()
        run_guest.execute(dict(cards=[], cpus=1, memory="nothing", env={}, modules=[], cases=[]), report)
        self.assertEqual([name for name, _, failure, _ in report.entries if failure], ["guest.start"])

    def test_the_time_factor_multiplies_the_limit_of_booting(self):
        waited = []

        class Machine(run_guest.QemuMachine):
            """Never ready."""

            def __init__(self, *_, **__):
                self.share = self.folder = "/nowhere"

            def set_environment(self, variables, folder):
                pass

            def wait_for(self, name, seconds):
                waited.append((name, seconds))
                raise TooSlow(f"no {name}")

            def close(self):
                pass

        report = run_guest.Report()
        with unittest.mock.patch.multiple(run_guest, QemuMachine=Machine, UmlMachine=Machine), unittest.mock.patch.dict(
            os.environ, HEDDLE_TEST_TIME_FACTOR="6"
        ):
            self.run_plan(dict(cards=[], cpus=1, memory="1G", env={}, modules=[], cases=[]), report)
        self.assertEqual(waited, [("ready", 900)])
        self.assertEqual([name for name, _, failure, _ in report.entries if failure], ["guest.start"])
        self.assertIn("the kernel did not boot within 900 s; ", report.entries[0][2])
        self.assertIn("HEDDLE_TEST_TIME_FACTOR", report.entries[0][2])

    def load(self, script):
        """The failures if loading heddle.ko takes this script."""
        modules = [f"/nowhere; {script} #/heddle.ko", "/nowhere/other.ko"]  # words of a shell, after insmod
        plan = dict(cards=[], cpus=1, memory="512M", env={}, modules=modules, cases=[case("good", "true")])
        report = run_guest.Report()
        self.run_plan(plan, report)
        return {name: failure for name, _, failure, _ in report.entries if failure}

    def test_a_module_that_takes_too_long_is_not_one_that_does_not_load(self):
        with unittest.mock.patch.multiple(run_guest, LOAD_SECONDS=1, GRACE=1):
            failures = self.load("sleep 600")
        self.assertEqual(list(failures), ["guest.start", "guest.good"])
        self.assertIn(f"loading heddle.ko did not finish within {within(1) + 1:g} s; ", failures["guest.start"])
        self.assertEqual(failures["guest.good"], "not run: the guest was not ready")
        failures = self.load("exit 3")
        self.assertEqual(list(failures), ["guest.insmod_heddle", "guest.good"])
        self.assertEqual(failures["guest.good"], "not run: heddle.ko does not load")

    def test_a_module_that_kills_the_guest_does_not_load(self):
        failures = self.load("echo 1 >/proc/sys/kernel/sysrq; echo c >/proc/sysrq-trigger; sleep 600")
        self.assertEqual(list(failures), ["guest.insmod_heddle", "guest.good"])
        self.assertIn(self.panic[0], failures["guest.insmod_heddle"])

    def test_skips_of_googletest_are_skips(self):
        report = run_guest.Report()
        with tempfile.NamedTemporaryFile("w", dir=os.environ.get("TEST_TMPDIR")) as file:
            file.write(
                '<testsuites><testsuite><testcase name="a" classname="S" status="run">'
                '<skipped message="a.cc:3&#10;not today"/></testcase></testsuite></testsuites>'
            )
            file.flush()
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(report.add_gtest("case", file.name), 0)
        self.assertEqual(report.entries, [("case.S.a", 0.0, "", "not today")])


if __name__ == "__main__":
    unittest.main()
