# SPDX-License-Identifier: Apache-2.0
"""precompiled_repository: headers that most files include, parsed once, and a toolchain that has them.

Half of compiling a file of ours is reading Abseil, the standard library and GoogleTest. The repository's
targets and files, for --config=precompiled (.bazelrc):

    :toolchain         the compiler of @local_config_cc, whose every action can read the files below
    library.pch        what the product includes
    test.pch           that and GoogleTest
    quick_test.pch     the same for tests compiled with -O0

Only with clang on the machine's own architecture: sanitizers, gcc and arm64 have other options, and a
precompiled header is of one set of them. The files hold no path of the checkout and no time stamp: the
same on every machine with the same packages, so that results in a cache remain of use. A file that
forgets an #include that is precompiled compiles here and fails without --config=precompiled.
"""

_STANDARD = [
    "algorithm",
    "array",
    "atomic",
    "chrono",
    "cmath",
    "deque",
    "functional",
    "map",
    "memory",
    "mutex",
    "optional",
    "random",
    "set",
    "string",
    "thread",
    "unordered_map",
    "utility",
    "variant",
    "vector",
]

# Not CLI11, whose inline functions every file would compile again: one that does not include it takes
# more than twice as long. JSON gains nothing.
_LIBRARY = _STANDARD + [
    "absl/status/status.h",
    "absl/status/statusor.h",
    "absl/strings/match.h",
    "absl/strings/numbers.h",
    "absl/strings/str_cat.h",
    "absl/strings/str_format.h",
    "absl/strings/str_join.h",
    "absl/strings/str_split.h",
    "absl/time/time.h",
    "absl/types/span.h",
]

_TEST = _LIBRARY + ["gtest/gtest.h"]

_BUILD = """
load("@rules_cc//cc:defs.bzl", "cc_toolchain", "cc_toolchain_suite")

package(default_visibility = ["//visibility:public"])

filegroup(
    name = "compiler_files",
    srcs = glob(["*.pch"]) + ["@local_config_cc//:compiler_deps"],
)

cc_toolchain(
    name = "compiler",
    all_files = ":compiler_files",
    ar_files = "@local_config_cc//:compiler_deps",
    as_files = "@local_config_cc//:compiler_deps",
    compiler_files = ":compiler_files",
    dwp_files = "@local_config_cc//:empty",
    linker_files = "@local_config_cc//:compiler_deps",
    objcopy_files = "@local_config_cc//:empty",
    strip_files = "@local_config_cc//:empty",
    supports_param_files = 1,
    toolchain_config = "@local_config_cc//:local",
    toolchain_identifier = "local",
)

cc_toolchain_suite(
    name = "toolchain",
    toolchains = {{
        "{cpu}": ":compiler",
        "{cpu}|clang": ":compiler",
    }},
)
"""

def _list_in(build, name):
    """A list of strings in the BUILD file of @local_config_cc."""
    _, _, rest = build.partition("\n    %s = [" % name)
    return json.decode("[" + rest.partition("]")[0] + "]")

def _text_in(build, name):
    return build.partition("\n    %s = \"" % name)[2].partition("\"")[0]

def _impl(ctx):
    clang = ctx.which("clang")
    if not clang:
        fail("clang is not installed: ./dev setup")

    # Of the target :local, the first with a configuration.
    build = ctx.read(Label("@local_config_cc//:BUILD")).partition("\ncc_toolchain_config(")[2]
    if _text_in(build, "compiler") != "clang":
        fail("--config=precompiled goes with clang")

    # As Bazel writes them for --compilation_mode=opt; then those of .bazelrc.
    options = _list_in(build, "compile_flags") + _list_in(build, "opt_compile_flags") + [
        "-fPIC",
        "-ffp-contract=off",
        "-std=c++17",
    ]
    for name, headers, level in [
        ("library", _LIBRARY, "-O2"),
        ("test", _TEST, "-O2"),
        ("quick_test", _TEST, "-O0"),
    ]:
        source = "".join(["#include <%s>\n" % header for header in headers])

        # From standard input, to standard output, in a folder that all machines have: clang writes down
        # the names of all three.
        made = ctx.execute(
            [
                "/bin/sh",
                "-c",
                "out=$PWD/$1; shift; printf %s \"$1\" >\"$out.h\"; shift; cd / && exec \"$@\" -o - - <\"$out.h\" >\"$out\"",
                "sh",
                name + ".pch",
                source,
                clang,
            ] + options + [
                level,
                "-fpch-instantiate-templates",
                "-Xclang",
                "-fno-pch-timestamp",
                "-x",
                "c++-header",
            ],
        )
        if made.return_code:
            fail("%s.pch: %s" % (name, made.stderr))
    ctx.file("BUILD", _BUILD.format(cpu = _text_in(build, "cpu")), executable = False)

precompiled_repository = repository_rule(
    implementation = _impl,
    configure = True,
    # Which packages the headers are of: ./dev makes them again after an upgrade.
    environ = ["HEDDLE_HEADER_PACKAGES"],
)
