# SPDX-License-Identifier: Apache-2.0
"""The guest: QEMU 7.2 with a stock Debian kernel, the host's root read-only over 9p, and cards.

QEMU is asked for TCG by name: a /dev/kvm that exists need not be able to run a stock kernel. And for
one thread, however many processors the guest has: with a thread each, accesses to a card at the same
time get wrong answers (a driver that finds its card gone, jobs that time out). The kernel is an
uncompressed vmlinux, which boots some seconds faster than a bzImage in emulation.
Exit codes: agent.sh ends QEMU with 33; a panic ends it with 0, so 0 is a failure.
"""

import ctypes
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from tests.guest.card import Card
from tests.guest.qmp import Qmp, QmpError

SLOTS = 4
GOOD_EXIT = 33
GONE = re.compile("Unable to write to socket|Failed to perform PCI config|Bad file descriptor")
QEMU = "qemu-system-x86_64"
KERNEL_OPTIONS = (
    # An oops is the end; an NMI comes from Machine.trace.
    "console=ttyS0 loglevel=5 panic=-1 oops=panic unknown_nmi_panic "
    # Time of the HPET, whose frequency is known. Those of TSC and local APIC are measured at boot,
    # which goes wrong by a factor on a busy host: the guest's clock then runs ten times too fast.
    "tsc=unstable clocksource=hpet no_timer_check "
    # Quick in emulation; the idle loop for an old AMD processor's erratum is not.
    "idle=halt mitigations=off nokaslr audit=0 random.trust_cpu=on cryptomgr.notests"
)
# Timers of the HPET, too; with several processors it would serve all of them in steps of 4 ms.
ONE_CPU_OPTIONS = " nolapic_timer"


class GuestError(Exception):
    """The guest did not do what it has to do; the text says what."""


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def version():
    return subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]


def kernel_info(path):
    """kernel.txt as a dict."""
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)


