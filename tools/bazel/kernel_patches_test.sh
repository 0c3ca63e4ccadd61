#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Usage: kernel_patches_test.sh PATCH[:PATCH...] ...
# Each argument is a variant of the driver: its patches apply, one after the other and without
# fuzz, to the sources, which lie below kmd/ in the current folder.
set -euo pipefail

[[ $# -gt 0 ]] || { echo "no variant to try" >&2; exit 1; }
failures=0
for variant in "$@"; do
  work=$(mktemp -d "$TEST_TMPDIR/XXXXXX")
  cp -rL kmd "$work/"
  chmod -R u+w "$work"
  IFS=: read -ra patches <<<"$variant"
  for patch in "${patches[@]}"; do
    if ! patch --quiet --strip=1 --fuzz=0 --directory="$work" <"$patch"; then
      echo "$patch does not apply to the driver any more; edit it" >&2
      failures=$((failures + 1))
      break
    fi
  done
  rm -rf "$work"
done
echo "$# variants, $failures of them cannot be made"
[[ $failures -eq 0 ]]
