#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cards leave and come while heddle.ko drives them: in order and by surprise, idle and with an open
# node, and the next card in the slot computes. The other card never notices.
. tests/guest/cases/common.sh
demo() { HEDDLE_DEVICE="drm:serial=$1" timeout "$(seconds 20)" tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1; }
device="$(card 1)"
serial=2
for how in unplug kill; do
  for open in no yes; do
    node="$(node_of "$device")"
    [ "$open" = no ] || exec 3<>"$node"
    [ "$how" = unplug ] || heddle-host kill 1
    heddle-host unplug 1
    [ ! -e "$node" ] || fail "$how, open $open: the node stays"
    demo 1 || fail "$how, open $open: the other card: $(cat /tmp/out)"
    serial=$((serial + 1))
    heddle-host plug 1 --memory 64M --serial "$serial"
    until_true 5 node_count 2 || fail "$how, open $open: no node for the new card"
    demo "$serial" || fail "$how, open $open: the new card: $(cat /tmp/out)"
    [ "$open" = no ] || exec 3>&-
    demo "$serial" || fail "$how, after the late close: $(cat /tmp/out)"
  done
done
heddle-host unplug 1
heddle-host plug 1 --memory 64M --serial 2
until_true 5 node_count 2 || fail "no node"
