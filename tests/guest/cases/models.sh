#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trained models through session, libdrm, heddle.ko and PCI: on each card, and by two processes at a
# time on one. digits-demo compares with the reference byte for byte.
. tests/guest/cases/common.sh
demo() { HEDDLE_DEVICE="drm:serial=$1" tools/demo/digits-demo tools/demo/digits; }
right() { grep -q '200 of 200' "$1" && grep -q 'equal the reference byte for byte' "$1"; }
# What is in the host's /tmp is seen here, too.
out=$(mktemp -d)
for serial in 1 2; do
  demo "$serial" >"$out/$serial" 2>&1 || fail "card $serial: $(cat "$out/$serial")"
  right "$out/$serial" || fail "card $serial: $(cat "$out/$serial")"
done
demo 1 >"$out/a" 2>&1 &
first=$!
demo 1 >"$out/b" 2>&1 &
second=$!
demo 2 >"$out/c" 2>&1 || fail "beside others: $(cat "$out/c")"
wait "$first" || fail "first of two: $(cat "$out/a")"
wait "$second" || fail "second of two: $(cat "$out/b")"
for name in a b c; do
  right "$out/$name" || fail "$name: $(cat "$out/$name")"
done
