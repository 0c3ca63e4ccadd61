# SPDX-License-Identifier: Apache-2.0
"""What clocked_model.py makes of the least model that it takes, and that it takes no other.

That a changed model computes what the unchanged one does is shown by all tests of the RTL, which
run changed ones in lockstep with the functional model.
"""

import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import clocked_model  # noqa: E402

HEADER = """class Vm___024root {
    VL_IN8(clk,0,0);
    VL_IN8(a,0,0);
    VL_INW(b,95,0,3);
    VL_OUT8(y,0,0);
    // CONSTRUCTORS
    Vm___024root();
};
"""
FAST = """VL_INLINE_OPT void Vm___024root___ico_sequent__TOP__0(Vm___024root* vlSelf) {
    // Body
    vlSelf->gated = vlSelf->clk & vlSelf->enable;
    vlSelf->sum = vlSelf->a;
}

void Vm___024root___eval_triggers__act(Vm___024root* vlSelf) {
    // Body
    vlSelf->__VactTriggered.at(0U) = ((IData)(vlSelf->clk) & (~ (IData)(vlSelf->__Vtrigrprev__TOP__clk)));
    vlSelf->__VactTriggered.at(1U) = ((~ (IData)(vlSelf->clk)) & (IData)(vlSelf->__Vtrigrprev__TOP__clk));
    vlSelf->__Vtrigrprev__TOP__clk = vlSelf->clk;
}

void Vm___024root___eval_act(Vm___024root* vlSelf) {
    Vm__Syms* const __restrict vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;
    VL_DEBUG_IF(VL_DBG_MSGF("+"); );
    // Body
}

void Vm___024root___eval_nba(Vm___024root* vlSelf) {
    VL_DEBUG_IF(VL_DBG_MSGF("+"); );
    // Body
    if (vlSelf->__VnbaTriggered.at(0U)) {
        rising(vlSelf);
        if (vlSymsp->_vm_contextp__->assertOn()) {
        }
    }
    if (vlSelf->__VnbaTriggered.at(1U)) {
        falling(vlSelf);
    }
}

void Vm___024root___eval(Vm___024root* vlSelf) {
    // Body
                vlSelf->__VactContinue = 1U;
    done();
}
"""
SLOW = """VL_ATTR_COLD void Vm___024root___eval_initial(Vm___024root* vlSelf) {
    // Body
    start();
}
"""


class ClockedModel(unittest.TestCase):
    def run_on(self, header=HEADER, fast=FAST, slow=SLOW):
        """Exit status, what is said, and the text of the three files behind it."""
        with tempfile.TemporaryDirectory() as folder:
            files = {"Vm___024root.h": header, "Vm__0.cpp": fast, "Vm__Slow.cpp": slow}
            for name, text in files.items():
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                status = clocked_model.main(folder, "clk")
            after = []
            for name in files:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    after.append(file.read())
        return status, said.getvalue(), after

    def refused(self, why, **changed):
        status, said, after = self.run_on(**changed)
        self.assertEqual(status, 1)
        self.assertIn(why, said)
        self.assertEqual(after, [changed.get("header", HEADER), changed.get("fast", FAST), changed.get("slow", SLOW)])

    def test_logic_of_inputs_waits_for_a_change(self):
        status, said, (header, fast, _) = self.run_on()
        self.assertEqual((status, said), (0, ""))
        for name in ("a", "b"):
            self.assertIn("heddle::Differ(%s, heddle_was_%s)" % (name, name), header)
        self.assertNotIn("heddle_was_clk", header)
        self.assertNotIn("heddle_was_y", header)
        self.assertIn(
            "vlSelf->gated = vlSelf->clk & vlSelf->enable;\n"
            "    if (vlSelf->clk || vlSelf->heddle_same()) return;\n"
            "    vlSelf->sum",
            fast,
        )

    def test_edges_are_one_word(self):
        _, _, (header, fast, slow) = self.run_on()
        word = "(uint64_t{vlSelf->clk} << 0)\n        | (uint64_t{vlSelf->clk ^ 1U} << 1)"
        self.assertIn("const uint64_t now = " + word, fast)
        self.assertIn("start();\n    vlSelf->heddle_clocks = " + word, slow)
        self.assertIn("uint64_t heddle_clocks;", header)
        self.assertNotIn("Vtrigrprev", fast)
        self.assertNotIn("__VactContinue", fast)

    def test_the_falling_edge_has_a_list_of_its_own(self):
        _, _, (_, fast, _) = self.run_on()
        only = fast.index("Only(1U)")
        self.assertEqual(fast[only:].split("return;")[0].count("(vlSelf);"), 1)
        self.assertEqual(fast.count("falling(vlSelf);"), 2)
        self.assertEqual(fast.count("rising(vlSelf);"), 1)

    def test_assertions_are_on(self):
        _, _, (_, fast, _) = self.run_on()
        self.assertNotIn("assertOn", fast)

    def test_without_a_falling_edge(self):
        fast = FAST.replace(
            "    vlSelf->__VactTriggered.at(1U) = ((~ (IData)(vlSelf->clk)) & (IData)(vlSelf->__Vtrigrprev__TOP__clk));\n",
            "",
        )
        status, _, (_, after, _) = self.run_on(fast=fast)
        self.assertEqual(status, 0)
        self.assertNotIn("Only(", after)

    def test_models_of_another_shape_are_left_as_they_are(self):
        def without(text, part, by=""):
            self.assertIn(part, text)
            return text.replace(part, by)

        self.refused("no inputs", header=without(without(HEADER, "    VL_IN8(a,0,0);\n"), "    VL_INW(b,95,0,3);\n"))
        self.refused("the class", header=without(HEADER, "    // CONSTRUCTORS\n"))
        self.refused("files with a function", fast=without(FAST, "___ico_sequent__TOP__0", "___other"))
        self.refused("what depends on inputs", fast=without(FAST, "    vlSelf->sum = vlSelf->a;\n"))
        self.refused("an edge", fast=without(FAST, "(~ (IData)(vlSelf->__Vtrigrprev__TOP__clk))", "vlSelf->other"))
        self.refused("an edge", fast=without(FAST, "at(1U) =", "at(2U) ="))
        self.refused("the active region", fast=without(FAST, "                vlSelf->__VactContinue = 1U;\n"))
        self.refused(
            "something runs",
            fast=without(
                FAST, '    VL_DEBUG_IF(VL_DBG_MSGF("+"); );\n    // Body\n}', "    vlSelf->x = 1U;\n    // Body\n}"
            ),
        )
        self.refused(
            "what waits for the falling edge", fast=without(FAST, "        falling(vlSelf);", "        x = 1;")
        )
        self.refused(
            "what waits for edges",
            fast=without(
                FAST,
                "    if (vlSelf->__VnbaTriggered.at(1U)) {",
                "    more();\n    if (vlSelf->__VnbaTriggered.at(1U)) {",
            ),
        )
        self.refused("files with a function", slow=without(SLOW, "___eval_initial", "___eval_other"))


if __name__ == "__main__":
    unittest.main()
