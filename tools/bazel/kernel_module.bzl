# SPDX-License-Identifier: Apache-2.0
"""kernel_module: builds a Linux module with Kbuild, against the headers of @guest_kernel.

    load("//tools/bazel:kernel_module.bzl", "kernel_module")

    kernel_module(
        name = "heddle",                      # yields heddle.ko
        kbuild = "Kbuild",                    # its folder is M=
        srcs = glob(["*.c", "*.h"]) + [       # everything that is compiled or included
            "//kmd/core:heddle_ring.c", ...,
            "//rtl/spec:generated/heddle_hw.h", ...,
        ],
    )

The files are copied to a scratch folder at their paths from the repository's root, so Kbuild may
name files of other folders relative to its own ($(src)/../core, $(src)/../../rtl/spec/generated),
as in the source tree. Kbuild says `obj-m := heddle.o`: the module is called like the target.

    :heddle                 heddle.ko, built with W=1; a warning of compiler or modpost is an error
    :heddle_sparse_test     sparse (C=2) has nothing to say of these files
    :heddle_checkpatch_test checkpatch.pl has nothing to say of srcs, but those in folders `generated`
    :heddle_kernel_test     the module fits the kernel: its vermagic is that of @guest_kernel

Without @guest_kernel (see guest_kernel.bzl) heddle.ko is an empty file and the tests skip.

A module may need something that not every kernel has: `needs = "CONFIG_KUNIT"`. Where that is off
its files are compiled as if it were on (headers declare it all the same) and looked at by sparse;
they are not linked and NAME.ko is an empty file. NAME_kernel_test then says that the option is off, and
passes: the module is not expected there.
"""

# What make says that is no finding: no BTF without the kernel's own debug information, and a compiler
# of a later Debian revision.
_HARMLESS = "Skipping BTF generation|the compiler differs from the one used|The kernel was built by:|You are using:"

_MAKE = """set -euo pipefail
out=$1 report=$2 info=$3 kbuild=$4 headers=$5 needs=$6 config=$7 defines=$8 patches=$9 log=$(mktemp) work=$(mktemp -d)
shift 9
trap 'rm -rf "$work" "$log"' EXIT
: >"$out"; : >"$report"
grep -q '^absent=' "$info" && exit 0
while [[ $# -gt 0 ]]; do
  mkdir -p "$work/$(dirname "$2")"
  cp -L "$1" "$work/$2"
  chmod u+w "$work/$2"
  shift 2
done
for patch in $patches; do
  patch --quiet --strip=1 --fuzz=0 --directory="$work" <"$patch" >&2
done
release=$(sed -n 's/^release=//p' "$info")
folder=$(realpath "$headers/usr/src/linux-headers-$release")
arch=$(sed -n 's/^arch=/ARCH=/p' "$info")
module=$work/$(dirname "$kbuild")
lacking=
if [[ "$needs" != nothing ]] && ! grep -qE "^$needs=[ym]$" "$config"; then
  lacking=$needs
fi
# run FLAGS ARGUMENTS...: compiler flags, and more for make.
run() {
  local flags=$1 goals=(modules)
  shift
  if [[ -n "$lacking" ]]; then
    flags+=" -D${lacking}_MODULE=1"
    goals=("$lacking=m" "$(basename "${out%.*}").o")
  fi
  # No BTF: it would take pahole, and the headers of some kernels hold a vmlinux that asks for it.
  LC_ALL=C make -C "$folder" $arch M="$module" CONFIG_DEBUG_INFO_BTF_MODULES= "${goals[@]}" \
    KCFLAGS="$flags $defines" "$@" >"$log" 2>&1
}
"""

_BUILD = _MAKE + """
if ! run "-Werror -fmacro-prefix-map=$work/= -fdebug-prefix-map=$work=." W=1 ||
  grep -vE '""" + _HARMLESS + """' "$log" | grep -iE 'warning|error' >/dev/null; then
  sed "s,$work/,,g" "$log" >&2
  exit 1
fi
[[ -n "$lacking" ]] || cp "$module/$(basename "$out")" "$out"
"""

# Findings in the kernel's own headers are not ours.
_SPARSE = _MAKE + """
run "" C=2 || { sed "s,$work/,,g" "$log" >&2; exit 1; }
grep -E 'warning:|error:' "$log" | grep -F "$work" | sed "s,$work/,,g" >"$report" || true
"""

