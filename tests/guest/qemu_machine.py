# SPDX-License-Identifier: Apache-2.0
"""The guest in QEMU 7.2: a stock Debian kernel, the host's root read-only over 9p, and cards.

QEMU is asked for TCG by name: a /dev/kvm that exists need not be able to run a stock kernel. By default
the guest's processors take turns in one thread, because x-pci-proxy-dev drops accesses to a card that
meet (a driver that finds its card gone, jobs that time out). With `parallel` each has a thread of its own:
for a guest without a card, or a driver that makes its accesses one after another (//tests/guest/smp:heddle).
The kernel is an uncompressed vmlinux, which boots some seconds faster than a bzImage in emulation.
Exit codes: agent.sh ends QEMU with 33; a panic ends it with 0, so 0 is a failure.
"""

import re
import signal
import socket
import subprocess
import time

from tests.guest.limits import within
from tests.guest.machine import SLOTS, GuestError, Machine
from tests.guest.qmp import Qmp, QmpError

GONE = re.compile("Unable to write to socket|Failed to perform PCI config|Bad file descriptor")
QEMU = "qemu-system-x86_64"
KERNEL_OPTIONS = (
    # An oops is the end; an NMI comes from Machine.trace.
    "console=ttyS0 loglevel=5 panic=-1 oops=panic unknown_nmi_panic "
    # Where the scheduler is no module (inside/init.sh loads it with this): contexts of one priority take turns.
    "gpu_sched.sched_policy=0 "
    # Time of the HPET, whose frequency is known. Those of TSC and local APIC are measured at boot,
    # which goes wrong by a factor on a busy host: the guest's clock then runs ten times too fast.
    "tsc=unstable clocksource=hpet no_timer_check "
    # Quick in emulation; the idle loop for an old AMD processor's erratum is not.
    "idle=halt mitigations=off nokaslr audit=0 random.trust_cpu=on cryptomgr.notests"
)
# Timers of the HPET, too; with several processors it would serve all of them in steps of 4 ms.
ONE_CPU_OPTIONS = " nolapic_timer"
# A thread of the host that does not get its turn is no stall of RCU; cases have time limits.
PARALLEL_OPTIONS = " rcupdate.rcu_cpu_stall_timeout=300"


def version():
    return subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=False).stdout.split("\n")[0]


class QemuMachine(Machine):
    name = "QEMU"

    def __init__(
        self,
        kernel,
        initrd,
        cards=(),
        cpus=1,
        memory="768M",
        parallel=False,
        kernel_options="",
        console="file",
        more=(),
    ):
        """Starts it, with a card per entry of `cards` (options of heddle-sim as one text).

        `parallel`: a thread for each processor. `console`: "file", "stdio" for somebody at a terminal, or "stdout", of which
        the guest reads nothing. `more`: options of QEMU. `kernel_options`: more words of the kernel's command line.
        """
        super().__init__()
        self._qtest, qtest = socket.socketpair()
        self._monitor, qmp = socket.socketpair()
        inherited = [qtest, qmp]
        own_options = ONE_CPU_OPTIONS if cpus == 1 else PARALLEL_OPTIONS if parallel else ""
        words = [
            *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            *("-machine", "q35,memory-backend=ram", "-accel", f"tcg,thread={'multi' if parallel else 'single'}"),
            *("-cpu", "max", "-smp", str(cpus)),
            *("-m", memory, "-object", f"memory-backend-memfd,id=ram,size={memory},share=on"),
            *("-kernel", kernel, "-initrd", initrd, "-append", f"{KERNEL_OPTIONS}{own_options} {kernel_options}"),
            *("-device", "isa-debug-exit,iobase=0xf4,iosize=4"),
            *("-chardev", f"socket,id=qmp,fd={qmp.fileno()}", "-mon", "chardev=qmp,mode=control"),
            *("-chardev", f"socket,id=qtest,fd={qtest.fileno()}"),
            *("-qtest", "chardev:qtest", "-qtest-log", "/dev/null"),
            *("-serial", {"stdio": "mon:stdio", "stdout": "stdio"}.get(console, f"file:{self.console_path}")),
            *more,
        ]
        for tag, path, read_only in (("root", "/", ",readonly=on"), ("share", self.share, "")):
            words += ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{read_only}"]
            words += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        for slot in range(SLOTS):
            words += ["-device", f"pcie-root-port,id=port{slot},chassis={slot + 1},slot={slot + 1}"]
        try:
            for slot, card_options in enumerate(cards):
                connection = self._card(slot, card_options)
                inherited.append(connection)
                words += ["-device", f"x-pci-proxy-dev,id=card{slot},bus=port{slot},fd={connection.fileno()}"]
            self._start(
                words,
                stdin=None if console == "stdio" else subprocess.DEVNULL,
                stdout=self._log if console == "file" else None,
                pass_fds=[end.fileno() for end in inherited],
            )
            for end in inherited:
                end.close()
            inherited = []
            self._qmp = Qmp(self._monitor)
        except (OSError, RuntimeError) as error:
            said = self.log() or "nothing"
            self.close()
            if self.process is not None and self.process.returncode == -signal.SIGSEGV:
                said += f"\nx-pci-proxy-dev works with QEMU 7.2, later ones crash; this is {version()}"
            raise GuestError(f"{error}; QEMU says: {said}") from error
        finally:
            for end in inherited:
                end.close()

    def _card(self, slot, options):
        """A new card's connection."""
        front_end = ["--qemu", "--qtest-fd", str(self._qtest.fileno())]
        return self._new_card(slot, front_end, options, [self._qtest.fileno()]).connect()

    def log(self):
        """Without what QEMU says at each access to a card that is gone."""
        return "\n".join(line for line in super().log().split("\n") if not GONE.search(line))

    def plug(self, slot, options=""):
        try:
            with self._card(slot, options) as connection:
                self._qmp.command("getfd", send_fd=connection.fileno(), fdname=f"fd{self._made}")
            self._qmp.command(
                "device_add", driver="x-pci-proxy-dev", id=f"card{slot}", bus=f"port{slot}", fd=f"fd{self._made}"
            )
        except QmpError:
            self.cards[slot].close()
            self.cards[slot] = None
            raise

    def unplug(self, slot, seconds=20):
        seconds = within(seconds)
        self._qmp.command("device_del", id=f"card{slot}")
        if not self._qmp.wait_event("DEVICE_DELETED", seconds, device=f"card{slot}"):
            raise GuestError(f"the guest does not let go of the card within {seconds:g} s")

    def report_error(self, slot, error):
        return self._qmp.command(
            "human-monitor-command", **{"command-line": f"pcie_aer_inject_error port{slot} {error}"}
        )

    def trace(self):
        try:
            self._qmp.command("inject-nmi")
            time.sleep(1)
        except QmpError:
            pass

    def close(self):
        super().close()
        self._qtest.close()
        self._monitor.close()
