# SPDX-License-Identifier: Apache-2.0
"""The guest as a process: the debug kernel (tools/setup/debug_kernel.sh), user-mode Linux.

The host's root is read-only over hostfs. A card is a vhost-user device that the kernel connects to
itself: at boot by its command line, later because an order of the host's, which agent.sh carries out,
writes the same to a parameter of the module virtio_uml. When a card's process ends, the kernel takes
the device off its bus at once: there are no slots with something dead in them.

Kernel and cards share one processor: an access to a register then takes 5 us, on two of them 60.
A panic ends it with SIGABRT.
"""

import os
import random
import re
import subprocess
import time

from tests.guest.limits import within
from tests.guest.machine import GuestError, Machine

KERNEL_OPTIONS = [
    "con=null",
    "con0=fd:0,fd:1",
    "console=tty0",
    "loglevel=5",
    "panic=-1",
    "oops=panic",
    "kasan_multi_shot",
    "rdinit=/init",
    # As in the stock kernel: contexts of one priority take turns. Later ones go by age.
    "gpu_sched.sched_policy=0",
]
DEVICE_ID = 1234  # CONFIG_UML_PCI_OVER_VIRTIO_DEVICE_ID
PLATFORM = "/sys/bus/platform"
# Without modules nobody refers to what they forgot. A module stays until the last fence of its jobs is
# freed, after a grace period. kmemleak says nothing of what is younger than 5 s.
LEAKS = """
for module in $(lsmod | sed '1d;s/ .*//'); do
  rmmod "$module" 2>/dev/null || { sleep 5; rmmod "$module"; } || exit 1
done
sleep 6
echo scan >/sys/kernel/debug/kmemleak
echo scan >/sys/kernel/debug/kmemleak
! grep '' /sys/kernel/debug/kmemleak
"""


class UmlMachine(Machine):
    name = "linux"
    last_cases = (("kmemleak", LEAKS, 60),)

    def __init__(self, kernel, initrd, cards=(), cpus=1, memory="768M", parallel=False, kernel_options=""):
        """Starts it, with a card per entry of `cards` (options of heddle-sim as one text).

        It has one processor, whatever `cpus` and `parallel` say, and twice the memory, for KASAN's shadow and
        kmemleak's tables.
        """
        self._orders = 0
        self._numbers = {}  # of the platform device in a slot
        self._pin = {random.choice(sorted(os.sched_getaffinity(0)))}
        size = re.fullmatch(r"(\d+)([MG])", memory)
        if size is None:
            raise GuestError(f"memory of '{memory}': give e.g. 768M")
        super().__init__(folders=["orders"])
        megabytes = 2 * int(size[1]) * (1024 if size[2] == "G" else 1)
        # Without random addresses, which would leave a gap that counts as memory.
        words = [
            "setarch",
            "-R",
            kernel,
            f"mem={megabytes}M",
            "umid=guest",
            f"uml_dir={self.folder}",
            f"initrd={initrd}",
        ]
        words += [*KERNEL_OPTIONS, f"heddle_share={self.share}", *kernel_options.split()]
        try:
            words += [f"virtio_uml.device={self._card(slot, options)}" for slot, options in enumerate(cards)]
            with open(self.console_path, "wb") as console:
                # The guest's memory is a file there.
                self._start(words, subprocess.DEVNULL, console, env={"TMPDIR": self.folder})
            os.sched_setaffinity(self.process.pid, self._pin)
        except (OSError, RuntimeError) as error:
            self.close()
            raise GuestError(str(error)) from error

    def _card(self, slot, options):
        """A new card, as the kernel wants it described."""
        card = self._new_card(slot, ["--uml"], options)
        os.sched_setaffinity(card.process.pid, self._pin)
        self._numbers[slot] = self._made
        return f"{card.socket_path}:{DEVICE_ID}:{self._made}"

    def _order(self, text, seconds=20):
        """Has the guest run a line of shell."""
        done = os.path.join(self.share, f"orders/{self._orders}.rc")
        self.put(f"orders/{self._orders}", text + "\n")
        self._orders += 1
        deadline = time.monotonic() + within(seconds)
        while not os.path.exists(done):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise GuestError(f"the guest does not do: {text}")
            time.sleep(0.003)
        with open(done, encoding="utf-8") as file:
            if int(file.read()):
                raise GuestError(f"the guest failed to do: {text}")

    def plug(self, slot, options=""):
        device = self._card(slot, options)
        try:
            # printf: a newline would be a part of it.
            self._order(f"printf %s {device} >/sys/module/virtio_uml/parameters/device")
        except GuestError:
            self.cards[slot].close()
            self.cards[slot] = None
            raise

    def unplug(self, slot):
        device = f"virtio-uml.{self._numbers[slot]}"
        if self.cards[slot].alive():
            self._order(f"echo {device} >{PLATFORM}/drivers/virtio-uml/unbind")
        else:  # it goes by itself
            self._order(f"while [ -e {PLATFORM}/devices/{device} ]; do sleep 0.01; done")
