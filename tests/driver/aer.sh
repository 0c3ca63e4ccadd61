#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The port above a card reports a fatal error while a client has it open: the card is lost for the
# client, as if it had been unplugged, and computes again when it has been found anew.
. tests/guest/cases/common.sh
demo() {
  HEDDLE_DEVICE="drm:serial=$1" timeout "$(seconds 20)" tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1
}
device="$(card 1)"
demo 2 || fail "before: $(cat /tmp/out)"
exec 3<>"$(node_of "$device")"
heddle-host aer 1 DLP
lost() { dmesg | grep -q "heddle $(basename "$device"): .*the bus reports an error"; }
until_true 10 lost || fail "the driver was not told: $(dmesg | tail -20)"
! demo 2 || fail "a lost card computed"
demo 1 || fail "the other card: $(cat /tmp/out)"
exec 3>&-
# The port of this machine does not come back by itself, so the card is found anew.
echo 1 >"$device/remove"
echo 1 >/sys/bus/pci/rescan
until_true 5 node_count 2 || fail "no node"
demo 2 || fail "after: $(cat /tmp/out)"
