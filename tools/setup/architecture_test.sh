#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh names a machine that Heddle is not for, before it installs or fetches anything.
set -euo pipefail
readonly BIN="$TEST_TMPDIR/bin"
mkdir -p "$BIN"
# What setup.sh would install with: it must not come to that.
for program in apt-get dpkg-query sudo; do
  printf '#!/bin/bash\ntouch "%s"\nexit 1\n' "$TEST_TMPDIR/called" >"$BIN/$program"
done
printf '#!/bin/bash\necho "$FAKE_ARCHITECTURE"\n' >"$BIN/dpkg"
chmod +x "$BIN"/*

fail() {
  echo "FAILED: $*"
  exit 1
}

for architecture in i386 armhf s390x ppc64; do
  code=0
  said="$(FAKE_ARCHITECTURE="$architecture" PATH="$BIN:$PATH" bash tools/setup/setup.sh 2>&1)" || code=$?
  [[ "$code" == 1 ]] || fail "$architecture: exit code $code"
  wanted="setup: error: this machine is $architecture; Heddle is for amd64 and arm64 (64-bit, little-endian)"
  [[ "$said" == "$wanted" ]] || fail "$architecture: $said"
  [[ ! -e "$TEST_TMPDIR/called" ]] || fail "$architecture: went on"
done
# One that it is for goes on to the packages, where the stand-ins end it.
! FAKE_ARCHITECTURE=arm64 PATH="$BIN:$PATH" bash tools/setup/setup.sh >/dev/null 2>&1 || fail "arm64: installed"
[[ -e "$TEST_TMPDIR/called" ]] || fail "arm64: did not go on"
