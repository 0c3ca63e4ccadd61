#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Prepares the newest kernel that Debian's backports have, to compile the driver against: its source,
# configured as Debian's own kernel of that version, and that kernel's list of symbols. Not to run. Apt
# gets lists and a state of its own, in the folder of this; the machine's sources stay as they are, and
# nothing is installed. Prints the folder on standard output; it has the form of guest_kernel.sh's,
# without vmlinux and modules. Some minutes when there is a newer one, seconds otherwise.
#
#   tools/setup/newest_kernel.sh
#
#   HEDDLE_BACKPORTS   the suites that are looked at [bookworm-backports trixie-backports]
#   XDG_CACHE_HOME     where the folder is made: heddle/newest-kernel/KEY in it [~/.cache]
set -euo pipefail

here="$(dirname "$(readlink -f "$0")")"
read -ra suites <<<"${HEDDLE_BACKPORTS:-bookworm-backports trixie-backports}"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# shellcheck source=tools/setup/kernel_cache.sh
source "$here/kernel_cache.sh"
kernel_cache "newest kernel" newest-kernel
exec 9>"$cache/lock"
flock 9

# The mirror that the machine uses for Debian itself.
mirror="$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
  head -n 1)"
[[ -n "$mirror" ]] || die "apt knows no mirror of Debian: see apt-cache policy"
[[ -f "$keyring" ]] || die "there is no $keyring: install debian-archive-keyring"

apt="$cache/apt"
mkdir -p "$apt"/{lists,archives}/partial
printf "deb [signed-by=$keyring] $mirror %s main\n" "${suites[@]}" >"$apt/sources.list"
options=(-q -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::preferences=/dev/null
  -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$apt" -o Dir::State::status=/dev/null -o Dir::Cache="$apt"
  -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Sandbox::User=root)
say "asking for the lists of ${suites[*]}"
apt-get "${options[@]}" update </dev/null >&2 || say "trying with the lists that are there"

# Of the newest version: linux-headers-amd64 stands for one with an ABI in its name.
show() { apt-cache "${options[@]}" show --no-all-versions "$1" 2>/dev/null | sed -n "s/^$2: //p"; }
version="$(show linux-headers-amd64 Version | head -n 1)"
headers="$(show linux-headers-amd64 Depends | grep -o 'linux-headers-[^ ,]*-amd64' | head -n 1)"
name="$(show linux-source Depends | grep -o 'linux-source-[0-9.]*' | head -n 1)"
[[ -n "$version" && -n "$headers" && -n "$name" ]] || die "${suites[*]} have no kernel"
release="${headers#linux-headers-}"
key="$(printf '%s\n' "$version" "$(gcc --version)" "$(cat "$0" "$here/kernel_cache.sh")" | sha256sum | cut -c -16)"
if use_kernel "$key"; then
  printf '%s\n' "$cache/$key"
  exit 0
fi

rm -rf "$cache"/.new.* # of runs that were killed: who holds the lock is alone
work="$(mktemp -d "$cache/.new.XXXXXX")"
trap 'rm -rf "$work"' EXIT
say "downloading $name and $headers, $version (170 MB)"
(cd "$work" && apt-get "${options[@]}" download "$name=$version" "$headers=$version" </dev/null >&2) ||
  die "cannot download them (apt's message is above)"
say "unpacking"
unpack_source "$work/$name"_*.deb "$work"
dpkg-deb -x "$work/$headers"_*.deb "$work/debian"
source="$work/$name"
debian="$work/debian/usr/src/$headers"
cp "$debian/.config" "$debian/Module.symvers" "$source/"
# What takes a compiler for Rust, pahole, or Debian's keys; no interface depends on them.
"$source/scripts/config" --file "$source/.config" -d RUST -d DEBUG_INFO_BTF -d MODULE_SIG \
  --set-str SYSTEM_TRUSTED_KEYS "" --set-str LOCALVERSION "${release#"$(make -s -C "$source" kernelversion)"}"
say "preparing $release"
for goal in olddefconfig modules_prepare; do
  make -s -j"$(nproc)" -C "$source" ARCH=x86_64 "$goal" </dev/null >"$work/log" 2>&1 || {
    tail -n 40 "$work/log" >&2
    die "cannot prepare $release (the messages are above)"
  }
done
release="$(make -s -C "$source" ARCH=x86_64 kernelrelease)"
new="$work/new"
mkdir "$new"
cp "$source/.config" "$new/config"
copy_checkpatch "$source" "$new/checkpatch"
copy_headers "$source" "$new/headers/usr/src/linux-headers-$release"
printf '%s\n' "abi=$release" "release=$release" "version=$version" >"$new/kernel.txt"
chmod -R u+rwX,go+rX "$new"
rm -rf "${cache:?}/$key"
mv -T "$new" "$cache/$key"
rm -rf "$apt/archives"
say "kernel $release is ready to compile against"
use_kernel "$key"
remove_unused_kernels "$key" || say "cannot remove the others"
printf '%s\n' "$cache/$key"
