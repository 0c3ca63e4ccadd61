# SPDX-License-Identifier: Apache-2.0
"""driver_kit: guest tests as files that work outside of this repository.

    driver_kit(
        name = "driver-tests",
        plans = {"//tests/driver:uapi_test_plan": "uapi"},   # of a guest_test, and its name in the kit
        optional = ["rtl"],                                   # only when asked for
        elsewhere = {"simulator/platform/heddle-sim": "bin/heddle-sim"},
        built = {"tests/guest/module/keep_awake/keep_awake.ko": "tests/guest/module/keep_awake"},
        driver = "kmd/heddle.ko",
        left_out = ["*MnistTinyInt8*"],     # words of --gtest_filter: tests of what is no part of the kit
    )

All files that the tests need lie in the folder NAME, at the paths that they have in a test's runfiles, so the
same plans name them; with manifest.json, which has

    groups      {name: {"plan": what run_guest.py executes, "optional": true if it must be asked for}}
    files       paths of the files of the kit itself
    elsewhere   {path: where the file is below the prefix that everything is installed in}
    built       {path of a module: folder of its sources}, which is built for the kernel that is tested
    driver      the path at which plans expect the module that is tested
    guest_modules  what the guest needs of its kernel, in this order
"""

load("//tests/guest:guest.bzl", "GUEST_MODULES")

def _impl(ctx):
    files = {}
    for target in ctx.attr.plans:
        for file in target[DefaultInfo].default_runfiles.files.to_list():
            files[file.short_path] = file
    plans = {}
    for target, group in ctx.attr.plans.items():
        plan = target[DefaultInfo].files.to_list()[0]
        plans[group] = plan
        files.pop(plan.short_path)
    for file in ctx.files.data:
        files[file.short_path] = file
    for path in ctx.attr.elsewhere.keys() + ctx.attr.built.keys() + [ctx.attr.driver]:
        files.pop(path, None)

    # Of other repositories: kernels, and models that are no part of the kit.
    files = {path: file for path, file in files.items() if not path.startswith("../")}
    outputs = []
    for path, file in files.items():
        output = ctx.actions.declare_file("%s/%s" % (ctx.label.name, path))
        ctx.actions.symlink(output = output, target_file = file)
        outputs.append(output)
    frame = ctx.actions.declare_file(ctx.label.name + ".frame.json")
    ctx.actions.write(frame, json.encode(struct(
        built = ctx.attr.built,
        driver = ctx.attr.driver,
        elsewhere = ctx.attr.elsewhere,
        files = sorted(files.keys()),
        guest_modules = GUEST_MODULES,
        left_out = ctx.attr.left_out,
        optional = ctx.attr.optional,
    )))
    manifest = ctx.actions.declare_file(ctx.label.name + "/manifest.json")
    args = ctx.actions.args()
    args.add(ctx.file._tool)
    args.add(manifest)
    args.add(frame)
    for group, plan in plans.items():
        args.add(group)
        args.add(plan)
    ctx.actions.run(
        mnemonic = "KitManifest",
        executable = "python3",
        inputs = [ctx.file._tool, frame] + plans.values(),
        outputs = [manifest],
        arguments = [args],
        use_default_shell_env = True,
    )
    result = depset(outputs + [manifest])
    return [DefaultInfo(files = result, runfiles = ctx.runfiles(transitive_files = result))]

driver_kit = rule(
    implementation = _impl,
    attrs = {
        "built": attr.string_dict(),
        "data": attr.label_list(allow_files = True),
        "driver": attr.string(mandatory = True),
        "elsewhere": attr.string_dict(),
        "left_out": attr.string_list(),
        "optional": attr.string_list(),
        "plans": attr.label_keyed_string_dict(mandatory = True),
        "_tool": attr.label(default = "//tests/driver_kit:write_manifest.py", allow_single_file = True),
    },
)
