# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""The driver's tree in the SDK (tools/dev/stage.txt) is complete: heddle.ko is built from it and
nothing else, as a user would; and so is the tree that it makes for DKMS.

    staged_driver_test.py STAGE.TXT KERNEL.TXT HEADERS [LABEL FILE...]...
"""

import os
import subprocess
import sys
import tempfile
import unittest

from tools.dev import stage

TREE = "share/heddle/driver/"
LIST, KERNEL, HEADERS, *OUTPUTS = sys.argv[1:] or [""] * 3


def outputs_by_label():
    """The last arguments: what Bazel's build events say elsewhere."""
    outputs = {}
    for word in OUTPUTS:
        if word.startswith("//"):
            files = outputs[word] = []
        else:
            files.append(os.path.abspath(word))
    return outputs


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


class StagedDriverTest(unittest.TestCase):
    def setUp(self):
        with open(KERNEL, encoding="utf-8") as file:
            self.kernel = dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)
        absent = self.kernel.get("absent")
        if absent:
            print(f"SKIPPED: {absent}")
            self.skipTest(absent)
        folder = tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(folder.cleanup)
        entries = [entry for entry in stage.read_list(LIST) if entry[2].startswith(TREE)]
        stage.stage(stage.plan(entries, outputs_by_label(), os.getcwd()), folder.name)
        self.tree = os.path.join(folder.name, TREE)

    def run_command(self, *words):
        done = subprocess.run(
            words, cwd=self.tree, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        self.assertEqual(done.returncode, 0, f"{' '.join(words)}:\n{done.stdout}")
        return done.stdout

    def test_builds(self):
        release = self.kernel["release"]
        headers = os.path.realpath(os.path.join(HEADERS, f"usr/src/linux-headers-{release}"))
        # No BTF: as in tools/bazel/kernel_module.bzl.
        words = [f"KDIR={headers}", "CONFIG_DEBUG_INFO_BTF_MODULES="]
        if "arch" in self.kernel:
            words.append(f"ARCH={self.kernel['arch']}")
        self.run_command("make", "-C", "kmd", *words)
        magic = self.run_command("/sbin/modinfo", "-F", "vermagic", "kmd/heddle.ko")
        self.assertEqual(magic.split()[0], release)

    def test_missing_headers_are_one_sentence(self):
        for target in ("modules", "clean", "install"):
            done = subprocess.run(
                ["make", "-C", "kmd", "KDIR=/nowhere", target],
                cwd=self.tree,
                text=True,
                capture_output=True,
                check=False,
            )
            self.assertNotEqual(done.returncode, 0, target)
            self.assertEqual(
                done.stderr.split("\n")[0],
                f"error: no kernel headers at /nowhere: apt install linux-headers-{os.uname().release}, or give KDIR=DIR",
            )
            self.assertNotIn("No such file", done.stderr)

    def test_makes_a_tree_for_dkms(self):
        wanted = [name for name in files_below(self.tree) if name.endswith((".c", ".h", "Kbuild"))]
        self.run_command("make", "-C", "kmd", "dkms", "DKMS_TREE=../dkms")
        made = files_below(os.path.join(self.tree, "dkms"))
        self.assertEqual(made, sorted([*wanted, "dkms.conf"]))
        with open("VERSION", encoding="utf-8") as version, open(
            os.path.join(self.tree, "dkms/dkms.conf"), encoding="utf-8"
        ) as conf:
            self.assertIn(f'PACKAGE_VERSION="{version.read().strip()}"\n', conf.readlines())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
