# SPDX-License-Identifier: Apache-2.0
"""guest_test: tests inside a stock Debian kernel in QEMU, with virtual cards (README.md).

    load("//tests/guest:guest.bzl", "guest_case", "guest_test")

    guest_test(
        name = "driver_test",
        cards = ["", "--memory 64M"],            # options of heddle-sim, a card each
        modules = ["//kmd/linux:heddle"],         # loaded in this order before the first case
        cases = [
            guest_case("probe", "tests/guest/cases/probe.sh"),
            guest_case("uapi", "$(rootpath :uapi_test)", gtest = True, seconds = 60),
        ],
        data = [":uapi_test", "cases/probe.sh"],
    )

One boot; the cases run one after another as root in the guest, their working folder is that of
Bazel's tests, so paths from the repository's root work. Each is a test of its own in the report: of
a case with `gtest`, every GoogleTest case. A case fails by its exit code, its time limit, or what
the kernel logged meanwhile.
"""

# What the guest needs before it sees the host's files, and what the driver stands on.
GUEST_MODULES = ["drm_shmem_helper", "gpu-sched", "virtio_pci", "9pnet_virtio", "9p", "overlay"]

def guest_case(name, command, seconds = 30, gtest = False, allow = "", expect = "", needs = ""):
    """One case.

    Args:
      name: letters, digits and underscores.
      command: shell text; $(rootpath LABEL) of the test's data is replaced.
      seconds: time limit.
      gtest: the command is a GoogleTest program.
      allow: regular expression of lines of the kernel's log that are no failure here.
      expect: regular expression of a line that the kernel's log must have; nothing else in it is a
        failure then.
      needs: a module of the test, by its file's name, without which the case cannot be run. For
        //tests/driver_kit, which may have to do without those that are not the driver.
    """
    return struct(
        name = name,
        allow = allow,
        command = command,
        expect = expect,
        gtest = gtest,
        needs = needs,
        seconds = seconds,
    )

def _initramfs_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".cpio")
    modules = ctx.files._modules
    ctx.actions.run(
        mnemonic = "Initramfs",
        executable = ctx.executable._tool,
        inputs = [ctx.file._info, ctx.file._init] + modules,
        outputs = [out],
        arguments = [out.path, ctx.file._info.path, modules[0].path if modules else "none", ctx.file._init.path] + ctx.attr.modules,
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

guest_initramfs = rule(
    implementation = _initramfs_impl,
    attrs = {
        "modules": attr.string_list(default = GUEST_MODULES),
        "_info": attr.label(default = "@guest_kernel//:kernel.txt", allow_single_file = True),
        "_init": attr.label(default = "//tests/guest:inside/init.sh", allow_single_file = True),
        "_modules": attr.label(default = "@guest_kernel//:modules_folder", allow_files = True),
        "_tool": attr.label(default = "//tests/guest:initramfs", executable = True, cfg = "host"),
    },
)

def _cases_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(out, ctx.expand_location(ctx.attr.text, ctx.attr.data))
    files = ctx.runfiles([out] + ctx.files.data)
    for target in ctx.attr.data:
        files = files.merge(target[DefaultInfo].default_runfiles)
    return [DefaultInfo(files = depset([out]), runfiles = files)]

_guest_cases = rule(
    implementation = _cases_impl,
    attrs = {
        "data": attr.label_list(allow_files = True),
        "text": attr.string(mandatory = True),
    },
)

_DATA = [
    "//simulator/platform:heddle-sim",
    "//tests/guest:harness",
    "//tests/guest:initramfs_image",
    "@guest_kernel//:kernel.txt",
    "@guest_kernel//:vmlinux_file",
]

def guest_test(name, cases, cards = [""], modules = [], data = [], cpus = 1, memory = "768M", parallel = False, kernel_options = "", env = {}, size = "medium", tags = [], **kwargs):
    """Declares the test.

    Args:
      name: of the test.
      cases: of guest_case.
      cards: options of heddle-sim for each card there is at the start.
      modules: labels of kernel_module.
      data: files of the cases, at run time.
      cpus: of the guest. With more than one, QEMU 7.2 drops register accesses that meet ("Blocked
        re-entrant IO"), and the driver takes the card for gone.
      memory: of the guest.
      parallel: the guest's processors run at the same time, in a thread each. Without cards, or with a
        driver whose accesses to registers never meet: //tests/guest/smp:heddle.
      kernel_options: more words of the kernel's command line. User-mode Linux gets them, too.
      env: variables of the cases.
      size: of the test.
      tags: of the test.
      **kwargs: of sh_test.
    """
    plan = struct(
        cards = cards,
        cases = cases,
        cpus = cpus,
        env = env,
        kernel_options = kernel_options,
        memory = memory,
        modules = ["$(rootpath %s)" % module for module in modules],
        parallel = parallel,
    )
    _guest_cases(
        name = name + "_plan",
        testonly = True,
        data = data + modules,
        text = json.encode(plan),
        visibility = ["//tests/driver_kit:__pkg__"],
    )
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//tools/bazel:run_python.sh"],
        args = ["tests/guest/run_guest.py", "$(rootpath :%s_plan)" % name],
        data = _DATA + data + modules + [":%s_plan" % name],
        # QEMU and the cards. An emulated processor is too slow for TSan.
        tags = tags + ["cpu:2", "no-tsan"],
        **kwargs
    )
