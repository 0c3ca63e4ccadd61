# SPDX-License-Identifier: Apache-2.0
"""The unit tests on what synthesis makes of a module in place of its source (rtl/synthesis/netlist.sh)."""

load("//rtl:sources.bzl", "rtl_sources")
load("//tools/bazel:verilator.bzl", "VERILATOR_FAST", "verilator_cc_library")

# A netlist's names and widths are the tool's. Nets that look like loops are errors: netlist.sh splits
# them, lint/netlist.vlt has the exception.
_VOPTS = VERILATOR_FAST + [
    "-Wno-lint",
    "-Wno-style",
    "-Wwarn-UNOPTFLAT",
]
_WAIVERS = "lint/netlist.vlt"

def _netlist(name, top, params):
    """NAME.v: the netlist of `top` and all below it, for these parameters."""
    srcs = rtl_sources(top)
    native.genrule(
        name = name,
        testonly = True,
        srcs = srcs,
        outs = [name + ".v"],
        cmd = "$(location //rtl/synthesis:netlist.sh) $@ %s '%s' %s" % (
            top,
            " ".join(["%s=%s" % (k, v) for k, v in params.items()]),
            " ".join(["$(locations %s)" % s for s in srcs]),
        ),
        message = "Synthesising",
        tags = ["manual"],
        tools = ["//rtl/synthesis:netlist.sh"],
    )

def _test(name, top, srcs, params, test, deps, **kwargs):
    verilator_cc_library(
        name = name + "_model",
        testonly = True,
        srcs = srcs,
        copts_fast = ["-O1"],
        params = params,
        prefix = "V" + top,
        tags = ["manual"],
        top = top,
        vopts = _VOPTS,
        deps = ["@verilator//:verilated"],
    )
    native.cc_test(
        name = name + "_test",
        srcs = [test],
        deps = [
            ":" + name + "_model",
            ":testbench",
            "//rtl/spec:isa",
            "//simulator/model",
            "//simulator/model:numerics",
            "@system//:gtest_main",
        ] + deps,
        **kwargs
    )

def netlist_tests(tests, params = {}, deps = {}, shards = {}, variants = {}):
    """//rtl:hd_x_netlist_test for every hd_x_test of rtl_unit_tests, with its arguments.

    They are run by ./dev nightly netlist (:netlist_tests). The ones of big modules take minutes to
    build and more to run than the tests of the sources.

    Args:
      tests: src/hd_x_test.cc files.
      params: parameters of a module.
      deps: further deps of a module's test.
      shards: of a module's test.
      variants: of a module's parameters.
    """
    made = []
    for test in tests:
        top = test.split("/")[-1][:-len("_test.cc")]
        one = {"": params.get(top, {})}
        for variant, values in variants.get(top, {}).items():
            one["_" + variant] = values
        for suffix, values in one.items():
            name = top + suffix + "_netlist"
            _netlist(name, top, values)
            _test(
                name,
                top,
                [_WAIVERS, name + ".v"],
                values,
                test,
                deps.get(top, []),
                size = "enormous",
                copts = ["-DHD_VARIANT" + suffix] if suffix else [],
                shard_count = shards.get(top, None),
                tags = [
                    "manual",
                    "nightly",
                    "no-tsan",
                ],
            )
            made.append(":" + name + "_test")
    native.test_suite(
        name = "netlist_tests",
        tags = ["manual"],
        tests = made,
    )

def netlist_part_test(name, top, part, params, test, deps = [], **kwargs):
    """hd_x's test with the netlist of one module in the sources of the others.

    Args:
      name: of the test, without _test.
      top: hd_x, with its default parameters.
      part: the module that is synthesised, with all below it.
      params: the part's, as `top` sets them: others do not elaborate.
      test: src/hd_x_test.cc.
      deps: further ones of the test.
      **kwargs: of cc_test.
    """
    _netlist(name + "_part", part, params)
    _test(
        name,
        top,
        [":%s_waivers" % top, _WAIVERS] + rtl_sources(top, without = [part]) + [name + "_part.v"],
        {},
        test,
        deps,
        **kwargs
    )
