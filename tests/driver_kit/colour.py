# SPDX-License-Identifier: Apache-2.0
"""Colour of words on terminals. Nothing changes elsewhere, where NO_COLOR is set, or where TERM is "dumb" or missing."""

import os

# Bold, so that they are told apart without colours, too.
CODES = {"passed": "1;32", "skipped": "1;33", "not run": "1;33", "not tested": "1;33", "failed": "1;31"}


def has_colour(stream):
    """Whether what is written there may have colour; as the tools decide (tools/cli/colour.cc)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in ("", "dumb") and stream.isatty()


def coloured(text, verdict, on):
    """`text` in the colour of a verdict if `on`, otherwise as it is."""
    return f"\033[{CODES[verdict]}m{text}\033[0m" if on else text
