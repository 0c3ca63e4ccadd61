# SPDX-License-Identifier: Apache-2.0
"""The list of faults: each fits the sources, and what does not fit is noticed."""
import collections
import glob
import unittest

from tests.validator import mutate

TABLE = mutate.table("tests/validator/mutants.bzl")


class MutantsTest(unittest.TestCase):
    def test_fits(self):
        sources = mutate.read(glob.glob("kmd/core/*.[ch]"))
        for mutant in TABLE:
            with self.subTest(mutant["name"]):
                self.assertNotEqual(mutate.mutate(mutant, sources), sources)

    def test_names(self):
        names = collections.Counter(m["name"] for m in TABLE)
        self.assertEqual([n for n, count in names.items() if count > 1], [])
        self.assertEqual({m["test"] for m in TABLE}, {"oracle", "order"})

    def test_the_shipped_code_knows_no_fault(self):
        for file, text in mutate.read(glob.glob("kmd/core/*.[ch]")).items():
            self.assertNotRegex(text, "(?i)seeded|mutant", file)

    def test_refuses(self):
        mutant = dict(name="x", edits=[("a.c", "a", "b")])
        self.assertEqual(mutate.mutate(mutant, {"a.c": "a\n"}), {"a.c": "b\n"})
        for sources in ({"a.c": "c"}, {"a.c": "a a"}, {"b.c": "a"}):
            with self.assertRaises(ValueError):
                mutate.mutate(mutant, sources)
        with self.assertRaises(ValueError):
            mutate.mutate(dict(name="x", edits=[("a.c", "a", "a")]), {"a.c": "a"})


if __name__ == "__main__":
    unittest.main()
