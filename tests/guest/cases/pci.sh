#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Both cards are on the bus as registers.toml says, and their registers are reached.
. tests/guest/cases/common.sh
[ "$(cards | wc -l)" = 2 ] || fail "$(cards | wc -l) cards"
for device in $(cards); do
  [ "$(cat "$device/class")" = 0x120000 ] || fail "class $(cat "$device/class")"
  [ "$(cat "$device/revision")" = 0x01 ] || fail "revision"
  read -r start end flags <"$device/resource"
  [ $((end - start + 1)) = 65536 ] || fail "BAR0 is $start to $end ($flags)"
  [ "$(ls "$device/msi_irqs" | wc -l)" = 4 ] || fail "MSI-X vectors: $(ls "$device/msi_irqs")"
  [ "$(cat "$device/heddle_id")" = 0x4c444548 ] || fail "ID $(cat "$device/heddle_id")"
  [ "$(cat "$device/heddle_present")" = 1 ] || fail "not present"
done
# Two cards, not one seen twice.
echo 5 >"$(card 0)/heddle_scratch"
echo 9 >"$(card 1)/heddle_scratch"
[ "$(cat "$(card 0)/heddle_scratch") $(cat "$(card 1)/heddle_scratch")" = "0x00000005 0x00000009" ] ||
  fail "registers are shared"
echo 0 >"$(card 0)/heddle_scratch"
echo 0 >"$(card 1)/heddle_scratch"
