# SPDX-License-Identifier: Apache-2.0
"""flatbuffer_cc_library: a FlatBuffers schema as a C++ header, made by Debian's flatc."""

def flatbuffer_cc_library(name, src, flags = None, visibility = None):
    """Generates NAME_generated.h from `src` (NAME.fbs) and wraps it in cc_library `name`.

    Args:
      name: of the library.
      src: the .fbs file, in this package. Include the result as "<package>/X_generated.h",
        where X is the schema's name without .fbs.
      flags: of flatc; the default also generates the object API and the verifier's tables.
      visibility: of the library.
    """
    stem = src[:-len(".fbs")]
    header = stem + "_generated.h"
    options = flags if flags != None else ["--gen-object-api", "--scoped-enums", "--no-prefix"]
    native.genrule(
        name = name + "_header",
        srcs = [src],
        outs = [header],
        cmd = "flatc --cpp --cpp-std c++17 %s -o $(@D) $(location %s)" % (" ".join(options), src),
        visibility = ["//visibility:private"],
    )
    native.cc_library(
        name = name,
        hdrs = [header],
        visibility = visibility,
        deps = ["@system//:flatbuffers"],
    )
