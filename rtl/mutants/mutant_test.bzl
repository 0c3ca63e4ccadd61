# SPDX-License-Identifier: Apache-2.0
"""mutant_tests: //rtl/mutants:NAME_test for the cheap faults of mutants.bzl."""

load("//rtl/mutants:mutants.bzl", "MUTANTS")
load("//rtl:sources.bzl", "rtl_source", "rtl_sources")
load("//tools/bazel:verilator.bzl", "verilator_cc_library")

def _unit(name, top, source):
    verilator_cc_library(
        name = name + "_model",
        testonly = True,
        srcs = [s for s in rtl_sources(top) if s != rtl_source(top)] + [source],
        prefix = "V" + top,
        top = top,
        deps = ["@verilator//:verilated"],
    )
    native.cc_binary(
        name = name + "_unit",
        testonly = True,
        srcs = ["//rtl:src/%s_test.cc" % top],
        deps = [
            ":" + name + "_model",
            "//rtl:testbench",
            "//rtl/spec:isa",
            "//simulator/model",
            "//simulator/model:numerics",
            "@system//:gtest_main",
        ],
    )

def mutant_tests():
    """The unit's own test on a model with the fault; it must fail."""
    for mutant in MUTANTS:
        if not mutant.get("cheap"):
            continue
        if mutant["file"] != mutant["test"]:
            fail("%s is cheap: its test is not that of its module" % mutant["name"])
        name, top = mutant["name"], mutant["file"]
        source = rtl_source(top)
        native.genrule(
            name = name + "_source",
            testonly = True,
            srcs = [
                "mutants.bzl",
                source,
            ],
            outs = [name + "/" + top + ".sv"],
            cmd = "python3 $(location mutate.py) $(location mutants.bzl) %s $(location %s) > $@" %
                  (name, source),
            tools = ["mutate.py"],
        )
        _unit(name, top, name + "_source")
        native.sh_test(
            name = name + "_test",
            size = "small",
            srcs = ["killed.sh"],
            args = ["$(location %s_unit)" % name],
            data = [name + "_unit"],
            tags = ["no-tsan"],
        )

def no_fault_test(name, top):
    """What calls a fault killed does not call everything killed."""
    _unit(name, top, rtl_source(top))
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["no_fault_test.sh"],
        args = [
            "$(location killed.sh)",
            "$(location %s_unit)" % name,
        ],
        data = [
            "killed.sh",
            name + "_unit",
        ],
        tags = ["no-tsan"],
    )
