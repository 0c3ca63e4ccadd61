# SPDX-License-Identifier: Apache-2.0
"""rtl_lint_tests: a test per module, run again when something it is compiled from changes, and only then."""

load("//rtl:sources.bzl", "RTL_MODULES", "rtl_needs", "rtl_sources")

def rtl_lint_tests(name):
    """Makes :hd_x_lint_test of every module, and the suite :NAME of all.

    Also :hd_x_waivers, those of lint/waivers.vlt that are about what hd_x is compiled from: an edit of a waiver
    changes what Verilator reads for no other module.

    Args:
      name: of the suite.
    """
    for top in RTL_MODULES:
        # The modules are named: who edits one has not changed what is waived.
        native.genrule(
            name = top + "_waivers",
            srcs = ["//rtl:lint/waivers.vlt"],
            outs = [top + "_waivers.vlt"],
            cmd = "python3 $(location //rtl:lint/waivers.py) $< %s > $@" % " ".join(rtl_needs(top)),
            tools = ["//rtl:lint/waivers.py"],
        )
        native.sh_test(
            name = top + "_lint_test",
            size = "small",
            srcs = ["//rtl:lint/verilator_lint_test.sh"],
            args = ["$(location :%s_waivers)" % top] + ["$(location %s)" % s for s in rtl_sources(top)],
            data = [":%s_waivers" % top] + rtl_sources(top),
        )
    native.test_suite(
        name = name,
        tests = [":%s_lint_test" % top for top in RTL_MODULES],
    )
