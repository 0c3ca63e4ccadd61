#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# heddle.ko has found both cards, and made a node of each: of the class accel where the kernel has it.
. tests/guest/cases/common.sh
[ "$(cards | wc -l)" = 2 ] || fail "$(cards | wc -l) cards"
for device in $(cards); do
  driver="$(basename "$(readlink "$device/driver")")"
  [ "$driver" = heddle ] || fail "driver '$driver' of $device"
  [ -c "$(node_of "$device")" ] || fail "node '$(node_of "$device")' of $device"
done
node_count 2 || fail "nodes: $(nodes)"
if [ -d /sys/class/accel ]; then
  for node in $(nodes); do
    case "$node" in /dev/accel/*) ;; *) fail "$node, though the kernel has accel nodes" ;; esac
  done
fi
