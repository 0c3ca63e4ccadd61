# SPDX-License-Identifier: Apache-2.0
"""random_start_tests: unit tests of modules that begin with random registers, as silicon does."""

load("//rtl:sources.bzl", "rtl_sources")
load("//tools/bazel:verilator.bzl", "VERILATOR_FAST", "verilator_cc_library")

def random_start(options):
    """Verilator's options with --x-initial unique: every variable takes a value of its own.

    //rtl:random_start, linked into the program, makes those values random.
    """
    out = []
    for i in range(len(options)):
        out.append("unique" if i and options[i - 1] == "--x-initial" else options[i])
    return out

def random_start_tests(tops, runs = 3):
    """//rtl:hd_x_random_start_test: hd_x_test `runs` times, from other states each time.

    Inputs are random, too, until the test sets them.

    Args:
      tops: modules of rtl_unit_tests that need no parameters and no further deps.
      runs: how often.
    """
    for top in tops:
        verilator_cc_library(
            name = top + "_random_start_model",
            testonly = True,
            srcs = [":%s_waivers" % top] + rtl_sources(top),
            copts_fast = ["-O1"],
            prefix = "V" + top,
            top = top,
            vopts = random_start(VERILATOR_FAST),
            deps = ["@verilator//:verilated"],
        )
        native.cc_test(
            name = top + "_random_start_test",
            size = "small",
            srcs = ["src/%s_test.cc" % top],
            args = ["--gtest_repeat=%d" % runs],
            tags = ["no-tsan"],
            deps = [
                ":" + top + "_random_start_model",
                ":random_start",
                ":testbench",
                "//rtl/spec:isa",
                "//simulator/model",
                "//simulator/model:numerics",
                "@system//:gtest_main",
            ],
        )
