#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long run on a cluster of Slurm: Debian's slurmctld and two node daemons on this machine's
loopback, one of which is killed with a piece on it. Root only, because munged and slurmd are.

usage: slurm_test.py [--run NAME] [--total N]     (./dev nightly slurm)

Starts the daemons in a folder of its own, runs `run.py NAME TOTAL --slurm`, kills node n2 and what
it runs when the first piece has ended, and expects every piece to pass, the ones that were left
behind on the other node.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import run as long_run  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo")
PACKAGES = "munge slurmctld slurmd slurm-client"
WAIT_SECONDS = 120
PIECES = 8

CONF = """
ClusterName=heddle
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=26817
SlurmctldParameters=enable_configless
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
ReturnToService=0
SlurmdTimeout=10
SlurmctldTimeout=30
InactiveLimit=0
KillWait=5
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=26818 CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=26819 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


def wait_for(what, condition):
    limit = time.monotonic() + WAIT_SECONDS * float(os.environ.get("HEDDLE_TEST_TIME_FACTOR", "1"))
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(f"waited too long for {what}")
        time.sleep(0.2)


class Cluster:
    """munged, slurmctld and two slurmd, all with their files in one folder."""

    def __init__(self, folder):
        self.folder = folder
        self.daemons = {}
        conf = os.path.join(folder, "slurm.conf")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(CONF.format(folder=folder))
        for node in ("n1", "n2"):
            os.mkdir(os.path.join(folder, f"spool-{node}"))
        os.mkdir(os.path.join(folder, "state"))
        key = os.path.join(folder, "munge.key")
        with open(key, "wb") as file:
            file.write(os.urandom(128))
        os.chmod(key, 0o400)
        self.env = {**os.environ, "SLURM_CONF": conf}

    def up(self):
        folder, conf, key = (self.folder, self.env["SLURM_CONF"], os.path.join(self.folder, "munge.key"))
        socket = os.path.join(folder, "munge.socket")
        self.start(
            "munged",
            *("--foreground", "--force", f"--key-file={key}", f"--socket={socket}"),
            *(f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log"),
            f"--seed-file={folder}/munged.seed",
        )
        wait_for("munged", lambda: os.path.exists(socket))
        self.start("slurmctld", "-D", "-f", conf)
        for node in ("n1", "n2"):
            self.start("slurmd", "-D", "-N", node, "-f", conf, name=node)
        wait_for("both nodes", lambda: self.ask("sinfo", "-h", "-N", "-o", "%T").split() == ["idle", "idle"])

    def start(self, program, *words, name=None):
        log = open(os.path.join(self.folder, f"{name or program}.out"), "wb")
        self.daemons[name or program] = subprocess.Popen(
            [program, *words], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        log.close()

    def ask(self, *words):
        return subprocess.run(words, env=self.env, capture_output=True, text=True, check=False).stdout

    def steps_of(self, node):
        """Process ids of what runs on a node: its step daemons' children, to the last."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    if f"SLURMD_NODENAME={node}".encode() in file.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                continue
        return found

    def kill_node(self, node):
        """As when its power fails: daemon, step daemons and jobs, at once, in the middle of a piece.
        Returns how many processes of jobs that were; 0: no piece was there, and nothing is killed."""
        jobs = [pid for pid in self.steps_of(node) if self.signal(pid, signal.SIGSTOP)]
        if not any(self.program(pid) == "program" for pid in jobs):
            for pid in jobs:
                self.signal(pid, signal.SIGCONT)
            return 0
        stepd = subprocess.run(["pgrep", "-f", "slurmstepd: "], capture_output=True, text=True, check=False)
        parents = {int(self.parent(pid)) for pid in jobs}
        daemon = self.daemons[node]
        self.signal(daemon.pid, signal.SIGKILL)
        for pid in [*(int(p) for p in stepd.stdout.split() if int(p) in parents), *jobs]:
            self.signal(pid, signal.SIGKILL)
        daemon.wait()
        return len(jobs)

    @staticmethod
    def signal(pid, number):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    @staticmethod
    def program(pid):
        try:
            return os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        except OSError:
            return ""

    @staticmethod
    def parent(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                return file.read().rsplit(")", 1)[1].split()[1]
        except OSError:
            return -1

    def close(self):
        for daemon in reversed(self.daemons.values()):
            if daemon.poll() is None:
                daemon.terminate()
        for daemon in self.daemons.values():
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def check(cluster, name, total):
    results = os.path.join(cluster.folder, "results")
    command = [sys.executable, os.path.join(HERE, "run.py"), name, str(total)]
    command += ["--slurm", "--folder", results, "--seed", "1", "--per-piece", str(max(1, total // PIECES))]
    driver = subprocess.Popen(command, env=cluster.env, stdin=subprocess.DEVNULL)
    try:

        def ended():
            return [f for f in (os.listdir(results) if os.path.isdir(results) else []) if f.endswith(".json")]

        # plan.json is one of them.
        wait_for("the first piece", lambda: driver.poll() is not None or len(ended()) > 1)
        killed = 0

        def kill():
            nonlocal killed
            killed = cluster.kill_node("n2")
            return killed or driver.poll() is not None

        wait_for("a piece on n2", kill)
        if not killed:
            raise AssertionError("the run ended before a node could be killed: ask for a larger --total")
        print(f"slurm_test: killed node n2 and {killed} processes on it", flush=True)
        status = driver.wait()
    finally:
        if driver.poll() is None:
            driver.kill()
    if status != 0:
        raise AssertionError(f"run.py ended with {status}")
    with open(os.path.join(results, "plan.json"), encoding="utf-8") as file:
        count = len(json.load(file)["pieces"])
    hosts = []
    for number in range(count):
        with open(os.path.join(results, f"piece-{number:05d}.json"), encoding="utf-8") as file:
            result = json.load(file)
        if result["status"] != 0:
            raise AssertionError(f"piece {number}: {result}")
        hosts.append(result["host"])
    arrays = {f.split("-")[1] for f in os.listdir(results) if f.startswith("slurm-")}
    if len(arrays) < 2:
        raise AssertionError("the killed piece was not given out again")
    print(
        f"slurm_test: {count} pieces passed in {len(arrays)} arrays, {hosts.count('n1')} on n1, "
        f"{hosts.count('n2')} on n2 before it was killed"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", default="validator")
    parser.add_argument("--total", type=int, default=4_000_000)
    args = parser.parse_args()
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        print(f"slurm_test: {', '.join(missing)} not found: apt-get install {PACKAGES}", file=sys.stderr)
        return 1
    if os.geteuid() != 0:
        print("slurm_test: needs root", file=sys.stderr)
        return 1
    long_run.build(long_run.runs()[args.run])  # which takes what it takes
    with tempfile.TemporaryDirectory(prefix="heddle-slurm.") as folder:
        cluster = Cluster(folder)
        try:
            cluster.up()
            check(cluster, args.run, args.total)
        except (AssertionError, TimeoutError) as error:
            print(f"slurm_test: FAILED: {error}", file=sys.stderr)
            for log in sorted(f for f in os.listdir(folder) if f.endswith((".log", ".out"))):
                with open(os.path.join(folder, log), encoding="utf-8", errors="replace") as file:
                    print(f"--- {log}\n" + "".join(file.readlines()[-15:]), file=sys.stderr)
            return 1
        finally:
            cluster.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
