# SPDX-License-Identifier: Apache-2.0
"""Tells on stderr which case runs and how long all of them will still take.

By what they took elsewhere (seconds.json: {"GROUP.CASE": seconds, "boot": seconds}) and by how much slower or faster
this machine has been so far. It says nothing before the first boot is over, which is the first that it knows of this
machine.
"""

import re
import sys
import threading
import time

DONE = re.compile(r"^\[ +(?:OK|FAILED|SKIPPED) +\] \S+ \(", re.MULTILINE)
BOOT = 6.0
UNKNOWN = 20.0  # of a case that has not been timed
PRIOR = 1.0  # seconds that count as having been as expected; few, so that a slow boot tells of the rest


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def roughly(seconds):
    if seconds < 50:
        return f"about {max(int(seconds / 10 + 0.5), 1) * 10} s"
    return f"about {int(seconds / 60 + 0.7)} min"


class Progress:
    def __init__(self, tests, seconds, boots, stream=sys.stderr, quiet=False):
        """`tests`: {case: how many tests it has}; `seconds`: of seconds.json; `boots`: how many there will be."""
        self._tests = dict(tests)
        self._expected = {case: seconds.get(case, UNKNOWN) for case in tests}
        self._boot = seconds.get("boot", BOOT)
        self._boots = boots
        self._stream = stream
        self._terminal = stream.isatty()
        self._started = time.monotonic()
        self._done_tests = 0
        self._done_expected = 0.0
        self._current = ("", "")  # case, and the file with what it prints
        self._group = ""  # the last one of which a case began
        self._ended = 0.0  # when the last boot or case was over
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        if not quiet:
            self._thread.start()

    def begin(self, case, output):
        """`output`: the file with what the case prints."""
        with self._lock:
            group = case.split(".")[0]
            if case in self._expected and group != self._group:  # a boot ends where its modules are loaded
                self._group = group
                self._boots -= 1
                self._done(self._boot)
            self._current = (case, output)

    def end(self, case):
        with self._lock:
            self._current = ("", "")
            if case in self._expected:
                self._done_tests += self._tests.pop(case)
                self._done(self._expected.pop(case))

    def _done(self, expected):
        self._done_expected += expected
        self._ended = self._elapsed()

    def _elapsed(self):
        return time.monotonic() - self._started

    def leave(self, cases):
        """These will not be run."""
        with self._lock:
            for case in cases:
                self._tests.pop(case, None)
                self._expected.pop(case, None)

    def remaining(self):
        """Seconds."""
        elapsed = self._elapsed()
        expected = self._expected.get(self._current[0], self._boot if self._boots > 0 else 0)
        # What takes no longer than others did, relative to what is expected, tells nothing new while it runs.
        pace = max(
            (self._ended + PRIOR) / (self._done_expected + PRIOR),
            (elapsed + PRIOR) / (self._done_expected + expected + PRIOR),
        )
        within = min((elapsed - self._ended) / pace, expected)
        return max((sum(self._expected.values()) + max(self._boots, 0) * self._boot - within) * pace, 0)

    def line(self):
        with self._lock:
            case, output = self._current
            inside = 0
            if output:
                try:
                    with open(output, encoding="utf-8", errors="replace") as file:
                        inside = len(DONE.findall(file.read()))
                except OSError:
                    pass
            done, all_tests = self._done_tests + inside, self._done_tests + sum(self._tests.values())
            left = f", {roughly(self.remaining())} left" if self._done_expected else ""
            return f"[{done} of {all_tests}] {clock(self._elapsed())}{left}: {case or 'boot'}"

    def _tick(self):
        while not self._over.wait(1 if self._terminal else 20):
            if self._terminal:
                print(f"\r\033[K{self.line()}", end="", file=self._stream, flush=True)
            else:
                print(self.line(), file=self._stream, flush=True)

    def clear(self):
        if self._terminal and self._thread.is_alive():
            print("\r\033[K", end="", file=self._stream, flush=True)

    def close(self):
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        if self._terminal:
            print("\r\033[K", end="", file=self._stream, flush=True)
