#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the kernels in which ./dev test-kernel-debug runs the driver's tests, from Debian's
# linux-source:
#
#   tools/setup/debug_kernel.sh           with KASAN, lockdep, kmemleak and the like: user-mode Linux, a
#                                         process that needs no rights; Debian's own user-mode-linux has
#                                         neither PCI nor DRM
#   tools/setup/debug_kernel.sh --kcsan   with KCSAN, which finds data races and missing barriers, in
#                                         modules, DRM and dma-buf: for a PC with several processors, as
#                                         QEMU makes it
#
# Prints the kernel's folder on standard output; it has the form of guest_kernel.sh's. Some minutes the
# first time, nothing later. When a new one is ready, those that nobody has asked for in a day are
# removed.
#
#   XDG_CACHE_HOME        where the folder is made: heddle/debug-kernel/KEY in it, or
#                         heddle/kcsan-kernel/KEY [~/.cache]
#
# The folder holds
#   kernel.txt   lines KEY=VALUE: abi, release (of `uname -r`), version (of the package), modules=none
#                (all is built in), arch=um or kcsan=1
#   vmlinux      the kernel; of user-mode Linux, a program
#   config       its configuration
#   headers/     usr/src/linux-headers-RELEASE, to build modules against
#   checkpatch/  checkpatch.pl with its word lists
set -euo pipefail

here="$(dirname "$(readlink -f "$0")")"
name=linux-source-6.12

# shellcheck source=tools/setup/kernel_cache.sh
source "$here/kernel_cache.sh"
case "${1:-}" in
  "")
    kernel_cache "debug kernel" debug-kernel
    arch=um image=linux kind=arch=um config="$here/debug_kernel/config"
    patches=("$here/debug_kernel/linux-6.12.patch")
    ;;
  --kcsan)
    kernel_cache "KCSAN kernel" kcsan-kernel
    arch=x86_64 image=vmlinux kind=kcsan=1 config="$here/debug_kernel/config-kcsan"
    patches=("$here/debug_kernel/linux-6.12-kcsan.patch")
    ;;
  *) die "unknown option $1; give --kcsan or nothing" ;;
esac
inputs=("$config" "${patches[@]}" "$here/debug_kernel.sh")

version="$(apt-cache show --no-all-versions "$name" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1)"
if [[ -z "$version" ]]; then
  # Without apt's lists, what was built last.
  last="$(readlink -e "$cache/current" || true)"
  use_kernel "${last##*/}" || die "apt knows no $name. It is in Debian 12's security suite and in \
bookworm-backports: see that one is configured (apt-cache policy $name), and run apt-get update"
  printf '%s\n' "$last"
  exit 0
fi
key="$( (printf '%s\n' "$version" && gcc --version && cat "${inputs[@]}") | sha256sum | cut -c -16)"

finish() {
  ln -sfn "$key" "$cache/current"
  printf '%s\n' "$cache/$key"
  exit 0
}
use_kernel "$key" && finish
exec 9>"$cache/lock"
flock 9
use_kernel "$key" && finish # somebody else was at it

rm -rf "$cache"/.new.* # of runs that were killed: who holds the lock is alone
work="$(mktemp -d "$cache/.new.XXXXXX")"
trap 'rm -rf "$work"' EXIT
say "downloading $name=$version (150 MB)"
(cd "$work" && apt-get -q -o Acquire::Retries=3 -o APT::Sandbox::User=root \
  download "$name=$version" </dev/null >&2) || die "cannot download $name=$version (apt's message is above). \
Mirrors keep only the newest version; with newer lists of apt it may be another one: run apt-get update"
say "unpacking"
unpack_source "$work/$name"_*.deb "$work"
rm "$work/$name"_*.deb
source="$work/$name"
for patch in "${patches[@]}"; do
  patch -s -d "$source" -p1 <"$patch" || die "${patch##*/} does not fit $version: see tools/setup/debug_kernel"
done

build() {
  make -s -C "$source" ARCH="$arch" "$@" >"$work/log" 2>&1 && return
  tail -n 40 "$work/log" >&2
  die "the kernel does not build (the compiler's messages are above)"
}
say "building $version, some minutes"
build KCONFIG_ALLCONFIG="$config" allnoconfig
# What Kconfig does not know, or what depends on something that is off, it drops without a word.
lost="$(grep -vxFf "$source/.config" <(grep '^CONFIG_' "$config") || true)"
[[ -z "$lost" ]] || die "the configuration lost: ${lost//$'\n'/, }"
build -j"$(nproc)" "$image" modules

release="$(make -s -C "$source" ARCH="$arch" kernelrelease)"
new="$work/new"
mkdir "$new"
cp "$source/$image" "$new/vmlinux"
cp "$source/.config" "$new/config"
copy_checkpatch "$source" "$new/checkpatch"
copy_headers "$source" "$new/headers/usr/src/linux-headers-$release"
printf '%s\n' "abi=$release" "release=$release" "version=$version" modules=none "$kind" >"$new/kernel.txt"
chmod -R u+rwX,go+rX "$new"
rm -rf "${cache:?}/$key"
mv -T "$new" "$cache/$key"
say "kernel $release is ready"
use_kernel "$key"
remove_unused_kernels "$key" || say "cannot remove the others"
finish
