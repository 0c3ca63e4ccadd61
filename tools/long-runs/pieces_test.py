# SPDX-License-Identifier: Apache-2.0
"""Tests of pieces.py and of run.py on this machine, with a program of a few lines."""

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import pieces  # noqa: E402
import run as long_run  # noqa: E402
import slurm  # noqa: E402

SPEC = {
    "target": "//none:none",
    "unit": "things",
    "total": 10,
    "piece": 4,
    "stride": 100,
    "command": ["--count={count}", "--seed={seed}"],
    "env": {"FROM": "{seed}"},
}
# Says what it was given, and fails for the seed that a file names.
PROGRAM = """#!/bin/sh
echo "$FROM $*" >> {folder}/calls
! grep -qx "$FROM" {folder}/bad
"""


class PiecesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        self.folder = os.path.join(self.top, "run")
        self.program = os.path.join(self.top, "program")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM.format(folder=self.top))
        os.chmod(self.program, 0o755)
        self.files = []
        self.bad()

    def bad(self, *seeds):
        with open(os.path.join(self.top, "bad"), "w", encoding="utf-8") as file:
            file.write("".join(f"{seed}\n" for seed in seeds))

    def calls(self):
        try:
            with open(os.path.join(self.top, "calls"), encoding="utf-8") as file:
                return sorted(file.read().splitlines())
        except FileNotFoundError:
            return []

    def main(self, *words):
        out = io.StringIO()
        with mock.patch.object(long_run, "runs", lambda: {"some": dict(SPEC)}), mock.patch.object(
            long_run, "build", lambda spec: [self.program, *self.files]
        ), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            status = long_run.main(["some", "--folder", self.folder, "--seed", "1000", *words])
        return status, out.getvalue()

    def test_counts_add_up_and_seeds_differ(self):
        plan = pieces.plan("some", SPEC, 10, 1000)
        self.assertEqual([p["count"] for p in plan["pieces"]], [4, 4, 2])
        self.assertEqual([p["seed"] for p in plan["pieces"]], [1000, 1100, 1200])
        self.assertEqual(plan["pieces"][2]["arguments"], ["--count=2", "--seed=1200"])

    def test_without_a_stride_seeds_follow_each_other(self):
        spec = {key: SPEC[key] for key in SPEC if key != "stride"}
        for size in (4, 5):
            plan = pieces.plan("some", {**spec, "piece": size}, 10, 7)
            self.assertEqual([p["seed"] for p in plan["pieces"]], list(range(7, 17, size)))

    def test_the_shared_folder_is_in_the_plan_or_the_run_refused(self):
        spec = {**SPEC, "seed": 5, "env": {"FROM": "{shared}"}}
        self.assertFalse(pieces.needs_shared(SPEC))
        self.assertTrue(pieces.needs_shared(spec))
        plan = pieces.plan("some", spec, 4, 0, "/there")
        self.assertEqual(plan["pieces"][0]["env"], {"FROM": "/there"})
        out = io.StringIO()
        with mock.patch.object(long_run, "runs", lambda: {"some": spec}), mock.patch.dict(
            os.environ, {"HEDDLE_SHARED_DIR": ""}
        ), contextlib.redirect_stderr(out):
            self.assertEqual(long_run.main(["some", "--folder", self.folder]), 2)
        self.assertIn("set HEDDLE_SHARED", out.getvalue())

    def test_a_run_may_have_a_seed_of_its_own(self):
        with mock.patch.object(long_run, "runs", lambda: {"some": {**SPEC, "seed": 5}}), mock.patch.object(
            long_run, "build", lambda spec: [self.program]
        ), contextlib.redirect_stdout(io.StringIO()):
            long_run.main(["some", "--folder", self.folder])
        self.assertEqual(pieces.Run(self.folder).seed, 5)

    def test_a_sequence_of_many_units_is_counted_as_such(self):
        plan = pieces.plan("some", {**SPEC, "per": 3}, 10, 0)
        self.assertEqual([p["arguments"][0] for p in plan["pieces"]], ["--count=2", "--count=2", "--count=1"])

    def test_all_pieces_run_once(self):
        status, out = self.main()
        self.assertEqual(status, 0, out)
        self.assertEqual(
            self.calls(),
            ["1000 --count=4 --seed=1000", "1100 --count=4 --seed=1100", "1200 --count=2 --seed=1200"],
        )
        self.assertIn("3 of 3 pieces passed, 0 failed, 10 of 10 things", out.splitlines()[-1])

    def test_pieces_of_another_size(self):
        status, out = self.main("--per-piece", "2")
        self.assertEqual(status, 0, out)
        self.assertEqual(len(self.calls()), 5)

    def test_goes_on_where_it_was_left(self):
        self.main()
        os.unlink(os.path.join(self.folder, "piece-00001.json"))
        status, out = self.main()
        self.assertEqual(status, 0, out)
        self.assertIn("2 of 3 pieces were done before", out)
        self.assertEqual(len(self.calls()), 4)

    def report_of(self, ended, jobs, seconds_passed=0, before=0):
        """The lines when pieces of 4, 4 and 2 things have ended; `ended`: (status, seconds) of the first ones."""
        shutil.rmtree(self.folder, ignore_errors=True)
        run = pieces.create(self.folder, pieces.plan("some", SPEC, 10, 0), self.program)
        now = 100.0
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            for number, (status, seconds) in enumerate(ended):
                if number == before:
                    report = long_run.Reporter(run, jobs, lambda: now)
                with open(run.path(number, "json"), "w", encoding="utf-8") as file:
                    json.dump({"status": status, "seconds": seconds, "host": "here"}, file)
                if number >= before:
                    now += seconds_passed
                    report(run)
        return [line.rsplit("; ")[-1] for line in out.getvalue().splitlines() if "; " in line]

    def test_tells_the_time_that_is_left(self):
        two = [(0, 40), (0, 80)]
        # 10 s a thing, then 15.
        self.assertEqual(self.report_of(two, 1), ["1 of 3 done, about 1 min left", "2 of 3 done, about 30 s left"])
        self.assertEqual(self.report_of(two, 2), ["1 of 3 done, about 30 s left", "2 of 3 done, about 30 s left"])
        self.assertEqual(self.report_of([*two, (0, 10)], 1)[-1], "3 of 3 done")
        self.assertEqual(self.report_of([(0, 4000)], 1), ["1 of 3 done, about 1.7 h left"])
        self.assertEqual(self.report_of([(0, 400)], 1), ["1 of 3 done, about 10 min left"])

    def test_pieces_that_failed_say_nothing_of_the_time_left(self):
        self.assertEqual(self.report_of([(1, 1)], 1), ["1 of 3 done"])
        self.assertEqual(self.report_of([(1, 1), (0, 40)], 1)[-1], "2 of 3 done, about 20 s left")

    def test_on_a_cluster_the_pace_of_the_pieces_says_what_is_left(self):
        self.assertEqual(self.report_of([(0, 40)], None, 8), ["1 of 3 done, about 12 s left"])
        # What was done before says nothing of it.
        self.assertEqual(self.report_of([(0, 40), (0, 40)], None, 8, before=1), ["2 of 3 done, about 4 s left"])

    def test_a_half_written_result_is_none(self):
        self.main()
        with open(os.path.join(self.folder, "piece-00001.json"), "w", encoding="utf-8") as file:
            file.write('{"status": 0')
        self.assertEqual(pieces.Run(self.folder).missing(), [1])

    def test_a_failure_is_told_with_its_seed_and_its_log_and_kept(self):
        self.bad(1100)
        status, out = self.main()
        self.assertEqual(status, 1)
        self.assertIn("piece 1 failed, seed 1100", out)
        self.assertIn("2 of 3 pieces passed, 1 failed, 6 of 10 things", out.splitlines()[-1])
        status, out = self.main()
        self.assertEqual(status, 1)
        self.assertEqual(len(self.calls()), 3)
        self.bad()
        status, out = self.main("--again")
        self.assertEqual(status, 0, out)
        self.assertEqual(len(self.calls()), 4)

    def test_a_folder_of_another_run_is_refused(self):
        self.main()
        status, out = self.main("12")
        self.assertEqual(status, 2)
        self.assertIn("another run", out)
        self.assertEqual(len(self.calls()), 3)

    def test_the_programs_own_copy_runs(self):
        self.main()
        os.unlink(os.path.join(self.folder, "piece-00000.json"))
        with open(self.program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 1\n")
        status, out = self.main()
        self.assertEqual(status, 0, out)

    def test_files_are_copied_and_found_where_the_folder_is(self):
        self.files = [os.path.join(self.top, "card.so")]
        with open(self.files[0], "w", encoding="utf-8") as file:
            file.write("one")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\ncat "$1" "$FROM/card.so"\n')
        spec = {**SPEC, "command": ["{folder}/card.so"], "env": {"FROM": "{folder}"}}
        with mock.patch.dict(SPEC, spec):
            status, out = self.main()
            self.assertEqual(status, 0, out)
            # Another place, and another build since.
            os.unlink(os.path.join(self.folder, "piece-00002.json"))
            self.folder = shutil.move(self.folder, os.path.join(self.top, "moved"))
            with open(self.files[0], "w", encoding="utf-8") as file:
                file.write("two")
            status, out = self.main()
        self.assertEqual(status, 0, out)
        for number in range(3):
            with open(os.path.join(self.folder, f"piece-{number:05d}.log"), encoding="utf-8") as log:
                self.assertEqual(log.read(), "oneone")

    def test_a_run_like_another_says_what_differs(self):
        runs = long_run.runs()
        self.assertEqual(runs["onnxifi-fuzz-asan"]["command"], runs["onnxifi-fuzz"]["command"])
        self.assertEqual(runs["onnxifi-fuzz-asan"]["options"], ["--config=asan"])
        self.assertNotEqual(runs["onnxifi-fuzz-asan"]["doc"], runs["onnxifi-fuzz"]["doc"])

    def test_pieces_that_hang_are_ended(self):
        with open(self.program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexec sleep 60\n")
        run = pieces.create(self.folder, pieces.plan("some", SPEC, 1, 0), self.program)
        with mock.patch.object(pieces, "PIECE_SECONDS_MAX", 0.1):
            self.assertNotEqual(run.do(0), 0)
        with open(run.path(0, "json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["status"], -1)

    def test_every_run_has_a_plan_with_seeds_of_its_own(self):
        for name, spec in long_run.runs().items():
            with self.subTest(name):
                plan = pieces.plan(name, spec, spec["total"], 0)
                self.assertEqual(sum(p["count"] for p in plan["pieces"]), spec["total"])
                self.assertTrue(spec["doc"])

    def test_ranges(self):
        self.assertEqual(slurm.ranges([5, 0, 1, 2]), "0-2,5")
        self.assertEqual(slurm.ranges([3]), "3")


if __name__ == "__main__":
    unittest.main()
