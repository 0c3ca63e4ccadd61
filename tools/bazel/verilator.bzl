# SPDX-License-Identifier: Apache-2.0
"""verilator_cc_library: SystemVerilog -> Verilator -> C++ objects, as a CcInfo provider.

    verilator_cc_library(
        name = "core_h256",
        srcs = [...],            # .sv in order: packages first
        hdrs = [...],            # .svh; their folders become -I
        top = "heddle_core",
        prefix = "Vcore",        # the C++ class; default "V" + top
        params = {"K": "16"},    # top-level parameters
        vopts = VERILATOR_FAST,  # or VERILATOR_FAST + ["--trace-fst"]
        copts_fast = VERILATOR_COPTS_V3,
        deps = ["@verilator//:verilated"],  # with --trace-fst also @verilator//:verilated_fst
    )

    # The same model as its measured users run it: a program that links :core_training (and runs)
    # tells what code runs how often, and :core_profiled is compiled with that.
    verilator_model_variant(name = "core_training", model = ":core_h256", training = True)
    verilator_profile(name = "core_profile", program = ":train", arguments = ["resnet8"])
    verilator_model_variant(
        name = "core_profiled",
        model = ":core_h256",
        copts_fast = VERILATOR_COPTS_V3,
        profile = ":core_profile",
    )

Include the model as "Vcore.h". Verilator's warnings are errors (waive one with a lint_off
comment or a .vlt file); those of the C++ compiler are off, the C++ is not ours to judge.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# What makes models fast with Verilator 5.006: rolled loops that the C++ compiler vectorises.
VERILATOR_FAST = [
    "-O3",
    "--x-assign",
    "fast",
    "--x-initial",
    "fast",
    "--assert",
    "--unroll-count",
    "4",
]

# AVX2 and the like; every x86-64 server since 2013 has them. Fusing is off (.bazelrc). A model is
# long code that runs once per cycle, so what counts is that it is short: -O3 is 5 % slower than -O2,
# -O1 a third. Frame pointers, which Bazel's toolchain asks for, cost a register.
VERILATOR_COPTS_V3 = [
    "-O2",
    "-fomit-frame-pointer",
] + select({
    "@platforms//cpu:x86_64": ["-march=x86-64-v3"],
    "//conditions:default": [],
})

# With --coverage-*: all instances of a model count in the same place, which outlives them, and a
# model that is made does not set it to zero: a process that makes many models, one after another,
# writes the counts of all. Nor is counting atomic: one thread at a time clocks models.
_COVERAGE = """
grep -q '__Vcoverage\\[' "$tmp"/*__Syms.h && grep -q '\\*count32p = 0;' "$tmp"/*.cpp || {
  echo "coverage is not counted as it was" >&2; exit 1; }
sed -i -e 's/^ *std::atomic<uint32_t> __Vcoverage\\[/static inline &/' -e '/#include "verilated.h"/a\\
#include <atomic>\\
inline void Count(std::atomic<uint32_t>& n) {\\
  n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);\\
}' "$tmp"/*__Syms.h
sed -i -e 's/\\(vlSymsp->__Vcoverage\\[[0-9]*\\]\\)\\.fetch_add(1, std::memory_order_relaxed)/Count(\\1)/' \\
  -e 's/^ *\\*count32p = 0;//' "$tmp"/*.cpp
"""

# Lines are cheap to count. Splitting and reordering would move a branch's counter behind the process
# it is in, where the branch's condition may have another value: such a branch counts as if it were
# never taken (Verilator 5.006). Unsplit processes look like loops (UNOPTFLAT); lint looks for real
# ones. Bits of signals are not: models are some hundred times slower, even if
# only those of signals of at most 32 bits are counted (a wide data bus says little).
VERILATOR_LINES = VERILATOR_FAST + [
    "--coverage-line",
    "-fno-reorder",
    "-fno-split",
    "-Wno-UNOPTFLAT",
]
VERILATOR_TOGGLES = VERILATOR_FAST + [
    "--coverage-toggle",
    "--coverage-max-width",
    "32",
]

# Verilator splits its C++ for builds on many processors, and all that a small model's files do is read
# the same headers: together they compile in a third of the time, those of a whole core in two thirds.
# Files of at most 16 MB: the compiler takes 35 times that in memory.
_JOIN = """
join() {  # FOLDER FILE: the file goes to the end of the folder's last one
  local part=$(( $(ls "$1" | wc -l) - 1 ))
  if ((part < 0)) || (($(stat -c %s "$1/$part.cpp") + $(stat -c %s "$2") > 16000000)); then
    part=$((part + 1))
  fi
  cat "$2" >>"$1/$part.cpp"
}
"""

VerilatedInfo = provider(
    doc = "A model's generated C++, for verilator_model_variant.",
    fields = {
        "fast": "folder of sources that run in every cycle",
        "headers": "folder",
        "slow": "CcCompilationOutputs of the other sources",
        "compilation_context": "of the model",
        "linking_contexts": "of what the model needs",
    },
)

def _toolchain(ctx):
    """The C++ toolchain, and the features that are on."""
    cc_toolchain = find_cpp_toolchain(ctx)
    return cc_toolchain, cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = cc_toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )

def _without_sanitizers(ctx):
    """Options that take back those of --config=asan and the like.

    What Verilator writes is not ours to mend, and takes minutes a file with checks. .bazelrc cannot say
    it: --per_file_copt does not reach what a rule compiles from a folder.
    """
    sanitized = [option for option in ctx.fragments.cpp.copts if option.startswith("-fsanitize")]
    return ["-fno-sanitize=all", "-g0"] if sanitized else []

def _compile(ctx, suffix, tree, headers, copts, contexts, inputs = []):
    """A folder of generated sources: CcCompilationContext, CcCompilationOutputs."""
    cc_toolchain, features = _toolchain(ctx)
    return cc_common.compile(
        name = ctx.label.name + suffix,
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        srcs = [tree],
        public_hdrs = [headers],
        includes = [headers.path],
        additional_inputs = inputs + [ctx.file._trigger_bits],
        # cc_common.compile does not add --copt/--cxxopt by itself: without this line the
        # objects are built as C++14 whatever .bazelrc says.
        # trigger_bits.h says why.
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + copts + [
            "-w",
            "-include",
            ctx.file._trigger_bits.path,
        ] + _without_sanitizers(ctx),
        compilation_contexts = contexts,
    )

def _link(ctx, outputs, linking_contexts, flags = []):
    cc_toolchain, features = _toolchain(ctx)
    linking_context, _ = cc_common.create_linking_context_from_compilation_outputs(
        name = ctx.label.name,
        actions = ctx.actions,
        feature_configuration = features,
        cc_toolchain = cc_toolchain,
        compilation_outputs = cc_common.merge_compilation_outputs(compilation_outputs = outputs),
        linking_contexts = linking_contexts,
        user_link_flags = flags,
        disallow_dynamic_library = True,
    )
    return linking_context

def _impl(ctx):
    prefix = ctx.attr.prefix or "V" + ctx.attr.top
    srcs_fast = ctx.actions.declare_directory(ctx.label.name + ".v/fast")
    srcs_slow = ctx.actions.declare_directory(ctx.label.name + ".v/slow")
    hdrs = ctx.actions.declare_directory(ctx.label.name + ".v/include")

    args = ctx.actions.args()
    args.add("--sc" if ctx.attr.systemc else "--cc")
    args.add("--no-timing")
    args.add("--top-module", ctx.attr.top)
    args.add("--prefix", prefix)
    args.add_all(ctx.attr.vopts)
    for k, v in ctx.attr.params.items():
        args.add("-G%s=%s" % (k, v))
    for d in depset([f.dirname for f in ctx.files.hdrs]).to_list():
        args.add("-I" + d)
    args.add_all(ctx.files.srcs)

    ctx.actions.run_shell(
        mnemonic = "Verilate",
        progress_message = "Verilating %s" % ctx.label,
        inputs = ctx.files.srcs + ctx.files.hdrs + ctx.files._tool_inputs + [ctx.file._clocked_model],
        outputs = [srcs_fast, srcs_slow, hdrs],
        arguments = [srcs_fast.path, srcs_slow.path, hdrs.path, args],
        command = """set -e
fast=$1; slow=$2; inc=$3; shift 3
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
verilator --Mdir "$tmp" "$@"
""" + (_COVERAGE if [o for o in ctx.attr.vopts if o.startswith("--coverage")] else "") + (
            "python3 %s \"$tmp\" %s\n" % (ctx.file._clocked_model.path, ctx.attr.clock) if ctx.attr.clock else ""
        ) + _JOIN + """mkdir -p "$fast" "$slow" "$inc"
for f in "$tmp"/*.cpp; do
  case "$f" in
    *__Slow.cpp|*__Syms.cpp) join "$slow" "$f" ;;
    *) join "$fast" "$f" ;;
  esac
done
mv "$tmp"/*.h "$inc"/
""",
        use_default_shell_env = True,
    )

    contexts = [d[CcInfo].compilation_context for d in ctx.attr.deps]
    linking_contexts = [d[CcInfo].linking_context for d in ctx.attr.deps]
    context, fast = _compile(ctx, "_fast", srcs_fast, hdrs, ctx.attr.copts_fast, contexts)
    _, slow = _compile(ctx, "_slow", srcs_slow, hdrs, ctx.attr.copts_slow, contexts)
    return [
        DefaultInfo(files = depset([hdrs, srcs_fast, srcs_slow])),
        CcInfo(
            compilation_context = context,
            linking_context = _link(ctx, [fast, slow], linking_contexts),
        ),
        VerilatedInfo(
            fast = srcs_fast,
            headers = hdrs,
            slow = slow,
            compilation_context = context,
            linking_contexts = linking_contexts,
        ),
    ]

verilator_cc_library = rule(
    implementation = _impl,
    attrs = {
        "srcs": attr.label_list(allow_files = [".sv", ".v", ".vlt"], mandatory = True),
        "hdrs": attr.label_list(allow_files = [".svh", ".vh"]),
        "top": attr.string(mandatory = True),
        "prefix": attr.string(),
        "params": attr.string_dict(),
        # The input that is the clock, if all others change only while it is low: a faster model
        # (clocked_model.py).
        "clock": attr.string(),
        "systemc": attr.bool(default = False),
        "vopts": attr.string_list(default = VERILATOR_FAST),
        "copts_fast": attr.string_list(default = ["-O3"]),
        # They run once: constructors, initial blocks.
        "copts_slow": attr.string_list(default = ["-O0"]),
        "deps": attr.label_list(providers = [CcInfo]),
        "_trigger_bits": attr.label(default = ":trigger_bits.h", allow_single_file = True),
        "_clocked_model": attr.label(default = ":clocked_model.py", allow_single_file = True),
        "_tool_inputs": attr.label(default = "@verilator//:tool_inputs"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    provides = [CcInfo, VerilatedInfo],
)

def _why_no_profile(ctx):
    """Why this build has no profiles; None if it has."""
    if find_cpp_toolchain(ctx).compiler != "clang":
        return "profiles are made and read by clang"
    for option in ctx.fragments.cpp.copts:
        if option.startswith("-fsanitize"):
            return "what %s adds would be profiled, too" % option
    return None

def _variant_impl(ctx):
    model = ctx.attr.model[VerilatedInfo]
    copts = ctx.attr.copts_fast
    inputs = []
    link_flags = []
    why_not = _why_no_profile(ctx)
    if why_not and ctx.attr.training:
        pass  # :NAME_profiled says it; nothing runs the program.
    elif why_not:
        # buildifier: disable=print
        print("%s: without a profile: %s" % (ctx.label, why_not))
    elif ctx.attr.training:
        link_flags = ["-fprofile-instr-generate"]
        copts = copts + link_flags
    else:
        inputs = [ctx.file.profile]
        copts = copts + ["-fprofile-instr-use=" + ctx.file.profile.path]
    context, fast = _compile(
        ctx,
        "_fast",
        model.fast,
        model.headers,
        copts,
        [model.compilation_context],
        inputs,
    )
    return [
        CcInfo(
            compilation_context = context,
            linking_context = _link(ctx, [fast, model.slow], model.linking_contexts, link_flags),
        ),
    ]

verilator_model_variant = rule(
    implementation = _variant_impl,
    doc = "A model (verilator_cc_library) with its fast sources compiled in another way.",
    attrs = {
        "model": attr.label(providers = [VerilatedInfo], mandatory = True),
        # Counts what runs. How well the C++ compiler optimises it does not change the counts.
        "training": attr.bool(default = False),
        # What ran how often in training; mandatory without `training`.
        "profile": attr.label(allow_single_file = [".profdata"]),
        "copts_fast": attr.string_list(default = ["-O1"]),
        "_trigger_bits": attr.label(default = ":trigger_bits.h", allow_single_file = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    provides = [CcInfo],
)

def _profile_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name + ".profdata")
    program = ctx.attr.program[DefaultInfo].files_to_run
    ctx.actions.run_shell(
        mnemonic = "Profile",
        progress_message = "Training %s" % ctx.label,
        inputs = ctx.files.data,
        tools = [program],
        outputs = [out],
        arguments = [out.path, program.executable.path] +
                    [ctx.expand_location(a, ctx.attr.data) for a in ctx.attr.arguments],
        command = """set -e
out=$1; shift
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
LLVM_PROFILE_FILE="$tmp/raw" "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
[ -s "$tmp/raw" ] || { echo "$1 counts nothing: it has no model built for training"; exit 1; }
llvm-profdata-14 merge -sparse -o "$out" "$tmp/raw"
""",
        use_default_shell_env = True,
    )
    return [DefaultInfo(files = depset([out]))]

verilator_profile = rule(
    implementation = _profile_impl,
    doc = "NAME.profdata: runs a program with a model built for training.",
    attrs = {
        # As the target's, not as a tool's: the model is the same one.
        "program": attr.label(executable = True, cfg = "target", mandatory = True),
        "arguments": attr.string_list(),
        "data": attr.label_list(allow_files = True),
    },
)
