# SPDX-License-Identifier: Apache-2.0
"""heddle-driver-tests without a guest: names, plans, verdicts, reports, exit codes, and that its files are complete."""

import contextlib
import importlib
import io
import json
import lzma
import os
import re
import struct
import sys
import tempfile
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

from tests.driver_kit import cases, colour, kernel, kit, page, write_manifest
from tests.driver_kit.progress import Progress
from tests.driver_kit.results import GroupReport, Verdict
from tools.dev import stage

ROOT = os.path.abspath("tests/driver_kit/driver-tests")
launcher = importlib.import_module("tests.driver_kit.launcher")


def case(name, command="true", gtest=False, **more):
    return dict(name=name, command=command, seconds=30, gtest=gtest, allow="", needs="", **more)


def entry(*plan_cases, cards=("",), modules=("kmd/heddle.ko",), optional=False):
    return dict(plan=dict(cards=list(cards), cases=list(plan_cases), modules=list(modules), env={}), optional=optional)


class NamesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.makedirs(self.folder.name + "/tests")
        program = self.folder.name + "/tests/a_gtest"
        with open(program, "w", encoding="utf-8") as file:
            said = "Running main()|A.|  One|  Two  # GetParam() = 3|  DISABLED_Three|B.|  One"
            file.write(f"#!/bin/sh\necho '{said}' | tr '|' '\\n'\n")
        os.chmod(program, 0o755)
        self.groups = {
            "one": entry(case("plain"), case("all", "tests/a_gtest", True), cards=("--memory 64M",)),
            "two": entry(case("some", "rmmod x && insmod kmd/heddle.ko && tests/a_gtest --gtest_filter=A.*", True)),
            "slow": entry(case("whole", "tests/a.sh tests/a_gtest", True), optional=True),
        }

    def choose(self, *wanted, rtl=False):
        return cases.choose(self.groups, cases.names(self.groups, self.folder.name), list(wanted), rtl)

    def test_programs_are_asked_for_their_tests(self):
        self.assertEqual(
            cases.names(self.groups, self.folder.name)["one"], {"plain": None, "all": ["A.One", "A.Two", "B.One"]}
        )
        self.assertIsNone(cases.names(self.groups, self.folder.name)["slow"]["whole"])

    def test_without_a_name_all_run_but_optional_ones(self):
        self.assertEqual(self.choose(), {"one": {"plain": None, "all": None}, "two": {"some": None}})
        self.assertIn("slow", self.choose(rtl=True))
        self.assertIn("slow", self.choose("slow"))

    def test_a_name_means_all_that_lies_below(self):
        self.assertEqual(self.choose("one"), {"one": {"plain": None, "all": None}})
        self.assertEqual(self.choose("one.all.A"), {"one": {"all": ["A.One", "A.Two"]}})
        self.assertEqual(self.choose("one.all.B.One", "one.plain"), {"one": {"all": ["B.One"], "plain": None}})
        self.assertEqual(self.choose("one.all.*.One"), {"one": {"all": ["A.One", "B.One"]}})
        self.assertEqual(self.choose("one.all.A", "one.all"), {"one": {"all": None}})

    def test_what_repeats_a_case_has_no_more_than_was_chosen(self):
        def again(*wanted):
            return cases.again("one", dict(plain=None, all=["A.One", "A.Two", "B.One"]), list(wanted))

        whole = {"one.plain": ["one.plain"], "one.all": ["one.all"]}
        self.assertEqual(again(), whole | {"one": ["one"]})
        self.assertEqual(again("one"), whole | {"one": ["one"]})
        self.assertEqual(again("one.plain", "two"), whole | {"one": ["one.plain"]})
        chosen = ["one.all.A", "one.all.*.One"]
        self.assertEqual(again(*chosen, "two"), whole | {"one.all": chosen, "one": chosen})
        self.assertEqual(
            again("one.plain", "one.all.B"), whole | {"one.all": ["one.all.B"], "one": ["one.plain", "one.all.B"]}
        )
        report = GroupReport("one", Progress({}, {}, 1, quiet=True), again=again(*chosen))
        report.add("guest", "start", 0, "the guest is dead")
        report.not_ready("loading did not finish")
        report.add("all", "kernel_log", 0, "WARNING")
        report.add("all.A", "One", 0, "it is 1")
        self.assertEqual([result.again for result in report.results], [chosen, chosen, chosen, ["one.all.A.One"]])
        verdict = Verdict("heddle.ko", "6.1.0")
        verdict.take(report)
        repeat = page.describe(verdict, {}, ["kit"], 1)["cases"][0]["repeat"]
        self.assertEqual(repeat, "kit --case one.all.A --case 'one.all.*.One'")

    def test_a_name_that_is_none_is_an_error_that_has_the_groups(self):
        with self.assertRaisesRegex(cases.CaseError, "no case 'one.al'.*one, two, slow"):
            self.choose("one.al")

    def test_a_name_that_is_none_has_those_that_may_be_meant(self):
        for word, meant in (
            ("one.all.A.Onne", "one.all.A.One, one.all.B.One, one.all.A"),
            ("one.al.A", "one.all.A"),
            ("A.Two", "one.all.A.Two"),
            ("B", "one.all.B"),
            ("on", "one"),
        ):
            with self.subTest(word), self.assertRaises(cases.CaseError) as said:
                self.choose(word)
            self.assertIn(f"there is no case '{word}'; did you mean {meant}", str(said.exception))
        with self.assertRaisesRegex(cases.CaseError, "no case 'qqqq'; --list"):
            self.choose("qqqq")

    def test_plans_have_what_was_chosen(self):
        plan, impossible = cases.plan(self.groups["one"], {"all": ["A.One", "B.One"]}, "h512", 60, {})
        self.assertEqual([c["command"] for c in plan["cases"]], ["tests/a_gtest --gtest_filter=A.One:B.One"])
        self.assertEqual(plan["cards"], ["--memory 64M --config h512"])
        self.assertEqual(impossible, [])
        plan, _ = cases.plan(self.groups["two"], {"some": ["A.Two"]}, "h256", 60, {})
        self.assertTrue(plan["cases"][0]["command"].endswith("tests/a_gtest --gtest_filter=A.Two"))

    def test_random_calls_take_the_time_that_is_asked_for(self):
        fuzz = entry(case("fuzz", "fuzz --seconds ${HEDDLE_FUZZ_SECONDS:-60}"))
        plan, _ = cases.plan(fuzz, {"fuzz": None}, "h256", 3600, {})
        self.assertEqual((plan["env"]["HEDDLE_FUZZ_SECONDS"], plan["cases"][0]["seconds"]), ("3600", 3630))

    def test_a_case_whose_module_is_missing_is_not_in_the_plan(self):
        group = entry(case("sleep") | {"needs": "awake.ko"}, case("other"), modules=("a/awake.ko", "kmd/heddle.ko"))
        plan, impossible = cases.plan(group, {"sleep": None, "other": None}, "h256", 60, {"awake.ko": "no headers"})
        self.assertEqual(([c["name"] for c in plan["cases"]], plan["modules"]), (["other"], ["kmd/heddle.ko"]))
        self.assertEqual(impossible, [("sleep", "no headers")])

    def test_a_filter_loses_what_the_kit_has_not(self):
        self.assertEqual(write_manifest.without("a --gtest_filter=B:C", ["C"]), "a --gtest_filter=B")
        with self.assertRaises(SystemExit):
            write_manifest.without("a --gtest_filter=C", ["C"])


