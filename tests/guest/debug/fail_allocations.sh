#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Allocations that may sleep can fail, too; and no report of each that was made to.
. tests/guest/cases/common.sh
for kind in failslab fail_page_alloc; do
  folder="/sys/kernel/debug/$kind"
  [ -d "$folder" ] || {
    echo "SKIPPED: this kernel has no $kind"
    exit 0
  }
  echo N >"$folder/ignore-gfp-wait"
  echo 0 >"$folder/verbose"
done
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
