# SPDX-License-Identifier: Apache-2.0
"""formal_test: a proof with yosys and ABC (rtl/formal/prove.sh) as a test."""

load("//rtl:sources.bzl", "rtl_sources")

def formal_test(name, unit, top = None, mode = "bmc", depth = 12, params = {}, broken = None, without = [], size = "medium", **kwargs):
    """Proves the assertions of `top`, a module of immediate assertions around the unit.

    Args:
      name: of the test.
      unit: the module of rtl/src that the properties are about.
      top: module of the properties, in rtl/formal/TOP.sv; UNIT_formal otherwise.
      mode: "bmc" (the first `depth` cycles), "prove" (every cycle) or "cover".
      depth: cycles.
      params: {"W": "4"}, parameters of top.
      broken: name of a macro that breaks the design or the environment: then the test is that the
        prover finds it. One such test per property file shows that its properties say something.
      without: modules below the unit that the top does not have.
      size: of the test.
      **kwargs: of sh_test.
    """
    top = top or unit + "_formal"
    srcs = rtl_sources(unit, without = without) + ["//rtl/formal:%s.sv" % top]
    native.sh_test(
        name = name,
        size = size,
        srcs = ["//rtl/formal:prove.sh"],
        args = [
            mode,
            str(depth),
            top,
            "'%s'" % " ".join(["-set %s %s" % (k, v) for k, v in params.items()]),
        ] + ["$(locations %s)" % s for s in srcs],
        data = srcs,
        env = {"VACUITY": broken} if broken else {},
        **kwargs
    )