class Machine:
    share = "/nowhere"
    folder = "/nowhere"

    def console(self):
        return "the console's last line"

    def log(self):
        return ""


class VerdictTest(unittest.TestCase):
    def run_group(self, *entries, log=("[    1.5] heddle: version magic is wrong",), not_run=()):
        """`entries`: (suite, name, failure, skipped), as run_guest.py reports them; the last one is a case's."""
        progress = Progress({}, {}, 1, quiet=True)
        report = GroupReport("uapi", progress, tests={"uapi": ["A.One", "A.Two"], "plain": None})
        for suite, name, failure, skipped in entries:
            report.case_begins(dict(name=name), Machine(), 0)
            report.add(suite, name, 1.5, failure, skipped)
            report.case_ended(dict(name=name), list(log), "output of the case")
        for name in not_run:
            report.not_run(name, "heddle.ko does not load")
        report.machine_ends(Machine())
        verdict = Verdict("heddle.ko", "6.1.0")
        verdict.take(report)
        return verdict

    def test_all_is_well(self):
        verdict = self.run_group(
            ("guest", "boot", "", ""), ("uapi.BoTest", "IsZero", "", ""), ("guest", "plain", "", "")
        )
        self.assertEqual((verdict.code, verdict.counts()), (0, {"passed": 2, "failed": 0, "skipped": 0, "not run": 0}))
        self.assertEqual(verdict.sentence, "heddle.ko passes in 6.1.0: 2 passed, 0 failed, 0 skipped")
        self.assertEqual(verdict.results[1].name, "uapi.uapi.BoTest.IsZero")

    def test_verdicts_have_colour_where_it_is_wanted(self):
        verdict = self.run_group(
            ("uapi.A", "One", "", ""), ("uapi.A", "Two", "it is 1", ""), ("uapi.A", "Three", "", "not today")
        )
        plain = "uapi       1 passed, 1 failed, 1 skipped, 4 s"
        self.assertEqual(kit.group_line("uapi", verdict.results, False), plain)
        bright = "uapi       \033[1;32m1 passed\033[0m, \033[1;31m1 failed\033[0m, \033[1;33m1 skipped\033[0m, 4 s"
        self.assertEqual(kit.group_line("uapi", verdict.results, True), bright)
        self.assertEqual(kit.group_line("uapi", [], True), "uapi       0 passed, 0 s")
        said = {}
        for on in (False, True):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                kit.tell(page.describe(verdict, {}, ["kit"], 1), on)
            said[on] = out.getvalue()
        self.assertNotIn("\033", said[False])
        self.assertEqual(re.sub(r"\033\[[\d;]*m", "", said[True]), said[False])
        for words in ("1;33mskipped", "1;31mFAILED", "1;31mheddle.ko does not pass"):
            self.assertIn(f"\033[{words}", said[True])

    def test_only_terminals_that_can_have_colour(self):
        leader, terminal = os.openpty()
        self.addCleanup(os.close, leader)
        with os.fdopen(terminal, "w") as stream:
            for variables, expected in (
                ({"TERM": "xterm"}, True),
                ({"TERM": "xterm", "NO_COLOR": ""}, True),
                ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                ({"TERM": "dumb"}, False),
                ({"TERM": ""}, False),
                ({}, False),
            ):
                with unittest.mock.patch.dict(os.environ, variables, clear=True):
                    self.assertEqual(colour.has_colour(stream), expected, variables)
                    self.assertFalse(colour.has_colour(io.StringIO()))

    def test_a_failure_has_its_log_and_its_command(self):
        verdict = self.run_group(("guest", "boot", "", ""), ("uapi.BoTest", "IsZero", "it is 1", ""))
        self.assertEqual(verdict.code, 1)
        report = page.describe(verdict, {}, ["heddle-driver-tests", "--module", "a b"], 1)
        failed = report["cases"][1]
        self.assertEqual(failed["kernel_log"], ["[    1.5] heddle: version magic is wrong"])
        self.assertEqual(failed["repeat"], "heddle-driver-tests --module 'a b' --case uapi.uapi.BoTest.IsZero")

    def test_the_kernels_own_complaints_repeat_the_whole_case(self):
        verdict = self.run_group(("uapi", "kernel_log", "WARNING", ""), ("uapi.A", "B", "", ""))
        self.assertEqual((verdict.code, verdict.results[0].again), (1, ["uapi.uapi"]))

    def test_nothing_ran_is_no_success(self):
        self.assertEqual(self.run_group(("guest", "boot", "", "")).code, 3)
        only_skipped = self.run_group(("guest", "boot", "", ""), ("guest", "plain", "", "not today"))
        self.assertEqual(only_skipped.code, 3)
        self.assertIn("no case ran", only_skipped.sentence)
        self.assertEqual(Verdict("heddle.ko", "6.1.0").code, 3)

    def test_a_module_that_does_not_load_is_one_sentence(self):
        verdict = self.run_group(
            ("guest", "boot", "", ""), ("guest", "insmod_heddle", "exit code 1", ""), not_run=("uapi", "plain")
        )
        self.assertEqual(verdict.code, 3)
        self.assertEqual(
            verdict.sentence, "heddle.ko does not load in 6.1.0: heddle: version magic is wrong (3 not run)"
        )
        self.assertEqual([result.name for result in verdict.results if result.failure], ["uapi.insmod_heddle"])

    def test_a_kernel_that_does_not_boot_is_one_sentence(self):
        verdict = self.run_group(("guest", "start", "no ready after 150 s\nmore", ""), ("guest", "plain", "", ""))
        self.assertEqual(verdict.code, 3)
        self.assertIn("6.1.0 does not reach the tests: no ready after 150 s", verdict.sentence)

    def late_load(self, groups):
        """The verdict if loading takes too long in the last one of the groups; in the others all is well."""
        verdict = Verdict("heddle.ko", "6.1.0")
        for group in groups:
            report = GroupReport(
                group, Progress({}, {}, 1, quiet=True), tests={"uapi": ["A.One", "A.Two"], "cts": None}
            )
            report.add("guest", "boot", 1)
            if group == groups[-1]:
                report.not_ready("loading heddle.ko did not finish within 30 s")
                for name in ("uapi", "cts"):
                    report.not_run(name, "the guest was not ready")
                report.machine_ends(Machine())
            else:
                report.add("guest", "plain", 1)
            verdict.take(report)
        return verdict

    def test_a_load_that_takes_too_long_is_no_failure_of_the_driver(self):
        for groups, sentence in (
            (
                ["uapi"],
                "heddle.ko was not tested in 6.1.0: loading heddle.ko did not finish within 30 s; "
                "--time-factor X multiplies all time limits (3 not run)",
            ),
            (
                ["driver", "uapi"],
                "heddle.ko was not tested completely in 6.1.0: 1 passed, 0 failed, 0 skipped, 3 not run",
            ),
        ):
            with self.subTest(groups):
                verdict = self.late_load(groups)
                self.assertEqual((verdict.code, verdict.sentence), (3, sentence))
                self.assertEqual(verdict.counts()["not run"], 3)
                report = page.describe(verdict, {}, ["kit"], 1)
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    kit.tell(report, False)
                for words in (
                    "not ready  uapi.start: loading heddle.ko did not finish within 30 s; --time-factor X",
                    "the console's last line",
                    "not run uapi, 3 cases: the guest was not ready",
                ):
                    self.assertIn(words, out.getvalue())
                self.assertNotIn("FAILED", out.getvalue())
                self.assertIn(">Not run: 3<", page.as_html(report))
                junit = page.as_junit(report)
                self.assertIn('name="uapi.A.Two"', junit)
                self.assertIn('message="not run: the guest was not ready"', junit)
                self.assertNotIn("<failure", junit)
                self.assertNotIn("uapi.uapi", report["seconds"])

    def test_failures_count_more_than_what_was_not_run(self):
        verdict = self.run_group(("guest", "boot", "", ""), ("uapi.A", "One", "it is 1", ""), not_run=["plain"])
        self.assertEqual(verdict.code, 1)
        self.assertEqual(verdict.sentence, "heddle.ko does not pass in 6.1.0: 0 passed, 1 failed, 0 skipped, 1 not run")
        self.assertEqual(
            kit.group_line("uapi", verdict.results, False), "uapi       0 passed, 1 failed, 1 not run, 3 s"
        )

    def test_what_is_lost_later_is_a_failure_like_others(self):
        verdict = self.run_group(("guest", "boot", "", ""), ("guest", "plain", "", ""))
        report = GroupReport("faults", Progress({}, {}, 1, quiet=True))
        report.add("guest", "start", 0, "the guest is dead")
        self.assertTrue(verdict.take(report))
        self.assertEqual(verdict.code, 1)

    def test_reports_say_the_same(self):
        verdict = self.run_group(
            ("guest", "boot", "", ""),
            ("uapi.A", "Good", "", ""),
            ("uapi.A", "Bad", "1 < 2 & \x01", ""),
            ("guest", "off", "", "why"),
        )
        report = page.describe(verdict, {"Kernel": "<6.1>"}, ["heddle-driver-tests"], 4.5)
        self.assertEqual(
            json.loads(page.as_json(report))["counts"], {"passed": 1, "failed": 1, "skipped": 1, "not run": 0}
        )
        self.assertEqual(report["seconds"], {"uapi.uapi": 3.0, "boot": 1.5})
        suite = xml.fromstring(page.as_junit(report)[page.as_junit(report).index("<testsuites") :]).find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("skipped")), ("4", "1", "1"))
        self.assertIn("Again: heddle-driver-tests --case uapi.uapi.A.Bad", suite.findall(".//failure")[0].text)
        text = page.as_html(report)
        for part in (
            "&lt;6.1&gt;",
            "1 &lt; 2 &amp;",
            "uapi.uapi.A.Good",
            "output of the case",
            "--case uapi.uapi.A.Bad",
        ):
            self.assertIn(part, text)
        self.assertNotIn("<script", text)


