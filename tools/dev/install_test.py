# SPDX-License-Identifier: Apache-2.0
"""Tests of install.py: what is copied, rewritten, replaced, removed and left alone."""

import os
import subprocess
import sys
import tempfile
import unittest

from tools.dev import install


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.stage = os.path.join(folder.name, "out")
        self.dest = os.path.join(folder.name, "dest")
        self.put("bin/tool", "#!/bin/sh\n", 0o755)
        self.put("share/x/data", "data\n")
        self.put("lib/pkgconfig/x.pc", "prefix=${pcfiledir}/../..\nlibdir=${prefix}/lib\n")
        self.put("lib/systemd/system/x.service", "ExecStart=/usr/bin/tool --now\n")
        self.manifest(["bin/tool", "share/x/data", "lib/pkgconfig/x.pc", "lib/systemd/system/x.service"])

    def put(self, name, text, mode=0o644):
        path = os.path.join(self.stage, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def manifest(self, names):
        self.put(".staged", "".join(name + "\n" for name in names))

    def read(self, name):
        with open(os.path.join(self.dest, name), encoding="utf-8") as file:
            return file.read()

    def files(self):
        return sorted(
            os.path.relpath(os.path.join(at, name), self.dest) for at, _, names in os.walk(self.dest) for name in names
        )

    def test_copies_with_modes(self):
        self.assertEqual(install.install(self.stage, "/opt/h", self.dest), 5)  # and the list
        self.assertEqual(os.stat(os.path.join(self.dest, "opt/h/bin/tool")).st_mode & 0o777, 0o755)
        self.assertEqual(os.stat(os.path.join(self.dest, "opt/h/share/x/data")).st_mode & 0o777, 0o644)

    def test_files_that_name_the_prefix_name_the_new_one(self):
        install.install(self.stage, "/opt/h", self.dest)
        self.assertEqual(self.read("opt/h/lib/pkgconfig/x.pc"), "prefix=/opt/h\nlibdir=${prefix}/lib\n")
        self.assertEqual(self.read("opt/h/lib/systemd/system/x.service"), "ExecStart=/opt/h/bin/tool --now\n")

    def test_a_prefix_with_blanks(self):
        install.install(self.stage, "/opt/my h", self.dest)
        self.assertEqual(self.read("opt/my h/lib/pkgconfig/x.pc"), "prefix=/opt/my\\ h\nlibdir=${prefix}/lib\n")
        self.assertEqual(self.read("opt/my h/lib/systemd/system/x.service"), "ExecStart=/opt/my\\x20h/bin/tool --now\n")

    def test_what_cannot_be_written_is_named(self):
        with open(self.dest, "w", encoding="utf-8"):
            pass
        command = [sys.executable, install.__file__, "--stage", self.stage, "--prefix", self.dest + "/x"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^dev: error: '.*/dest/x.*': Not a directory\n$")

    def test_a_second_installation_removes_what_is_no_longer_staged_and_nothing_else(self):
        install.install(self.stage, "/opt/h", self.dest)
        with open(os.path.join(self.dest, "opt/h/bin/foreign"), "w", encoding="utf-8"):
            pass
        self.manifest(["bin/tool"])
        install.install(self.stage, "/opt/h", self.dest)
        self.assertEqual(self.files(), ["opt/h/bin/foreign", "opt/h/bin/tool", "opt/h/share/heddle/installed.txt"])

    def test_a_file_of_somebody_else_is_not_replaced(self):
        foreign = os.path.join(self.dest, "opt/h/share/x/data")
        os.makedirs(os.path.dirname(foreign))
        with open(foreign, "w", encoding="utf-8") as file:
            file.write("mine\n")
        with self.assertRaisesRegex(install.InstallError, "opt/h/share/x/data exists and was not installed by"):
            install.install(self.stage, "/opt/h", self.dest)
        self.assertEqual(self.files(), ["opt/h/share/x/data"])
        self.assertEqual(self.read("opt/h/share/x/data"), "mine\n")

    def test_removal_leaves_nothing_but_foreign_files(self):
        root = os.path.join(self.dest, "opt/h")
        install.install(self.stage, "/opt/h", self.dest)
        with open(os.path.join(root, "share/foreign"), "w", encoding="utf-8"):
            pass
        install.remove(root, install.read_lines(os.path.join(root, install.LIST)))
        self.assertEqual(self.files(), ["opt/h/share/foreign"])
        self.assertEqual(os.listdir(root), ["share"])

    def test_removal_leaves_no_empty_prefix(self):
        root = os.path.join(self.dest, "opt/h")
        install.install(self.stage, "/opt/h", self.dest)
        install.remove(root, install.read_lines(os.path.join(root, install.LIST)))
        self.assertFalse(os.path.exists(root))

    def test_a_list_that_leads_out_of_the_prefix_is_refused(self):
        for name in ("/etc/passwd", "../../x"):
            with self.assertRaises(install.InstallError):
                install.remove(self.dest, [name])

    def test_nothing_staged(self):
        os.remove(os.path.join(self.stage, ".staged"))
        with self.assertRaisesRegex(install.InstallError, "run ./dev build"):
            install.install(self.stage, "/opt/h", self.dest)

    def test_a_staged_file_that_has_gone(self):
        os.remove(os.path.join(self.stage, "bin/tool"))
        with self.assertRaisesRegex(install.InstallError, "bin/tool is missing"):
            install.install(self.stage, "/opt/h", self.dest)


if __name__ == "__main__":
    unittest.main()
