# SPDX-License-Identifier: Apache-2.0
"""A long run as pieces in a folder: what each is, which have ended, and how.

The folder is all that those who work on a run share:

  plan.json        the run: name, seed, counts, arguments of every piece
  program          the program, copied so that a later build does not change a run under way;
                   beside it the other files of the run, under their own names
  piece-00007.json how piece 7 ended: status, seconds, host; written at once, after the log
  piece-00007.log  what it printed

So a run goes on where it was left, whoever left it: a piece without result has not been done.
"""

import dataclasses
import json
import math
import os
import shutil
import socket
import subprocess
import time

# A piece that takes longer hangs.
PIECE_SECONDS_MAX = 3600


@dataclasses.dataclass
class Piece:
    number: int
    seed: int
    count: int  # in the run's unit
    arguments: list
    env: dict


class Run:
    """The folder of a run."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        with open(os.path.join(self.folder, "plan.json"), encoding="utf-8") as file:
            plan = json.load(file)
        self.name = plan["name"]
        self.unit = plan["unit"]
        self.seed = plan["seed"]
        self.total = plan["total"]
        self.pieces = [Piece(**piece) for piece in plan["pieces"]]

    def path(self, number, kind):
        return os.path.join(self.folder, f"piece-{number:05d}.{kind}")

    def result(self, number):
        """{status, seconds, host} of a piece, None while it has none."""
        try:
            with open(self.path(number, "json"), encoding="utf-8") as file:
                return json.load(file)
        except (FileNotFoundError, json.JSONDecodeError):
            return None

    def missing(self):
        return [piece.number for piece in self.pieces if self.result(piece.number) is None]

    def failed(self):
        results = ((piece.number, self.result(piece.number)) for piece in self.pieces)
        return [number for number, result in results if result and result["status"] != 0]

    def forget(self, numbers):
        """Pieces to be done again."""
        for number in numbers:
            os.unlink(self.path(number, "json"))

    def do(self, number):
        """Runs a piece and takes note of how it ended. Returns its status."""
        piece = self.pieces[number]
        log = self.path(number, "log")

        # The plan does not say where the folder is.
        def here(word):
            return word.replace("{folder}", self.folder)

        # Two workers may have the same piece when one was believed dead; each has its own files.
        mine = f".{socket.gethostname()}-{os.getpid()}"
        start = time.monotonic()
        with open(log + mine, "w", encoding="utf-8") as out:
            try:
                status = subprocess.run(
                    [os.path.join(self.folder, "program"), *map(here, piece.arguments)],
                    env={**os.environ, **{key: here(word) for key, word in piece.env.items()}},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    timeout=PIECE_SECONDS_MAX,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                out.write(f"ended after {PIECE_SECONDS_MAX} s, which no piece takes\n")
                status = -1
        os.replace(log + mine, log)
        result = {
            "status": status,
            "seconds": round(time.monotonic() - start, 1),
            "host": os.environ.get("SLURMD_NODENAME") or socket.gethostname(),
        }
        with open(self.path(number, "json") + mine, "w", encoding="utf-8") as file:
            json.dump(result, file)
        os.replace(self.path(number, "json") + mine, self.path(number, "json"))
        return status


def needs_shared(spec):
    """Whether the pieces of a run read the shared folder."""
    return any("{shared}" in word for word in [*spec["command"], *spec.get("env", {}).values()])


def plan(name, spec, total, seed, shared=""):
    """The plan of a run of `total` units whose first piece has `seed`."""
    size, per = spec["piece"], spec.get("per", 1)
    pieces = []
    for number in range(math.ceil(total / size)):
        count = min(size, total - number * size)
        values = {
            "count": math.ceil(count / per),
            "seed": seed + number * spec.get("stride", size),
            "folder": "{folder}",
            "shared": shared,
        }
        pieces.append(
            Piece(
                number,
                values["seed"],
                count,
                [word.format(**values) for word in spec["command"]],
                {key: word.format(**values) for key, word in spec.get("env", {}).items()},
            )
        )
    return {
        "name": name,
        "unit": spec["unit"],
        "seed": seed,
        "total": total,
        "pieces": [dataclasses.asdict(piece) for piece in pieces],
    }


def create(folder, content, program, files=()):
    """Makes the folder of a run, or returns the one that is there when it is of the same plan."""
    path = os.path.join(folder, "plan.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if json.load(file) != content:
                raise ValueError(
                    f"{folder} holds another run: finish it with its arguments, "
                    "choose another --seed, or remove the folder"
                )
        return Run(folder)
    os.makedirs(folder, exist_ok=True)
    shutil.copy2(program, os.path.join(folder, "program"))
    for file in files:
        shutil.copy2(file, folder)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    os.replace(path + ".new", path)  # last: with it the folder is whole
    return Run(folder)
