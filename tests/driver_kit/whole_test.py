# SPDX-License-Identifier: Apache-2.0
"""The whole kit on @guest_kernel with the tree's driver: all passes; and a driver that is for another kernel.

    whole_test.py COMMAND HEDDLE.KO
"""

import os
import sys
import tempfile
import unittest

from tests.driver_kit import installed
from tests.guest.machine import kernel_info

COMMAND, MODULE = (os.path.abspath(path) for path in sys.argv[1:3])


class WholeTest(unittest.TestCase):
    def setUp(self):
        kernel = kernel_info(os.path.join(installed.GUEST_KERNEL, "kernel.txt"))
        if "absent" in kernel:
            print(f"SKIPPED: {kernel['absent']}")
            self.skipTest(kernel["absent"])
        self.release = kernel["release"]
        scratch = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        self.program = installed.make_prefix(os.path.join(scratch.name, "usr"), COMMAND)

    def run_kit(self, module, *words):
        return installed.run(self.program, self.release, module, words, self.scratch)

    def test_our_driver_passes(self):
        page = os.path.join(self.scratch, "page.html")
        code, cases, said = self.run_kit(MODULE, "--rtl", "--report", page)
        print(said)
        self.assertEqual(code, 0)
        self.assertEqual({case["verdict"] for case in cases.values()}, {"passed"})
        self.assertGreater(len(cases), 600)
        with open(page, encoding="utf-8") as file:
            self.assertIn("machine.sleep.SleepTest.WhoWaitsForAJobWaitsOn", file.read())

    def test_a_driver_for_another_kernel_is_one_sentence(self):
        with open(MODULE, "rb") as file:
            data = file.read()
        # The version itself is not compared where symbols have checksums; the words behind it are.
        magic = b"vermagic=" + self.release.encode() + b" SMP"
        self.assertIn(magic, data)
        other = os.path.join(self.scratch, "other.ko")
        with open(other, "wb") as file:
            file.write(data.replace(magic, magic[:-3] + b"UP "))
        code, cases, said = self.run_kit(other)
        self.assertEqual(code, 3, said)
        self.assertRegex(said.strip().split("\n")[-1], r"heddle\.ko does not load in .*version magic")
        self.assertFalse([case for case in cases.values() if case["verdict"] == "passed" and case["is_case"]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
