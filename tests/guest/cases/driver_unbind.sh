#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The eight scenarios of IGT's core_hotunplug: the driver is unbound or the device removed, idle or with
# an open node, and comes back before or after the late close. The health check is an inference.
. tests/guest/cases/common.sh
device="$(card 0)"
address="$(basename "$device")"
driver=/sys/bus/pci/drivers/heddle
demo() { HEDDLE_DEVICE=drm:serial=1 timeout "$(seconds 20)" tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1; }
healthy() { demo || fail "$scenario: $(cat /tmp/out)"; }
leave() {
  case "$1" in
    unbind) echo "$address" >"$driver/unbind" ;;
    unplug) echo 1 >"$device/remove" ;;
  esac
  node_count 1 || fail "$scenario: the node stays: $(nodes)"
}
come() {
  case "$1" in
    unbind) echo "$address" >"$driver/bind" ;;
    unplug) echo 1 >/sys/bus/pci/rescan ;;
  esac
  until_true 5 node_count 2 || fail "$scenario: no node"
}
for how in unbind unplug; do
  # Nobody has it open.
  scenario="$how, idle"
  healthy
  leave "$how"
  come "$how"
  healthy
  # Open while it leaves; closed before it comes back.
  scenario="$how, open"
  exec 3<>"$(node_of "$device")"
  leave "$how"
  exec 3>&-
  come "$how"
  healthy
  # Open all the time, closed by nobody but the end.
  scenario="$how, open across the return"
  exec 4<>"$(node_of "$device")"
  leave "$how"
  come "$how"
  healthy
  exec 4>&-
  # The late close comes when the next owner works, and changes nothing.
  scenario="$how, late close"
  exec 5<>"$(node_of "$device")"
  leave "$how"
  come "$how"
  exec 5>&-
  healthy
done