class ProgressTest(unittest.TestCase):
    def test_the_rest_is_what_is_left(self):
        progress = Progress({"a.a": 3, "a.b": 1}, {"a.a": 60, "a.b": 20, "boot": 5}, 1, quiet=True)
        whole = progress.remaining()
        self.assertTrue(60 < whole < 110, whole)
        progress.begin("a.boot", "")
        progress.begin("a.a", "")
        progress.end("a.a")
        self.assertTrue(progress.remaining() < 30)
        self.assertIn("[3 of 4]", progress.line())
        progress.leave(["a.b"])
        self.assertEqual(progress.remaining(), 0)

    def run_slowly(self, factor):
        """For each second of a run on a machine that takes `factor` times as long: (line, rest as estimated, true rest)."""
        said, now = [], [0.0]
        expected = {"a.a": 30, "a.b": 10, "b.a": 20, "b.b": 40}
        with unittest.mock.patch("time.monotonic", lambda: now[0]):
            progress = Progress(dict.fromkeys(expected, 1), expected | {"boot": 4}, 2, quiet=True)

            def take(seconds):
                for _ in range(int(seconds * factor)):
                    said.append((now[0], progress.line(), progress.remaining()))
                    now[0] += 1

            for group in "ab":
                take(2)
                progress.begin(f"{group}.insmod_heddle", "")
                take(2)
                progress.end(f"{group}.insmod_heddle")
                for case_, seconds in expected.items():
                    if case_.startswith(group):
                        progress.begin(case_, "")
                        take(seconds)
                        progress.end(case_)
        return [(line, rest, now[0] - second) for second, line, rest in said]

    def test_it_promises_nothing_before_it_knows_the_machine(self):
        for factor in (1, 10):
            said = self.run_slowly(factor)
            for line, _, _ in said[: 4 * factor]:
                self.assertRegex(line, r"^\[0 of 4\] \d:\d\d: (boot|a\.insmod_heddle)$")
            promises = said[4 * factor :]
            for line, rest, truth in promises:
                self.assertRegex(line, r"^\[\d of 4\] \d+:\d\d, about \d+ (s|min) left: ")
                self.assertTrue(0.7 * truth - 10 < rest < 1.3 * truth + 10, (factor, line, rest, truth))
            ends = [now + rest for now, (_, rest, _) in enumerate(promises)]
            self.assertLess(max(ends), 1.3 * ends[0])


class KernelTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def make(self, data, modules="none"):
        path = os.path.join(self.folder.name, "image")
        with open(path, "wb") as file:
            file.write(data)
        return kernel.Kernel(path, modules, tempfile.mkdtemp(dir=self.folder.name))

    ELF = b"\x7fELF....Linux version %s\0Linux version 6.1.0-9-amd64 (debian@x) (gcc) #1\0"

    def test_a_vmlinux_tells_its_release(self):
        self.assertEqual(self.make(self.ELF).release, "6.1.0-9-amd64")

    def test_a_bzimage_is_unpacked(self):
        payload = lzma.compress(self.ELF, check=lzma.CHECK_CRC32) + struct.pack("<I", len(self.ELF))
        image = bytearray(1024)
        image[0x1F1] = 1
        image[0x202:0x206] = b"HdrS"
        struct.pack_into("<H", image, 0x206, 0x20F)
        struct.pack_into("<II", image, 0x248, 0, len(payload))
        made = self.make(bytes(image) + payload)
        self.assertEqual(made.release, "6.1.0-9-amd64")
        with open(made.info, encoding="utf-8") as file:
            self.assertIn("modules=none", file.read())

    def test_what_is_wrong_is_said(self):
        for data, modules, text in (
            (b"text", "none", "neither an x86 bzImage nor a vmlinux"),
            (b"\x7fELF nothing", "none", "not a Linux kernel"),
            (self.ELF, self.folder.name, "folder with lib/modules/6.1.0-9-amd64 .--modules DIR."),
        ):
            with self.assertRaisesRegex(kernel.KernelError, text):
                self.make(data, modules)

    def test_suspend_needs_a_build_tree(self):
        self.assertIn("--build-tree", self.make(self.ELF).build("/nowhere", "a.ko", None))
        with self.assertRaisesRegex(kernel.KernelError, "has no Makefile"):
            self.make(self.ELF).build("/nowhere", "a.ko", self.folder.name)


