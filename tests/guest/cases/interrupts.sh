#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each MSI-X vector of each card reaches its own handler, with nobody touching the card meanwhile.
. tests/guest/cases/common.sh
counts() { [ "$(cat "$(card "$1")/heddle_interrupts")" = "$2" ]; }
counts 0 "0 0 0 0" || fail "interrupts without a cause: $(cat "$(card 0)/heddle_interrupts")"
for vector in 0 1 2 3; do
  for n in 0 1 2; do
    [ "$n" -gt "$vector" ] || heddle-host ctl 0 fault spurious_interrupt "$vector" >/dev/null
  done
done
until_true 5 counts 0 "1 2 3 3" || fail "card 0: $(cat "$(card 0)/heddle_interrupts")"
counts 1 "0 0 0 0" || fail "card 1 got those of card 0"
heddle-host ctl 1 fault spurious_interrupt 2 >/dev/null
until_true 5 counts 1 "0 0 1 0" || fail "card 1: $(cat "$(card 1)/heddle_interrupts")"
counts 0 "1 2 3 3" || fail "card 0 got that of card 1"
