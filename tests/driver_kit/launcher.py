#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""heddle-driver-tests: the command. Its options and their help; what it does is in kit.py, below lib/ of the prefix."""

import argparse
import difflib
import os
import sys
import textwrap

VERSION = "unknown"  # the build writes it here
PREFIX = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOT = os.path.join(PREFIX, "lib", "heddle", "driver-tests")
CONFIGS = ("h256", "h512", "h1024")
BEFORE = """\
Example:
  heddle-driver-tests --kernel /boot/vmlinuz-6.1.0-56-amd64 --module heddle.ko
  heddle-driver-tests --kernel bzImage --modules ~/staging --module heddle.ko \\
      --case uapi.cts --report verdict.html

Tests a Linux driver for Heddle cards: boots the given kernel in QEMU with
virtual cards, loads your heddle.ko and runs the test cases. Reports each
failure with the kernel's log and the command that repeats it.
"""
AFTER = """\
The kernel: Debian's (apt-get download linux-image-6.1.0-56-amd64; pass the
.deb, it need not be installed), or your own (arch/x86/boot/bzImage, with
--modules DIR after make modules_install INSTALL_MOD_PATH=DIR). It needs 9p over
virtio, overlayfs, PCI hotplug, virtio_pci, and DRM with its scheduler and shmem
helper, built in or as modules.

The driver: a module named heddle with the interface of <drm/heddle_drm.h>. To
run fewer cases, pass names from --list to --case.

Exit codes:
  0  all cases passed
  1  a case failed
  2  usage
  3  nothing could be tested: the kernel did not boot, the module did not load,
     or no case ran; or the guest could not be made ready in time for some cases
"""


def seconds(text):
    value = int(text)
    if not 1 <= value <= 86400:
        raise argparse.ArgumentTypeError("give 1 to 86400")
    return value


def factor(text):
    value = float(text)
    if not 0.1 <= value <= 1000:
        raise argparse.ArgumentTypeError("give 0.1 to 1000")
    return value


class Parser(argparse.ArgumentParser):
    """Says what is wrong as the other tools do, with the options that may have been meant."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message}\n{self.prog} --help lists all options.\n")

    def parse(self, words=None):
        arguments, extra = self.parse_known_args(words)
        if not extra:
            return arguments
        known = [name for action in self._actions for name in action.option_strings if name.startswith("--")]
        lines = []
        for word in extra:
            name = word.split("=")[0]
            near = difflib.get_close_matches(name, known, 2, 0.7) if word.startswith("-") else []
            meant = f"; did you mean {', '.join(near)}?" if near else ""
            lines.append(f"{'unknown option' if word.startswith('-') else 'unexpected:'} {name!r}{meant}")
        return self.error("\n".join(lines))


def make_parser():
    parser = Parser(prog="heddle-driver-tests", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="Print this help message and exit")
    add("--version", action="store_true", help="Display program version information and exit")
    add("--kernel", metavar="IMAGE", help="kernel to boot: bzImage (vmlinuz), vmlinux, or a linux-image .deb")
    add("--module", metavar="KO", help="the driver, built for this kernel")
    add(
        "--modules",
        metavar="DIR",
        help="folder with the kernel's lib/modules/RELEASE; none: everything is built in [that of the .deb, else /]",
    )
    add(
        "--build-tree",
        metavar="DIR",
        help="the kernel's build tree or headers; without it, suspend is not tested [build in lib/modules/RELEASE]",
    )
    add("--config", choices=CONFIGS, default="h256", metavar="CONFIG", help="configuration of the cards")
    add("--rtl", action="store_true", help="also run on cards simulated cycle by cycle")
    add("--fuzz-seconds", type=seconds, default=60, metavar="N", help="duration of the ioctl fuzzer")
    add(
        "--case",
        action="append",
        default=[],
        metavar="ID",
        help="only this case, or all below a name such as uapi or uapi.cts; repeatable",
    )
    add("--list", action="store_true", help="print the names of the cases and exit")
    add(
        "--report",
        action="append",
        default=[],
        metavar="FILE",
        help="write a report; .html: one page, .xml: JUnit, .json; repeatable",
    )
    add(
        "--time-factor",
        type=factor,
        default=1,
        metavar="X",
        help="multiply all time limits, for slow or busy machines",
    )
    add("--logs", metavar="DIR", help="keep the logs of kernels, cards and cases in this folder")
    add("-q", "--quiet", action="store_true", help="show no progress")
    return parser


def help_text(parser):
    """In the form of the other tools' help."""
    lines = [BEFORE, "Usage: heddle-driver-tests [OPTIONS]", "", "Options:"]
    for action in parser._actions:  # pylint: disable=protected-access
        left = "  " + ",".join(action.option_strings)
        if action.metavar:
            shown = f"{action.metavar}:{{{','.join(action.choices)}}}" if action.choices else action.metavar
            default = f"={action.default}" if action.default else ""
            left += f" {shown}{default}" + (" ..." if isinstance(action.default, list) else "")
        text = textwrap.wrap(action.help, 48, break_on_hyphens=False)
        if len(left) < 29:
            left = f"{left:<30}{text.pop(0)}"
        lines.append(left)
        lines += [" " * 30 + line for line in text]
    return "\n".join([*lines, "", AFTER])


def main():
    sys.dont_write_bytecode = True
    parser = make_parser()
    arguments = parser.parse()
    if arguments.help:
        print(help_text(parser), end="")
        return 0
    if arguments.version:
        print(f"heddle-driver-tests {VERSION}")
        return 0
    if not os.path.isfile(os.path.join(ROOT, "manifest.json")):
        print(f"heddle-driver-tests: error: its files are missing from {ROOT}", file=sys.stderr)
        return 3
    sys.path.insert(0, ROOT)
    from tests.driver_kit import kit  # pylint: disable=import-outside-toplevel

    return kit.run(arguments, PREFIX, ROOT, VERSION)


if __name__ == "__main__":
    sys.exit(main())
