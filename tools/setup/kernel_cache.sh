# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by guest_kernel.sh and debug_kernel.sh: kernels are kept in the user's cache folder.
#
#   kernel_cache WHAT FOLDER    WHAT is what messages begin with; sets `cache`, which exists

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
