# SPDX-License-Identifier: Apache-2.0
"""rtl_unit_tests: a cc_test for every src/hd_x_test.cc, with hd_x verilated as class Vhd_x."""

load("//rtl:sources.bzl", "rtl_sources")
load("//tools/bazel:verilator.bzl", "VERILATOR_COPTS_V3", "VERILATOR_FAST", "VERILATOR_LINES", "verilator_cc_library")

def rtl_unit_tests(tests, params = {}, deps = {}, sizes = {}, shards = {}, variants = {}):
    """Makes //rtl:hd_x_test of every file of `tests`.

    Also //rtl:hd_x_lines, the same test on a model that counts the lines it reaches, and that of
    each variant, hd_x_h1024_lines.

    Args:
      tests: src/hd_x_test.cc files.
      params: {"hd_x": {"K": "32"}}, where the module's defaults do not do.
      deps: {"hd_x": ["//..."]}, besides the common ones.
      sizes: {"hd_x": "medium"}; "small" otherwise.
      shards: {"hd_x": 4}.
      variants: {"hd_x": {"h1024": {"K": "32"}}}: one more test //rtl:hd_x_h1024_test with these
        parameters; it is compiled with -DHD_VARIANT_h1024.
    """
    for test in tests:
        top = test.split("/")[-1][:-len("_test.cc")]
        srcs = [":%s_waivers" % top] + rtl_sources(top)  # rtl_lint_tests makes the former
        one = {"": params.get(top, {})}
        for variant, values in variants.get(top, {}).items():
            one["_" + variant] = values
        for suffix, values in one.items():
            verilator_cc_library(
                name = top + suffix + "_model",
                testonly = True,
                srcs = srcs,
                copts_fast = VERILATOR_COPTS_V3,
                params = values,
                prefix = "V" + top,
                top = top,
                vopts = VERILATOR_FAST + ["-Wall"],
                deps = ["@verilator//:verilated"],
            )
            native.cc_test(
                name = top + suffix + "_test",
                size = sizes.get(top, "small"),
                srcs = [test],
                copts = ["-DHD_VARIANT" + suffix] if suffix else [],
                shard_count = shards.get(top, None),
                tags = ["no-tsan"],
                deps = [
                    ":" + top + suffix + "_model",
                    ":testbench",
                    "//rtl/spec:isa",
                    "//simulator/model",
                    "//simulator/model:numerics",
                    "@system//:gtest_main",
                ] + deps.get(top, []),
            )
            verilator_cc_library(
                name = top + suffix + "_lines_model",
                testonly = True,
                srcs = srcs,
                copts_fast = ["-O1"],
                params = values,
                prefix = "V" + top,
                tags = ["manual"],
                top = top,
                vopts = VERILATOR_LINES,
                deps = ["@verilator//:verilated"],
            )
            native.cc_binary(
                name = top + suffix + "_lines",
                testonly = True,
                srcs = [test],
                copts = ["-DHD_VARIANT" + suffix] if suffix else [],
                tags = ["manual"],
                deps = [
                    ":" + top + suffix + "_lines_model",
                    ":testbench",
                    "//rtl/coverage:at_exit",
                    "//rtl/spec:isa",
                    "//simulator/model",
                    "//simulator/model:numerics",
                    "@system//:gtest_main",
                ] + deps.get(top, []),
            )
