#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the kernel with KASAN, lockdep, kmemleak and the like in which ./dev test-kernel-debug runs
# the driver's tests: user-mode Linux, a process that needs no rights, from Debian's linux-source.
# Debian's own user-mode-linux has neither PCI nor DRM. Prints the folder on standard output; it has
# the form of guest_kernel.sh's. Some minutes the first time, nothing later. When a new one is ready,
# those that nobody has asked for in a day are removed.
#
#   tools/setup/debug_kernel.sh
#
#   XDG_CACHE_HOME        where the folder is made: heddle/debug-kernel/KEY in it [~/.cache]
#
# The folder holds
#   kernel.txt   lines KEY=VALUE: abi, release (of `uname -r`), version (of the package), arch=um
#   vmlinux      the kernel, a program
#   config       its configuration
#   headers/     usr/src/linux-headers-RELEASE, to build modules against (make ARCH=um)
#   checkpatch/  checkpatch.pl with its word lists
set -euo pipefail

here="$(dirname "$(readlink -f "$0")")"
name=linux-source-6.12
inputs=("$here/debug_kernel/config" "$here/debug_kernel/linux-6.12.patch" "$here/debug_kernel.sh")

# shellcheck source=tools/setup/kernel_cache.sh
source "$here/kernel_cache.sh"
kernel_cache "debug kernel" debug-kernel

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
dpkg-deb --fsys-tarfile "$work/$name"_*.deb | tar -xO "./usr/src/$name.tar.xz" | tar -xJ -C "$work"
rm "$work/$name"_*.deb
source="$work/$name"
patch -s -d "$source" -p1 <"${inputs[1]}" ||
  die "linux-6.12.patch does not fit $version: see tools/setup/debug_kernel"

build() {
  make -s -C "$source" ARCH=um "$@" >"$work/log" 2>&1 && return
  tail -n 40 "$work/log" >&2
  die "the kernel does not build (the compiler's messages are above)"
}
say "building $version, some minutes"
build KCONFIG_ALLCONFIG="${inputs[0]}" allnoconfig
# What Kconfig does not know, or what depends on something that is off, it drops without a word.
lost="$(grep -vxFf "$source/.config" <(grep '^CONFIG_' "${inputs[0]}") || true)"
[[ -z "$lost" ]] || die "the configuration lost: ${lost//$'\n'/, }"
build -j"$(nproc)"

release="$(make -s -C "$source" ARCH=um kernelrelease)"
new="$work/new"
headers="$new/headers/usr/src/linux-headers-$release"
mkdir -p "$headers/arch" "$headers/tools" "$new/checkpatch"
cp "$source/linux" "$new/vmlinux"
cp "$source/.config" "$new/config"
cp "$source"/scripts/{checkpatch.pl,const_structs.checkpatch,spelling.txt} "$new/checkpatch/"
(
  cd "$source"
  cp -r Makefile Kconfig .config Module.symvers scripts include "$headers/"
  cp -r --parents arch/um/{Makefile*,include,scripts} arch/x86/{um,include} arch/x86/Makefile* \
    tools/include "$headers/"
)
# With links into what was left out, Bazel refuses the folder.
find "$headers" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -xtype l \) -delete
printf '%s\n' "abi=$release" "release=$release" "version=$version" arch=um >"$new/kernel.txt"
chmod -R u+rwX,go+rX "$new"
rm -rf "${cache:?}/$key"
mv -T "$new" "$cache/$key"
say "kernel $release is ready"
use_kernel "$key"
remove_unused_kernels "$key" || say "cannot remove the others"
finish
