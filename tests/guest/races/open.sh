#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# open.sh MODULE: the card goes while its node is being opened, which takes two seconds in this build
# of the driver (slow_open.patch); then the file is closed, and with it the last of the card.
. tests/guest/cases/common.sh
insmod "$1"
device="$(card 0)"
until_true 5 node_count 1 || fail "no node"
node="$(node_of "$device")"
sh -c 'exec 3<>"$1"' open "$node" &
opener=$!
sleep 0.5
echo "$(basename "$device")" >/sys/bus/pci/drivers/heddle/unbind
wait "$opener" || echo "open: the card is gone"
sleep 2 # for what would come later
rmmod heddle
