# SPDX-License-Identifier: Apache-2.0
"""Tests of the manual pages and completions, on a help text with everything that CLI11 prints."""

import os
import subprocess
import tempfile
import unittest

from tools.manual import completion, help_text, man_page

HELP = """\
Example:
  heddle-x model.onnx --data d
  heddle-x doctor | jq '.a'

Lists the cards of this system - with "x".
More `doctor`.

Usage: heddle-x [OPTIONS] model [SUBCOMMAND]

Positionals:
  model TEXT REQUIRED Excludes: --steps
                              ONNX model or package (.hpk)

Options:
  -h,--help                   Print this help message and exit
  --config TEXT:{h256,h512}   hardware configuration (default: the device's); for it
  -o,--output FILE            package to write
  --core TEXT:{fast,rtl}=fast what a card computes with
  --shape NAME=D,D,...        shape; repeat
  --bound NAME=N              upper bound
  --shape-set DIM=VALUES;... Excludes: --size
                              several shapes
  --check{outputs} :{outputs,layers}
                              compare.
                              --check=layers compares all
  --steps INT:NONNEGATIVE Needs: --check Excludes: model
                              tolerance
  --data FOLDER               folder with it's files
  --dims C,H,W x 3            channels
  --mean FLOAT ...            one
  --size UINT:SIZE [b, kb(=1024b), ...]
                              so much
  --json                      JSON:
                              `one word
                              another`, and more
[Option Group: Limits]
  What clients may take: see QUERY
  Options:
    --max-clients INT:INT in [1 - 1000]=0
                                Open files. One more:
                                ENFILE

Subcommands:
  doctor                      check what a program needs

Exit codes: 0 done, 1 failed
More:
  one                         two
"""

DOCTOR = """\
check what a program needs
Usage: heddle-x doctor [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --root DIR:DIR              another system's tree

Exit codes: 0 done, 1 failed
More:
  one                         two
"""


def parsed():
    result = help_text.parse(HELP)
    result.subcommands["doctor"] = help_text.parse(DOCTOR)
    return result


class HelpTextTest(unittest.TestCase):
    def setUp(self):
        self.help = parsed()
        self.options = {entry.names[-1]: entry for entry in self.help.entries("Options")}

    def test_every_option_is_found(self):
        self.assertEqual(
            " ".join(self.options),
            "--help --config --output --core --shape --bound --shape-set --check --steps --data --dims --mean --size --json --max-clients",
        )
        self.assertEqual(self.options["--output"].names, ["-o", "--output"])

    def test_values(self):
        self.assertEqual(self.options["--config"].choices, ["h256", "h512"])
        core = self.options["--core"]
        self.assertEqual(
            (core.choices, core.default, core.text), (["fast", "rtl"], "fast", ["what a card computes with"])
        )
        for name, value in (("shape", "NAME=D,D,..."), ("bound", "NAME=N"), ("shape-set", "DIM=VALUES;...")):
            self.assertEqual((self.options[f"--{name}"].value, self.options[f"--{name}"].default), (value, ""))
        self.assertEqual(self.options["--size"].value, "SIZE")
        self.assertTrue(self.options["--dims"].repeats and self.options["--mean"].repeats)
        self.assertFalse(self.options["--json"].value)

    def test_a_flag_with_an_optional_value(self):
        check = self.options["--check"]
        self.assertTrue(check.optional_value and not check.takes_word)
        self.assertEqual((check.choices, check.default), (["outputs", "layers"], "outputs"))

    def test_a_long_left_side_with_a_blank_at_the_column(self):
        steps = self.options["--steps"]
        self.assertEqual((steps.relations, steps.text), ("Needs: --check Excludes: model", ["tolerance"]))
        clients = self.options["--max-clients"]
        self.assertEqual((clients.value, clients.default), ("INT in [1 - 1000]", "0"))
        self.assertEqual(clients.text, ["Open files. One more:", "ENFILE"])

    def test_paragraphs(self):
        self.assertEqual([block.heading for block in self.help.before], ["Example", ""])
        self.assertEqual([block.heading for block in self.help.after], ["", "More"])

    def test_what_is_no_help_is_refused(self):
        for text in (
            "no usage",
            "Usage: x\n\nOptions:\n  --a                         \n",
            "Usage: x\n\nOptions:\n   --three                    blanks\n",
            "Usage: x\n\nOptions:\n  --a b Strange{             thing\n",
            "Usage: x\n\n[Option Group: G]\nno section\n",
        ):
            with self.subTest(text), self.assertRaises(help_text.HelpError):
                help_text.parse(text)


