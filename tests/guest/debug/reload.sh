#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reload.sh MODULE COUNT: the module goes and comes; between, it computes.
. tests/guest/cases/common.sh
n=0
while [ "$n" -lt "$2" ]; do
  n=$((n + 1))
  timeout 60 tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1 || fail "round $n: $(cat /tmp/out)"
  until_true 10 rmmod heddle 2>/dev/null || fail "round $n: it stays" # its fences go first
  node_count 0 || fail "round $n: a node stays"
  insmod "$1"
  until_true 10 node_count 1 || fail "round $n: no node"
done
echo "$n reloads"
