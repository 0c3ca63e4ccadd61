#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# initramfs.sh OUT KERNEL.TXT MODULES_FOLDER INIT MODULE...: a cpio archive with busybox and its tools
# in /bin, /init, and the modules with all that they depend on, in /modules in the order of
# /modules/order. Same input, same bytes. Empty when there is no kernel.
set -euo pipefail
out="$(realpath -m "$1")" info="$2" modules="$3" init="$4"
shift 4
: >"$out"
grep -q '^absent=' "$info" && exit 0
release="$(sed -n 's/^release=//p' "$info")"
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage"/{bin,modules}
: >"$stage/modules/order"
# The kernels that are built here have everything built in.
! grep -q '^modules=none' "$info" || set --
for module in "$@"; do
  /sbin/modprobe -d "$(realpath "$modules")" -S "$release" --show-depends "$module"
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$stage/list"
while read -r path; do
  name="$(basename "$path")"
  case "$name" in
    *.ko.xz) name="${name%.xz}" && xz -dc "$path" >"$stage/modules/$name" ;;
    *) cp "$path" "$stage/modules/$name" ;;
  esac
  strip -g "$stage/modules/$name"
  echo "$name" >>"$stage/modules/order"
done <"$stage/list"
rm "$stage/list"
cp /bin/busybox "$stage/bin/busybox"
# What scripts call often: a static program from memory starts five times faster than one whose
# libraries come over 9p.
for tool in '[' basename cat chmod cp cut date dd dirname dmesg env expr false find grep head insmod \
  ip kill ln ls lsmod mkdir mount mv poweroff printf ps pwd readlink rm rmdir rmmod sed seq setsid sh sleep sort \
  stat switch_root sync tail test timeout touch tr true umount uniq wc xargs; do
  ln -s busybox "$stage/bin/$tool"
done
cp "$init" "$stage/init"
chmod 755 "$stage/init"
find "$stage" -exec touch -h -d @0 {} +
cd "$stage"
find . -mindepth 1 | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 --reproducible >"$out"
