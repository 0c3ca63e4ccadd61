#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `./dev demo` after the build: the shipped digit classifier on the virtual card.
# HEDDLE_PREFIX is the staged SDK.
set -euo pipefail
prefix="${HEDDLE_PREFIX:?set by ./dev demo}"
digits="$prefix/share/heddle/digits"
"$prefix/bin/digits-demo" "$digits"
cat <<TEXT

Next:
  out/bin/heddle-run out/share/heddle/digits/digits_int8.onnx --layers --bench 200
  out/bin/heddle-compile MODEL.onnx -o model.hpk --report
  out/bin/heddle-run --help
TEXT
