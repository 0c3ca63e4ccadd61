#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The module goes, with cards in all states, and comes again.
. tests/guest/cases/common.sh
module="$1"
for round in 1 2 3; do
  rmmod heddle
  [ "$(ls /dev/dri 2>/dev/null | grep -c renderD)" = 0 ] || fail "round $round: nodes stay: $(ls /dev/dri)"
  insmod "$module"
  nodes() { [ "$(ls /dev/dri | grep -c renderD)" = 2 ]; }
  until_true 5 nodes || fail "round $round: nodes are missing"
done
