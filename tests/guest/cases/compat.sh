#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compat.sh PROGRAM: a 32-bit process has the first card compute (tests/guest/compat).
. tests/guest/cases/common.sh
if grep -qw hostfs /proc/filesystems; then
  echo "SKIPPED: user-mode Linux has no 32-bit processes"
  exit 0
fi
"$1" "$(node_of "$(card 0)")" || fail "check $?"
