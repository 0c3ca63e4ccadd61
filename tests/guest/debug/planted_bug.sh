#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# planted_bug.sh MODULE BUG: the kernel's log is what counts.
. tests/guest/cases/common.sh
case "$2" in
  race | barrier) detector=kcsan ;;
  *) detector=kmemleak ;;
esac
[ -e "/sys/kernel/debug/$detector" ] || fail "this is not the debug kernel with $detector"
if insmod "$1" "bug=$2" 2>/dev/null; then fail "it loads"; fi
[ "$2" != leak ] || {
  sleep 6
  echo scan >/sys/kernel/debug/kmemleak
  echo scan >/sys/kernel/debug/kmemleak
  grep -A 20 'size 123\|size 128' /sys/kernel/debug/kmemleak || fail "kmemleak does not show it"
  echo clear >/sys/kernel/debug/kmemleak
}
