# SPDX-License-Identifier: Apache-2.0
"""A shell in the guest, as root, with cards and heddle.ko: `./dev guest`."""

import argparse
import os
import select
import signal
import sys
import time

from tests.guest.machine import GOOD_EXIT, GuestError, kernel_info
from tests.guest.qemu_machine import QemuMachine
from tests.guest.run_guest import INITRD, KERNEL_INFO, VMLINUX

MODULE = "kmd/heddle.ko"
PIECES = 8  # of standard input, that the guest has not read yet
TOOLS = ("tools/heddle-run", "tools/heddle-smi")
SIMULATION = ("simulator/platform", "kmd/hosted")
HELP = """\
In the guest: the host's files are there, read-only underneath, what is written is gone with the guest.
  heddle-smi; heddle-run MODEL.onnx       on the card of heddle.ko
  heddle-host ctl 0 fault stuck_engine    asks the host; also plug, unplug, kill (heddle-host alone: all)
  rmmod heddle; insmod /path/to/my/heddle.ko  another driver, built on the host; $HEDDLE_GUEST_MODULE is ours
  exit                                    ends the guest; Ctrl-A X kills it, Ctrl-A C is QEMU's monitor
"""


class Piped:
    """Standard input that is no terminal, for the guest: it gets it in pieces, an empty one is the end (agent.sh)."""

    def __init__(self, machine):
        self._machine = machine
        self._number = 0
        self._over = False

    def copy(self):
        """What has come since; waits for nothing."""
        oldest = os.path.join(self._machine.share, f"stdin.{self._number - PIECES}")
        if self._over or os.path.exists(oldest) or not select.select([0], [], [], 0)[0]:
            return
        piece = os.read(0, 65536)
        self._over = not piece
        self._machine.put(f"stdin.{self._number}", piece)
        self._number += 1


def main():
    # So that QEMU and cards end, and their files go.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(prog="./dev guest", description=__doc__, epilog=HELP)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    # ./dev has the same in its help.
    parser.add_argument(
        "--card",
        action="append",
        metavar="OPTIONS",
        help="a card with these options of heddle-sim, e.g. --card '--memory 64M'; up to four [one card]",
    )
    parser.add_argument("--cpus", type=int, default=1, help="processors of the guest [1]")
    parser.add_argument("--memory", default="1G", help="memory of the guest [1G]")
    parser.add_argument("--no-module", action="store_true", help="do not load heddle.ko")
    parser.add_argument("--gdb", action="store_true", help="QEMU's gdb server on port 1234 (target remote :1234)")
    parser.add_argument("command", nargs="*", help="run this instead of a shell; its exit code is ours")
    arguments = parser.parse_args()
    absent = kernel_info(KERNEL_INFO).get("absent")
    if absent:
        sys.exit(f"./dev guest: error: {absent}")
    terminal = os.isatty(0)
    runfiles = os.getcwd()
    tools = ":".join(os.path.join(runfiles, tool) for tool in TOOLS)
    variables = dict(
        HOME="/root",
        # What is printed for no terminal is without colours; the guest sees a terminal in any case.
        TERM=os.environ.get("TERM", "linux") if os.isatty(1) else "dumb",
        PATH=f"/run/bin:{tools}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        # Where programs, and heddle-smi doctor, find the library and what simulates a card.
        LD_LIBRARY_PATH=os.path.join(runfiles, "onnxifi"),
        HEDDLE_BIN_DIR=":".join(os.path.join(runfiles, folder) for folder in SIMULATION),
        HEDDLE_GUEST_SHARE="/run/heddle",
        HEDDLE_GUEST_SHELL="1",
        HEDDLE_GUEST_COMMAND=" ".join(arguments.command),
        HEDDLE_GUEST_PIPED="" if terminal else "1",
        HEDDLE_GUEST_MODULE="" if arguments.no_module else os.path.join(runfiles, MODULE),
        PS1="guest# ",
    )
    if terminal and not arguments.command:
        print(HELP, flush=True)
    machine = None
    try:
        machine = QemuMachine(
            os.path.realpath(VMLINUX),
            os.path.realpath(INITRD),
            cards=[""] if arguments.card is None else arguments.card,
            cpus=arguments.cpus,
            memory=arguments.memory,
            console="stdio" if terminal else "stdout",
            more=["-s"] if arguments.gdb else [],
        )
        machine.set_environment(variables, os.environ.get("HEDDLE_CALLER_DIR", runfiles))
        piped = None if terminal or arguments.command else Piped(machine)
        while machine.process.poll() is None:
            machine.serve()
            if piped:
                piped.copy()
            time.sleep(0.005)
        if machine.process.returncode != GOOD_EXIT:
            print(f"./dev guest: QEMU ended with {machine.process.returncode}", machine.log(), file=sys.stderr)
            return 1
        code = os.path.join(machine.share, "out", "shell.rc")
        with open(code, encoding="utf-8") as file:
            return int(file.read())
    except GuestError as error:
        sys.exit(f"./dev guest: error: {error}")
    except KeyboardInterrupt:
        return 130
    finally:
        if machine is not None:
            machine.close()


if __name__ == "__main__":
    sys.exit(main())
