# SPDX-License-Identifier: Apache-2.0
"""The lists of debian/ agree with tools/dev/stage.txt, with each other and with VERSION. Builds no package.

    package_lists_test.py [LABEL FILE...]...

The arguments: the files of those labels of stage.txt that packages share. Any other label with a folder is one thing
here.
"""

import fnmatch
import glob
import os
import re
import sys
import unittest

from tools.dev import stage

LIST = "tools/dev/stage.txt"
OUTPUTS = sys.argv[1:]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def entries(path):
    """The lines of a list without comments and blanks."""
    return [line.strip() for line in read(path).split("\n") if line.strip() and not line.startswith("#")]


def staged():
    """Every file below out/."""
    outputs = {}
    for word in OUTPUTS:
        if word.startswith("//"):
            files = outputs[word] = []
        else:
            files.append(word)
    found = {}
    for _, source, destination in stage.read_list(LIST):
        if destination.endswith("/**"):
            found[destination[:-1]] = source
        elif not destination.endswith("/"):
            found[destination] = source
        elif source.startswith("//"):
            for file in outputs.get(stage.full_label(source), ["*"]):
                found[destination + os.path.basename(file)] = file
        else:
            found[destination + os.path.basename(source)] = source
    return found


def matches(pattern, path):
    """As dh_install: a folder stands for what is in it, and a star for no slash."""
    want, have = pattern.split("/"), path.split("/")
    return len(have) >= len(want) and all(fnmatch.fnmatchcase(h, w) for h, w in zip(have, want))


def paragraphs(path):
    """The paragraphs of a control file as dictionaries; continued lines are joined."""
    result = []
    for text in read(path).split("\n\n"):
        fields = {}
        for line in text.split("\n"):
            if line.startswith("#") or not line.strip():
                continue
            if line.startswith(" "):
                fields[name] += "\n" + line.strip()
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if fields:
            result.append(fields)
    return result


class PackageListsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.staged = staged()
        cls.control = {p["Package"]: p for p in paragraphs("debian/control") if "Package" in p}
        cls.patterns = []  # pattern below the prefix, package ("": not packaged)
        for path in glob.glob("debian/*.install"):
            for entry in entries(path):
                pattern = entry.split()[0].removeprefix("usr/")
                cls.patterns.append((pattern, os.path.basename(path).removesuffix(".install")))
        for entry in entries("debian/not-installed"):
            cls.patterns.append((entry.removeprefix("usr/"), ""))

    def packages_of(self, path):
        return [package for pattern, package in self.patterns if matches(pattern, path)]

    def test_every_staged_file_goes_to_one_package(self):
        for path in self.staged:
            with self.subTest(path):
                self.assertEqual(
                    len(self.packages_of(path)), 1, f"{path} is in {self.packages_of(path) or 'no list'} of debian/"
                )

    def test_every_line_of_a_list_is_staged(self):
        for pattern, _ in self.patterns:
            with self.subTest(pattern):
                self.assertTrue(
                    any(matches(pattern, path) for path in self.staged), f"{LIST} has nothing for {pattern}"
                )

    def test_every_package_has_a_description_and_files(self):
        owners = {package for _, package in self.patterns} - {""}
        self.assertEqual(owners, set(self.control), "debian/control and debian/*.install")
        for name, fields in self.control.items():
            with self.subTest(name):
                short, _, long = fields["Description"].partition("\n")
                self.assertTrue(10 < len(short) <= 80 and len(long) > 80, "a line, and a paragraph")
                self.assertFalse(short.startswith(("a ", "an ", "the ", "A ", "An ", "The ")))
                self.assertTrue(all(len(line) <= 79 for line in long.split("\n")))
                self.assertIn(fields["Architecture"], ("all", "amd64", "amd64 arm64"))
                self.assertIn("${misc:Depends}", fields["Depends"])

    def test_files_of_debian_name_a_package(self):
        others = {"changelog", "control", "copyright", "not-installed", "rules", "source"}
        for path in glob.glob("debian/*"):
            name = os.path.basename(path)
            if name not in others:
                self.assertIn(name.split(".")[0], self.control, path)

    def test_programs_have_their_page_and_completions(self):
        programs = [path.removeprefix("bin/") for path in self.staged if path.startswith("bin/")]
        packaged = [name for name in programs if self.packages_of("bin/" + name) != [""]]
        self.assertGreaterEqual(len(packaged), 6)
        for name in packaged:
            package = self.packages_of("bin/" + name)
            for path in (
                f"share/man/man1/{name}.1",
                f"share/bash-completion/completions/{name}",
                f"share/zsh/site-functions/_{name}",
                f"share/fish/vendor_completions.d/{name}.fish",
            ):
                with self.subTest(path):
                    self.assertIn(path, self.staged, "add the program to tools/manual/BUILD")
                    self.assertEqual(self.packages_of(path), package)
                    text = read(self.staged[path])
                    self.assertIn(name if "man1" not in path else name.replace("-", "\\-"), text)

    def test_pages_say_what_their_program_is(self):
        for path, source in self.staged.items():
            if path.startswith("share/man/"):
                name = re.search(r"\.SH NAME\n(\S+) \\- (.+)\n", read(source))
                self.assertTrue(name and len(name[2]) > 10, path)

    def test_units_start_what_is_packaged_with_options_that_exist(self):
        units = [path for path in self.staged if path.endswith(".service")]
        self.assertEqual(len(units), 2)
        for unit in units:
            text = read(self.staged[unit])
            program, *words = re.search(r"^ExecStart=/usr/bin/(.*)$", text, re.MULTILINE)[1].split()
            variables = re.findall(r'^Environment="\w+=(.*)"$', text, re.MULTILINE)
            words += " ".join(variables).split()
            self.assertIn("bin/" + program, self.staged)
            known = read(self.staged[f"share/fish/vendor_completions.d/{program}.fish"])
            for option in (word for word in words if word.startswith("--")):
                self.assertRegex(known, rf"-l {option[2:]}\b", f"{unit}: {option}")

    def test_there_is_one_version(self):
        version = read("VERSION").strip()
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(re.match(r"heddle \((.*?)\)", read("debian/changelog"))[1], version)
        self.assertEqual(re.search(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE)[1], version)
        self.assertIn('PACKAGE_VERSION="#MODULE_VERSION#"', read("kmd/dkms.conf"))

    def test_what_packages_are_built_with_is_set_up(self):
        lists = {
            line.split("#")[0].strip()
            for path in ("packages", "packaging")
            for line in entries(f"tools/setup/{path}.txt")
        }
        source = next(p for p in paragraphs("debian/control") if "Source" in p)
        for package in re.split(r",\s*", source["Build-Depends"].strip().strip(",")):
            name = package.split()[0]
            name = {"debhelper-compat": "debhelper", "dh-sequence-dkms": "dh-dkms"}.get(name, name)
            self.assertIn(name, lists)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
