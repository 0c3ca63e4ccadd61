#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A container that has got the card's node and nothing else of it, neither another device nor sysfs: the card is found
# by its serial number, and runs a model.
. tests/guest/cases/common.sh
node=$(node_of "$(card 0)")
[ -n "$node" ] || fail "no node"
box=$(mktemp -d)
mount -o rbind / "$box"
mount -t tmpfs none "$box/sys"
mount -t tmpfs none "$box/dev"
mkdir -p "$box$(dirname "$node")"
cp -a "$node" "$box$node"
mknod -m 666 "$box/dev/null" c 1 3
out=$(HEDDLE_DEVICE=drm:serial=1 chroot "$box" /run/bin/sh -c "cd '$PWD' && ls /sys &&
  exec tools/demo/digits-demo tools/demo/digits" 2>&1) || fail "$out"
umount -l "$box"
case "$out" in
  *'200 of 200'*'equal the reference byte for byte'*) ;;
  *) fail "$out" ;;
esac
