#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a fuzz target over files, one by one, so that the log names the culprit.
# Arguments: the target's quick test, files.
set -euo pipefail
target="$1"
shift
failed=0
for file in "$@"; do
  status=0
  "$target" 0 "$file" >"$TEST_TMPDIR/log" 2>&1 || status=$?
  if [[ "$status" != 0 ]]; then
    echo "FAILED (exit code $status): $file"
    cat "$TEST_TMPDIR/log"
    failed=1
  fi
done
echo "$# files"
exit "$failed"
