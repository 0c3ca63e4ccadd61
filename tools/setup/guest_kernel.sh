#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Fetches the stock Debian kernel in which the driver is tested, and what modules for it are built
# with, from the apt suites that the machine already has. Installs nothing: packages are unpacked
# into a folder of their own, once. Prints that folder on standard output.
#
#   tools/setup/guest_kernel.sh
#
#   HEDDLE_GUEST_KERNEL   ABI of the kernel, e.g. 6.1.0-50; default: what linux-image-amd64 is now
#   XDG_CACHE_HOME        where the folder is made: heddle/guest/ABI in it [~/.cache]
#
# The folder holds
#   kernel.txt   lines KEY=VALUE: abi, release (of `uname -r`), version (of the package)
#   vmlinux      the kernel, uncompressed
#   config       its configuration
#   root/        lib/modules/RELEASE, with depmod's tables (modprobe -d FOLDER/root)
#   headers/     usr/src/linux-headers-RELEASE, to build against; can be moved
#   checkpatch/  the kernel's checkpatch.pl with its word lists; empty when apt has no linux-source
# and is complete when it exists: it is put in place by one rename.
set -euo pipefail

here="$(dirname "$(readlink -f "$0")")"

# shellcheck source=tools/setup/kernel_cache.sh
source "$here/kernel_cache.sh"
kernel_cache "guest kernel" guest

# What linux-image-amd64 stands for today, e.g. 6.1.0-56; nothing when apt does not know.
newest_abi() {
  apt-cache depends --no-recommends linux-image-amd64 2>/dev/null |
    sed -n 's/^ *Depends: linux-image-\(.*\)-amd64$/\1/p' | head -n 1
}

refresh_apt() {
  local as_root=()
  [[ "$(id -u)" == 0 ]] || as_root=(sudo -n)
  say "asking apt for its lists"
  "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 update \
    </dev/null >&2 || say "apt-get update reported an error; continuing with the existing package lists"
}

# Asking apt takes a second; its answer changes with its lists only.
if [[ -z "${HEDDLE_GUEST_KERNEL:-}" && -f "$cache/current/kernel.txt" && -d "$cache/current/checkpatch" &&
  "$cache/asked" -nt /var/lib/apt/lists ]]; then
  readlink -f "$cache/current"
  exit 0
fi

refreshed=0
abi="${HEDDLE_GUEST_KERNEL:-}"
if [[ -z "$abi" ]]; then
  abi="$(newest_abi)"
  if [[ -z "$abi" ]]; then
    refresh_apt
    refreshed=1
    abi="$(newest_abi)"
  fi
  # Without apt's lists (no network), the newest that was ever fetched.
  [[ -n "$abi" ]] || abi="$(cd "$cache" && find . -mindepth 2 -maxdepth 2 -name kernel.txt \
    -printf '%h\n' | sed 's,^\./,,' | sort -V | tail -n 1)"
  [[ -n "$abi" ]] || die "apt knows no linux-image-amd64; see that a Debian 12 source is configured \
(apt-cache policy linux-image-amd64) and that apt-get update works"
fi
[[ "$abi" =~ ^[0-9][0-9a-z.+~-]*$ ]] || die "HEDDLE_GUEST_KERNEL is '$abi'; give e.g. 6.1.0-50"

version_of() {
  apt-cache show --no-all-versions "$1" 2>/dev/null | sed -n 's/^Version: //p' | head -n 1
}

# as_package NAME VERSION: "NAME=VERSION", or with the version that apt would install: images are signed after the
# source is built, and its scripts and tools, which have no ABI in their names, may be a revision ahead of them.
as_package() {
  local other
  if apt-cache madison "$1" 2>/dev/null | cut -d'|' -f2 | tr -d ' ' | grep -xF -- "$2" >/dev/null; then
    printf '%s=%s\n' "$1" "$2"
  elif other="$(version_of "$1")" && [[ -n "$other" ]]; then
    say "apt has no $1=$2, taking $other"
    printf '%s=%s\n' "$1" "$other"
  else
    printf '%s=%s\n' "$1" "$2" # apt says what is wrong
  fi
}

