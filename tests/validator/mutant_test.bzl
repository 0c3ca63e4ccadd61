# SPDX-License-Identifier: Apache-2.0
"""mutant_tests: //tests/validator:NAME_test for the faults of mutants.bzl."""

load("//kmd/core:sources.bzl", "HEADERS", "SOURCES")
load("//tests/validator:mutants.bzl", "MUTANTS")

def mutant_tests(programs):
    """A test on a validator with the fault; it must fail.

    Args:
      programs: by the name of a test: its sources, headers and dependencies but the validator
    """
    for mutant in MUTANTS:
        name = mutant["name"]
        native.genrule(
            name = name + "_sources",
            testonly = True,
            srcs = [
                "mutants.bzl",
                "//kmd/core:kernel_sources",
            ],
            outs = ["%s/%s" % (name, file) for file in SOURCES + HEADERS],
            cmd = "python3 $(location mutate.py) $(location mutants.bzl) %s $(RULEDIR)/%s " % (name, name) +
                  "$(locations //kmd/core:kernel_sources)",
            tools = ["mutate.py"],
        )
        native.cc_library(
            name = name + "_core",
            testonly = True,
            srcs = ["%s/%s" % (name, file) for file in SOURCES],
            hdrs = ["%s/%s" % (name, file) for file in HEADERS],
            includes = [name],
            deps = [
                "//kmd:uapi",
                "//kmd/hosted:linux_shims",
                "//rtl/spec:kernel_headers",
            ],
        )
        program = programs[mutant["test"]]
        native.cc_binary(
            name = name + "_program",
            testonly = True,
            srcs = program["srcs"],
            deps = program["deps"] + [":%s_core" % name],
        )
        native.sh_test(
            name = name + "_test",
            size = "small",
            srcs = ["//rtl/mutants:killed.sh"],
            args = ["$(location %s_program)" % name],
            data = [name + "_program"],
        )
