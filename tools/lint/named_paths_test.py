# SPDX-License-Identifier: Apache-2.0
"""Tests of named_paths.py."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import named_paths  # noqa: E402

FILES = ["README.md", "rtl/spec/ISA.md", "tools/dev/build.sh", "tools/cli/BUILD", "tools/cli/file.cc", ".ci/run"]
# Built here, so that this file does not name what does not exist.
TOOLS = "tools" + "/"


class NamedPathsTest(unittest.TestCase):
    def setUp(self):
        self.paths = named_paths.NamedPaths(FILES, lambda name: 'cc_library(name = "cli")')

    def missing(self, path, text):
        return [(number, finding.split()[0]) for number, finding in self.paths.missing(path, text)]

    def test_what_exists_is_no_finding(self):
        for path in ("dev/build.sh", "dev", "dev/", "cli/file", "cli/cli", "cli/file.cc"):
            self.assertEqual(self.missing("README.md", f"see `{TOOLS}{path}`."), [], path)

    def test_what_does_not_is_one(self):
        gone = TOOLS + "dev/gone.sh"
        self.assertEqual(self.missing("README.md", f"text\nsee {gone}, and more"), [(2, gone)])
        self.assertEqual(self.missing("rtl/a.sv", f"  // as in {gone}: x"), [(1, gone)])
        self.assertEqual(self.missing("rtl/a.c", f" * as in {gone}"), [(1, gone)])
        self.assertEqual(self.missing("a/BUILD", f"x = 1  # {gone}"), [(1, gone)])
        self.assertEqual(self.missing("README.md", f"{TOOLS}cli/other"), [(1, TOOLS + "cli/other")])

    def test_code_is_not_looked_at(self):
        self.assertEqual(self.missing("a/x.cc", f'Open("{TOOLS}dev/gone.sh");'), [])
        self.assertEqual(self.missing("a/x.txt", f"{TOOLS}dev/gone.sh"), [])

    def test_other_trees_and_placeholders_are_not_ours(self):
        for text in ("/usr/{}x", "../{}x", "out/{}x", "{}dev/NAME.sh", "{}dev/*.sh", "{}dev/{{a,b}}.sh", "@r//{}x"):
            self.assertEqual(self.missing("README.md", text.format(TOOLS)), [], text)


if __name__ == "__main__":
    unittest.main()
