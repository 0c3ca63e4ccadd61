#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the root that --config=arm64 compiles with, that arm64's packages are made in, and in which arm64
# programs run under qemu-user: a minimal Debian of this machine's architecture with arm64 as a foreign one and
# the packages of arm64.txt. The machine itself does not learn of arm64. Prints the folder; does nothing when it
# is there with the same packages. Needs root and debootstrap; takes some minutes and 1.7 GB.
#
#   tools/setup/arm64_root.sh
#
#   XDG_CACHE_HOME   where the folder is made: heddle/arm64/root in it [~/.cache]
set -euo pipefail

here="$(dirname "$(readlink -f "$0")")"
# shellcheck source=tools/setup/debian_root.sh
source "$here/debian_root.sh"

[[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]] || debian_root_die "neither XDG_CACHE_HOME nor HOME is set"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/heddle/arm64"
mkdir -p "$cache"
exec 8>"$cache/lock"
flock 8
if cmp -s "$here/arm64.txt" "$cache/root/etc/heddle-arm64.txt"; then
  printf '%s\n' "$cache/root"
  exit 0
fi

printf 'arm64_root: making a root with the libraries of arm64 in %s (1.7 GB; some minutes)\n' "$cache" >&2
new="$cache/new"
rm -rf --one-file-system "$new"
make_debian_root "$new" "$cache/debootstrap.log"
mapfile -t packages < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$here/arm64.txt")
run_in_root "$new" bash -euc '
  export DEBIAN_FRONTEND=noninteractive
  dpkg --add-architecture arm64
  apt-get -qq -o Acquire::Retries=3 update
  apt-get -qq -o Acquire::Retries=3 install -y --no-install-recommends "$@"
  apt-get clean' install "${packages[@]}" >"$cache/install.log" 2>&1 || {
  tail -n 20 "$cache/install.log" >&2
  debian_root_die "the packages of arm64.txt cannot be installed in $new"
}
# From outside, a link to /lib/aarch64-linux-gnu/libm.so.6 leads to a file of this machine.
libraries="$new/usr/lib/aarch64-linux-gnu"
find "$libraries" -type l -lname '/*' -printf '%p\t%l\n' | while IFS=$'\t' read -r link target; do
  [[ ! -e "$new$target" ]] || ln -sfnr "$new$target" "$link"
done
cp "$here/arm64.txt" "$new/etc/heddle-arm64.txt"
rm -rf --one-file-system "$cache/root"
mv -T "$new" "$cache/root"
printf '%s\n' "$cache/root"
