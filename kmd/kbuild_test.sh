#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR MIT
# The driver's Kbuild refuses kernels that are not 64-bit and little-endian, and only these.
set -euo pipefail
readonly REFUSAL='heddle: this kernel is not 64-bit and little-endian'

# refused [CONFIG=...]...: reads Kbuild with this configuration, and no kernel behind it.
refused() {
  local said
  # It ends with an error in any case: without a kernel there is no cleanup.h.
  said="$(make -f kmd/Kbuild srctree=/nonexistent "$@" 2>&1 || true)"
  [[ "$said" == *heddle:* ]] || { echo "FAILED: make $* said: $said" && exit 1; }
  [[ "$said" == *"$REFUSAL"* ]]
}

fail() {
  echo "FAILED: $*"
  exit 1
}

refused CONFIG_MODULES=y || fail "a 32-bit kernel is taken"
refused CONFIG_MODULES=y CONFIG_CPU_BIG_ENDIAN=y || fail "a 32-bit big-endian kernel is taken"
refused CONFIG_MODULES=y CONFIG_64BIT=y CONFIG_CPU_BIG_ENDIAN=y || fail "a big-endian kernel is taken"
! refused CONFIG_MODULES=y CONFIG_64BIT=y || fail "a 64-bit little-endian kernel is refused"
! refused || fail "make clean, which reads no configuration, is refused"
