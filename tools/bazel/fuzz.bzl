# SPDX-License-Identifier: Apache-2.0
"""heddle_fuzz_test: one libFuzzer target as a quick test and as a fuzzer.

    NAME             cc_test, any compiler: every seed, then a fixed number of deterministic
                     mutations of each (tools/bazel/fuzz_main.cc)
    NAME_libfuzzer   the fuzzer itself: bazel run --config=fuzz //...:NAME_libfuzzer -- CORPUS
"""

def heddle_fuzz_test(name, srcs, deps, seeds = [], mutations = 2000, **kwargs):
    """Declares both targets.

    Args:
      name: of the test.
      srcs: defines LLVMFuzzerTestOneInput.
      deps: of srcs.
      seeds: files; a crash found once is added here and so stays tested.
      mutations: per seed, in the quick test.
      **kwargs: of both, e.g. testonly or tags.
    """
    native.cc_test(
        name = name,
        size = "small",
        srcs = srcs,
        args = [str(mutations)] + ["$(locations %s)" % s for s in seeds],
        data = seeds,
        deps = deps + ["//tools/bazel:fuzz_main"],
        **kwargs
    )
    native.cc_binary(
        name = name + "_libfuzzer",
        testonly = True,
        srcs = srcs,
        data = seeds,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )
