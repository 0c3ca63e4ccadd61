#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# close.sh MODULE PROGRAM [stays]: the program closes contexts in this build of the driver
# (slow_close.patch); then nothing of theirs keeps the module, or something does.
. tests/guest/cases/common.sh
read -r release </proc/sys/kernel/osrelease
case "$release" in
  6.1.*) ;;
  *)
    echo "SKIPPED: only the scheduler of 6.1 loses a reference, this is $release"
    exit
    ;;
esac
insmod "$1"
device="$(card 0)"
until_true 5 node_count 1 || fail "no node of $device"
"$2" || fail "$2"
# What the card still does takes seconds, on a loaded machine many.
if [ "${3:-}" = stays ]; then
  ! until_true 60 rmmod heddle 2>/dev/null || fail "the module went"
else
  until_true 60 rmmod heddle 2>/dev/null || rmmod heddle
fi
