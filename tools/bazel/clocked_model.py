# SPDX-License-Identifier: Apache-2.0
"""Makes a verilated model (Verilator 5.006, C++) of one clock faster; verilator.bzl says when.

  clocked_model.py FOLDER CLOCK [NAME=VALUE ...]

The model's inputs other than CLOCK change only while it is low. What is computed stays the same:

1. Logic that depends on inputs is computed when an input has changed since it was, and not in every
   evaluation. The gated clocks, which depend on CLOCK and which Verilator puts first in that logic, are
   computed always.
2. The edges of all clocks are found in one word. Nothing runs in the active region, so they are not
   looked for again behind it.
3. Where CLOCK falls and no other clock has an edge, the list of what waits for which edge is short.
4. Whether assertions are on is not asked: they are.

A model of another shape is refused.
"""
import glob
import os
import re
import sys


class Shape(Exception):
    """The generated code is not what is expected here."""


def function(text, name):
    """(start, end) of the body of the one function whose name ends with `name`."""
    found = list(re.finditer(r"^(?:VL_\w+ )*void \w+%s\(.*\) \{$" % name, text, re.M))
    if len(found) != 1:
        raise Shape("%d functions %s" % (len(found), name))
    end = text.index("\n}\n", found[0].end())
    return found[0].end() + 1, end + 1


def statements(body):
    """The statements of a body without comments and preprocessor lines, each on one line."""
    body = re.sub(r"^#ifdef VL_DEBUG\n.*?^#endif\n", "", body, flags=re.M | re.S)
    body = re.sub(r"//[^\n]*", "", body)
    return [" ".join(s.split()) for s in body.split(";")]


