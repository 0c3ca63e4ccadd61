#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Surprise removal: the card's process dies. It reads as ones, the other card works on, its slot can
# be emptied and filled.
. tests/guest/cases/common.sh
device="$(card 0)"
[ "$(heddle-host alive 0)" = 1 ] || fail "the card does not live"
heddle-host kill 0
[ "$(heddle-host alive 0)" = 0 ] || fail "the card lives"
[ "$(cat "$device/heddle_id")" = 0xffffffff ] || fail "ID $(cat "$device/heddle_id")"
[ "$(cat "$device/heddle_present")" = 0 ] || fail "present"
[ "$(cat "$(card 1)/heddle_id")" = 0x4c444548 ] || fail "the other card is gone, too"
heddle-host unplug 0
[ ! -e "$device" ] || fail "still there"
heddle-host plug 0
until_true 5 bound "$device" || fail "no driver"
[ "$(cat "$device/heddle_id")" = 0x4c444548 ] || fail "ID $(cat "$device/heddle_id")"
# Link down is the same to the guest, and passes.
heddle-host ctl 0 fault link_down >/dev/null
[ "$(cat "$device/heddle_present") $(cat "$device/heddle_id")" = "0 0xffffffff" ] || fail "link down"
heddle-host ctl 0 fault link_up >/dev/null
[ "$(cat "$device/heddle_present") $(cat "$device/heddle_id")" = "1 0x4c444548" ] || fail "link up"
