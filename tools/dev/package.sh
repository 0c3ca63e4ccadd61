# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev package: build, stage, and make the Debian packages of debian/control in out/packages/.

heddle_package() {
  local staged=0 destination=out/packages argument
  for argument in "$@"; do
    case "$argument" in
      --staged) staged=1 ;;
      --to=*) destination="$(cd "$HEDDLE_CALLER_DIR" && realpath -m "${argument#--to=}")" ;;
      *) die "unknown argument '$argument'; see ./dev package --help" ;;
    esac
  done
  ensure_setup --packaging
  if [[ "$staged" == 0 ]]; then
    # In a shell of its own: it has a scratch folder of its own.
    (
      # shellcheck source=tools/dev/build.sh
      source tools/dev/build.sh
      HEDDLE_NO_SETUP=1 heddle_build
    ) || die "the products do not build; there are no packages"
  fi
  [[ -f out/.staged ]] || die "nothing is staged in out/; leave --staged out"

  # debhelper works in the tree that it packages and leaves its products above it: a copy is for that.
  make_scratch
  local tree="$HEDDLE_SCRATCH/heddle"
  mkdir -p "$tree/tools/dev"
  cp -a debian VERSION "$tree/"
  cp tools/dev/install.py "$tree/tools/dev/"
  say "packaging what is staged in out/"
  (
    cd "$tree"
    umask 022
    HEDDLE_STAGE="$HEDDLE_ROOT/out" HEDDLE_CALLER_DIR="$tree" PYTHONDONTWRITEBYTECODE=1 \
      dpkg-buildpackage --build=binary --unsigned-changes --no-pre-clean \
      </dev/null >"$HEDDLE_SCRATCH/log" 2>&1
  ) || {
    tail -n 40 "$HEDDLE_SCRATCH/log" >&2
    die "dpkg-buildpackage failed; the end of its log is above"
  }
  mkdir -p "$destination"
  rm -f "$destination"/heddle-*.deb
  mv "$HEDDLE_SCRATCH"/heddle-*.deb "$destination/"
  local package
  for package in "$destination"/heddle-*.deb; do
    printf '%8d kB installed  %s\n' "$(dpkg-deb -f "$package" Installed-Size)" "$package"
  done
}
