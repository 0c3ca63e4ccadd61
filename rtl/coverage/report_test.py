# SPDX-License-Identifier: Apache-2.0
"""The report on coverage files made here, and the exceptions of the RTL against its sources."""
import io
import os
import tempfile
import unittest

from rtl.coverage import report

EXCEPTIONS = "rtl/lint/coverage_exceptions.txt"


def point(line, kind, text, instance, count, name="rtl/src/hd_x.sv"):
    fields = dict(f=name, l=line, n=5, page=kind + "/hd_x", o=text, h=instance)
    return "C '%s' %d\n" % ("".join("\x01%s\x02%s" % f for f in fields.items()), count)


class ReportTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = scratch.name
        self.write("rtl/src/hd_x.sv", "module hd_x;\n  if (a) b = 1;\n  if (c) d = 1;\nendmodule\n")
        self.lines = self.write(
            "lines.dat",
            point(2, "v_branch", "if", "top.one", 0)
            + point(2, "v_branch", "if", "top.two", 7)
            + point(3, "v_branch", "if", "top.one", 0),
        )
        self.toggles = self.write(
            "toggles.dat", point(1, "v_toggle", "a[0]", "top.one", 1) + point(1, "v_toggle", "a[1]", "top.one", 0)
        )

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def report(self, exceptions, lines=None):
        out = io.StringIO()
        path = self.write("exceptions.txt", exceptions)
        good = report.report([lines or self.lines], [self.toggles], path, self.root, out)
        return good, out.getvalue()

    def test_any_instance_counts(self):
        good, text = self.report("# none\n")
        self.assertFalse(good)
        self.assertRegex(text, r"(?m)^hd_x +50\.0 % +1 of +2 +50\.0 % +1 of +2$")
        self.assertIn("not reached: hd_x:3 (if): if (c) d = 1; [NOT EXPECTED]", text)
        self.assertNotIn("hd_x:2", text)

    def test_exception(self):
        good, text = self.report("hd_x | if (c) d = 1; | no c\n")
        self.assertTrue(good, text)
        self.assertIn("[no c]", text)

    def test_exception_that_is_none(self):
        good, text = self.report("hd_x | if (c) d = 1; | no c\nhd_x | if (a) b = 1; | no a\n")
        self.assertFalse(good)
        self.assertIn("reached, or not there: hd_x | if (a) b = 1;", text)

    def test_nothing_counted(self):
        self.assertFalse(self.report("", self.toggles)[0])

    def test_malformed(self):
        with self.assertRaises(ValueError):
            self.report("hd_x | if (c) d = 1;\n")

    def test_exceptions_of_the_rtl(self):
        for module, text in report.exceptions(EXCEPTIONS):
            with open("rtl/src/%s.sv" % module, encoding="utf-8") as f:
                self.assertIn(text, [line.strip() for line in f], module)


if __name__ == "__main__":
    unittest.main()
