#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The demo on a private card: right answers, documented exit codes.
set -euo pipefail
bin="$TEST_TMPDIR/bin"
mkdir -p "$bin"
for tool in tools/demo/digits-demo kmd/hosted/heddle-hosted simulator/platform/heddle-sim; do
  ln -s "$PWD/$tool" "$bin/"
done
export HEDDLE_BIN_DIR="$bin"
digits="$PWD/tools/demo/digits"

output="$("$bin/digits-demo" "$digits")"
echo "$output"
grep -q '200 of 200' <<<"$output"
grep -q 'equal the reference byte for byte' <<<"$output"

# An expected result that is wrong in one byte must be noticed.
cp -RL "$digits" "$TEST_TMPDIR/wrong"
chmod -R u+w "$TEST_TMPDIR/wrong"
printf '\x01' | dd of="$TEST_TMPDIR/wrong/digits_int8_logits.f32" bs=1 seek=4000 conv=notrunc status=none
status=0
"$bin/digits-demo" "$TEST_TMPDIR/wrong" >/dev/null || status=$?
[[ $status == 5 ]]

status=0
"$bin/digits-demo" >/dev/null 2>&1 || status=$?
[[ $status == 2 ]]
status=0
HEDDLE_DEVICE=none "$bin/digits-demo" "$digits" >/dev/null 2>&1 || status=$?
[[ $status == 3 ]]
echo "PASS"
