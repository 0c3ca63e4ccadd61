# SPDX-License-Identifier: Apache-2.0
"""extract_vmlinux.py BZIMAGE VMLINUX: the uncompressed kernel (ELF) out of a bzImage.

QEMU boots it through its PVH entry, several seconds faster than a bzImage that unpacks itself in
emulation. The payload lies where the boot protocol's header (Documentation/x86/boot.rst, from
2.08 on) says; its last four bytes are the size of what it unpacks to. Debian packs with XZ (6.1)
or Zstandard (6.12).
"""

import lzma
import struct
import subprocess
import sys


def extract(image):
    """Returns the bytes of vmlinux; ValueError says what is wrong with `image`."""
    if len(image) < 0x264 or image[0x202:0x206] != b"HdrS":
        raise ValueError("no Linux boot header")
    (protocol,) = struct.unpack_from("<H", image, 0x206)
    if protocol < 0x208:
        raise ValueError(f"boot protocol {protocol >> 8}.{protocol & 255:02} is older than 2.08")
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    payload = image[start : start + length]
    if len(payload) != length or length < 8:
        raise ValueError("the payload reaches beyond the end of the file")
    if payload.startswith(b"\xfd7zXZ\0"):
        kernel = lzma.LZMADecompressor().decompress(payload)
    elif payload.startswith(b"\x28\xb5\x2f\xfd"):
        kernel = subprocess.run(["zstd", "-dcq"], input=payload[:-4], stdout=subprocess.PIPE, check=True).stdout
    else:
        raise ValueError(f"payload of an unknown kind, it begins with {payload[:6].hex()}")
    (size,) = struct.unpack_from("<I", payload, length - 4)
    if len(kernel) & 0xFFFFFFFF != size or not kernel.startswith(b"\x7fELF"):
        raise ValueError("what is in the payload is no ELF file of the size that it should have")
    return kernel


def main():
    with open(sys.argv[1], "rb") as source:
        image = source.read()
    try:
        kernel = extract(image)
    except (ValueError, OSError, lzma.LZMAError, subprocess.CalledProcessError) as error:
        sys.exit(f"extract_vmlinux: error: {sys.argv[1]}: {error}")
    with open(sys.argv[2], "wb") as target:
        target.write(kernel)


if __name__ == "__main__":
    main()
