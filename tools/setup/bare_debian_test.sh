#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Proves the README's promise on a machine that has nothing: makes a fresh minimal Debian 12 root
# from this machine's own apt sources, puts the checkout's HEAD into it and nothing else, runs
# ./dev demo and ./dev test in it, and reports what each took. Needs root and debootstrap.
#
#   tools/setup/bare_debian_test.sh [--keep] [COMMAND...]
#
#   COMMAND   instead of the two, one or more command lines, e.g. './dev setup'
#   --keep    leave the root where it is, for a look inside
set -euo pipefail

repo="$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)"
# shellcheck source=tools/setup/debian_root.sh
source "$repo/tools/setup/debian_root.sh"

keep=0
commands=()
for argument in "$@"; do
  case "$argument" in
    --keep) keep=1 ;;
    -*) debian_root_die "unknown option $argument" ;;
    *) commands+=("$argument") ;;
  esac
done
[[ "${#commands[@]}" -gt 0 ]] || commands=("./dev demo" "./dev test")

scratch="$(mktemp -d "${TMPDIR:-/var/tmp}/bare-debian.XXXXXX")"
root="$scratch/root"
finish() {
  [[ -f "$root.times" ]] && {
    printf '\n'
    cat "$root.times"
  }
  if [[ "$keep" == 1 ]]; then
    printf 'bare-debian: the root is %s\n' "$root"
  else
    rm -rf --one-file-system "$scratch"
  fi
}
trap finish EXIT

printf 'bare-debian: %s from %s\n' "$DEBIAN_ROOT_SUITE" "$(debian_root_mirror)"
started=$SECONDS
make_debian_root "$root" "$scratch/debootstrap.log"
printf '%6d s  ok      debootstrap --variant=minbase %s\n' $((SECONDS - started)) \
  "$DEBIAN_ROOT_SUITE" >"$root.times"

# HEAD, exactly as committed, in a folder without a neighbour called `shared`.
mkdir -p "$root/src/heddle"
git -c safe.directory='*' -C "$repo" archive --format=tar HEAD | tar -x -C "$root/src/heddle"

status=0
for command in "${commands[@]}"; do
  printf '\n==== %s\n' "$command"
  started=$SECONDS
  if run_in_root "$root" /bin/sh -c "cd /src/heddle && $command"; then
    printf '%6d s  ok      %s\n' $((SECONDS - started)) "$command" >>"$root.times"
  else
    status=1
    printf '%6d s  FAILED  %s\n' $((SECONDS - started)) "$command" >>"$root.times"
  fi
done
exit "$status"
