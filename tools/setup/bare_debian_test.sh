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
#
# The root lives in a mount and process namespace of its own: whatever happens, nothing stays
# mounted and no process is left.
set -euo pipefail

suite=bookworm
repo="$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)"

die() {
  printf 'bare-debian: error: %s\n' "$*" >&2
  exit 1
}

# The inner half: process 1 of the namespaces. Arguments: ROOT COMMAND...
inside() {
  local root="$1" command started status=0
  shift
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  local environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    HOME=/root LANG=C.UTF-8 CI=true)
  local name
  for name in http_proxy https_proxy no_proxy; do
    [[ -z "${!name:-}" ]] || environment+=("$name=${!name}")
  done
  for command in "$@"; do
    printf '\n==== %s\n' "$command"
    started=$SECONDS
    if env -i "${environment[@]}" chroot "$root" \
      /bin/sh -c "cd /src/heddle && $command" </dev/null; then
      printf '%6d s  ok      %s\n' $((SECONDS - started)) "$command" >>"$root.times"
    else
      status=1
      printf '%6d s  FAILED  %s\n' $((SECONDS - started)) "$command" >>"$root.times"
    fi
  done
  exit "$status"
}

if [[ "${1:-}" == --inside ]]; then
  shift
  inside "$@"
fi

keep=0
commands=()
for argument in "$@"; do
  case "$argument" in
    --keep) keep=1 ;;
    -*) die "unknown option $argument" ;;
    *) commands+=("$argument") ;;
  esac
done
[[ "${#commands[@]}" -gt 0 ]] || commands=("./dev demo" "./dev test")

[[ "$(id -u)" == 0 ]] || die "making a root file system needs root"
command -v debootstrap >/dev/null || die "install debootstrap first: apt-get install debootstrap"

# Debian's own archive, as this machine's apt reaches it.
# shellcheck disable=SC2016  # the $(...) are apt's own
mirror="$(apt-get indextargets --format '$(LABEL) $(CODENAME) $(COMPONENT) $(REPO_URI)' \
  'Identifier: Packages' | awk -v suite="$suite" \
  '$1 == "Debian" && $2 == suite && $3 == "main" { print $4; exit }')"
[[ -n "$mirror" ]] || die "apt has no source for Debian $suite main (run apt-get update once)"

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

printf 'bare-debian: %s from %s\n' "$suite" "$mirror"
started=$SECONDS
debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$scratch/debootstrap.log" 2>&1 || {
  tail -n 20 "$scratch/debootstrap.log" >&2
  die "debootstrap failed"
}
printf '%6d s  ok      debootstrap --variant=minbase %s\n' $((SECONDS - started)) "$suite" \
  >"$root.times"

# The same Debian sources (with updates and security) and the same way to the network.
rm -f "$root/etc/apt/sources.list"
# shellcheck disable=SC2016
apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(CODENAME)|$(COMPONENT)' \
  'Identifier: Packages' | awk -F'|' -v suite="$suite" \
  '$1 == "Debian" && index($3, suite) == 1 { print "deb " $2 " " $3 " " $4 }' | sort -u \
  >"$root/etc/apt/sources.list"
apt-config dump Acquire | grep -iE '^Acquire::(http|https)::.*proxy' \
  >"$root/etc/apt/apt.conf.d/90proxy" || true
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"

# HEAD, exactly as committed, in a folder without a neighbour called `shared`.
mkdir -p "$root/src/heddle"
git -c safe.directory='*' -C "$repo" archive --format=tar HEAD | tar -x -C "$root/src/heddle"

unshare --mount --pid --fork --kill-child "$(readlink -f "$0")" --inside "$root" "${commands[@]}"
