# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by guest_kernel.sh, debug_kernel.sh and newest_kernel.sh: kernels are kept in the user's cache
# folder.
#
#   kernel_cache WHAT FOLDER    WHAT is what messages begin with; sets `cache`, which exists
#   use_kernel NAME             marks a kernel of the cache as used now; false when it is not there
#   remove_unused_kernels NAME  those but NAME that nobody has used for a day
#   unpack_source DEB FOLDER    the tree of a package linux-source-VERSION, as FOLDER/linux-source-VERSION
#   copy_headers SOURCE TARGET  what modules are built with, of a tree that is configured and prepared
#   copy_checkpatch SOURCE TARGET

say() { printf '%s: %s\n' "$kernel_what" "$*" >&2; }

die() {
  printf '%s: error: %s\n' "$kernel_what" "$*" >&2
  exit 1
}

kernel_cache() {
  kernel_what="$1"
  [[ "$(dpkg --print-architecture 2>/dev/null)" == amd64 ]] ||
    die "it is an amd64 Linux; this machine is not an amd64 Debian"
  [[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]] || die "neither XDG_CACHE_HOME nor HOME is set"
  cache="${XDG_CACHE_HOME:-$HOME/.cache}/heddle/$2"
  mkdir -p "$cache" || die "cannot create $cache; set XDG_CACHE_HOME to a folder of yours"
}

# A kernel's mark is the file `used` in it. Who has marked one may use it for a day: another one is
# removed under the same lock, so none goes between the look and the mark.
use_kernel() {
  (
    flock 8
    [[ -f "$cache/$1/kernel.txt" ]] || exit 1
    touch "$cache/$1/used"
  ) 8>"$cache/used.lock"
}

# Kernels are named by 16 hexadecimal digits; whatever else is there stays.
remove_unused_kernels() {
  (
    flock 8
    local kernel name mark
    for kernel in "$cache"/*/; do
      kernel="${kernel%/}"
      name="${kernel##*/}"
      [[ "$name" =~ ^[0-9a-f]{16}$ && "$name" != "$1" && ! -L "$kernel" && -f "$kernel/kernel.txt" ]] || continue
      mark="$kernel/used"
      [[ -f "$mark" ]] || mark="$kernel/kernel.txt"
      if [[ -n "$(find "$mark" -mmin +1440)" ]]; then
        say "nobody has used $kernel for a day: removing it"
        mv -T "$kernel" "$cache/.old.$name"
      fi
    done
    rm -rf "$cache"/.old.*
  ) 8>"$cache/used.lock"
}

unpack_source() {
  local name="${1##*/}"
  name="${name%%_*}"
  dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$name.tar.xz" | tar -xJ -C "$2"
}

copy_headers() {
  mkdir -p "$2"
  (
    cd "$1" || exit
    cp -r Makefile Kconfig .config Module.symvers scripts include "$2/"
    cp -r --parents arch/x86/include arch/x86/Makefile* tools/include "$2/"
    if grep -q '^CONFIG_UML=y' .config; then
      cp -r --parents arch/um/{Makefile*,include,scripts} arch/x86/um "$2/"
    elif [[ -f tools/objtool/objtool ]]; then
      cp --parents tools/objtool/objtool "$2/"
    fi
  )
  # With links into what was left out, Bazel refuses the folder.
  find "$2" \( -name '*.o' -o -name '*.a' -o -name '.*.cmd' -o -xtype l \) -delete
}

copy_checkpatch() {
  mkdir -p "$2"
  cp "$1"/scripts/{checkpatch.pl,const_structs.checkpatch,spelling.txt} "$2/"
}
