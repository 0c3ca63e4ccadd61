# SPDX-License-Identifier: Apache-2.0
"""Tests of stage.py: what is copied, replaced, removed and refused."""

import json
import os
import tempfile
import unittest

from tools.dev import stage


class StageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        self.out = os.path.join(self.root, "out")

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def events(self, label, *paths):
        lines = [
            {
                "id": {"namedSet": {"id": "0"}},
                "namedSetOfFiles": {"files": [{"uri": "file://" + p} for p in paths]},
            },
            {"id": {"namedSet": {"id": "1"}}, "namedSetOfFiles": {"fileSets": [{"id": "0"}]}},
            {
                "id": {"targetCompleted": {"label": label}},
                "completed": {
                    "success": True,
                    "outputGroup": [{"name": "default", "fileSets": [{"id": "1"}]}],
                },
            },
        ]
        return self.write("events", "".join(json.dumps(line) + "\n" for line in lines))

    def plan(self, text, events):
        entries = stage.read_list(self.write("list", text))
        return stage.plan(entries, stage.outputs_by_label(events), self.root)

    def test_a_tree_keeps_its_paths(self):
        made = "bazel-out/k8-opt/bin/a/tree/"
        program = self.write(made + "tests/x/program", "\x7fELF", 0o555)
        text = self.write(made + "tests/x/text.py", "text", 0o555)
        events = self.events("//a:tree", program, text)
        copies = self.plan("//a:tree lib/heddle/driver-tests/**\n", events)
        self.assertEqual(
            copies,
            {
                "lib/heddle/driver-tests/tests/x/program": program,
                "lib/heddle/driver-tests/tests/x/text.py": text,
            },
        )
        stage.stage(copies, self.out)
        modes = {name: os.access(os.path.join(self.out, name), os.X_OK) for name in copies}
        self.assertEqual(list(modes.values()), [True, False])
        with self.assertRaisesRegex(stage.StageError, "not in its folder"):
            self.plan("//a:tree lib/x/**\n", self.events("//a:tree", self.write("bazel-out/bin/b/x", "")))

    def test_stages_labels_and_paths_and_keeps_the_executable_bit(self):
        events = self.events("//a/tool:tool", self.write("b/tool", "code", 0o555))
        self.write("inc/x.h", "header")
        copies = self.plan("# comment\n//a/tool bin/heddle-tool\ninc/x.h include/\n", events)
        self.assertEqual(stage.stage(copies, self.out), 2)
        self.assertEqual(self.read("bin/heddle-tool"), "code")
        self.assertTrue(os.access(os.path.join(self.out, "bin/heddle-tool"), os.X_OK))
        self.assertEqual(self.read("include/x.h"), "header")
        self.assertEqual(stage.stage(copies, self.out), 0)

    def test_data_that_bazel_made_is_not_executable(self):
        made = self.write("bazel-out/x", "", 0o555)
        for destination, wanted in (
            ("bin/x", True),
            ("lib/x.so", True),
            ("lib/cmake/x.cmake", False),
            ("share/x", False),
        ):
            self.assertEqual(stage.is_executable(made, destination), wanted, destination)
        self.assertTrue(stage.is_executable(self.write("script", "", 0o755), "share/script"))

    def test_programs_that_others_start_are_executable(self):
        for start in ("\x7fELF", "#!/bin/sh\n"):
            made = self.write("bazel-out/program", start, 0o555)
            for destination in ("lib/heddle/onnxifi-discover", "lib/heddle/driver-tests/bin/x"):
                self.assertTrue(stage.is_executable(made, destination), destination)
            self.assertFalse(stage.is_executable(made, "share/x"))
        self.assertFalse(stage.is_executable(self.write("bazel-out/data", "data", 0o555), "lib/heddle/data"))

    def test_replaces_changed_and_removes_unlisted_but_not_foreign_files(self):
        events = self.events("//a:a", self.write("b/one", "1"), self.write("b/two", "2"))
        stage.stage(self.plan("//a share/\n", events), self.out)
        self.write("out/share/mine", "user's own")
        self.write("b/one", "new")
        events = self.events("//a:a", os.path.join(self.root, "b/one"))
        stage.stage(self.plan("//a share/\n", events), self.out)
        self.assertEqual(self.read("share/one"), "new")
        self.assertFalse(os.path.exists(os.path.join(self.out, "share/two")))
        self.assertEqual(self.read("share/mine"), "user's own")

    def test_refuses_what_cannot_be_meant(self):
        events = self.events("//a:a", self.write("b/one", "1"), self.write("b/two", "2"))
        for text in (
            "//a bin/tool\n",  # two files, one name
            "//gone bin/tool\n",  # not built
            "missing.h include/\n",
            "//a ../bin/\n",
            "//a /bin/\n",
            "//a\n",
            "b/one x\nb/two x\n",  # two sources, one name
        ):
            with self.subTest(text), self.assertRaises(stage.StageError):
                self.plan(text, events)


if __name__ == "__main__":
    unittest.main()
