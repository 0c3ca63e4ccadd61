# SPDX-License-Identifier: Apache-2.0
"""modules.bzl is what the sources say; sources.bzl and lint/waivers.py choose from it; the pages name what is there."""
import pathlib
import re
import unittest

from rtl import modules
from rtl.lint import waivers

PAGES = pathlib.Path("rtl/README.md"), pathlib.Path("rtl/MICROARCHITECTURE.md")
WAIVERS = pathlib.Path("rtl/lint/waivers.vlt")


class Failed(Exception):
    pass


def fail(text):
    raise Failed(text)


def starlark(path, **names):
    """What a .bzl file defines; its Starlark is Python, too."""
    names.update(load=lambda *_: None, fail=fail)
    exec(compile(pathlib.Path(path).read_text(), path, "exec"), names)  # pylint: disable=exec-used
    return names


TABLE = starlark("rtl/modules.bzl")


def sources(used, packages=()):
    return starlark("rtl/sources.bzl", USES=used, PACKAGES=list(packages))


class TableTest(unittest.TestCase):
    def test_is_what_the_sources_say(self):
        self.assertEqual(
            pathlib.Path("rtl/modules.bzl").read_text(),
            modules.page(modules.load()),
            "python3 rtl/modules.py > rtl/modules.bzl",
        )

    def test_every_module_is_in_the_card(self):
        # The functions of a package as one module, for their test and their area.
        alone = {"hd_secded_decode"}
        needs = sources(TABLE["USES"], TABLE["PACKAGES"])["rtl_needs"]
        self.assertEqual(
            needs("hd_card"), TABLE["PACKAGES"] + sorted(set(TABLE["USES"]) - set(TABLE["PACKAGES"]) - alone)
        )

    def test_uses(self):
        used = modules.uses(
            {
                "a_pkg": "package a_pkg; endpackage",
                "b_pkg": "package b_pkg; endpackage",
                "leaf": "module leaf; endmodule",
                "leaf2": "module leaf2 (input a_pkg::t x); endmodule",
                "never": "module never; endmodule",
                "top": "/* never */ module top; // b_pkg::X never\n  leaf2 #(.A(1)) u (.x(y));\n"
                '  initial $display("\\"never");\n  leaf\n    other_leaf ();\nendmodule',
            }
        )
        self.assertEqual(
            used, {"a_pkg": [], "b_pkg": [], "leaf": [], "leaf2": ["a_pkg"], "never": [], "top": ["leaf", "leaf2"]}
        )

    def test_one_declaration_per_file(self):
        for text in (
            "module b; endmodule",
            "package a; endpackage",
            "",
            "module a; endmodule module b; endmodule",
            "module a; endmodule interface i; endinterface",
        ):
            with self.subTest(text), self.assertRaises(ValueError):
                modules.uses({"a": text})

    def test_order_of_packages(self):
        used = {"hd_pkg": [], "a_pkg": ["hd_pkg"], "heddle_pkg": [], "m": ["a_pkg"]}
        self.assertEqual(modules.packages(used), ["heddle_pkg", "hd_pkg", "a_pkg"])
        used["hd_pkg"] = ["a_pkg"]
        with self.assertRaises(ValueError):
            modules.packages(used)


class SourcesTest(unittest.TestCase):
    USED = {
        "p_pkg": ["a_pkg"],
        "a_pkg": [],
        "top": ["x", "y"],
        "x": ["z"],
        "y": ["z", "w", "p_pkg"],
        "z": [],
        "w": ["v"],
        "v": ["a_pkg"],
        "beside": [],
    }

    def test_needs(self):
        needs = sources(self.USED, ["p_pkg", "a_pkg"])["rtl_needs"]
        self.assertEqual(needs("z"), ["z"])
        self.assertEqual(needs("x"), ["x", "z"])
        self.assertEqual(needs("w"), ["a_pkg", "v", "w"])
        self.assertEqual(needs("top"), ["p_pkg", "a_pkg", "top", "v", "w", "x", "y", "z"])

    def test_without(self):
        needs = sources(self.USED, ["p_pkg", "a_pkg"])["rtl_needs"]
        self.assertEqual(needs("top", without=["y"]), ["top", "x", "z"])
        self.assertEqual(needs("top", without=["w"]), ["p_pkg", "a_pkg", "top", "x", "y", "z"])

    def test_labels(self):
        labels = sources({"heddle_pkg": [], "m": ["heddle_pkg"]}, ["heddle_pkg"])["rtl_sources"]
        self.assertEqual(labels("m"), ["//rtl/spec:pkg_sv", "//rtl:src/m.sv"])

    def test_refuses(self):
        needs = sources({"a": ["b"], "b": ["c"], "c": ["a"], "chain": ["d"], "d": []})["rtl_needs"]
        self.assertEqual(needs("chain"), ["chain", "d"])
        for call in (lambda: needs("a"), lambda: needs("e"), lambda: needs("chain", without=["e"])):
            with self.assertRaises(Failed):
                call()


class PagesTest(unittest.TestCase):
    def test_every_module_is_in_the_index(self):
        names = set(re.findall(r"`(hd_\w+)`", PAGES[0].read_text()))
        self.assertEqual(TABLE["USES"].keys() - names, {"heddle_pkg"})

    def test_pages_name_modules_that_exist(self):
        known = TABLE["USES"].keys() | {"hd_x", "hd_y"}
        for page in PAGES:
            for name in re.findall(r"\bhd_\w+", page.read_text()):
                module = re.sub(r"(_h\d+)?(_lint|_unit)?(_test|_formal)$", "", name)
                self.assertIn(module, known, page)


class WaiversTest(unittest.TestCase):
    def test_each_is_about_a_module(self):
        rules = waivers.rules(WAIVERS.read_text())
        self.assertGreater(len(rules), 10)
        for line, pattern in rules:
            self.assertTrue(any(waivers.concerns(pattern, m) for m in TABLE["USES"]), line)

    def test_select(self):
        text = (
            '// c\n`verilator_config\n\nlint_off -rule A -file "*src/hd_a.sv" -match "*x*"\n'
            'lint_off -rule B -file "*_pkg.sv"\nlint_off -rule C -file "*src/hd_*.sv"\n'
        )
        lines = text.splitlines()
        self.assertEqual(waivers.select(text, ["hd_a"]).splitlines(), [lines[1], lines[3], lines[5]])
        self.assertEqual(waivers.select(text, ["hd_ab"]).splitlines(), [lines[1], lines[5]])
        self.assertEqual(waivers.select(text, ["heddle_pkg"]).splitlines(), [lines[1], lines[4]])
        self.assertEqual(waivers.select(text, ["hd_a", "hd_pkg"]).splitlines(), lines[1:2] + lines[3:])
        with self.assertRaises(ValueError):
            waivers.select(text + "lint_on -rule A\n", ["hd_a"])


if __name__ == "__main__":
    unittest.main()
