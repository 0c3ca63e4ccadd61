#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Trained models through session, libdrm, heddle.ko and PCI: on each card, and by two processes at a
# time on one. digits-demo compares with the reference byte for byte.
. tests/guest/cases/common.sh
demo() { HEDDLE_DEVICE="drm:serial=$1" tools/demo/digits-demo tools/demo/digits; }
right() { grep -q '200 of 200' "$1" && grep -q 'equal the reference byte for byte' "$1"; }
for serial in 1 2; do
  demo "$serial" >"/tmp/$serial" 2>&1 || fail "card $serial: $(cat "/tmp/$serial")"
  right "/tmp/$serial" || fail "card $serial: $(cat "/tmp/$serial")"
done
demo 1 >/tmp/a 2>&1 &
first=$!
demo 1 >/tmp/b 2>&1 &
second=$!
demo 2 >/tmp/c 2>&1 || fail "beside others: $(cat /tmp/c)"
wait "$first" || fail "first of two: $(cat /tmp/a)"
wait "$second" || fail "second of two: $(cat /tmp/b)"
for out in a b c; do
  right "/tmp/$out" || fail "$out: $(cat "/tmp/$out")"
done