# checkpatch.pl is in no package but the whole source.
fetch_checkpatch() {
  local target="$cache/$abi/checkpatch" version name package scratch files
  [[ ! -d "$target" ]] || return 0
  version="$(sed -n 's/^version=//p' "$cache/$abi/kernel.txt")"
  name="linux-source-$(cut -d. -f1,2 <<<"$abi")"
  scratch="$(mktemp -d "$cache/.new.XXXXXX")"
  mkdir "$scratch/checkpatch"
  package="$(as_package "$name" "$version")"
  say "downloading $package for checkpatch.pl"
  if (cd "$scratch" && apt-get -q -o Acquire::Retries=3 -o APT::Sandbox::User=root \
    download "$package" </dev/null >&2); then
    files=(checkpatch.pl const_structs.checkpatch spelling.txt)
    # tar stops reading when it has all, which the one before it takes for an error.
    dpkg-deb --fsys-tarfile "$scratch/$name"_*.deb 2>/dev/null |
      tar -xO "./usr/src/$name.tar.xz" 2>/dev/null |
      tar -xJ -C "$scratch/checkpatch" --strip-components=2 --occurrence=1 \
        "${files[@]/#/$name/scripts/}" || true
    [[ -f "$scratch/checkpatch/checkpatch.pl" ]] || die "$name has no checkpatch.pl"
  else
    say "apt has no $package: sources are not checked by checkpatch.pl"
  fi
  chmod -R go+rX "$scratch/checkpatch"
  mv -T "$scratch/checkpatch" "$target"
  rm -rf "$scratch"
}

# `current` is for those who do not name a version.
finish() {
  fetch_checkpatch
  if [[ -z "${HEDDLE_GUEST_KERNEL:-}" ]]; then
    ln -sfn "$abi" "$cache/current"
    touch "$cache/asked"
  fi
  printf '%s\n' "$cache/$abi"
  exit 0
}
[[ -f "$cache/$abi/kernel.txt" ]] && finish

exec 9>"$cache/lock"
flock 9
[[ -f "$cache/$abi/kernel.txt" ]] && finish # somebody else was at it

image="linux-image-$abi-amd64"
headers="linux-headers-$abi-amd64"
# The packages as NAME=VERSION: all parts are of the same source version where apt has it, though suites
# may have several of each.
packages() {
  local version part
  version="$(version_of "$headers")"
  [[ -n "$version" ]] || return 1
  printf '%s\n' "$image=$version" "$headers=$version"
  for part in $(apt-cache depends --no-recommends "$headers=$version" |
    sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\)-.*\)$/\1/p' | sort -u); do
    as_package "$part" "$version"
  done
}

work="$(mktemp -d "$cache/.new.XXXXXX")"
trap 'rm -rf "$work"' EXIT
mkdir "$work/debs"

download() {
  local list
  mapfile -t list < <(packages)
  [[ "${#list[@]}" -ge 4 ]] || return 1
  say "downloading ${list[*]}"
  (cd "$work/debs" && apt-get -q -o Acquire::Retries=3 -o APT::Sandbox::User=root \
    download "${list[@]}" </dev/null >&2)
}

if ! download; then
  # Security updates make older versions disappear from the mirror: the lists may be too old.
  [[ "$refreshed" == 1 ]] || refresh_apt
  download || die "cannot download kernel $abi (apt's message is above). Kernels that apt knows:
$(apt-cache pkgnames linux-image- | sed -n 's/^linux-image-\([0-9].*-[0-9]*\|.*+deb12\)-amd64$/  \1/p' | sort -V)
Set HEDDLE_GUEST_KERNEL to one of them, or nothing for $(newest_abi)"
fi

say "unpacking into $cache/$abi"
new="$work/new"
mkdir -p "$new/root" "$new/headers"
for deb in "$work"/debs/*.deb; do
  case "${deb##*/}" in
    linux-image-*) dpkg-deb -x "$deb" "$work/image" ;;
    *) dpkg-deb -x "$deb" "$new/headers" ;;
  esac
done
release="$abi-amd64"
# /usr/lib/modules where /usr is merged in the package.
modules="$(find "$work/image" -path "*/lib/modules/$release" -type d | head -n 1)"
[[ -n "$modules" ]] || die "$image has no lib/modules/$release"
mkdir -p "$new/root/lib/modules"
mv "$modules" "$new/root/lib/modules/"
mv "$work/image/boot/config-$release" "$new/config"
python3 "$here/extract_vmlinux.py" "$work/image/boot/vmlinuz-$release" "$new/vmlinux"
/sbin/depmod -b "$new/root" "$release" || die "depmod failed"

# The headers' Makefile includes the common one by its installed path; from its own place instead.
makefile="$new/headers/usr/src/linux-headers-$release/Makefile"
[[ -f "$makefile" ]] || die "$headers has no Makefile"
# shellcheck disable=SC2016  # make's own variables
sed -i 's,^include /usr/src/,include $(dir $(realpath $(lastword $(MAKEFILE_LIST))))../,' "$makefile"
grep -q 'lastword' "$makefile" || die "the Makefile of $headers is not as it was"
rm -rf "$new/headers/lib" "$new/headers/usr/share"

printf '%s\n' "abi=$abi" "release=$release" "version=$(version_of "$headers")" >"$new/kernel.txt"
rm -rf "${cache:?}/$abi"
chmod -R u+rwX,go+rX "$new"
mv -T "$new" "$cache/$abi"
say "kernel $release is ready"
finish
