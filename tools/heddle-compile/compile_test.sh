#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-compile's command line: exit codes, files left behind, report keys.
set -euo pipefail
compile=$PWD/$1
model=$PWD/tools/demo/digits/digits_int8.onnx
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"

fail() { echo "FAILED: $*" >&2; exit 1; }
# expect CODE ARGS...
expect() {
  local want=$1 have=0
  shift
  "$compile" "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*: $(cat err)"
}

expect 0 "$model" -o a.hpk
expect 0 "$model" -o b.hpk
cmp a.hpk b.hpk || fail "two compilations differ"
expect 0 "$model" -o c.hpk --config h512
! cmp -s a.hpk c.hpk || fail "the configuration has no effect"
expect 0 --report "$model"
grep -q '^MACs  ' out || fail "no MACs in the report"
expect 0 --report=json "$model"
python3 - <<'PY' || fail "JSON report"
import json
r = json.load(open("out"))
assert r["schema"] == "heddle-compile/1" and r["config"] == "h256"
assert r["macs"] > 0 and r["layers"] and r["inputs"][0]["shape"] == [1, 1, 28, 28]
PY
rm -f ./*.hpk
expect 2
expect 2 "$model" --config h1
expect 2 "$model" --shape image
expect 2 "$model" --report=xml
expect 1 none.onnx -o a.hpk
head -c 100 "$model" >bad.onnx
expect 4 bad.onnx -o a.hpk
grep -q '^heddle-compile: error: ' err || fail "no message"
expect 1 "$model" -o none/a.hpk
expect 1 "$model" -o a.hpk --device-memory 4KB
[[ -z "$(ls ./*.hpk* 2>/dev/null)" ]] || fail "left behind: $(ls)"
expect 0 --version
expect 0 --help
head -n 1 out | grep -q '^Example:' || fail "help does not begin with an example"
