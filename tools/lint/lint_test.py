# SPDX-License-Identifier: Apache-2.0
"""Tests of lint.py: each check finds its case and leaves the clean one alone."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import lint  # noqa: E402

GOOD = "// " + lint.APACHE + "\nint x;\n"


class LintTest(unittest.TestCase):
    def findings(self, path, text):
        return [finding for _, finding in lint.check_text(path, text)]

    def test_clean_files_have_no_finding(self):
        self.assertEqual(self.findings("a/x.cc", GOOD), [])
        self.assertEqual(self.findings("kmd/core/x.c", "// " + lint.KERNEL + "\n"), [])
        self.assertEqual(self.findings("dev", "#!/bin/bash\n# " + lint.APACHE + "\n"), [])
        self.assertEqual(self.findings("README.md", "Text  \n"), [])

    def test_licence(self):
        self.assertEqual(len(self.findings("a/x.cc", "int x;\n")), 1)
        self.assertEqual(len(self.findings("kmd/core/x.c", GOOD)), 1)
        self.assertEqual(len(self.findings("a/BUILD", "cc_library()\n")), 1)
        self.assertEqual(self.findings("a/list.txt", "no source\n"), [])

    def test_length(self):
        exact = "// " + lint.APACHE + "\n" + "\n" * (lint.MAX_LINES - 1)
        self.assertEqual(self.findings("a/x.cc", exact), [])
        self.assertEqual(len(self.findings("a/x.cc", exact + "\n")), 1)
        self.assertEqual(self.findings("a/x.cc", "// " + lint.APACHE + " @generated\n" + exact + "\n"), [])

    def test_machine_paths(self):
        for path in ("/home" + "/jo/x", "/root" + "/x", "/work" + "/main", "/tmp" + "/heddle/x"):
            self.assertEqual(len(self.findings("a/x.cc", GOOD + f'"{path}";\n')), 1, path)
        for path in ("/usr/include", "a/home" + "/x", "/tmp/file"):
            self.assertEqual(self.findings("a/x.cc", GOOD + f'"{path}";\n'), [], path)

    def test_kernel_style(self):
        head = "// " + lint.KERNEL + "\n"
        self.assertEqual(self.findings("kmd/core/x.c", head + "\tx;\n"), [])
        self.assertEqual(len(self.findings("kmd/core/x.c", head + "        x;\n")), 1)
        self.assertEqual(len(self.findings("kmd/linux/x.c", head + "\t" * 12 + "abcde;\n")), 1)
        self.assertEqual(self.findings("kmd/hosted/x.cc", head + "        x;\n"), [])

    def test_links(self):
        there = {"README.md", "rtl/README.md", "rtl/spec", "rtl/spec/ISA.md"}.__contains__

        def links(path, text):
            return list(lint.broken_links(path, text, there))

        self.assertEqual(links("rtl/README.md", "[a](spec/ISA.md) [b](spec/ISA.md#c) [d](../README.md) [e](spec/)"), [])
        self.assertEqual(links("README.md", "[a](https://example.org/x) [b](#c) (no.md) [no.md]"), [])
        found = links("rtl/README.md", "\n[a](README.md) [b](ISA.md)\n[c](../spec/ISA.md#d)\n")
        self.assertEqual([number for number, _ in found], [2, 3])
        self.assertIn("rtl/ISA.md", found[0][1])

    def test_layout(self):
        def found(path, text):
            return [(number, what.split()[-1]) for number, what in lint.layout_findings(lint.layout_of(path), text)]

        for path in ("a/BUILD", "WORKSPACE", "a/b.bzl", "a/c.BUILD"):
            self.assertEqual(found(path, 'f(name = "x")\n'), [], path)
            self.assertEqual(found(path, 'a = 1\nf(name="x")\n'), [(2, "fmt")], path)
        self.assertEqual(found("a/b.sv", "module m;\n  assign a = b;\nendmodule\n"), [])
        self.assertEqual(found("a/b.sv", "module m;\nassign a = b;\nendmodule\n"), [(2, "fmt")])
        self.assertIn("bracket", list(lint.layout_findings(lint.layout_of("BUILD"), "f(\n"))[0][1])
        self.assertIsNone(lint.layout_of("a/b.py"))

    def test_lays_out_in_place(self):
        with tempfile.TemporaryDirectory() as root:
            name = os.path.join(root, "BUILD")
            for text, done, after in (("a=1\n", True, "a = 1\n"), ("a=(\n", False, "a=(\n")):
                with open(name, "w", encoding="utf-8") as file:
                    file.write(text)
                self.assertEqual(lint.fix_layout(lint.layout_of("BUILD"), root, "BUILD", text), done)
                self.assertEqual(lint.read_text(root, "BUILD"), after)

    def test_hygiene(self):
        self.assertEqual(len(self.findings("a/x.cc", GOOD + "int y; \n")), 1)
        self.assertEqual(len(self.findings("a/x.cc", GOOD + "int y;")), 1)
        self.assertEqual(len(self.findings("a/BUILD", "# " + lint.APACHE + "\n\tx\n")), 1)


if __name__ == "__main__":
    unittest.main()
