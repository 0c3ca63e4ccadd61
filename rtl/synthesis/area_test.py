# SPDX-License-Identifier: Apache-2.0
"""area.py: what it takes from the liberty file and from the words of yosys and ABC, and what it prints."""
import unittest
import unittest.mock

from rtl.synthesis import area

LIBERTY = """cell (INVX1) {
area : 16;
}
cell (NAND2X1) {
  cell_footprint : nand2;
area : 24;
"""


class AreaTest(unittest.TestCase):
    def test_gate_equivalent(self):
        self.assertEqual(area.nand2_area(LIBERTY), 24)
        with self.assertRaises(ValueError):
            area.nand2_area("cell (INVX1) { area : 16; }")

    def test_last_figures_count(self):
        log = "ABC: Area = 9 ( 1 %) Delay =  9000.00 ps\nABC: Area = 8 Delay =  3301.52 ps  ( 8 %)\n"
        stat = "   Chip area for module '\\hd_x': 48000.000000\n"
        self.assertEqual(area.figures(log, stat), (48000.0, 3.30152))
        self.assertEqual(area.figures("", stat), (48000.0, 0.0))
        with self.assertRaises(ValueError):
            area.figures(log, "")

    def test_memories(self):
        """The one of 8,192 bits is left out, the one of a bit less per word is not."""
        self.assertEqual(area.RAM_BITS, 8192)
        mem = '  attribute \\src "x"\n  cell $mem_v2 \\m%d\n    parameter \\SIZE %d\n    parameter \\WIDTH %d\n  end'
        small, large = mem % (0, 64, 127), mem % (1, 64, 128)
        other = "  cell $add $1\n    parameter \\WIDTH 99999\n  end"
        text, bits = area.mark_rams("\n".join([small, large, other]))
        self.assertEqual(bits, 8192)
        self.assertEqual(text, "\n".join([small, large.replace("  cell", "  attribute \\ram 1\n  cell"), other]))

    def test_what_is_too_large(self):
        """It is measured without the modules below it, if there are any."""
        asked = []

        def too_long(name, _liberty, _seconds, own):
            asked.append((name, own))
            if not own:
                raise area.TooLong
            return (48000.0, 1.0, 0)

        with unittest.mock.patch.object(area, "measure", too_long):
            self.assertEqual(area.result("hd_engine_queue", "", 5), ((48000.0, 1.0, 0, True), False))
            self.assertEqual(area.result("hd_fifo", "", 5), ("not within 5 s", False))
        self.assertEqual(asked, [("hd_engine_queue", False), ("hd_engine_queue", True), ("hd_fifo", False)])

    def test_rows(self):
        self.assertEqual(area.row("hd_x", (48000.0, 3.30152, 0, False), 24), "| `hd_x` | 2.00 | 3.3 |  |")
        self.assertEqual(area.row("hd_x", (48000.0, 3.30152, 12288, True), 24), "| `hd_x` | 2.00 own | 3.3 | 1.5 |")
        self.assertEqual(area.row("hd_x", "not within 5 s", 24), "| `hd_x` | not within 5 s | | |")


if __name__ == "__main__":
    unittest.main()
