#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests of kernel_module.bzl:
#   kernel_module_test.sh sparse|kernel KERNEL.TXT MODULE FINDINGS [NEEDS]
#   kernel_module_test.sh checkpatch KERNEL.TXT SOURCE...
set -euo pipefail
what=$1 info=$2
shift 2
reason="$(sed -n 's/^absent=//p' "$info")"
if [[ -n "$reason" ]]; then
  echo "SKIPPED: $reason"
  exit 0
fi
case "$what" in
  sparse)
    if [[ -s "$2" ]]; then
      cat "$2"
      exit 1
    fi
    ;;
  kernel)
    wanted="$(sed -n 's/^release=//p' "$info")"
    if [[ -n "${3:-}" && ! -s "$1" ]]; then
      echo "$3 is off in $wanted: it was compiled and checked, and there is no module"
      exit 0
    fi
    magic="$(/sbin/modinfo -F vermagic "$1")"
    [[ "${magic%% *}" == "$wanted" ]] || {
      echo "$1 is for '$magic', not for $wanted"
      exit 1
    }
    ;;
  checkpatch)
    tool=../guest_kernel/checkpatch/checkpatch.pl
    [[ -f "$tool" ]] || {
      echo "SKIPPED: no checkpatch.pl: apt has no linux-source of this kernel"
      exit 0
    }
    sources=()
    for source in "$@"; do
      case "$source" in
        */generated/*) ;;
        *.c | *.h) sources+=("$source") ;;
      esac
    done
    # STATIC_CONST_CHAR_ARRAY: takes the environment of an event, which is written, for a table.
    HOME=/nonexistent perl "$tool" --no-tree --terse --no-summary --max-line-length=100 \
      --ignore STATIC_CONST_CHAR_ARRAY -f "${sources[@]}"
    echo "${#sources[@]} files"
    ;;
  *) exit 2 ;;
esac
