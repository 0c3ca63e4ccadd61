# SPDX-License-Identifier: Apache-2.0
"""guest_kernel_repository: the Debian kernel that tools/setup/guest_kernel.sh has fetched.

It is $HEDDLE_GUEST_KERNEL_DIR (./dev gives it), else heddle/guest/$HEDDLE_GUEST_KERNEL, or
.../current, in the user's cache folder. The repository always has the same targets, so that BUILD
files need no condition:

    :kernel.txt       lines KEY=VALUE: abi, release, version, path; or the one line absent=REASON
    :vmlinux_file     the kernel, uncompressed
    :modules_folder   holds lib/modules/RELEASE
    :headers_folder   holds usr/src/linux-headers-RELEASE
    :checkpatch_folder  holds checkpatch.pl, or nothing
    :config_file      the kernel's configuration

Without a kernel all but kernel.txt are empty. Whoever uses them looks at kernel.txt first and skips,
saying why. Folders are inputs as a whole: Bazel does not look into them, kernel.txt stands for them.
"""

_PRESENT = """
filegroup(
    name = "{name}",
    srcs = ["{file}"],
)
"""

_ABSENT = """
filegroup(name = "{name}")
"""

_TARGETS = {
    "checkpatch_folder": "checkpatch",
    "config_file": "config",
    "headers_folder": "headers",
    "modules_folder": "root",
    "vmlinux_file": "vmlinux",
}

def _folder(ctx):
    """The kernel's folder, which may not exist; None: nobody can say where it would be."""
    environ = ctx.os.environ
    if environ.get("HEDDLE_GUEST_KERNEL_DIR"):
        return ctx.path(environ["HEDDLE_GUEST_KERNEL_DIR"])
    cache = environ.get("XDG_CACHE_HOME") or (environ["HOME"] + "/.cache" if environ.get("HOME") else "")
    if not cache:
        return None
    return ctx.path("%s/heddle/guest/%s" % (cache, environ.get("HEDDLE_GUEST_KERNEL") or "current"))

def _guest_kernel_repository_impl(ctx):
    folder = _folder(ctx)
    present = folder != None and folder.get_child("kernel.txt").exists
    build = ['package(default_visibility = ["//visibility:public"])\n\nexports_files(["kernel.txt"])\n']
    if present:
        ctx.file("kernel.txt", "%spath=%s\n" % (ctx.read(folder.get_child("kernel.txt")), folder.realpath), executable = False)
    else:
        ctx.file("kernel.txt", "absent=no guest kernel (tools/setup/guest_kernel.sh fetches it)\n", executable = False)
    for name, file in _TARGETS.items():
        if present and folder.get_child(file).exists:
            ctx.symlink(folder.realpath.get_child(file), file)
        build.append((_PRESENT if present and folder.get_child(file).exists else _ABSENT).format(name = name, file = file))
    ctx.file("BUILD", "".join(build), executable = False)

guest_kernel_repository = repository_rule(
    implementation = _guest_kernel_repository_impl,
    configure = True,
    environ = ["HEDDLE_GUEST_KERNEL", "HEDDLE_GUEST_KERNEL_DIR", "HOME", "XDG_CACHE_HOME"],
    local = True,
)
