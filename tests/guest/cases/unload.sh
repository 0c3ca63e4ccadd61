#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The module goes, when jobs have run, and comes again; while a node is open it stays.
. tests/guest/cases/common.sh
module="$1"
for round in 1 2 3; do
  # The fences of its jobs go first, after a grace period.
  until_true 10 rmmod heddle 2>/dev/null || fail "round $round: it stays"
  node_count 0 || fail "round $round: nodes stay: $(nodes)"
  insmod "$module"
  until_true 5 node_count 2 || fail "round $round: nodes are missing"
done
exec 3<>"$(node_of "$(card 0)")"
if rmmod heddle 2>/dev/null; then fail "unloaded while a node is open"; fi
exec 3>&-
