# SPDX-License-Identifier: Apache-2.0
"""Tests of include_graph.py: a circle and a package that is too large are found, and nothing else."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import include_graph  # noqa: E402


def source(*includes, lines=10):
    return "".join(f'#include "{name}"\n' for name in includes) + "\n" * (lines - len(includes))


# Five packages of equal size, each on the one before it.
CHAIN = {
    f"compiler/p{i}/x.cc": source(*([f"compiler/p{i - 1}/x.h"] if i else []), "absl/a.h", "simulator/model/x.h")
    for i in range(5)
}


class IncludeGraphTest(unittest.TestCase):
    def findings(self, **changed):
        return list(include_graph.findings({**CHAIN, **{k.replace("__", "/") + ".cc": v for k, v in changed.items()}}))

    def test_a_chain_is_fine(self):
        self.assertEqual(self.findings(), [])
        packages = include_graph.packages_of(CHAIN)
        self.assertEqual(dict(packages["compiler/p3"].edges), {"compiler/p2": 1})
        self.assertEqual(packages["compiler/p3"].lines, 10)

    def test_circle(self):
        found = self.findings(compiler__p1__y=source("compiler/p3/x.h", lines=1))
        self.assertEqual(len(found), 1, found)
        self.assertIn("compiler/p1, compiler/p2, compiler/p3", found[0])
        self.assertNotIn("p0", found[0])

    def test_tests_and_fuzzers_may_include_upwards(self):
        for name in ("compiler__p1__y_test", "compiler__p1__y_fuzz"):
            self.assertEqual(self.findings(**{name: source("compiler/p3/x.h", lines=1)}), [])

    def test_own_headers_are_no_circle(self):
        self.assertEqual(self.findings(compiler__p1__y=source("compiler/p1/x.h", lines=1)), [])

    def test_size(self):
        # 40 lines of others: a quarter is 13 of 53.
        self.assertEqual(self.findings(compiler__p4__x=source(lines=13)), [])
        found = self.findings(compiler__p4__x=source(lines=14))
        self.assertEqual(len(found), 1, found)
        self.assertIn("compiler/p4 has 14 of 54 lines", found[0])
        # Tests beside the units count.
        self.assertEqual(len(self.findings(compiler__p4__y_test=source(lines=9))), 1)

    def test_other_folders_do_not_count(self):
        self.assertEqual(self.findings(simulator__model__x=source(lines=1000)), [])

    def test_table(self):
        table = include_graph.table(include_graph.packages_of(CHAIN))
        self.assertIn("| compiler/p4 | 1 | 10 | 20.0 % | p3 |", table)
        self.assertIn("| 5 packages | 5 | 50 | | 4 edges |", table)


if __name__ == "__main__":
    unittest.main()
