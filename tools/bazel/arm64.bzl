# SPDX-License-Identifier: Apache-2.0
"""arm64_repository: the C++ toolchain of --config=arm64.

It is this machine's clang with the root that tools/setup/arm64_root.sh makes as its sysroot:
$HEDDLE_ARM64_ROOT, else heddle/arm64/root in the user's cache folder. The root holds Debian's
arm64 libraries with their headers, and the linker. Nobody but --config=arm64 names this repository, so
other builds do not notice whether there is a root.

    :toolchain      for --crosstool_top
    :for_resolution for --extra_toolchains: rules that ask for a toolchain by platform
"""

_BUILD = """# Written by tools/bazel/arm64.bzl.
load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")

package(default_visibility = ["//visibility:public"])

filegroup(name = "empty")

cc_toolchain_suite(
    name = "toolchain",
    toolchains = {{
        "aarch64": ":clang",
        "aarch64|clang": ":clang",
    }},
)

toolchain(
    name = "for_resolution",
    exec_compatible_with = ["@platforms//os:linux"],
    target_compatible_with = [
        "@platforms//cpu:aarch64",
        "@platforms//os:linux",
    ],
    toolchain = ":clang",
    toolchain_type = "@bazel_tools//tools/cpp:toolchain_type",
)

cc_toolchain(
    name = "clang",
    all_files = ":empty",
    ar_files = ":empty",
    as_files = ":empty",
    compiler_files = ":empty",
    dwp_files = ":empty",
    linker_files = ":empty",
    objcopy_files = ":empty",
    strip_files = ":empty",
    supports_param_files = 1,
    toolchain_config = ":config",
    toolchain_identifier = "arm64",
)

# As Bazel finds it for this machine, but for the target. clang would come upon libstdc++ by the link
# {root}/lib, whose `..` is not what Bazel takes it for: hence --gcc-toolchain.
cc_toolchain_config(
    name = "config",
    abi_libc_version = "glibc",
    abi_version = "gcc",
    builtin_sysroot = "{root}",
    compile_flags = [
        "--target=aarch64-linux-gnu",
        "--gcc-toolchain={root}/usr",
        "-U_FORTIFY_SOURCE",
        "-fstack-protector",
        "-Wall",
        "-Wthread-safety",
        "-Wself-assign",
        "-Wno-free-nonheap-object",
        "-fcolor-diagnostics",
        "-fno-omit-frame-pointer",
    ],
    compiler = "clang",
    cpu = "aarch64",
    cxx_builtin_include_directories = [
        "{root}/usr/include",
        "{root}/usr/lib/gcc/aarch64-linux-gnu",
        "/usr/lib/llvm-14/lib/clang",
        "/usr/lib/clang",
    ],
    dbg_compile_flags = ["-g"],
    host_system_name = "local",
    link_flags = [
        "--target=aarch64-linux-gnu",
        "--gcc-toolchain={root}/usr",
        "--ld-path={root}/usr/bin/aarch64-linux-gnu-ld.gold",
        "-Wl,-no-as-needed",
        "-Wl,-z,relro,-z,now",
    ],
    link_libs = [
        "-lstdc++",
        "-lm",
    ],
    opt_compile_flags = [
        "-g0",
        "-O2",
        "-D_FORTIFY_SOURCE=1",
        "-DNDEBUG",
        "-ffunction-sections",
        "-fdata-sections",
    ],
    opt_link_flags = ["-Wl,--gc-sections"],
    supports_start_end_lib = True,
    target_libc = "glibc",
    target_system_name = "aarch64-linux-gnu",
    tool_paths = {{
        "ar": "/usr/bin/ar",
        "cpp": "/usr/bin/clang-cpp",
        "dwp": "/bin/false",
        "gcc": "/usr/bin/clang",
        "gcov": "/bin/false",
        "ld": "{root}/usr/bin/aarch64-linux-gnu-ld.gold",
        "llvm-cov": "/bin/false",
        "nm": "/usr/bin/nm",
        "objcopy": "/usr/bin/llvm-objcopy",
        "objdump": "/usr/bin/llvm-objdump",
        "strip": "/usr/bin/llvm-strip",
    }},
    toolchain_identifier = "arm64",
    unfiltered_compile_flags = [
        "-no-canonical-prefixes",
        "-Wno-builtin-macro-redefined",
        "-D__DATE__=\\"redacted\\"",
        "-D__TIMESTAMP__=\\"redacted\\"",
        "-D__TIME__=\\"redacted\\"",
    ],
)
"""

def _folder(ctx):
    environ = ctx.os.environ
    if environ.get("HEDDLE_ARM64_ROOT"):
        return environ["HEDDLE_ARM64_ROOT"]
    cache = environ.get("XDG_CACHE_HOME") or (environ["HOME"] + "/.cache" if environ.get("HOME") else "")
    return cache + "/heddle/arm64/root"

def _arm64_repository_impl(ctx):
    root = ctx.path(_folder(ctx))
    if not ctx.path("%s/usr/lib/gcc/aarch64-linux-gnu" % root).exists:
        fail("--config=arm64: there is no arm64 root %s (tools/setup/arm64_root.sh makes it)" % root)
    ctx.file("BUILD", _BUILD.format(root = root), executable = False)

arm64_repository = repository_rule(
    implementation = _arm64_repository_impl,
    configure = True,
    environ = ["HEDDLE_ARM64_ROOT", "HOME", "XDG_CACHE_HOME"],
    local = True,
)