class Model:
    def __init__(self, folder, clock):
        self.clock = "vlSelf->" + clock
        self.text = {}
        for path in glob.glob(os.path.join(folder, "*.cpp")) + glob.glob(os.path.join(folder, "*___024root.h")):
            with open(path, encoding="utf-8") as file:
                self.text[path] = file.read()
        headers = [p for p in self.text if p.endswith(".h")]
        if len(headers) != 1:
            raise Shape("%d headers" % len(headers))
        self.header = headers[0]

    def write(self):
        for path, text in self.text.items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    def where(self, name, slow=False):
        """The file with the function."""
        pattern = re.compile(r"^(?:VL_\w+ )*void \w+%s\(.*\) \{$" % name, re.M)
        found = [p for p, t in self.text.items() if p.endswith("__Slow.cpp") == slow and pattern.search(t)]
        if len(found) != 1:
            raise Shape("%d files with a function %s" % (len(found), name))
        return found[0]

    def edit(self, name, change, slow=False):
        path = self.where(name, slow)
        text = self.text[path]
        start, end = function(text, name)
        self.text[path] = text[:start] + change(text[start:end]) + text[end:]

    def member(self, code):
        """Adds to the class of the model."""
        mark = "    // CONSTRUCTORS\n"
        if self.text[self.header].count(mark) != 1:
            raise Shape("the class")
        self.text[self.header] = self.text[self.header].replace(mark, code + "\n" + mark)

    def inputs(self):
        skipped = re.escape(self.clock.split(">")[1])
        names = re.findall(r"^\s*VL_IN(?:8|16|64|W)?\((\w+),", self.text[self.header], re.M)
        names = [n for n in names if not re.fullmatch(skipped, n)]
        if not names:
            raise Shape("no inputs")
        self.member(
            "\n".join(
                [
                    "    // clocked_model.py: the inputs of which all that depends on them was computed",
                    "    bool heddle_seen = false;",
                ]
                + ["    std::remove_reference_t<decltype(%s)> heddle_was_%s;" % (n, n) for n in names]
                + [
                    "    bool heddle_same() {",
                    "        if (heddle_seen && !((%s))) return true;"
                    % ") | (".join("heddle::Differ(%s, heddle_was_%s)" % (n, n) for n in names),
                ]
                + ["        heddle_was_%s = %s;" % (n, n) for n in names]
                + ["        heddle_seen = true;", "        return false;", "    }"]
            )
        )

        def change(body):
            at = body.rfind(self.clock)
            end = body.find(";\n", at) + 2
            if at < 0 or end < 2 or not body[end:].strip():
                raise Shape("what depends on inputs")
            return body[:end] + "    if (%s || vlSelf->heddle_same()) return;\n" % self.clock + body[end:]

        self.edit(r"___ico_\w*__TOP__\d+", change)

    def edges(self):
        body = {}

        def read(text):
            body["edges"] = text
            return text

        self.edit("___eval_triggers__act", read)
        now, last = [], 0
        for s in statements(body["edges"]):
            if "__VactTriggered.at(" not in s:
                continue
            m = re.fullmatch(r"vlSelf->__VactTriggered\.at\((\w+?)U\) = (.*)", s)
            index = int(m.group(1), 0)
            term = re.sub(r"\(IData\)|[() ]", "", m.group(2))
            rise = re.fullmatch(r"vlSelf->(\w+)&~vlSelf->__Vtrigrprev__TOP__(\w+)", term)
            fall = re.fullmatch(r"~vlSelf->(\w+)&vlSelf->__Vtrigrprev__TOP__(\w+)", term)
            edge = rise or fall
            if not edge or edge.group(1) != edge.group(2) or index != last:
                raise Shape("an edge: " + s)
            last += 1
            now.append("uint64_t{vlSelf->%s%s} << %d" % (edge.group(1), "" if rise else " ^ 1U", index))
            if fall and "vlSelf->" + edge.group(1) == self.clock:
                self.falls = index
        if not 0 < last <= 64:
            raise Shape("%d edges" % last)
        word = "\n        | ".join("(%s)" % n for n in now)
        self.member("    uint64_t heddle_clocks;  // clocked_model.py: in place of __Vtrigrprev")
        self.edit(
            "___eval_triggers__act",
            lambda _: (
                "    const uint64_t now = %s;\n"
                "    vlSelf->__VactTriggered.Assign(now & ~vlSelf->heddle_clocks);\n"
                "    vlSelf->heddle_clocks = now;\n" % word
            ),
        )
        self.edit("___eval_initial", lambda text: text + "    vlSelf->heddle_clocks = %s;\n" % word, slow=True)

        path = self.where("___eval_act")
        start, end = function(self.text[path], "___eval_act")
        if [
            s
            for s in statements(self.text[path][start:end])
            if "=" in s.replace("const vlSymsp", "") and "vlSymsp" not in s
        ] or self.text[path][start:end].count("\n") != 3:
            raise Shape("something runs in the active region")
        again = "                vlSelf->__VactContinue = 1U;\n"
        path = self.where("___eval")
        if self.text[path].count(again) != 1:
            raise Shape("the active region")
        self.text[path] = self.text[path].replace(again, "")

    def falling(self):
        """The part of eval_nba that waits for the falling edge, by itself."""

        def change(body):
            head, mark, rest = body.partition("    // Body\n")
            blocks = re.findall(r"    if .*?^    \}\n", rest, re.M | re.S)
            if not mark or "".join(blocks) != rest:
                raise Shape("what waits for edges")
            only = "".join(b for b in blocks if ".at(%dU)" % self.falls in b)
            calls = re.findall(r"^        \w+\(vlSelf\);\n", only, re.M)
            if len(calls) != only.count(";"):
                raise Shape("what waits for the falling edge")
            return (
                head
                + mark
                + "    if (vlSelf->__VnbaTriggered.Only(%dU)) {\n" % self.falls
                + "".join(calls)
                + "        return;\n    }\n"
                + rest
            )

        self.edit("___eval_nba", change)

    def assertions(self):
        on = "if (vlSymsp->_vm_contextp__->assertOn()) {"
        for path in self.text:
            self.text[path] = self.text[path].replace(on, "{")


def main(folder, clock):
    model = Model(folder, clock)
    model.falls = None
    try:
        model.inputs()
        model.edges()
        if model.falls is not None:
            model.falling()
        model.assertions()
    except Shape as error:
        print("clocked_model.py: %s: not the model that is expected" % error, file=sys.stderr)
        return 1
    model.write()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