def _impl(ctx):
    out = ctx.actions.declare_file(ctx.attr.module + (".checked" if ctx.attr.sparse else ".ko"))
    report = ctx.actions.declare_file(ctx.label.name + ".findings.txt")
    files = ctx.files.srcs + [ctx.file.kbuild]
    args = ctx.actions.args()
    args.add_all([out, report, ctx.file._info])
    args.add(ctx.file.kbuild.short_path)
    headers = ctx.files._headers
    args.add(headers[0].path if headers else "none")
    args.add(ctx.attr.needs or "nothing")
    args.add(ctx.files._config[0].path if ctx.files._config else "/dev/null")
    args.add(" ".join(["-D" + define for define in ctx.attr.defines]))
    args.add(" ".join([patch.path for patch in ctx.files.patches]))
    for file in files:
        args.add(file)
        args.add(file.short_path)
    ctx.actions.run_shell(
        mnemonic = "Kbuild",
        progress_message = "Building kernel module %s" % ctx.label,
        inputs = files + headers + ctx.files._config + ctx.files.patches + [ctx.file._info],
        outputs = [out, report],
        arguments = [args],
        command = _SPARSE if ctx.attr.sparse else _BUILD,
        use_default_shell_env = True,
    )
    result = [report if ctx.attr.sparse else out]
    return [DefaultInfo(files = depset(result), runfiles = ctx.runfiles(files = result))]

_kernel_module = rule(
    implementation = _impl,
    attrs = {
        "defines": attr.string_list(),
        "kbuild": attr.label(allow_single_file = True, mandatory = True),
        "module": attr.string(mandatory = True),
        "needs": attr.string(),
        "patches": attr.label_list(allow_files = [".patch"]),
        "sparse": attr.bool(),
        "srcs": attr.label_list(allow_files = True, mandatory = True),
        "_config": attr.label(default = "@guest_kernel//:config_file", allow_files = True),
        "_headers": attr.label(default = "@guest_kernel//:headers_folder", allow_files = True),
        "_info": attr.label(default = "@guest_kernel//:kernel.txt", allow_single_file = True),
    },
)

def kernel_module_variant(name, kbuild, srcs, defines = [], patches = [], visibility = None):
    """The same module once more, with macros or changes of its own: for tests, and not itself checked.

    Args:
      name: of the module, in a package or folder of its own: FOLDER/MODULE.
      kbuild: the Kbuild file.
      srcs: sources and headers.
      defines: macros.
      patches: unified differences of sources, with paths from the repository's root (patch -p1).
      visibility: of the module.
    """
    _kernel_module(
        name = name,
        testonly = True,
        defines = defines,
        kbuild = kbuild,
        module = name,
        patches = patches,
        srcs = srcs,
        visibility = visibility,
    )

def kernel_patches_test(name, srcs, variants):
    """Declares a test that the patches of variants still apply: most variants are only built on request.

    Args:
      name: of the test.
      srcs: sources that the patches change.
      variants: what to try: lists of patches, each applied in its order to the sources.
    """
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["//tools/bazel:kernel_patches_test.sh"],
        args = [":".join(["$(rootpath %s)" % patch for patch in patches]) for patches in variants],
        data = srcs + {patch: None for patches in variants for patch in patches}.keys(),
    )

def kernel_module(name, kbuild, srcs, needs = None, visibility = None):
    """Declares the module and its tests.

    Args:
      name: of the module, and of the target that yields NAME.ko.
      kbuild: the Kbuild file.
      srcs: sources and headers.
      needs: option of the kernel's configuration without which there is no module.
      visibility: of the module.
    """
    _kernel_module(
        name = name,
        kbuild = kbuild,
        module = name,
        needs = needs,
        srcs = srcs,
        visibility = visibility,
    )
    _kernel_module(
        name = name + "_sparse",
        kbuild = kbuild,
        module = name,
        needs = needs,
        sparse = True,
        srcs = srcs,
        visibility = ["//visibility:private"],
    )
    kernel = "@guest_kernel//:kernel.txt"
    for what in ["sparse", "kernel"]:
        native.sh_test(
            name = "%s_%s_test" % (name, what),
            size = "small",
            srcs = ["//tools/bazel:kernel_module_test.sh"],
            args = [what, "$(rootpath %s)" % kernel, "$(rootpath :%s)" % name, "$(rootpath :%s_sparse)" % name] +
                   ([needs] if needs else []),
            data = [":" + name, ":%s_sparse" % name, kernel],
        )
    native.sh_test(
        name = name + "_checkpatch_test",
        size = "medium",
        srcs = ["//tools/bazel:kernel_module_test.sh"],
        args = ["checkpatch", "$(rootpath %s)" % kernel] + ["$(rootpaths %s)" % src for src in srcs],
        data = srcs + ["@guest_kernel//:checkpatch_folder", kernel],
    )
