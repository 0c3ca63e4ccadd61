# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced: release 0.1, to try this tree's programs against its, and to upgrade from it.
#
#   build_old_release TREE              its commit in a worktree TREE (the caller removes it); staged in TREE/out
#   package_old_release STAGED FOLDER   Debian packages of what is staged. Release 0.1 had none: its files are
#                                       distributed over today's packages, as far as they were there
#
# Both run at the top of the repository and return a status.

OLD_COMMIT=a0c9046
OLD_VERSION=0.1.0

build_old_release() {
  git worktree add --quiet --detach "$1" "$OLD_COMMIT" || return
  [[ ! -f .bazelrc.user ]] || cp .bazelrc.user "$1/" || return
  (cd "$1" && HEDDLE_NO_SETUP=1 ./dev build)
}

package_old_release() {
  local staged="$1" folder="$2" work status=0
  work="$(mktemp -d "${TMPDIR:-/var/tmp}/old-release.XXXXXX")" || return
  (
    set -euo pipefail
    tree="$work/heddle"
    mkdir -p "$tree/tools/dev"
    cp -a debian "$tree/"
    cp -a "$staged" "$tree/stage"
    cp tools/dev/install.py "$tree/tools/dev/"
    sed -i "/^heddle ($OLD_VERSION)/,\$!d" "$tree/debian/changelog"
    sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="#MODULE_VERSION#"/' "$tree/stage/share/heddle/driver/kmd/dkms.conf"
    # What a package lists and 0.1 did not have is left out, with the package if that was all. What only 0.1 had
    # goes to heddle-runtime, so that an upgrade has something to remove.
    for list in "$tree"/debian/*.install; do
      while read -r from to; do
        compgen -G "$tree/stage/${from#usr/}" >/dev/null && printf '%s %s\n' "$from" "$to"
      done <"$list" >"$list.new" || true
      mv "$list.new" "$list"
      [[ -s "$list" ]] || basename "$list" .install >>"$work/absent"
    done
    printf 'usr/lib/onnx1\n' >>"$tree/debian/heddle-runtime.install"
    printf '\noverride_dh_missing:\n' >>"$tree/debian/rules"
    rm -f "$tree"/debian/*.lintian-overrides
    cd "$tree"
    umask 022
    HEDDLE_STAGE="$tree/stage" HEDDLE_CALLER_DIR="$tree" PYTHONDONTWRITEBYTECODE=1 \
      dpkg-buildpackage --build=binary --unsigned-changes --no-pre-clean </dev/null >"$work/log" 2>&1
    mkdir -p "$folder"
    mv "$work"/heddle-*.deb "$folder/"
    while read -r name; do rm -f "$folder/${name}_"*; done <"$work/absent"
  ) || status=$?
  [[ $status == 0 ]] || tail -n 40 "$work/log" >&2 || true
  rm -rf "$work"
  return "$status"
}
