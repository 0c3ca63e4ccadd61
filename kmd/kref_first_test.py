# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""What heddle_find() finds begins with its reference count.

heddle_find() takes what an xarray holds for a struct kref, and the compiler cannot see what that is.
So of each call heddle_find(&FILE->THINGs, ...) in kmd/linux struct heddle_THING must have
`struct kref ref;` as its first member.

usage: kref_first_test.py FILE...
"""

import re
import sys
import unittest

CALL = re.compile(r"\bheddle_find\(&\w+->(\w+)s,")
FIRST = re.compile(r"^struct (heddle_\w+) \{\n\s*(.*?;)", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def findings(text):
    """Names of structures that are found and begin with something else, and of those that are not there."""
    text = COMMENT.sub("", text)
    first = dict(FIRST.findall(text))
    found = {f"heddle_{thing}" for thing in CALL.findall(text)}
    return sorted(name for name in found if first.get(name) != "struct kref ref;"), found


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


class KrefFirst(unittest.TestCase):
    TEXT = "".join(read(path) for path in sys.argv[1:])

    def test_the_driver(self):
        wrong, found = findings(self.TEXT)
        self.assertEqual(found, {"heddle_context", "heddle_stream"})
        self.assertEqual(wrong, [])

    def test_another_first_member_is_found(self):
        for name in ("heddle_context", "heddle_stream"):
            begin = f"struct {name} {{\n"
            self.assertIn(begin, self.TEXT)
            self.assertEqual(findings(self.TEXT.replace(begin, begin + "\tu32 id;\n"))[0], [name])

    def test_a_structure_that_is_not_there_is_found(self):
        call = "\tx = heddle_find(&own->buffers, id);\n"
        self.assertEqual(findings(self.TEXT + call)[0], ["heddle_buffer"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
