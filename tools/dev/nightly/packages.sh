#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The Debian packages, as a stranger would meet them: built twice with the same bytes, lintian, installed in a fresh
# Debian 12 root and used there (packages_inside.sh says how), upgraded from release 0.1, and removed without a trace.
# Needs root.
#
#   ./dev nightly packages [--staged] [--keep] [--root=DIR] [--old=PREFIX]
#
#   --staged      packages of what is in out/, without building
#   --keep        leave the root for a look inside
#   --root=DIR    a minimal root that is there already (it is copied), instead of a fresh one
#   --old=PREFIX  staged programs of 0.1; otherwise they are built from its commit in a worktree that goes again
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../../.."
# shellcheck source=tools/setup/debian_root.sh
source tools/setup/debian_root.sh
# shellcheck source=tools/dev/nightly/old_release.sh
source tools/dev/nightly/old_release.sh

# Limits of the SDK on a device, in kB of Installed-Size.
RUNTIME_KB=15000
RUNTIME_CLOSURE_KB=40000

staged=() keep=0 from="" old=""
for argument in "$@"; do
  case "$argument" in
    --staged) staged=(--staged) ;;
    --keep) keep=1 ;;
    --root=*) from="${argument#--root=}" ;;
    --old=*) old="$(realpath "${argument#--old=}")" ;;
    *) debian_root_die "unknown option $argument" ;;
  esac
done

scratch="$(mktemp -d "${TMPDIR:-/var/tmp}/heddle-packages.XXXXXX")"
root="$scratch/root"
finish() {
  [[ ! -d "$scratch/tree" ]] || git worktree remove --force "$scratch/tree"
  if [[ "$keep" == 1 ]]; then
    printf 'packages: the root is %s\n' "$root"
  else
    rm -rf --one-file-system "$scratch"
  fi
}
trap finish EXIT

started=$SECONDS
passed() {
  printf '%6d s  ok      %s\n' $((SECONDS - started)) "$1"
  started=$SECONDS
}

# In folders and at times of their own: neither may be seen in a package.
./dev package "${staged[@]}" --to="$scratch/first"
passed "./dev package ${staged[*]}"
TMPDIR="$scratch" ./dev package --staged --to="$scratch/second" >"$scratch/second.log"
for package in "$scratch"/first/*.deb; do
  cmp "$package" "$scratch/second/$(basename "$package")" ||
    debian_root_die "$(basename "$package") has other bytes when it is packed again"
done
passed "packed twice: the same bytes"

lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$scratch"/first/*.deb ||
  debian_root_die "lintian has errors or warnings"
passed "lintian: no error, no warning"

if [[ -z "$old" ]]; then
  build_old_release "$scratch/tree" || debian_root_die "release 0.1 does not build"
  old="$scratch/tree/out"
fi
package_old_release "$old" "$scratch/old" || debian_root_die "release 0.1 cannot be packaged"
passed "packages of release 0.1"

if [[ -n "$from" ]]; then
  cp -a --one-file-system "$from" "$root"
else
  make_debian_root "$root" "$scratch/debootstrap.log"
fi
passed "a minimal Debian $DEBIAN_ROOT_SUITE"

mkdir -p "$root/packages/old"
cp "$scratch"/first/*.deb "$root/packages/"
cp "$scratch"/old/*.deb "$root/packages/old/"
./dev install --prefix /opt/heddle --destdir "$root"
cp tools/dev/nightly/packages_inside.sh "$root/packages/"
run_in_root "$root" bash /packages/packages_inside.sh "$RUNTIME_KB" "$RUNTIME_CLOSURE_KB"
rm -rf "$root/packages"
./dev install --prefix /opt/heddle --destdir "$root" --remove
[[ -z "$(find "$root/opt" -mindepth 1)" ]] || debian_root_die "./dev install --remove left something in /opt"
passed "installed, used and removed"