class CommandTest(unittest.TestCase):
    def call(self, *words):
        parser = launcher.make_parser()
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            code = kit.run(parser.parse_args(words), "/nowhere", ROOT, "0")
        return code, said.getvalue()

    def test_the_list_has_every_group_of_the_issue(self):
        code, said = self.call("--list")
        names = said.split()
        self.assertEqual(code, 0)
        self.assertGreater(len(names), 400)
        self.assertEqual(len(names), len(set(names)))
        for name in (
            "driver.hotplug",
            "uapi.uapi.OrderTest.PrioritiesAreObserved",
            "uapi.uapi.MemoryTest.NoneIsLeft",
            "faults.faults.Kmd/FaultTest.IsAsDocumented/lost_interrupt",
            "machine.sleep.SleepTest.WhoWaitsForAJobWaitsOn",
            "attack.attack.AttackTest.LongJobs",
            "fuzz.fuzz",
            "rtl.rtl.Driver.Digits",
        ):
            self.assertIn(name, names)
        self.assertNotIn("MnistTinyInt8", said)

    def test_a_wrong_command_line_ends_with_2(self):
        with tempfile.NamedTemporaryFile(suffix=".ko") as module:
            for words, text in (
                ([], "give --kernel and --module"),
                (["--kernel", "a"], "give --kernel and --module"),
                (["--kernel", "a", "--module", "b", "--report", "c.txt"], "must end with .html, .xml or .json"),
                (["--kernel", "a", "--module", "/nowhere/b.ko"], "no such file"),
                (["--kernel", "a", "--module", module.name], "not a kernel module"),
                (["--kernel", "a", "--module", module.name, "--case", "uapi.nothing"], "no case 'uapi.nothing'"),
            ):
                with self.subTest(words):
                    code, said = self.call(*words)
                    self.assertEqual((code, text in said), (2, True), said)

    def test_a_missing_kernel_is_a_wrong_command_line(self):
        with tempfile.NamedTemporaryFile(suffix=".ko") as module, tempfile.TemporaryDirectory() as folder:
            module.write(b"\x7fELF\0version=1\0name=heddle\0vermagic=x\0")
            module.flush()
            for path, text in (("/nowhere/vmlinuz", "no such file"), (folder, "not a file")):
                with self.subTest(path):
                    code, said = self.call("--kernel", path, "--module", module.name)
                    self.assertEqual((code, said), (2, f"heddle-driver-tests: error: --kernel {path}: {text}\n"))

    def test_a_case_that_is_none_has_the_names_that_are_like_it(self):
        with tempfile.NamedTemporaryFile(suffix=".ko") as module:
            code, said = self.call("--kernel", "a", "--module", module.name, "--case", "uapi.uapi.BoTst")
        self.assertEqual((code, "did you mean uapi.uapi.BoTest" in said), (2, True), said)

    def test_what_repeats_a_case_is_called_as_this_was(self):
        words = ["--kernel", "/k", "--module", "/m", "--time-factor", "6"]
        arguments = launcher.make_parser().parse(words)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, kit.PROGRAM)
            with open(program, "w", encoding="utf-8"):
                os.chmod(program, 0o755)
            for path, typed, expected in (
                ("/nowhere", "out/bin/heddle-driver-tests", "out/bin/heddle-driver-tests"),
                ("/nowhere", program, program),
                (folder, program, "heddle-driver-tests"),
            ):
                with self.subTest(path=path, typed=typed), unittest.mock.patch.dict(
                    os.environ, PATH=path
                ), unittest.mock.patch.object(sys, "argv", [typed]):
                    self.assertEqual(kit.repeat_words(arguments), [expected, *words])
        arguments = launcher.make_parser().parse(words[:4])
        self.assertNotIn("--time-factor", kit.repeat_words(arguments))

    def test_a_module_of_another_name_is_refused(self):
        with tempfile.NamedTemporaryFile(suffix=".ko") as module:
            module.write(b"\x7fELF\0version=1\0name=other\0vermagic=x\0")
            module.flush()
            code, said = self.call("--kernel", "a", "--module", module.name)
            self.assertEqual((code, "name is 'other'" in said), (2, True), said)

    def test_help_begins_with_an_example_and_has_every_option(self):
        text = launcher.help_text(launcher.make_parser())
        self.assertTrue(text.startswith("Example:\n"))
        self.assertLess(text.index("Example:"), text.index("Usage:"))
        for option in launcher.make_parser()._actions:  # pylint: disable=protected-access
            self.assertIn(option.option_strings[-1], text)

    def test_a_wrong_option_names_the_one_that_may_be_meant(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            launcher.make_parser().parse(["--krnel=x", "--zzz", "y"])
        self.assertEqual(ended.exception.code, 2)
        self.assertEqual(
            said.getvalue(),
            "heddle-driver-tests: error: unknown option '--krnel'; did you mean --kernel?\n"
            "unknown option '--zzz'\nunexpected: 'y'\nheddle-driver-tests --help lists all options.\n",
        )


class FilesTest(unittest.TestCase):
    """What the manifest names is there, or another package has it."""

    @classmethod
    def setUpClass(cls):
        cls.manifest = kit.read_json(os.path.join(ROOT, "manifest.json"))

    def test_the_files_are_there(self):
        for path in self.manifest["files"]:
            self.assertTrue(os.path.isfile(os.path.join(ROOT, path)), path)
        for case_ in kit.read_json(os.path.join(ROOT, "tests/driver_kit/seconds.json")):
            group, _, name = case_.partition(".")
            known = [c["name"] for c in self.manifest["groups"][group]["plan"]["cases"]] if name else []
            self.assertTrue(case_ == "boot" or name in known, case_)

    def test_other_packages_have_the_rest(self):
        staged = {}
        for _, source, destination in stage.read_list("tools/dev/stage.txt"):
            staged[destination] = stage.full_label(source)[2:].replace(":", "/") if source.startswith("//") else source
        for path, where in self.manifest["elsewhere"].items():
            folder = os.path.dirname(where) + "/"
            self.assertTrue(
                staged.get(where) == path or staged.get(folder, "").startswith(os.path.dirname(path)), where
            )

    def test_commands_name_files_of_the_kit(self):
        known = [*self.manifest["files"], *self.manifest["elsewhere"], *self.manifest["built"], self.manifest["driver"]]
        for group, entry_ in self.manifest["groups"].items():
            for case_ in entry_["plan"]["cases"]:
                for word in case_["command"].replace("'", " ").split():
                    if word.startswith(("tests/", "kmd/", "tools/", "runtime/")):
                        self.assertIn(word, known, f"{group}.{case_['name']}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
