#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The example of onnxifi/README.md says of test images what their labels say.
set -euo pipefail
digit=$PWD/$1
digits=$PWD/tools/demo/digits
export HEDDLE_BIN_DIR=$PWD/kmd/hosted:$PWD/simulator/platform HEDDLE_DEVICE=sim

for index in 0 7 199; do
  label=$(od -An -td4 -j$((4 * index)) -N4 "$digits/digits_test.i32" | tr -d ' ')
  said=$("$digit" "$digits/digits_fp32.onnx" "$digits/digits_test.u8" "$index")
  [[ $said == "image $index is a $label ("* ]] || {
    echo "FAILED: label $label, but: $said" >&2
    exit 1
  }
done
# A refusal: the program ends with 1, and the library has said why.
status=0
"$digit" "$digits/digits_test.u8" "$digits/digits_test.u8" 0 2>err || status=$?
[[ $status == 1 ]] && grep -q 'INVALID_PROTOBUF.*no ONNX model' err ||
  { echo "FAILED: exit code $status: $(cat err)" >&2; exit 1; }
