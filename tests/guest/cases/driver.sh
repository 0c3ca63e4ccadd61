#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# heddle.ko has found both cards: a render node each, and nothing else of DRM.
. tests/guest/cases/common.sh
[ "$(cards | wc -l)" = 2 ] || fail "$(cards | wc -l) cards"
for device in $(cards); do
  driver="$(basename "$(readlink "$device/driver")")"
  [ "$driver" = heddle ] || fail "driver '$driver' of $device"
  [ "$(ls "$device/drm" | grep -c '^renderD')" = 1 ] || fail "DRM nodes of $device: $(ls "$device/drm")"
  node="/dev/dri/$(ls "$device/drm" | grep '^renderD')"
  [ -c "$node" ] || fail "no $node"
done
