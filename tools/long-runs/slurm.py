# SPDX-License-Identifier: Apache-2.0
"""Pieces of a run as a job array of Slurm.

Nodes see the run's folder under the same path and are Debian 12 with the packages of
tools/setup/packages.txt. A piece that a dying node leaves behind is put into the next array,
until an array brings nothing any more.
"""

import os
import shlex
import subprocess
import sys
import time

POLL_SECONDS = 2


def ranges(numbers):
    """[0, 1, 2, 5] as "0-2,5", which is how an array is asked for."""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _ask(*words):
    """Output of a command of Slurm's; None when its controller does not answer."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0 and "Invalid job id" not in done.stderr:
        return None
    return done.stdout


def _submit(run, numbers, extra):
    script = "exec python3 {} --piece-of {} --piece $SLURM_ARRAY_TASK_ID\n".format(
        shlex.quote(os.path.join(run.folder, "run.py")), shlex.quote(run.folder)
    )
    command = [
        "sbatch",
        "--parsable",
        f"--job-name=heddle-{run.name}",
        f"--array={ranges(numbers)}",
        "--ntasks=1",
        "--cpus-per-task=1",
        "--time=70",
        "--no-requeue",  # a piece that is left behind is ours to give out again
        f"--output={run.folder}/slurm-%A-%a.log",
        *extra,
    ]
    done = subprocess.run(command, input="#!/bin/sh\n" + script, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"sbatch: {done.stderr.strip()}")
    return done.stdout.strip().split(";")[0]


def work(run, numbers, extra, report):
    """Runs the pieces `numbers`; `report(run)` is called now and then. Returns when every piece
    has a result, or when an array has ended without any new one."""
    while numbers:
        job = _submit(run, numbers, extra)
        print(f"{run.name}: {len(numbers)} pieces as array {job}", file=sys.stderr, flush=True)
        while True:
            time.sleep(POLL_SECONDS)
            report(run)
            if not run.missing():
                break
            left = _ask("squeue", "--noheader", "--jobs", job, "--format=%T")
            if left is not None and not left.strip():
                break
        before, numbers = len(numbers), run.missing()
        if numbers and len(numbers) == before:
            raise RuntimeError(
                f"array {job} has ended and none of its {before} pieces is done: "
                f"see {run.folder}/slurm-{job}-*.log, and sinfo"
            )
