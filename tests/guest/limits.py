# SPDX-License-Identifier: Apache-2.0
"""Time limits of guests, their cards and their cases."""

import os


def within(seconds):
    """A limit as it is on this machine: HEDDLE_TEST_TIME_FACTOR multiplies all of them."""
    return seconds * float(os.environ.get("HEDDLE_TEST_TIME_FACTOR", "1"))
