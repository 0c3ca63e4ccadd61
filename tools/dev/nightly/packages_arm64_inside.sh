#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The part of packages_arm64.sh that runs in an amd64 root, as root, with the packages of arm64 in /packages. Each step
# says what it has seen; the first that fails ends the run.
#
#   packages_arm64_inside.sh install|use|module
#
# In `use`, arm64 programs start under emulation (tools/setup/arm64_programs.sh); what they are started with is amd64's.
set -euo pipefail

export DEBIAN_FRONTEND=noninteractive
work=/packages
libraries=/usr/lib/aarch64-linux-gnu
scratch="$(mktemp -d)"
cd "$scratch"

die() {
  printf 'packages-arm64: FAILED: %s\n' "$*" >&2
  exit 1
}

step() {
  [[ -z "${current:-}" ]] || printf '%6d s  ok      %s\n' $((SECONDS - started)) "$current"
  current="$1" started=$SECONDS
}
trap '[[ $? == 0 ]] || printf "%6d s  FAILED  %s\n" $((SECONDS - started)) "${current:-start}"' EXIT

apt_install() {
  apt-get -qq -o Acquire::Retries=3 install -y --no-install-recommends "$@" >"$scratch/apt.log" 2>&1 || {
    tail -n 30 "$scratch/apt.log" >&2
    die "apt-get install $*"
  }
}

# wants TEXT COMMAND...: the command ends well and says TEXT.
wants() {
  local text="$1" said
  shift
  said="$("$@" 2>&1)" || die "'$*' ended with $?: $said"
  [[ "$said" == *"$text"* ]] || die "'$*' said, without '$text': $said"
}

# appears SOCKET: within twenty seconds.
appears() {
  local try
  for ((try = 0; try < 100; ++try)); do
    [[ ! -S "$1" ]] || return 0
    sleep 0.2
  done
  die "nothing listens at $1"
}

# same FOLDER: the outputs in it are this machine's.
same() { diff -r "$work/expected/$1" "$2" || die "the outputs of $1 are not those of amd64"; }

install() {
  step "a cross compiler, emulation, arm64's C library"
  dpkg --add-architecture arm64
  apt-get -qq update
  apt_install gcc-aarch64-linux-gnu libc6-dev:arm64 make pkg-config qemu-user-static

  step "the packages of arm64, with what they depend on"
  apt_install "$work"/heddle-{runtime,tools,sim,hosted,dev,conformance}_*_arm64.deb
  dpkg-query -W -f '${Package} ${Architecture} ${Installed-Size} kB\n' 'heddle-*' | sed 's/^/          /'
  ! dpkg-query -W -f '${db:Status-Status} ${Architecture}\n' 'heddle-*' | grep '^installed ' | grep -v arm64 ||
    die "not only arm64"

  step "the example of heddle-dev, compiled for arm64"
  local files
  files="$(PKG_CONFIG_LIBDIR=$libraries/pkgconfig pkg-config --cflags --libs heddle)"
  # shellcheck disable=SC2086  # words
  aarch64-linux-gnu-gcc -Wall -Werror /usr/share/doc/heddle-dev/examples/digit.c $files -o "$work/digit" \
    -Wl,-rpath-link,$libraries
}

use() {
  step "--version"
  local program
  for program in heddle-compile heddle-hosted heddle-run heddle-sim heddle-smi onnxifi-conformance; do
    wants "$program $(dpkg-query -W -f '${Version}' heddle-tools)" "$program" --version
  done

  local name model options
  while read -r name model options; do
    step "heddle-compile and heddle-run on a private card: the bytes of amd64: $name"
    # shellcheck disable=SC2086  # words
    heddle-compile "$work/models/$model" -o compiled.hpk $options >log 2>&1 </dev/null || die "$(cat log)"
    cmp compiled.hpk "$work/expected/$name.hpk" || die "another package than amd64's"
    # shellcheck disable=SC2086
    heddle-run "$work/models/$model" --no-cache --device sim --outputs private $options >log 2>&1 </dev/null ||
      die "$(cat log)"
    same "$name" private
    rm -rf private
    printf '          %s\n' "$(cat "$work/expected/$name"/* | sha256sum | cut -c1-16)"
  done <"$work/runs.txt"

  step "a hosted card: the same bytes"
  heddle-sim --socket card &
  local sim=$!
  appears card
  heddle-hosted --socket hosted --card card --log warn &
  local hosted=$!
  appears hosted
  while read -r name model options; do
    # shellcheck disable=SC2086
    heddle-run "$work/models/$model" --no-cache --device hosted:hosted --outputs shared $options >log 2>&1 </dev/null ||
      die "$(cat log)"
    grep -q 'hosted:hosted' log || die "another card: $(cat log)"
    same "$name" shared
    rm -rf shared
  done <"$work/runs.txt"
  kill $hosted $sim
  wait

  step "a card in RTL is refused by name"
  ! heddle-sim --socket card --core rtl >log 2>&1 || die "it is there: $(cat log)"
  grep -q 'this build has no RTL card of configuration' log || die "$(cat log)"

  export HEDDLE_DEVICE=sim
  step "the example in C, through the library of the extended interface"
  wants "image 7 is a 7 (" "$work/digit" /usr/share/heddle/digits/digits_fp32.onnx /usr/share/heddle/digits/digits_test.u8 7

  local abi library
  for abi in extended onnx1; do
    step "the conformance kit's group runs, ABI $abi"
    library=/usr/lib/libonnxifi-heddle.so
    [[ $abi == extended ]] || library=/usr/lib/heddle/onnx1/libonnxifi-heddle.so
    onnxifi-conformance --lib $library --abi $abi --group runs --timeout 60 >log 2>&1 || die "$(tail -n 20 log)"
    printf '          %s\n' "$(grep '^[0-9]* cases\?: ' log)"
  done
}

module() {
  # The headers of arm64's kernel; the tools that build with them are amd64's, of the same version.
  step "heddle.ko for Debian's arm64 kernel: no warning"
  local headers release folder deb
  headers="$(apt-cache depends --no-recommends linux-headers-arm64:arm64 |
    sed -n 's/^ *Depends: linux-headers-\(.*\)-arm64:arm64$/\1/p' | head -n 1)"
  [[ -n "$headers" ]] || die "apt knows no headers of arm64's kernel"
  release="$headers-arm64"
  apt-get -qq download "linux-headers-$release:arm64" "linux-headers-$headers-common" \
    "linux-kbuild-${headers%.*}:amd64" 2>apt.log || die "$(cat apt.log)"
  # Not in the root itself: /lib is a link there, and a folder in the package.
  for deb in linux-*.deb; do dpkg -x "$deb" unpacked; done
  cp -a unpacked/usr/src /usr/
  cp -a unpacked/usr/lib/. /usr/lib/
  [[ ! -d unpacked/lib ]] || cp -a unpacked/lib/. /usr/lib/
  folder="/usr/src/linux-headers-$release"
  make -C "$work/driver/kmd" KDIR="$folder" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu- >log 2>&1 </dev/null ||
    die "$(tail -n 30 log)"
  ! grep -i 'warning' log || die "warnings of the module"
  aarch64-linux-gnu-readelf -h "$work/driver/kmd/heddle.ko" | grep -q AArch64 || die "it is not for arm64"
  printf '          %s\n' "$(strings -a "$work/driver/kmd/heddle.ko" | sed -n 's/^vermagic=//p')"
}

case "$1" in
  install | use | module) "$1" ;;
  *) die "install, use or module" ;;
esac
step end
