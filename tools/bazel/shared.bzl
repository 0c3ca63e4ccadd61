# SPDX-License-Identifier: Apache-2.0
"""shared_repository: the folder of trained models and labelled data beside the checkout.

It is `../shared` seen from WORKSPACE, or $HEDDLE_SHARED. The repository always has the same
targets, so that BUILD files need no condition:

    :models      every file of every model          :model_NAME   one model's folder
    :data        labelled data                      :reference    reference documents
    :onnxruntime its libraries
    :present     only the marker: marker.present or marker.absent

Each of them holds the marker too; tests/support/shared.h reads it to tell "the folder is not
there" (skip) from "the target or the file is missing" (failure). Files are symlinks to the
folder, so a changed file makes Bazel run the tests that read it again.
"""

_FOLDERS = ["data", "models", "onnxruntime", "reference"]

# Targets exist for these also when the folder is absent. A model that the folder has beyond
# this list gets its target as well.
SHARED_MODELS = [
    "bert_tiny_mlm_structure",
    "cifar10_classifier_winml",
    "dtln_1",
    "magika_v2_1",
    "mnist_cntk",
    "mnist_tiny_fp32",
    "mnist_tiny_int8",
    "mobilenetv2_qdq",
    "qdq_mobilenet_edgetpu_frag",
    "qtdnn",
    "silero_vad_16k",
    "squeezenet1_0_fp16",
    "squeezenet1_0_fp32_derived",
    "super_resolution_op9_derived",
    "ultraface_slim_320",
]

_GROUP = """
filegroup(
    name = "{name}",
    srcs = {srcs},
)
"""

def _group(name, marker, pattern):
    srcs = '["{}"]'.format(marker)
    if pattern:
        srcs += ' + glob(["{}"], allow_empty = True)'.format(pattern)
    return _GROUP.format(name = name, srcs = srcs)

def _shared_repository_impl(ctx):
    setting = ctx.os.environ.get("HEDDLE_SHARED", "")
    if setting:
        root = ctx.path(setting)
    else:
        root = ctx.path(Label("//:WORKSPACE")).dirname.dirname.get_child("shared")
    present = root.exists and root.get_child("models").exists

    marker = "marker." + ("present" if present else "absent")
    ctx.file(marker, "The shared folder is %s.\n" % marker[len("marker."):], executable = False)
    build = ['package(default_visibility = ["//visibility:public"])\n']
    build.append('exports_files(["%s"])\n' % marker)
    build.append(_group("present", marker, ""))

    models = {name: True for name in SHARED_MODELS}
    found = {}
    for folder in _FOLDERS:
        source = root.get_child(folder)
        if present and source.exists:
            ctx.symlink(source, folder)
            found[folder] = True
        build.append(_group(folder, marker, folder + "/**" if folder in found else ""))
    if "models" in found:
        for entry in root.get_child("models").readdir():
            models[entry.basename] = True
    for name in sorted(models):
        build.append(_group("model_" + name, marker, "models/%s/**" % name if "models" in found else ""))
    ctx.file("BUILD", "".join(build), executable = False)

shared_repository = repository_rule(
    implementation = _shared_repository_impl,
    configure = True,
    environ = ["HEDDLE_SHARED"],
    local = True,
)
