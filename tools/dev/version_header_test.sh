#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle/version.h: processors that Heddle cannot run on are refused by a sentence, the others take it.
set -euo pipefail

header="$TEST_TMPDIR/version.h"
tools/dev/version_header.sh VERSION >"$header"

compile() { clang --target="$1" -ffreestanding -fsyntax-only -Wall -Werror -x c "$header" 2>&1; }

# refused TARGET TEXT
refused() {
  local said
  ! said="$(compile "$1")" || { echo "$1 is not refused" >&2; exit 1; }
  [[ "$said" == *"Heddle needs a $2"* ]] || { echo "$1: $said" >&2; exit 1; }
}

for target in x86_64-linux-gnu aarch64-linux-gnu; do
  compile "$target"
done
refused s390x-linux-gnu "little-endian processor"
refused powerpc64-linux-gnu "little-endian processor"
refused i386-linux-gnu "64-bit processor"
refused arm-linux-gnueabihf "64-bit processor"
refused x86_64-linux-gnux32 "64-bit processor"
