# SPDX-License-Identifier: Apache-2.0
"""Tests of cycles_chart.py."""

import unittest
import xml.dom.minidom

from tests.lockstep import cycles_chart

NETWORK = {
    "network": "../models/a<b/model.onnx",
    "config": "h256",
    "cycles": 1000,
    "macs_per_cycle": 256,
    "cycles_by_engines": {
        "load": 100,
        "load+matrix": 300,
        "matrix": 400,
        "load+vector": 120,
        "store": 30,
        "nobody": 50,
    },
    "matrix_waits": {"weights": 60, "operands": 30, "output": 10},
    "layers": [{"engine": "matrix", "macs": 256 * 500}, {"engine": "vector", "macs": 999999}],
}


class CyclesPicture(unittest.TestCase):
    def test_parts_add_up(self):
        parts = cycles_chart.parts_of(NETWORK)
        self.assertEqual(sum(parts.values()), NETWORK["cycles"])
        self.assertEqual(parts["useful"], 500)
        self.assertEqual(parts["partly"], 100)
        self.assertEqual(parts["vector"], 120)
        self.assertEqual(parts["transfer"], 130)
        self.assertEqual(set(parts), {name for name, _, _ in cycles_chart.PARTS})

    def test_is_svg_with_every_part(self):
        svg = cycles_chart.chart([NETWORK, NETWORK])
        document = xml.dom.minidom.parseString(svg)
        titles = [t.firstChild.data for t in document.getElementsByTagName("title")]
        self.assertEqual(len(titles), 2 * len(cycles_chart.PARTS))
        self.assertIn("useful 50.0 %", titles)
        self.assertIn("a&lt;b", svg)
        self.assertEqual(svg, cycles_chart.chart([NETWORK, NETWORK]))


if __name__ == "__main__":
    unittest.main()