class ManPageTest(unittest.TestCase):
    def setUp(self):
        self.page = man_page.render("heddle-x", "heddle-x 1.2.3", "tries", parsed(), ["heddle-x", "heddle-y"])

    def test_has_all_of_the_help(self):
        for text in (
            '.TH HEDDLE\\-X 1 "" "Heddle 1.2.3"',
            "heddle\\-x \\- tries",
            "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR",
            "\\fB\\-\\-check\\fR[=\\fIoutputs|layers\\fR]",
            "(needs: \\-\\-check Excludes: model)",
            ".SS Limits",
            '.SH "COMMAND DOCTOR"',
            "\\-\\-root",
            ".SH EXIT STATUS",
            ".BR heddle\\-y (1)",
        ):
            self.assertIn(text, self.page)
        self.assertNotIn(".BR heddle\\-x (1)", self.page)

    def test_quoted_words_are_bold(self):
        self.assertIn("\nMore \\fBdoctor\\fR.\n", self.page)
        self.assertIn("\n\\fBone word\nanother\\fR, and more\n", self.page)
        self.assertNotIn("`", self.page)

    def test_lines_are_not_stretched(self):
        self.assertLess(self.page.index("\n.ad l\n"), self.page.index("\n.SH NAME\n"))

    def test_a_subcommand_does_not_repeat_the_footer(self):
        self.assertEqual(self.page.count("one                         two"), 1)

    def test_the_lines_of_an_example_stay_apart(self):
        self.assertIn("\nheddle\\-x model.onnx \\-\\-data d\nheddle\\-x doctor | jq '.a'\n.fi", self.page)

    def test_a_line_that_troff_would_take_for_a_request(self):
        self.assertEqual(man_page.roff(".hpk"), "\\&.hpk")


class CompletionTest(unittest.TestCase):
    def bash(self, *words):
        """What bash proposes for the last of the words."""
        with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
            file.write(completion.bash("heddle-x", parsed()))
            file.flush()
            # compopt works only while the shell completes; it says of which kind the rest is.
            script = """source "$1"; shift; compopt() { echo "compopt:$*"; }; COMP_WORDS=("$@")
              COMP_CWORD=$(($# - 1)); _heddle_x; printf '%s\\n' "${COMPREPLY[@]}" """
            done = subprocess.run(
                ["bash", "-euc", script, "bash", file.name, "heddle-x", *words],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(done.stderr, "")
            return done.stdout.split("\n")[:-1]

    def test_bash(self):
        self.assertEqual(self.bash("--co"), ["--config", "--core"])
        self.assertEqual(self.bash("--config", ""), ["h256", "h512"])
        self.assertEqual(self.bash("--core", "r"), ["rtl"])
        self.assertEqual(self.bash("--check", "=", "lay"), ["layers"])
        self.assertEqual(self.bash("--check", "="), ["outputs", "layers"])
        self.assertEqual(self.bash("--data", ""), ["compopt:-o dirnames", ""])
        self.assertEqual(self.bash("--output", ""), ["compopt:-o default", ""])
        self.assertEqual(self.bash("--shape", ""), [""])
        self.assertEqual(self.bash("d"), ["compopt:-o default", "doctor"])
        self.assertEqual(self.bash("doctor", "--r"), ["--root"])
        # As a value, a subcommand's name is none.
        self.assertEqual(self.bash("--output", "m", "--js"), ["--json"])

    def test_zsh(self):
        text = completion.zsh("heddle-x", parsed())
        self.assertTrue(text.startswith("#compdef heddle-x\n"))
        for line in (
            "'*--core[what a card computes with]:TEXT:(fast rtl)'",
            "'*--config[hardware configuration]:TEXT:(h256 h512)'",
            "'*--check=-[compare]::VALUE:(outputs layers)'",
            "'*--data[folder with it'\\''s files]:FOLDER:_files -/'",
            "'*--root[another system'\\''s tree]:DIR:_files -/'",
            "'1: :((doctor\\:check\\ what\\ a\\ program\\ needs))'",
        ):
            self.assertIn(line, text)

    def test_fish(self):
        text = completion.fish("heddle-x", parsed())
        for line in (
            "-l core -x -a 'fast rtl' -d 'what a card computes with'",
            "-s o -l output -r -d 'package to write'",
            "-l data -x -a '(__fish_complete_directories)' -d 'folder with it\\'s files'",
            "-n '__fish_seen_subcommand_from doctor' -l root",
        ):
            self.assertIn(line, text)

    def test_the_shells_take_them(self):
        for shell, text in (
            ("bash", completion.bash("heddle-x", parsed())),
            ("zsh", completion.zsh("heddle-x", parsed())),
            ("fish", completion.fish("heddle-x", parsed())),
        ):
            if not any(os.access(f"/{folder}/{shell}", os.X_OK) for folder in ("bin", "usr/bin")):
                continue  # those that are not here are tried by `./dev nightly packages`
            with self.subTest(shell), tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                done = subprocess.run([shell, "-n", file.name], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
