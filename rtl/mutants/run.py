# SPDX-License-Identifier: Apache-2.0
"""Every fault of mutants.bzl, one after another, against the test that must find it.

Works in a copy of the repository with a Bazel output base of its own, so that nothing of the
repository changes, and each fault costs what a change of one line costs. A fault is killed if its
test was built, ran and said which of its checks, or which assertion of the RTL, failed; a test that
does not build, or crashes or runs out of time without a word, has not found anything. Fails if a
fault is not killed, or no longer fits the source.

  run.py [--bazel COMMAND] [--tree FOLDER] [--report FILE] [NAME ...]
"""
import argparse
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

from mutate import mutate, table

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TIMEOUT = 600  # seconds of a test; each takes less than a minute by itself


def write(path, data):
    """Only if it is different: Bazel looks at the time first."""
    try:
        with open(path, "rb") as f:
            if f.read() == data:
                return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def copy_to(tree):
    names = (
        subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, stdout=subprocess.PIPE, check=True
        )
        .stdout.decode()
        .split("\0")
    )
    names = [n for n in names if n and os.path.isfile(os.path.join(ROOT, n))]
    if os.path.exists(os.path.join(ROOT, ".bazelrc.user")):
        names.append(".bazelrc.user")
    for name in names:
        source = os.path.join(ROOT, name)
        with open(source, "rb") as f:
            write(os.path.join(tree, name), f.read())
        os.chmod(os.path.join(tree, name), os.stat(source).st_mode | 0o200)


class Bazel:
    def __init__(self, command, tree):
        self.command, self.tree = command, tree
        self.logs = self.run("info", "bazel-testlogs").stdout.strip()

    def run(self, *arguments):
        return subprocess.run(
            self.command + list(arguments),
            cwd=self.tree,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if arguments[0] == "test" else None,
            universal_newlines=True,
        )

    def test(self, *tests):
        return self.run(
            "test",
            *["//rtl:%s_test" % t for t in tests],
            "--test_output=errors",
            "--test_arg=--gtest_fail_fast",
            "--test_timeout=%d" % TIMEOUT,
            "--notest_keep_going",
            "--color=no",
            "--curses=no",
            "--noshow_progress",
        )

    def failed_checks(self, test, since):
        """Names of the tests with a failed check in the runs since then."""
        names = []
        for log in glob.glob(f"{self.logs}/rtl/{test}_test/test.log") + glob.glob(
            f"{self.logs}/rtl/{test}_test/shard_*/test.log"
        ):
            if os.stat(log).st_mtime < since - 1:
                continue
            with open(log, encoding="utf-8", errors="replace") as f:
                text = f.read()
            # The first failed check, and the test it is in.
            failure = re.search(r"^\S+:\d+: Failure$", text, re.M)
            if failure:
                names += re.findall(r"^\[ RUN      \] ([\w./]+)", text[: failure.start()], re.M)[-1:]
            # An assertion of the RTL ends the program.
            names += re.findall(r"^(?:\[\d+\] )?%Error: (\S+\.sv:\d+): Assertion failed in", text, re.M)[:1]
        return names


def verdict(bazel, mutant, started):
    """(killed, text)"""
    result = bazel.test(mutant["test"])
    if result.returncode == 0:
        return False, "SURVIVED"
    if result.returncode != 3:  # Bazel: everything was built, tests failed
        return False, "DOES NOT BUILD\n" + result.stdout[-3000:]
    names = bazel.failed_checks(mutant["test"], started)
    if not names:
        return False, "TEST DIED\n" + result.stdout[-3000:]
    return True, "%s_test %s" % (mutant["test"], names[0])


def main():
    parser = argparse.ArgumentParser()
    base = os.path.join(tempfile.gettempdir(), "heddle-mutants-%d" % os.getuid())
    parser.add_argument("--tree", default=base + "/tree")
    parser.add_argument("--bazel", default="bazel --output_base=%s/base" % base)
    parser.add_argument("--report", help="the table, also here")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    mutants = [m for m in table(os.path.join(HERE, "mutants.bzl")) if not options.names or m["name"] in options.names]
    unknown = set(options.names) - {m["name"] for m in mutants}
    if unknown:
        sys.exit("no such fault: %s" % ", ".join(sorted(unknown)))
    copy_to(options.tree)
    bazel = Bazel(shlex.split(options.bazel), options.tree)
    tests = sorted({m["test"] for m in mutants})
    print("without a fault: %s" % " ".join(tests), flush=True)
    baseline = bazel.test(*tests)
    if baseline.returncode != 0:
        sys.exit(baseline.stdout[-3000:] + "\nthe tests fail without a fault")
    lines, alive = [], []
    # Those of one test together: the least is built again.
    for mutant in sorted(mutants, key=lambda m: (m["test"], m["file"])):
        path = os.path.join(options.tree, "rtl/src", mutant["file"] + ".sv")
        with open(path, "rb") as f:
            original = f.read()
        started = time.time()
        try:
            write(path, mutate(mutant, original.decode()).encode())
            killed, text = verdict(bazel, mutant, started)
        except ValueError as error:
            killed, text = False, "DOES NOT FIT: %s" % error
        finally:
            write(path, original)
        if not killed:
            alive.append(mutant["name"])
        line = "%-30s %-22s %5.0f s  %s" % (mutant["name"], mutant["file"], time.time() - started, text)
        lines.append(line.splitlines()[0])
        print(line, flush=True)
    summary = "%d faults, %d killed" % (len(mutants), len(mutants) - len(alive))
    print(summary + (": not %s" % ", ".join(alive) if alive else ""))
    if options.report:
        with open(options.report, "w", encoding="utf-8") as f:
            f.write("\n".join(lines + [summary]) + "\n")
    sys.exit(1 if alive else 0)


if __name__ == "__main__":
    main()
