#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# isa.cc, which every library and tool links, compiles for no 32-bit and no big-endian machine.
set -euo pipefail

# refused TARGET: only the preprocessor, so it does not matter that the target's headers are not here.
refused() {
  local said
  said="$(clang -x c++ "--target=$1" -E -nostdinc rtl/spec/generated/isa.cc 2>&1 >/dev/null || true)"
  # Without headers it fails in any case, but after the check.
  [[ "$said" == *"isa.h' file not found"* ]] || { echo "FAILED: $1: clang said $said" && exit 1; }
  [[ "$said" == *'Heddle is for 64-bit little-endian machines'* ]]
}

for target in i686-linux-gnu armv7-linux-gnueabihf powerpc64-linux-gnu s390x-linux-gnu mips-linux-gnu; do
  refused "$target" || { echo "FAILED: $target is taken" && exit 1; }
done
for target in x86_64-linux-gnu aarch64-linux-gnu; do
  ! refused "$target" || { echo "FAILED: $target is refused" && exit 1; }
done
