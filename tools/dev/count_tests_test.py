# SPDX-License-Identifier: Apache-2.0
"""Tests of count_tests.py: what counts as passed, failed and skipped."""

import io
import json
import os
import tempfile
import unittest

from tools.dev import count_tests

GTEST = """<?xml version="1.0"?>
<testsuites name="AllTests" tests="{n}"><testsuite name="S">{cases}</testsuite></testsuites>"""
PASS = '<testcase name="A" status="run" result="completed" classname="S" />'
FAIL = '<testcase name="B" status="run" classname="S"><failure message="m"/></testcase>'
SKIP = (
    '<testcase name="C" status="run" result="skipped" classname="S">'
    '<skipped message="x_test.cc:3&#x0A;no folder"/></testcase>'
)
DISABLED = '<testcase name="D" status="notrun" result="suppressed" classname="S" />'
SCRIPT = '<testsuites><testsuite name="t"><testcase name="t" status="run"/></testsuite></testsuites>'


class CountTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.events = []

    def add_file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def add_result(self, label, status, xml, log="", **ident):
        number = len(self.events)
        files = [
            {"name": "test.xml", "uri": "file://" + self.add_file(f"{number} .xml", xml).replace(" ", "%20")},
            {"name": "test.log", "uri": "file://" + self.add_file(f"{number}.log", log)},
        ]
        self.events.append(
            {
                "id": {"testResult": {"label": label, "run": 1, "shard": 1, "attempt": 1, **ident}},
                "testResult": {"status": status, "testActionOutput": files},
            }
        )

    def count(self, bazel_status=0, no_skip=False):
        path = self.add_file("events", "".join(json.dumps(e) + "\n" for e in self.events))
        out = io.StringIO()
        code = count_tests.report(count_tests.read_events(path), bazel_status, no_skip, out)
        return code, out.getvalue().splitlines()

    def test_gtest_cases_count_one_by_one(self):
        self.add_result("//a:t", "FAILED", GTEST.format(n=4, cases=PASS + FAIL + SKIP + DISABLED))
        code, lines = self.count(3)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 2 skipped")
        self.assertEqual(code, 1)
        self.assertIn("FAILED  //a:t S.B", lines)
        self.assertIn("SKIPPED 1: no folder (//a:t S.C)", lines)

    def test_scripts_count_as_one_and_say_when_they_skip(self):
        self.add_result("//a:s", "PASSED", SCRIPT)
        self.add_result("//a:k", "PASSED", SCRIPT, "x\nSKIPPED: no /dev/kvm\n")
        self.add_result("//a:f", "FAILED", SCRIPT, "SKIPPED: not true, it failed\n")
        code, lines = self.count(3)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 1 skipped"))

    def test_a_script_with_shards_counts_once_and_gtest_shards_add_up(self):
        for shard in (1, 2):
            self.add_result("//a:s", "PASSED", SCRIPT, shard=shard)
            self.add_result("//a:g", "PASSED", GTEST.format(n=1, cases=PASS), shard=shard)
        self.assertEqual(self.count()[1][-1], "3 passed, 0 failed, 0 skipped")

    def test_only_the_last_attempt_counts(self):
        self.add_result("//a:g", "FAILED", GTEST.format(n=1, cases=FAIL), attempt=1)
        self.add_result("//a:g", "PASSED", GTEST.format(n=1, cases=PASS), attempt=2)
        self.assertEqual(self.count()[1][-1], "1 passed, 0 failed, 0 skipped")

    def test_a_target_that_fails_outside_its_cases_is_a_failure(self):
        self.add_result("//a:leak", "FAILED", GTEST.format(n=1, cases=PASS))
        self.add_result("//a:crash", "FAILED", "")
        self.assertEqual(self.count(3)[1][-1], "1 passed, 2 failed, 0 skipped")

    def test_a_target_that_does_not_build_is_a_failure(self):
        self.add_result("//a:s", "PASSED", SCRIPT)
        self.events.append({"id": {"targetCompleted": {"label": "//a:broken"}}, "completed": {}})
        self.events.append(
            {
                "id": {"unconfiguredLabel": {"label": "//b:gone"}},
                "aborted": {"reason": "LOADING_FAILURE"},
            }
        )
        self.assertEqual(self.count(1)[1][-1], "1 passed, 2 failed, 0 skipped")

    def test_a_build_error_without_events_is_a_failure(self):
        code, lines = self.count(1)
        self.assertEqual((code, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))

    def test_no_test_at_all_is_an_error(self):
        code, lines = self.count(4)
        self.assertEqual((code, lines[-1]), (1, "0 passed, 0 failed, 0 skipped"))

    def test_require_shared_forbids_skips(self):
        self.add_result("//a:g", "PASSED", GTEST.format(n=1, cases=PASS + SKIP))
        self.assertEqual(self.count()[0], 0)
        code, lines = self.count(no_skip=True)
        self.assertEqual((code, lines[-1]), (1, "1 passed, 0 failed, 1 skipped"))


if __name__ == "__main__":
    unittest.main()
