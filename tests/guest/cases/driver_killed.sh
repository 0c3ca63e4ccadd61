#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The card is killed while a job is certainly on it: whoever waits learns of it at once, and does not
# hang; nor does the slot.
. tests/guest/cases/common.sh
heddle-host ctl 1 fault stuck_engine >/dev/null
HEDDLE_DEVICE=drm:serial=2 timeout "$(seconds 60)" tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1 &
demo=$!
busy() { heddle-host ctl 1 status | grep -q '"busy":true'; }
until_true 10 busy || fail "no job: $(cat /tmp/out)"
heddle-host kill 1
status=0
wait "$demo" || status=$?
[ "$status" != 0 ] || fail "a dead card computed: $(cat /tmp/out)"
[ "$status" -lt 124 ] || fail "exit code $status: $(cat /tmp/out)"
heddle-host unplug 1
node_count 1 || fail "nodes: $(nodes)"
heddle-host plug 1 --memory 64M --serial 2
until_true 5 node_count 2 || fail "no node"
HEDDLE_DEVICE=drm:serial=2 tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1 || fail "$(cat /tmp/out)"
