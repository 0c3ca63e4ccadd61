# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# ./dev package: build, stage, and make the Debian packages of debian/control in out/packages/.

# Programs and libraries, of the destinations in stage.txt.
PACKAGE_BINARIES='^(bin/.*|lib/.*[.]so|lib/heddle/onnxifi-discover)$'
# What there is not for arm64: heddle-timing is a core in RTL, the test kit's guest is an x86 machine; the demo is in
# no package.
PACKAGE_NOT_ARM64='heddle-timing|heddle-driver-tests|lib/heddle/driver-tests/|digits-demo'

# Builds arm64's programs and libraries, and stages them in out/arm64 with the rest of out/.
stage_arm64() {
  local labels
  tools/setup/arm64_root.sh >/dev/null || die "cannot create the arm64 build root"
  make_scratch
  awk -v binaries="$PACKAGE_BINARIES" -v not="$PACKAGE_NOT_ARM64" \
    '$1 ~ /^\/\// && $2 ~ binaries && $0 !~ not { print $1, $2 }' tools/dev/stage.txt >"$HEDDLE_SCRATCH/list"
  mapfile -t labels < <(cut -d' ' -f1 "$HEDDLE_SCRATCH/list")
  run_bazel build --config=arm64 --build_event_json_file="$HEDDLE_SCRATCH/events.json" "${labels[@]}" ||
    die "the products do not build for arm64"
  awk -v binaries="$PACKAGE_BINARIES" -v not="$PACKAGE_NOT_ARM64" \
    '$0 !~ binaries && $0 !~ not { print "out/" $0, $0 }' out/.staged >>"$HEDDLE_SCRATCH/list"
  python3 tools/dev/stage.py --list "$HEDDLE_SCRATCH/list" \
    --events "$HEDDLE_SCRATCH/events.json" --source . --out out/arm64
}

# pack TREE STAGE WORDS...: dpkg-buildpackage, called through WORDS, in TREE on what is staged in STAGE.
pack() {
  local tree="$1" stage="$2"
  shift 2
  # shellcheck disable=SC2016  # expanded by the inner shell
  "$@" bash -euc 'cd "$1"
    umask 022
    HEDDLE_STAGE="$2" HEDDLE_CALLER_DIR="$1" PYTHONDONTWRITEBYTECODE=1 exec dpkg-buildpackage \
      --unsigned-changes --no-pre-clean "${@:3}"' pack "$tree" "$stage" "${pack_options[@]}" \
    </dev/null >"$HEDDLE_SCRATCH/log" 2>&1
}

heddle_package() {
  local staged=0 destination=out/packages architecture=amd64 argument
  for argument in "$@"; do
    case "$argument" in
      --staged) staged=1 ;;
      --arch=amd64 | --arch=arm64) architecture="${argument#--arch=}" ;;
      --arch=*) die "there are packages for amd64 and arm64: Heddle needs 64-bit little-endian processors" ;;
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
  [[ "$architecture" == amd64 ]] || (stage_arm64) || die "there are no packages for arm64"

  # debhelper works in the tree that it packages and leaves its products above it: a copy is for that.
  make_scratch
  local above="$HEDDLE_SCRATCH" stage="$HEDDLE_ROOT/out" root=""
  local pack_options=(--build=binary) pack_through=()
  if [[ "$architecture" == arm64 ]]; then
    # Where the packages of its libraries are: dpkg-shlibdeps asks for them.
    # shellcheck source=tools/setup/debian_root.sh
    source tools/setup/debian_root.sh
    root="$(tools/setup/arm64_root.sh)"
    above="$(mktemp -d "$root/tmp/package.XXXXXX")"
    # shellcheck disable=SC2064  # now
    trap "rm -rf '$HEDDLE_SCRATCH' '$above'" EXIT
    cp -a out/arm64 "$above/stage"
    stage="${above#"$root"}/stage"
    # -d: what builds the products is on this machine, only packing is done in the root.
    pack_options=(--build=any --host-arch=arm64 -d)
    pack_through=(run_in_root "$root")
  fi
  local tree="$above/heddle"
  mkdir -p "$tree/tools/dev"
  cp -a debian VERSION "$tree/"
  cp tools/dev/install.py "$tree/tools/dev/"
  if [[ "$architecture" == arm64 ]]; then
    grep -v heddle-timing debian/heddle-tools.install >"$tree/debian/heddle-tools.install.arm64"
  fi
  say "packaging what is staged in out/ for $architecture"
  pack "${tree#"$root"}" "$stage" "${pack_through[@]}" || {
    tail -n 40 "$HEDDLE_SCRATCH/log" >&2
    die "dpkg-buildpackage failed; the end of its log is above"
  }
  mkdir -p "$destination"
  # Those of another architecture stay.
  rm -f "$destination"/heddle-*_"$architecture".deb
  [[ "$architecture" != amd64 ]] || rm -f "$destination"/heddle-*_all.deb
  mv "$above"/heddle-*.deb "$destination/"
  local package
  for package in "$destination"/heddle-*_{"$architecture",all}.deb; do
    [[ -f "$package" ]] || continue
    printf '%8d kB installed  %s\n' "$(dpkg-deb -f "$package" Installed-Size)" "$package"
  done
}
