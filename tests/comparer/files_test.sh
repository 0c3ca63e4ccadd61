#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# onnxifi-compare --files: equal folders pass, one changed byte does not.
# Argument: the program.
set -euo pipefail
compare="$1"
mkdir -p "$TEST_TMPDIR/expected" "$TEST_TMPDIR/actual"
# One field each: type UINT8, dimensions [4], the name, four bytes.
tensor() { printf '\x08\x04\x10\x02\x42\x01%s\x4a\x04%s' "$1" "$2"; }
tensor a 1234 >"$TEST_TMPDIR/expected/a.pb"
tensor b 5678 >"$TEST_TMPDIR/expected/b.pb"
cp "$TEST_TMPDIR"/expected/*.pb "$TEST_TMPDIR/actual/"

expect() {
  local wanted="$1" code=0
  shift
  "$compare" "$@" >"$TEST_TMPDIR/out" 2>&1 || code=$?
  if [[ "$code" != "$wanted" ]]; then
    cat "$TEST_TMPDIR/out"
    echo "onnxifi-compare $*: exit code $code, expected $wanted"
    exit 1
  fi
}

expect 0 --files "$TEST_TMPDIR/actual" "$TEST_TMPDIR/expected" --exact ALL
grep -q "2 tensors compared, 0 mismatches" "$TEST_TMPDIR/out"
tensor b 5679 >"$TEST_TMPDIR/actual/b.pb"
expect 5 --files "$TEST_TMPDIR/actual" "$TEST_TMPDIR/expected" --exact ALL
grep -q "^MISMATCH .* b UINT8\[4\].*element 3" "$TEST_TMPDIR/out"
expect 5 --files "$TEST_TMPDIR/actual" "$TEST_TMPDIR/expected"
rm "$TEST_TMPDIR/actual/b.pb"
expect 5 --files "$TEST_TMPDIR/actual" "$TEST_TMPDIR/expected"
grep -q "^MISSING" "$TEST_TMPDIR/out"
rm "$TEST_TMPDIR"/expected/*.pb
expect 3 --files "$TEST_TMPDIR/actual" "$TEST_TMPDIR/expected"
expect 3 --files "$TEST_TMPDIR/absent" "$TEST_TMPDIR/expected"
expect 2
expect 2 --library x.so
expect 4 --library "$TEST_TMPDIR/absent.so" "$TEST_TMPDIR"
