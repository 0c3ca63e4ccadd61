# SPDX-License-Identifier: Apache-2.0
"""Tests of compile_commands.py."""

import unittest

from tools.dev import compile_commands


def action(*words):
    return dict(arguments=list(words))


class CompileCommandsTest(unittest.TestCase):
    def test_sources_are_named_once_and_by_their_path(self):
        graph = dict(
            actions=[
                action("clang", "-O2", "-c", "a/x.cc", "-o", "bazel-out/x.o"),
                action("clang", "-O0", "-c", "a/x.cc", "-o", "bazel-out/y.o"),
                action("clang", "-c", "bazel-out/made.cc"),
                action("clang", "-c", "external/other/z.cc"),
                action("ar", "rcs", "libx.a"),
            ]
        )
        found = compile_commands.entries(graph, "/r", "/exec")
        self.assertEqual(
            found,
            [
                dict(
                    directory="/exec",
                    file="/r/a/x.cc",
                    arguments=["clang", "-O2", "-c", "/r/a/x.cc", "-o", "bazel-out/x.o"],
                )
            ],
        )

    def test_nothing_is_nothing(self):
        self.assertEqual(compile_commands.entries({}, "/r", "/exec"), [])


if __name__ == "__main__":
    unittest.main()
