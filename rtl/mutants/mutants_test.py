# SPDX-License-Identifier: Apache-2.0
"""The list of faults: each fits its source, and no unit is without one."""
import collections
import os
import unittest

from rtl.mutants import mutate

TABLE = mutate.table("rtl/mutants/mutants.bzl")


class MutantsTest(unittest.TestCase):
    def test_fits(self):
        self.assertGreaterEqual(len(TABLE), 40)
        for mutant in TABLE:
            with self.subTest(mutant["name"]):
                with open("rtl/src/%s.sv" % mutant["file"], encoding="utf-8") as f:
                    source = f.read()
                faulty = mutate.mutate(mutant, source)
                self.assertEqual(len(faulty.splitlines()), len(source.splitlines()))

    def test_names(self):
        names = collections.Counter(m["name"] for m in TABLE)
        self.assertEqual([n for n, count in names.items() if count > 1], [])
        for mutant in TABLE:
            self.assertLessEqual(set(mutant), {"name", "file", "test", "text", "becomes", "cheap"})

    def test_every_engine(self):
        """Groups of modules by the first part of their names."""
        files = {m["file"] for m in TABLE}
        for group in ("decode", "dma", "fp", "out", "sram", "vec", "copy", "region", "matrix", "weight", "mem"):
            self.assertTrue(any(f.startswith("hd_" + group) for f in files), group)

    def test_refuses(self):
        mutant = dict(name="x", file="hd_x", text="a", becomes="b", test="hd_x")
        self.assertTrue(mutate.mutate(mutant, "a = 1\n").endswith("b = 1\n"))
        for source in ("c", "a a"):
            with self.assertRaises(ValueError):
                mutate.mutate(mutant, source)
        with self.assertRaises(ValueError):
            mutate.mutate(dict(mutant, becomes="a"), "a")
        with self.assertRaises(ValueError):
            mutate.mutate(dict(mutant, becomes="b\n"), "a")


if __name__ == "__main__":
    unittest.main()
