# SPDX-License-Identifier: Apache-2.0
"""rtl_sources: what a module of rtl/src is compiled from, so that an edit rebuilds what is above it.

    load("//rtl:sources.bzl", "rtl_sources")

    srcs = ["//rtl:lint/waivers.vlt"] + rtl_sources("hd_core")

    # With something in the place of one of them:
    srcs = rtl_sources("hd_matrix_engine", without = ["hd_mac_array"]) + [":hd_mac_array_netlist"]

modules.bzl says who names whom; it is made from the sources (modules.py).
"""

load("//rtl:modules.bzl", "PACKAGES", "USES")

# Every module, by name.
RTL_MODULES = [name for name in USES if name not in PACKAGES]

def rtl_source(name):
    """The label of a module's or package's file."""
    return "//rtl/spec:pkg_sv" if name == "heddle_pkg" else "//rtl:src/%s.sv" % name

def rtl_needs(top, without = []):
    """Names of what `top` is compiled from, itself included: packages in order, then modules by name.

    Args:
      top: a module of rtl/src.
      without: modules that come from elsewhere; what only they use is left out, too.
    """
    for name in [top] + without:
        if name not in USES:
            fail("no module %s in rtl/modules.bzl: python3 rtl/modules.py > rtl/modules.bzl" % name)
    found = {}
    names = [top]
    for _ in range(len(USES)):  # Starlark has no `while`; no chain is longer.
        found.update([(name, True) for name in names])
        names = {used: True for name in names for used in USES[name] if used not in found and used not in without}
        if not names:
            break
        if [name for name in names if top in USES[name]]:
            fail("%s is a part of itself" % top)
    return [p for p in PACKAGES if p in found] + sorted([n for n in found if n not in PACKAGES])

def rtl_sources(top, without = []):
    """Labels of what `top` is compiled from, in the order of rtl_needs()."""
    return [rtl_source(name) for name in rtl_needs(top, without)]
