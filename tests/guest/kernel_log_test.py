# SPDX-License-Identifier: Apache-2.0
"""What in the kernel's log is a failure."""

import unittest

from tests.guest import kernel_log

BAD = """\
[    1.0] WARNING: CPU: 0 PID: 99 at drivers/gpu/drm/drm_gem.c:140 drm_gem_private_object_fini+0x1/0x2
[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000008
[    1.0] BUG: unable to handle page fault for address: ffffc90000000000
[    1.0] kernel BUG at mm/slub.c:440!
[    1.0] Oops: 0000 [#1] PREEMPT SMP NOPTI
[    1.0] general protection fault, probably for non-canonical address
[    1.0] Kernel panic - not syncing: Fatal exception
[    1.0] INFO: task heddle:12 blocked for more than 120 seconds.
[    1.0] INFO: possible recursive locking detected
[    1.0] watchdog: BUG: soft lockup - CPU#0 stuck for 26s!
[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU
[    1.0] UBSAN: array-index-out-of-bounds in a.c:1:2
[    1.0] refcount_t: underflow; use-after-free.
[    1.0] list_del corruption. prev->next should be
[    1.0] kmemleak: 3 new suspected memory leaks, unreferenced object 0x0
[    1.0] BUG: sleeping function called from invalid context
[    1.0] irq 35: nobody cared (try booting with the "irqpoll" option)
[    1.0] uapi_test[99]: segfault at 0 ip 0000 sp 0000 error 4 in libc.so.6"""

GOOD = """\
[    1.0] AMD-Vi: AMD IOMMUv2 functionality not available on this system - This is not a bug.
[    1.0] heddle 0000:01:00.0: [drm] *ERROR* ring 0 made no progress, engine reset
[    1.0] card_probe: loading out-of-tree module taints kernel.
[    1.0] heddle-guest: begin 3
[    1.0] x86/fpu: Supporting XSAVE feature 0x002: 'SSE registers'"""


class KernelLogTest(unittest.TestCase):
    def test_every_report_is_found(self):
        for line in BAD.split("\n"):
            self.assertEqual(kernel_log.findings(["fine", line, "trace"]), [line, "trace"])

    def test_nothing_else_is(self):
        self.assertEqual(kernel_log.findings(GOOD.split("\n")), [])

    def test_allowed_lines_hide_no_others(self):
        lines = BAD.split("\n")
        self.assertEqual(kernel_log.findings(lines, "drm_gem_private")[0], lines[1])
        self.assertEqual(kernel_log.findings(lines, r"\[    1.0\]"), [])

    def test_split(self):
        text = "boot\r\nheddle-guest: begin 0\na\n[1] heddle-guest: end 0\nmid\n[2] heddle-guest: begin 1\nb\nc"
        self.assertEqual(kernel_log.split(text), {None: ["boot", "mid"], 0: ["a"], 1: ["b", "c"]})

    RACES = """\
before
[ 1.0] ==================================================================
[ 1.0] BUG: KCSAN: data-race in init_file / init_file
[ 1.0] write to 0xffff888000d74378 of 4 bytes by task 106 on cpu 0:
[ 1.0] ==================================================================
between
[ 1.0] ==================================================================
[ 1.0] BUG: KCSAN: data-race in dma_fence_get [heddle] / put
[ 1.0]  heddle_wait_ioctl+0x58/0x1900 [heddle]
[ 1.0] ==================================================================
after"""

    def test_races(self):
        rest, reports = kernel_log.take_races(self.RACES.split("\n"))
        self.assertEqual([line for line in rest if "====" not in line], ["before", "between", "after"])
        self.assertEqual(kernel_log.findings(rest), [])
        self.assertEqual(len(reports), 2)
        # One of the kernel's own is none of the driver's.
        self.assertEqual(kernel_log.races(reports, []), reports[1])
        for entry, known in (
            ("dma_fence_get | heddle_wait_ioctl | it is so", True),
            ("dma_fence_get | heddle_submit_ioctl | another caller", False),
            ("init_file | heddle_wait_ioctl | another race", False),
        ):
            argued = kernel_log.argued_races("# a comment\n\n" + entry + "\n")
            self.assertEqual(kernel_log.races(reports, argued), [] if known else reports[1])

    def test_list_of_races(self):
        for title, inside in kernel_log.read_argued_races():
            self.assertTrue(title.pattern and inside.pattern)


if __name__ == "__main__":
    unittest.main()
