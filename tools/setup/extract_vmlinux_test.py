# SPDX-License-Identifier: Apache-2.0
"""extract_vmlinux on images made here: what it unpacks, and what it refuses."""

import lzma
import struct
import unittest

from tools.setup import extract_vmlinux

KERNEL = b"\x7fELF" + bytes(range(256)) * 20


def image(payload, protocol=0x20F, length=None, magic=b"HdrS"):
    """A boot sector, one sector of set-up, sixteen bytes, the payload, and a signature after it."""
    head = bytearray(1024)
    head[0x1F1] = 1
    head[0x202:0x206] = magic
    struct.pack_into("<H", head, 0x206, protocol)
    struct.pack_into("<II", head, 0x248, 16, len(payload) if length is None else length)
    return bytes(head) + bytes(16) + payload + b"signature"


def packed(kernel=KERNEL, size=None):
    return lzma.compress(kernel) + struct.pack("<I", len(kernel) if size is None else size)


class ExtractTest(unittest.TestCase):
    def test_unpacks_xz(self):
        self.assertEqual(extract_vmlinux.extract(image(packed())), KERNEL)

    def test_refuses(self):
        for what, wrong in [
            ("no Linux boot header", b"\x7fELF" * 300),
            ("no Linux boot header", image(packed(), magic=b"Hdrs")),
            ("no Linux boot header", b""),
            ("older than 2.08", image(packed(), protocol=0x207)),
            ("beyond the end", image(packed(), length=1 << 20)),
            ("unknown kind", image(b"\x1f\x8b" + bytes(100))),
            ("no ELF file", image(packed(size=7))),
            ("no ELF file", image(packed(b"MZ" + bytes(100)))),
        ]:
            with self.assertRaisesRegex(ValueError, what):
                extract_vmlinux.extract(wrong)


if __name__ == "__main__":
    unittest.main()
