# SPDX-License-Identifier: Apache-2.0
"""`./dev guest` with standard input that is no terminal: nothing of it is lost, and its end is the guest's."""

import os
import subprocess
import tempfile
import unittest

from tests.guest import run_guest, run_shell
from tests.guest.machine import kernel_info

PROGRAM = ["python3", "tests/guest/run_shell.py"]
QUIET = "echo 1 >/proc/sys/kernel/printk; "  # no message of the kernel amid a line


class ShellTest(unittest.TestCase):
    def setUp(self):
        kernel = kernel_info(run_guest.KERNEL_INFO)
        absent = kernel.get("absent") or (kernel.get("arch") == "um" and "./dev guest runs in QEMU only")
        if absent:
            print(f"SKIPPED: {absent}")
            self.skipTest(absent)

    def test_a_script_is_read_to_its_end(self):
        text = QUIET + "echo first\n" + f"# {'x' * 98}\n" * 10000 + "echo last\nheddle-smi doctor\n"
        with tempfile.TemporaryFile() as file:
            file.write(text.encode())
            file.seek(0)
            done = subprocess.run(PROGRAM, stdin=file, capture_output=True, text=True, check=False)
        said = done.stdout.replace("\r", "").split("\n")
        print("".join(f"| {line}\n" for line in [*said, done.stderr]))
        self.assertNotIn("\033", done.stdout)
        self.assertEqual([line for line in said if line in ("first", "last")], ["first", "last"])
        # The last command's exit code is the shell's.
        findings = [line for line in said if line.startswith(("ok ", "note ", "problem "))]
        self.assertTrue([line for line in findings if "onnxifi/libonnxifi-heddle.so" in line], findings)
        self.assertEqual([line for line in findings if line.startswith("problem") or "simulation: heddle" in line], [])
        self.assertEqual(done.returncode, 0)

    def test_a_shell_may_end_before_its_input(self):
        with subprocess.Popen(
            [*PROGRAM, "--no-module"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            process.stdin.write(QUIET + "echo first; exit 3\n")
            process.stdin.flush()
            said = process.stdout.read()
            self.assertEqual(process.wait(), 3, said)
        self.assertIn("first", said.replace("\r", "").split("\n"))


class BannerTest(unittest.TestCase):
    def test_says_how_to_try_a_driver_of_ones_own(self):
        self.assertIn("rmmod heddle; insmod /path/to/my/heddle.ko", run_shell.HELP)
        self.assertLessEqual(max(map(len, run_shell.HELP.split("\n"))), 110)


if __name__ == "__main__":
    unittest.main()
