#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Long runs in pieces, on this machine's cores or on a Slurm cluster; resumed when started again.

  ./dev nightly validator                  all of it, on all cores of this machine
  ./dev nightly validator 1000000          a million streams
  ./dev nightly validator --slurm          as a job array; results are gathered here
  ./dev nightly validator --slurm -- --partition=night

A run is known by its name, total and seed (--seed, by default its own or the date): started again
it does only what has no result yet. Results are in --folder, by default under ~/.cache/heddle/long-runs,
which with --slurm the nodes must see under the same path. Exits 0 when every piece has passed.
"""

import argparse
import concurrent.futures
import math
import os
import shlex
import shutil
import subprocess
import sys
import time
import tomllib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import pieces  # noqa: E402
import slurm  # noqa: E402

LOG_LINES = 30


def runs():
    with open(os.path.join(HERE, "runs.toml"), "rb") as file:
        specs = tomllib.load(file)

    def whole(spec):
        return {**whole(specs[spec["like"]]), **spec} if "like" in spec else spec

    return {name: whole(spec) for name, spec in specs.items()}


def build(spec):
    """Builds the program of a run and its other files; returns their paths, the program's first."""
    labels, options = [spec["target"], *spec.get("files", [])], spec.get("options", [])
    tool = shlex.split(os.environ.get("HEDDLE_BAZEL", "bazel"))
    shared = shlex.split(os.environ.get("HEDDLE_BAZEL_OPTIONS", ""))
    if any(option.startswith("--config=") for option in options):  # of sanitizers, with options of their own
        shared = [option for option in shared if option != "--config=precompiled"]
    options = [*shared, *options]
    subprocess.run([*tool, "build", "--build_tag_filters=", *options, *labels], stdin=subprocess.DEVNULL, check=True)
    out = subprocess.run(
        [*tool, "info", *options, "bazel-bin"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    return [os.path.join(out, *label.removeprefix("//").split(":")) for label in labels]


def roughly(seconds):
    """As the tools say it (tools/cli/progress.cc)."""
    if seconds < 60:
        return f"about {max(math.ceil(seconds), 1)} s"
    if seconds < 5400:
        return f"about {int(seconds / 60 + 0.5)} min"
    return f"about {seconds / 3600:.1f} h"


class Reporter:
    """A line for each piece that has ended, with the time that the others will take."""

    def __init__(self, run, jobs=None, now=time.monotonic):
        """`jobs`: how many pieces run at a time; None on a cluster, where nobody knows."""
        self.told = set()
        self.whole = len(run.pieces)
        self.jobs = jobs
        self.now = now
        self.started = now()
        self.units, self.seconds = 0, 0.0  # of what says how long a piece takes
        for piece in run.pieces:
            result = run.result(piece.number)
            if result is not None:
                self.told.add(piece.number)
                if jobs is not None:
                    self.learn(piece, result)
        if self.told:
            print(f"{run.name}: {len(self.told)} of {self.whole} pieces were done before")

    def learn(self, piece, result):
        # On a cluster the pace counts, with failures; here, a piece that failed may have ended early.
        if self.jobs is None or result["status"] == 0:
            self.units += piece.count
            self.seconds += result["seconds"]

    def __call__(self, run):
        for piece in run.pieces:
            result = None if piece.number in self.told else run.result(piece.number)
            if result is None:
                continue
            self.told.add(piece.number)
            self.learn(piece, result)
            how = "passed" if result["status"] == 0 else f"FAILED ({result['status']})"
            print(
                f"{run.name}: piece {piece.number} {how}, seed {piece.seed}, {piece.count} {run.unit}, "
                f"{result['seconds']:.0f} s on {result['host']}; {len(self.told)} of {self.whole} done{self.left(run)}",
                flush=True,
            )

    def left(self, run):
        """ ", about 5 min left", or "" where nothing says so."""
        waiting = [piece.count for piece in run.pieces if piece.number not in self.told]
        if not waiting or not self.units:
            return ""
        seconds = self.now() - self.started if self.jobs is None else self.seconds / min(self.jobs, len(waiting))
        return f", {roughly(seconds / self.units * sum(waiting))} left"  # pieces differ in size


def work_here(run, numbers, report, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        left = {pool.submit(run.do, number) for number in numbers}
        try:
            while left:
                done, left = concurrent.futures.wait(left, timeout=1)
                for future in done:
                    future.result()
                report(run)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def summarize(run):
    """The last lines; returns the exit code."""
    failed, missing = run.failed(), run.missing()
    for number in failed:
        piece = run.pieces[number]
        print(f"{run.name}: piece {number} failed, seed {piece.seed}: {run.path(number, 'log')}")
        with open(run.path(number, "log"), encoding="utf-8", errors="replace") as log:
            print("  " + "  ".join(log.readlines()[-LOG_LINES:]), end="")
    good = [p for p in run.pieces if p.number not in failed and p.number not in missing]
    print(
        f"{run.name}: {len(good)} of {len(run.pieces)} pieces passed, {len(failed)} failed, "
        f"{sum(p.count for p in good)} of {run.total} {run.unit}, seed {run.seed}, {run.folder}"
    )
    return 0 if len(good) == len(run.pieces) else 1


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="./dev nightly NAME", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", choices=sorted(runs()), metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("total", nargs="?", type=int, help="how many units (by default the run's own number)")
    parser.add_argument("--seed", type=int, help="of the first piece (by default the run's own, or from today's date)")
    parser.add_argument("--slurm", action="store_true", help="as a job array; words after -- go to sbatch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="pieces at a time on this machine")
    parser.add_argument("--per-piece", type=int, help="units of a piece (by default the run's own number)")
    parser.add_argument("--folder", help="where results are kept")
    parser.add_argument("--again", action="store_true", help="do pieces that have failed once more")
    parser.add_argument("--piece-of", help=argparse.SUPPRESS)
    parser.add_argument("--piece", type=int, help=argparse.SUPPRESS)
    extra = []
    if "--" in argv:
        cut = argv.index("--")
        argv, extra = argv[:cut], argv[cut + 1 :]
    args = parser.parse_intermixed_args(argv)
    args.sbatch = extra
    if args.piece_of is None and args.name is None:
        parser.error("which run? " + ", ".join(sorted(runs())))
    if args.total is not None and args.total < 1:
        parser.error("the total is at least 1")
    if args.per_piece is not None and args.per_piece < 1:
        parser.error("--per-piece is at least 1")
    if args.jobs < 1:
        parser.error("--jobs is at least 1")
    if extra and not args.slurm:
        parser.error("words after -- are for sbatch: they need --slurm")
    if args.slurm and shutil.which("sbatch") is None:
        parser.error("there is no sbatch: install slurm-client, or leave --slurm out")
    return args


def main(argv):
    args = parse(argv)
    if args.piece_of is not None:
        return 0 if pieces.Run(args.piece_of).do(args.piece) == 0 else 1
    spec = runs()[args.name]
    spec["piece"] = args.per_piece or spec["piece"]
    total = args.total or spec["total"]
    seed = args.seed
    if seed is None:
        seed = spec.get("seed", int(time.strftime("%Y%m%d")) * 1_000_000_000)
    shared = os.environ.get("HEDDLE_SHARED_DIR", "")
    if pieces.needs_shared(spec) and not os.path.isdir(shared):
        print(
            f"{args.name}: needs the shared folder: put it beside the checkout as ../shared or set HEDDLE_SHARED",
            file=sys.stderr,
        )
        return 2
    folder = args.folder or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "heddle/long-runs",
        f"{args.name}-{total}-{seed}",
    )
    content = pieces.plan(args.name, spec, total, seed, shared)
    try:
        program, *files = build(spec)
        run = pieces.create(folder, content, program, files)
    except ValueError as error:
        print(f"{args.name}: {error}", file=sys.stderr)
        return 2
    for name in ("run.py", "pieces.py", "slurm.py", "runs.toml"):
        shutil.copy2(os.path.join(HERE, name), folder)
    if args.again:
        run.forget(run.failed())
    report = Reporter(run, None if args.slurm else args.jobs)
    try:
        if args.slurm:
            slurm.work(run, run.missing(), args.sbatch, report)
        else:
            work_here(run, run.missing(), report, args.jobs)
    except KeyboardInterrupt:
        print(f"{args.name}: interrupted; run the same command to resume", file=sys.stderr)
        return 130
    except RuntimeError as error:
        print(f"{args.name}: {error}", file=sys.stderr)
    report(run)
    return summarize(run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
