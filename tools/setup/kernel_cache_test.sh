#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which kernels of the cache stay when a new one is ready.
set -euo pipefail
export XDG_CACHE_HOME="$TEST_TMPDIR/cache"
# shellcheck source=tools/setup/kernel_cache.sh
source tools/setup/kernel_cache.sh
# Its look for the architecture is not what is tested.
dpkg() { echo amd64; }
kernel_cache "debug kernel" debug-kernel

fail() {
  echo "FAILED: $*"
  exit 1
}

# kernel NAME [AGE OF ITS MARK]: a kernel that was made long ago.
kernel() {
  mkdir -p "$cache/$1/headers"
  touch -d '9 days ago' "$cache/$1/kernel.txt" "$cache/$1/headers/file"
  [[ -z "${2:-}" ]] || touch -d "$2" "$cache/$1/used"
}

kernel 00000000000000ff               # the new one
kernel 0000000000000001 '2 days ago'  # by marks
kernel 0000000000000002 '1 hour ago'
kernel 0000000000000003               # never marked
kernel 0000000000000004 '2 days ago'  # asked for again, below
kernel mine '2 days ago'              # none of ours
mkdir "$cache/0000000000000005" "$cache/.new.abc"
touch -d '9 days ago' "$cache/0000000000000005/something"
kernel .old.0000000000000006          # of a run that was killed
ln -s 0000000000000002 "$cache/current"

use_kernel 0000000000000004 || fail "a kernel that is there"
! use_kernel 0000000000000005 || fail "a folder without kernel.txt is none"
! use_kernel 0000000000000007 || fail "this one is not there"
! use_kernel "" || fail "no name"

remove_unused_kernels 00000000000000ff
remove_unused_kernels 00000000000000ff
left="$(cd "$cache" && find . -mindepth 1 -maxdepth 1 ! -name '*.lock' -printf '%f ' | tr ' ' '\n' | LC_ALL=C sort | xargs)"
wanted=".new.abc 0000000000000002 0000000000000004 0000000000000005 00000000000000ff current mine"
[[ "$left" == "$wanted" ]] || fail "left: $left; wanted: $wanted"
[[ -f "$cache/0000000000000002/headers/file" ]] || fail "a kernel in use is not whole"

# Not while another process is about to mark one.
touch -d '2 days ago' "$cache/0000000000000004/used"
(
  flock 8
  (
    exec 8>&- # else it would hold the lock that it waits for
    remove_unused_kernels 00000000000000ff
  ) &
  sleep 0.5
  [[ -d "$cache/0000000000000004" ]] || fail "removed under the lock"
  touch "$cache/0000000000000004/used"
) 8>"$cache/used.lock"
# The next one waits until that has ended.
remove_unused_kernels 00000000000000ff
[[ -d "$cache/0000000000000004" ]] || fail "removed although it was marked meanwhile"
echo passed
