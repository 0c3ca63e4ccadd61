# SPDX-License-Identifier: Apache-2.0
"""The kernel that is tested, in the form that the guest's harness takes.

    FOLDER/guest_kernel/vmlinux      uncompressed
    FOLDER/guest_kernel/kernel.txt   release=RELEASE; path=FOLDER/guest_kernel; modules=none where all is built in
    FOLDER/guest_kernel/root         a link: lib/modules/RELEASE is below it
    FOLDER/work/tests/guest/initramfs_image.cpio

From a bzImage, a vmlinux, or Debian's package of a kernel, which is unpacked and not installed.
"""

import os
import re
import shutil
import subprocess

from tools.setup import extract_vmlinux

BANNER = re.compile(rb"Linux version (\d[^ \0]*) \(")
HEADERS_HELP = "needs the kernel's build tree: --build-tree DIR"


class KernelError(Exception):
    """This kernel cannot be used; the text says why."""


def call(words, what, **options):
    """Its output; KernelError with what it says."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, **options)
    except FileNotFoundError as error:
        raise KernelError(f"{what}: program not found: {error.filename}") from error
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).strip().split("\n")[-12:])
        raise KernelError(f"{what}: {said or f'exit code {done.returncode}'}")
    return done.stdout


class Kernel:
    """Attributes: release; modules, the folder with lib/modules/RELEASE, or "none"."""

    def __init__(self, image, modules, folder):
        """`image`: of --kernel; `modules`: of --modules, or None; `folder`: for what is made."""
        self._folder = os.path.join(folder, "guest_kernel")
        os.makedirs(self._folder)
        if image.endswith(".deb"):
            image, modules = self._unpack(image, modules)
        data = self._vmlinux(image)
        banner = BANNER.search(data)
        if not banner:
            raise KernelError(f"{image}: not a Linux kernel (no version string)")
        self.release = banner[1].decode("ascii", "replace")
        self.modules = modules or "/"
        if self.modules != "none":
            found = os.path.join(self.modules, "lib/modules", self.release)
            if not os.path.isdir(found):
                raise KernelError(
                    f"{found} does not exist: give the folder with lib/modules/{self.release} (--modules DIR), "
                    "or Debian's package of the kernel (--kernel linux-image-....deb)"
                )
        self.vmlinux = os.path.join(self._folder, "vmlinux")
        with open(self.vmlinux, "wb") as file:
            file.write(data)
        self.info = os.path.join(self._folder, "kernel.txt")
        with open(self.info, "w", encoding="utf-8") as file:
            file.write(f"release={self.release}\npath={os.path.realpath(self._folder)}\n")
            file.write("modules=none\n" if self.modules == "none" else "")
        if self.modules != "none":
            os.symlink(os.path.realpath(self.modules), os.path.join(self._folder, "root"))

    def _unpack(self, package, modules):
        """(image, modules) of a package."""
        root = os.path.join(self._folder, "package")
        call(["dpkg-deb", "-x", package, root], package)
        boot = os.path.join(root, "boot")
        images = [name for name in os.listdir(boot) if name.startswith("vmlinuz-")] if os.path.isdir(boot) else []
        if len(images) != 1:
            raise KernelError(f"{package} has no kernel in boot/; give a package named linux-image-VERSION")
        if modules is None:
            modules = root
            call(["/sbin/depmod", "-b", root, images[0].removeprefix("vmlinuz-")], package)
        return os.path.join(boot, images[0]), modules

    @staticmethod
    def _vmlinux(image):
        with open(image, "rb") as file:
            data = file.read()
        if data.startswith(b"\x7fELF"):
            return data
        try:
            return extract_vmlinux.extract(data)
        except (ValueError, OSError, EOFError, subprocess.CalledProcessError) as error:
            raise KernelError(f"{image}: neither an x86 bzImage nor a vmlinux: {error}") from error

    def make_initramfs(self, script, init, out, wanted):
        """`script` and `init`: of tests/guest."""
        try:
            call(["bash", script, out, self.info, self.modules, init, *wanted], "the guest's first files")
        except KernelError as error:
            if "modprobe" not in str(error) and "Module" not in str(error):
                raise
            raise KernelError(
                f"{error}\nthe guest needs {', '.join(wanted)} of the kernel, as modules or built in"
            ) from error

    def build(self, source, target, build_tree):
        """Builds the module in the folder `source` for this kernel; returns why not, or ""."""
        tree = build_tree or (
            self.modules != "none" and os.path.join(self.modules, "lib/modules", self.release, "build")
        )
        if not tree or not os.path.exists(os.path.join(tree, "Makefile")):
            if build_tree:
                raise KernelError(f"--build-tree {build_tree} has no Makefile")
            return HEADERS_HELP
        work = os.path.join(self._folder, "built", os.path.basename(source))
        shutil.copytree(source, work)
        name = os.path.basename(target)
        words = ["make", "-C", os.path.realpath(tree), f"M={work}", "CONFIG_DEBUG_INFO_BTF_MODULES=", "modules"]
        call(words, f"{name} does not build")
        shutil.copyfile(os.path.join(work, name), target)
        return ""
