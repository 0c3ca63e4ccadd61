#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs those packages of packages.txt that are missing, from the apt sources that the machine
# already has, and fetches the kernel in which the driver is tested (guest_kernel.sh; not
# installed). With --debug-kernel also what debug_kernel.sh builds with, with --packaging what makes
# and checks Debian packages. Changes nothing when nothing is missing; never edits apt's configuration;
# asks nothing. Needs root, or sudo without a password, only when a package is missing.
set -euo pipefail

here="$(dirname "$(readlink -f "$0")")"
lists=("$here/packages.txt")
[[ "${1:-}" != --debug-kernel ]] || lists+=("$here/debug_kernel/packages.txt")
[[ "${1:-}" != --packaging ]] || lists+=("$here/packaging.txt")

die() {
  printf 'setup: error: %s\n' "$*" >&2
  exit 1
}

# Without the kernel, everything but the tests in it works, and these are skipped; one that was asked
# for by name must come.
fetch_guest_kernel() {
  "$here/guest_kernel.sh" >/dev/null && return
  [[ -z "${HEDDLE_GUEST_KERNEL:-}" ]] || die "there is no guest kernel $HEDDLE_GUEST_KERNEL"
  printf 'setup: warning: no guest kernel; tests of the driver in a kernel will be skipped\n' >&2
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  die "this is not a Debian system (no dpkg or apt-get). Heddle builds on Debian 12; \
run it in a Debian 12 container or chroot, or install what ${lists[*]} names and set HEDDLE_NO_SETUP=1"
fi
case "$(dpkg --print-architecture)" in
  amd64 | arm64) ;;
  *) die "this machine is $(dpkg --print-architecture); Heddle is for amd64 and arm64 (64-bit, little-endian)" ;;
esac

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "${lists[@]}")

mapfile -t missing < <(
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
)

if [[ "${#missing[@]}" -eq 0 ]]; then
  printf 'setup: all %d packages are installed\n' "${#wanted[@]}" >&2
  fetch_guest_kernel
  exit 0
fi

as_root=()
if [[ "$(id -u)" != 0 ]]; then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
  else
    die "${#missing[@]} packages are missing and neither root nor password-less sudo is at hand. \
Run this once as root, then repeat the command:
  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}"
  fi
fi

printf 'setup: installing %d of %d packages: %s\n' \
  "${#missing[@]}" "${#wanted[@]}" "${missing[*]}" >&2

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
  -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)

# One broken third-party source must not stop the set-up: the packages come from Debian.
"${apt[@]}" update </dev/null >&2 ||
  printf 'setup: warning: apt-get update reported an error; continuing with the existing package lists\n' >&2

"${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >&2 ||
  die "apt-get could not install the packages (its message is above). They are all in Debian 12 \
'main'; see that a bookworm source is configured (apt-cache policy ${missing[0]})"
fetch_guest_kernel
printf 'setup: done\n' >&2
