# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Sourced by the cases of cards_test.
set -eu

fail() {
  echo "FAILED: $*"
  exit 1
}

# The folders of the cards in sysfs, in the order of the slots.
cards() {
  for device in /sys/bus/pci/devices/*; do
    read -r vendor <"$device/vendor"
    read -r id <"$device/device"
    [ "$vendor:$id" != 0x1234:0x4e50 ] || echo "$device"
  done
}

card() { cards | sed -n "$(($1 + 1))p"; }

# seconds NUMBER: so many, or more where the machine is slow or busy.
seconds() { awk "BEGIN { print int($1 * ${HEDDLE_TEST_TIME_FACTOR:-1} + 0.999) }"; }

# until_true SECONDS COMMAND...: repeats it until it succeeds.
until_true() {
  tries=$(($(seconds "$1") * 50))
  shift
  until "$@"; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || return 1
    sleep 0.02
  done
}

# The driver's attributes appear when its probe has succeeded.
bound() { [ -e "$1/heddle_id" ]; }

# node_of CARD_FOLDER: its node; nothing when it has none.
node_of() {
  find "$1/drm" -maxdepth 1 -name 'renderD*' 2>/dev/null | sed 's,.*/,/dev/dri/,'
  find "$1/accel" -maxdepth 1 -name 'accel[0-9]*' 2>/dev/null | sed 's,.*/,/dev/accel/,'
}

# The nodes that there are: accel nodes where the kernel has them, else render nodes.
nodes() { find /dev/accel /dev/dri -name 'accel[0-9]*' -o -name 'renderD*' 2>/dev/null; }
node_count() { [ "$(nodes | wc -l)" = "$1" ]; }
