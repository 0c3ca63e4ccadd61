#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests of kernel_module.bzl: kernel_module_test.sh sparse|kernel KERNEL.TXT MODULE FINDINGS
set -euo pipefail
what=$1 info=$2 module=$3 findings=$4
reason="$(sed -n 's/^absent=//p' "$info")"
if [[ -n "$reason" ]]; then
  echo "SKIPPED: $reason"
  exit 0
fi
case "$what" in
  sparse)
    if [[ -s "$findings" ]]; then
      cat "$findings"
      exit 1
    fi
    ;;
  kernel)
    wanted="$(sed -n 's/^release=//p' "$info")"
    magic="$(/sbin/modinfo -F vermagic "$module")"
    [[ "${magic%% *}" == "$wanted" ]] || {
      echo "$module is for '$magic', not for $wanted"
      exit 1
    }
    ;;
  *) exit 2 ;;
esac
