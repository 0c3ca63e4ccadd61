# SPDX-License-Identifier: Apache-2.0
"""Tests of test_seconds.py."""

import json
import unittest

from tools.dev import test_seconds


def result(label, millis, **ident):
    event = {
        "id": {"testResult": {"label": label, **ident}},
        # Bazel writes 64-bit numbers as strings.
        "testResult": {"status": "PASSED", "testAttemptDurationMillis": str(millis)},
    }
    return json.dumps(event)


class SecondsTest(unittest.TestCase):
    def test_shards_and_targets_of_a_package_add_up(self):
        lines = [
            result("//a/b:x", 1500, shard=1),
            result("//a/b:x", 2500, shard=2),
            result("//a/b:y", 1000),
            result("//c:z", 9000),
            json.dumps({"id": {"progress": {}}}),
        ]
        packages = test_seconds.read_seconds(lines)
        self.assertEqual(packages, {"a/b": (5.0, 2), "c": (9.0, 1)})
        rows = test_seconds.table(packages)
        self.assertEqual(rows[2:], ["| c | 1 | 9 |", "| a/b | 2 | 5 |", "| all | 3 | 14 |"])

    def test_a_result_without_time_counts_as_a_target(self):
        line = json.dumps({"id": {"testResult": {"label": "//:t"}}, "testResult": {}})
        self.assertEqual(test_seconds.read_seconds([line]), {"(root)": (0.0, 1)})


if __name__ == "__main__":
    unittest.main()
