#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# /proc/PID/fdinfo has the keys of the kernel's Documentation/gpu/drm-usage-stats.rst, each in its form:
# those of all drivers begin with drm-, those of this one with its name.
. tests/guest/cases/common.sh
device="$(card 0)"
exec 3<>"$(node_of "$device")"
sed -n '/^\(drm\|heddle\)-/p' "/proc/$$/fdinfo/3" >/tmp/fdinfo
tab="$(printf '\t')"
set -- drm-driver heddle drm-client-id '[0-9]+' drm-pdev "$(basename "$device")" drm-engine-npu '[0-9]+ ns' \
  drm-total-device '[0-9]+ KiB' drm-memory-device '[0-9]+ KiB' \
  drm-total-memory '[0-9]+ KiB' drm-memory-memory '[0-9]+ KiB' heddle-jobs '[0-9]+'
count=0
while [ $# -gt 0 ]; do
  grep -qE "^$1:$tab$2\$" /tmp/fdinfo || fail "no '$1: $2' in: $(cat /tmp/fdinfo)"
  count=$((count + 1))
  shift 2
done
[ "$(wc -l </tmp/fdinfo)" = "$count" ] || fail "there is more than $count lines: $(cat /tmp/fdinfo)"
exec 3>&-
