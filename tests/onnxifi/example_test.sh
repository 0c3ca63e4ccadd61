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
for index in x 7x -1 '' 1000000; do
  status=0
  "$digit" "$digits/digits_fp32.onnx" "$digits/digits_test.u8" "$index" >out 2>err || status=$?
  [[ $status == 2 && ! -s out ]] && grep -q '^Usage: .* INDEX' err ||
    { echo "FAILED: index '$index': exit code $status: $(cat out err)" >&2; exit 1; }
done
# Compiled once where a folder for that is named, and again if it is damaged there.
for how in '' '' damaged; do
  if [[ $how == damaged ]]; then
    for entry in cache/*; do truncate -s -1 "$entry"; done
  fi
  said=$(HEDDLE_CACHE_DIR=cache HEDDLE_LOG=info "$digit" "$digits/digits_fp32.onnx" \
    "$digits/digits_test.u8" 7 2>"cache$how.err")
  label=$(od -An -td4 -j28 -N4 "$digits/digits_test.i32" | tr -d ' ')
  [[ $said == "image 7 is a $label ("* && $(ls cache | wc -l) == 1 ]] || {
    echo "FAILED: with a cache: $said" >&2
    exit 1
  }
done
grep -q 'using the compiled model' cache.err && ! grep -q 'using the compiled model' cachedamaged.err ||
  { echo "FAILED: use of the cache: $(cat cache.err cachedamaged.err)" >&2; exit 1; }
# No device, because that is what was asked for: said once.
status=0
HEDDLE_DEVICE=none "$digit" "$digits/digits_fp32.onnx" "$digits/digits_test.u8" 0 2>err || status=$?
[[ $status == 3 && $(grep -c "^heddle onnxifi: warning: no device: HEDDLE_DEVICE is 'none'" err) == 1 ]] ||
  { echo "FAILED: without a device: exit code $status: $(cat err)" >&2; exit 1; }
# A refusal: the program ends with 1, and the library has said why.
status=0
"$digit" "$digits/digits_test.u8" "$digits/digits_test.u8" 0 2>err || status=$?
[[ $status == 1 ]] && grep -q 'INVALID_PROTOBUF.*not an ONNX model' err ||
  { echo "FAILED: exit code $status: $(cat err)" >&2; exit 1; }
