# SPDX-License-Identifier: Apache-2.0
"""A guest with virtual cards, and what host and guest say to each other through a shared folder.

QemuMachine (qemu_machine.py) is a stock Debian kernel in QEMU; UmlMachine (uml_machine.py) is the
debug kernel, a process. agent.sh ends both with the code 33, which nothing else does.
"""

import ctypes
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from tests.guest.card import Card
from tests.guest.limits import within

SLOTS = 4
GOOD_EXIT = 33
VERBS = ("unplug", "plug", "kill", "ctl", "aer", "alive")  # of inside/heddle-host


class GuestError(Exception):
    """The guest did not do what it has to do; the text says what."""


class TooSlow(GuestError):
    """It may yet do it: the time that it had is over, and it still runs."""


def die_with_parent():
    """For subprocess's preexec_fn."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def kernel_info(path):
    """kernel.txt as a dict."""
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)


class Machine:
    """What both kinds have in common. A derived class starts self.process in its constructor."""

    name = ""  # of the program, in messages
    last_cases = ()  # run after those of the plan: (name, command, seconds)

    def __init__(self, folders=()):
        self.folder = tempfile.mkdtemp(prefix="guest.", dir="/tmp")
        self.share = os.path.join(self.folder, "share")
        for name in ("commands", "out", "requests", "replies", *folders):
            os.makedirs(os.path.join(self.share, name))
        for name in ("agent.sh", "heddle-host"):
            shutil.copy(os.path.join(os.path.dirname(__file__), "inside", name), self.share)
        self.console_path = os.path.join(self.folder, "console.log")
        self.cards = [None] * SLOTS
        self.process = None
        self._made = 0
        self._log = open(os.path.join(self.folder, "machine.log"), "wb")

    def plug(self, slot, options=""):
        """A new card in an empty slot."""
        raise NotImplementedError

    def unplug(self, slot):
        """Takes the card out; returns when the guest has let go of it."""
        raise NotImplementedError

    def report_error(self, slot, error):
        """The slot's port reports an error of PCI Express, e.g. DLP; returns what the machine says."""
        raise NotImplementedError

    def trace(self):
        """Makes a hung kernel tell where it is, on the console, and panic."""

    def _new_card(self, slot, front_end, options, pass_fds=()):
        self._made += 1
        self.cards[slot] = Card(self.folder, f"card{self._made}", front_end + shlex.split(options), pass_fds)
        return self.cards[slot]

    def _start(self, words, stdin, stdout, pass_fds=(), env=None):
        self.process = subprocess.Popen(
            words,
            pass_fds=pass_fds,
            stdin=stdin,
            stdout=stdout,
            stderr=self._log,
            env=env,
            preexec_fn=die_with_parent,
        )

    def log(self):
        """What the program said, apart from the guest's console."""
        return self._read("machine.log").strip()

    def console(self):
        """The kernel's log so far."""
        return self._read("console.log")

    def _read(self, name):
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as log:
                return log.read()
        except OSError:
            return ""

    def set_environment(self, variables, folder):
        text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
        self.put("environment", f"{text}HEDDLE_GUEST_CWD={shlex.quote(folder)}\n")

    def put(self, name, data):
        """A file in the shared folder, complete when it appears."""
        path = os.path.join(self.share, name)
        with open(path + ".new", "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        os.rename(path + ".new", path)

    def wait_for(self, name, seconds):
        """Waits for a file in the shared folder, and meanwhile does what the guest asks for."""
        deadline = time.monotonic() + seconds
        path = os.path.join(self.share, name)
        while not os.path.exists(path):
            self.serve()
            if self.process.poll() is not None:
                raise GuestError(f"the guest is dead: {self.name} ended with {self.process.returncode}")
            if time.monotonic() > deadline:
                raise TooSlow(f"no {name} after {seconds:g} s")
            time.sleep(0.003)

    def serve(self):
        """Requests of inside/heddle-host."""
        requests = os.path.join(self.share, "requests")
        for name in sorted(os.listdir(requests)):
            if name.startswith("."):
                continue
            path = os.path.join(requests, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                request = file.read()
            os.unlink(path)
            try:
                code, answer = 0, self.do(request)
            except (GuestError, RuntimeError, OSError, ValueError) as error:
                code, answer = 1, f"{request}: {error}\n"
            self.put(f"replies/{name}", f"{code}\n{answer}")

    def do(self, request):
        """Carries out one request, returns the answer."""
        verb, slot, rest = (request.split(" ", 2) + ["", ""])[:3]
        if verb not in VERBS:
            raise GuestError(f"there is no request '{verb}'; give {', '.join(VERBS)}, and a slot")
        if not slot.isdecimal():
            raise GuestError(f"which card? give {verb} and a slot, 0 to {SLOTS - 1}")
        slot = int(slot)
        if not 0 <= slot < SLOTS:
            raise GuestError(f"there is no slot {slot}, only 0 to {SLOTS - 1}")
        card = self.cards[slot]
        if verb == "plug":
            if card is not None:
                raise GuestError("there is a card in this slot")
            self.plug(slot, rest)
        elif card is None:
            raise GuestError("there is no card in this slot")
        elif verb == "unplug":
            self.unplug(slot)
            self.cards[slot].close()
            self.cards[slot] = None
        elif verb == "kill":
            card.kill()
        elif verb == "ctl":
            return card.control(rest)
        elif verb == "aer":
            return self.report_error(slot, rest)
        elif verb == "alive":
            return f"{int(card.alive())}\n"
        return ""

    def shut_down(self, seconds):
        """Ends it in order. The only way to a good end."""
        self.put("shutdown", "")
        try:
            code = self.process.wait(within(seconds))
        except subprocess.TimeoutExpired as error:
            raise GuestError("the guest does not end") from error
        if code != GOOD_EXIT:
            raise GuestError(f"{self.name} ended with {code}, not with {GOOD_EXIT}")

    def cpu_seconds(self):
        """Processor time that the guest has taken."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        """Ends everything that still runs, removes the files."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        for card in self.cards:
            if card is not None:
                card.close()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