class Machine:
    def __init__(self, kernel, initrd, cards=(), cpus=1, memory="768M", console="file", more=()):
        """Starts it, with a card per entry of `cards` (options of heddle-sim as one text).

        `console`: "file", or "stdio" for somebody at a terminal. `more`: options of QEMU.
        """
        self.folder = tempfile.mkdtemp(prefix="guest.", dir="/tmp")
        self.share = os.path.join(self.folder, "share")
        for name in ("commands", "out", "requests", "replies"):
            os.makedirs(os.path.join(self.share, name))
        for name in ("agent.sh", "heddle-host"):
            shutil.copy(os.path.join(os.path.dirname(__file__), "inside", name), self.share)
        self.console_path = os.path.join(self.folder, "console.log")
        self.cards = [None] * SLOTS
        self.process = None
        self._made = 0
        self._log = open(os.path.join(self.folder, "qemu.log"), "wb")
        self._qtest, qtest = socket.socketpair()
        self._monitor, qmp = socket.socketpair()
        inherited = [qtest, qmp]
        words = [
            *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *("-machine", "q35,memory-backend=ram", "-accel", "tcg,thread=single", "-cpu", "max", "-smp", str(cpus)),
            *("-m", memory, "-object", f"memory-backend-memfd,id=ram,size={memory},share=on"),
            *("-kernel", kernel, "-initrd", initrd, "-append", KERNEL_OPTIONS + (ONE_CPU_OPTIONS if cpus == 1 else "")),
            *("-device", "isa-debug-exit,iobase=0xf4,iosize=4"),
            *("-chardev", f"socket,id=qmp,fd={qmp.fileno()}", "-mon", "chardev=qmp,mode=control"),
            *("-chardev", f"socket,id=qtest,fd={qtest.fileno()}"),
            *("-qtest", "chardev:qtest", "-qtest-log", "/dev/null"),
            *("-serial", "mon:stdio" if console == "stdio" else f"file:{self.console_path}"),
            *more,
        ]
        for tag, path, read_only in (("root", "/", ",readonly=on"), ("share", self.share, "")):
            words += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{read_only}"]
            words += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        for slot in range(SLOTS):
            words += ["-device", f"pcie-root-port,id=port{slot},chassis={slot + 1},slot={slot + 1}"]
        try:
            for slot, card_options in enumerate(cards):
                connection = self._new_card(slot, card_options).connect()
                inherited.append(connection)
                words += ["-device", f"x-pci-proxy-dev,id=card{slot},bus=port{slot},fd={connection.fileno()}"]
            self.process = subprocess.Popen(
                words,
                pass_fds=[end.fileno() for end in inherited],
                stdin=None if console == "stdio" else subprocess.DEVNULL,
                stdout=None if console == "stdio" else self._log,
                stderr=self._log,
                preexec_fn=_die_with_parent,
            )
            for end in inherited:
                end.close()
            inherited = []
            self._qmp = Qmp(self._monitor)
        except (QmpError, OSError, RuntimeError) as error:
            said = self.qemu_log() or "nothing"
            self.close()
            if self.process is not None and self.process.returncode == -signal.SIGSEGV:
                said += f"\nx-pci-proxy-dev works with QEMU 7.2, later ones crash; this is {version()}"
            raise GuestError(f"{error}; QEMU says: {said}") from error
        finally:
            for end in inherited:
                end.close()

    def _new_card(self, slot, options):
        self._made += 1
        self.cards[slot] = Card(self.folder, f"card{self._made}", shlex.split(options), self._qtest)
        return self.cards[slot]

    def qemu_log(self):
        """What QEMU said, without what it says at each access to a card that is gone."""
        try:
            with open(os.path.join(self.folder, "qemu.log"), encoding="utf-8", errors="replace") as log:
                return "".join(line for line in log if not GONE.search(line)).strip()
        except OSError:
            return ""

    def console(self):
        """The kernel's log so far."""
        try:
            with open(self.console_path, encoding="utf-8", errors="replace") as log:
                return log.read()
        except OSError:
            return ""

    def set_environment(self, variables, folder):
        text = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in variables.items())
        self.put("environment", f"{text}HEDDLE_GUEST_CWD={shlex.quote(folder)}\n")

    def put(self, name, text):
        """A file in the shared folder, complete when it appears."""
        path = os.path.join(self.share, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def wait_for(self, name, seconds):
        """Waits for a file in the shared folder, and meanwhile does what the guest asks for."""
        deadline = time.monotonic() + seconds
        path = os.path.join(self.share, name)
        while not os.path.exists(path):
            self.serve()
            if self.process.poll() is not None:
                raise GuestError(f"the guest is dead: QEMU ended with {self.process.returncode}")
            if time.monotonic() > deadline:
                raise GuestError(f"no {name} after {seconds:g} s")
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
            except (GuestError, QmpError, RuntimeError, OSError, ValueError) as error:
                code, answer = 1, f"{request}: {error}\n"
            self.put(f"replies/{name}", f"{code}\n{answer}")

    def do(self, request):
        """Carries out one request, returns the answer."""
        verb, slot, rest = (request.split(" ", 2) + ["", ""])[:3]
        slot = int(slot)
        if not 0 <= slot < SLOTS:
            raise GuestError(f"there is no slot {slot}, only 0 to {SLOTS - 1}")
        card = self.cards[slot]
        if verb == "plug":
            self.plug(slot, rest)
        elif card is None:
            raise GuestError("there is no card in this slot")
        elif verb == "unplug":
            self.unplug(slot)
        elif verb == "kill":
            card.kill()
        elif verb == "ctl":
            return card.control(rest)
        elif verb == "alive":
            return f"{int(card.alive())}\n"
        else:
            raise GuestError("give unplug, plug, kill, ctl or alive")
        return ""

    def plug(self, slot, options=""):
        if self.cards[slot] is not None:
            raise GuestError("there is a card in this slot")
        try:
            with self._new_card(slot, options).connect() as connection:
                self._qmp.command("getfd", send_fd=connection.fileno(), fdname=f"fd{self._made}")
            self._qmp.command(
                "device_add", driver="x-pci-proxy-dev", id=f"card{slot}", bus=f"port{slot}", fd=f"fd{self._made}"
            )
        except QmpError:
            self.cards[slot].close()
            self.cards[slot] = None
            raise

    def unplug(self, slot, seconds=20):
        self._qmp.command("device_del", id=f"card{slot}")
        if not self._qmp.wait_event("DEVICE_DELETED", seconds, device=f"card{slot}"):
            raise GuestError(f"the guest does not let go of the card within {seconds} s")
        self.cards[slot].close()
        self.cards[slot] = None

    def shut_down(self, seconds):
        """Ends it in order. The only way to a good end."""
        self.put("shutdown", "")
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise GuestError("the guest does not end") from error
        if code != GOOD_EXIT:
            raise GuestError(f"QEMU ended with {code}, not with {GOOD_EXIT}")

    def cpu_seconds(self):
        """Processor time that QEMU has taken."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def trace(self):
        """Makes a hung kernel tell where it is, on the console, and panic."""
        try:
            self._qmp.command("inject-nmi")
            time.sleep(1)
        except QmpError:
            pass

    def close(self):
        """Ends everything that still runs, removes the files."""
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        for card in self.cards:
            if card is not None:
                card.close()
        for thing in (self._qtest, self._monitor, self._log):
            thing.close()
        shutil.rmtree(self.folder, ignore_errors=True)
