#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cards leave in order and come anew, in their own slot and in one that was empty at boot.
. tests/guest/cases/common.sh
device="$(card 1)"
for round in 1 2 3; do
  heddle-host unplug 1
  [ ! -e "$device" ] || fail "round $round: the card is still there"
  heddle-host plug 1 --serial "$round"
  until_true 5 bound "$device" || fail "round $round: no driver"
  [ "$(cat "$device/heddle_id")" = 0x4c444548 ] || fail "round $round: ID"
  heddle-host ctl 1 fault spurious_interrupt 1 >/dev/null
  interrupted() { [ "$(cat "$device/heddle_interrupts")" = "0 1 0 0" ]; }
  until_true 5 interrupted || fail "round $round: $(cat "$device/heddle_interrupts")"
done
heddle-host plug 3
three() { [ "$(cards | wc -l)" = 3 ] && bound "$(card 2)"; }
until_true 5 three || fail "no third card"
heddle-host unplug 3
[ "$(cards | wc -l)" = 2 ] || fail "the third card stays"
heddle-host | grep -q '^heddle-host plug CARD' || fail "no help"
heddle-host plug 2>/dev/null | grep -q 'which card' || fail "$(heddle-host plug)"
if heddle-host unplug 3 || heddle-host kill 7 || heddle-host dance 0; then
  fail "a request that makes no sense was done"
fi
