#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# doctor.sh MODULE: what `heddle-smi doctor` advises is done word for word, and it finds nothing wrong any more: for
# every state of module, cards and nodes that can be brought about here. MODULE is heddle.ko.
#
# The guest is given what a machine has: Heddle in a folder named PREFIX, as the advice has it, and modules of its kernel.
. tests/guest/cases/common.sh
box=/tmp/doctor
release="$(uname -r)"
modules="/lib/modules/$release"
module="$(readlink -f "$1")"
stock="$(sed -n 's/^path=//p' ../guest_kernel/kernel.txt)/root"
prefix="$box/PREFIX"
driver="$prefix/share/heddle/driver/kmd"
mkdir -p "$prefix/bin" "$prefix/lib/udev/rules.d" "$driver/udev"
cp tools/heddle-smi/heddle-smi "$prefix/bin/"
touch "$prefix/lib/libonnxifi-heddle.so"
cp kmd/Makefile "$driver/"
cp kmd/udev/60-heddle.rules "$driver/udev/"
cp kmd/udev/60-heddle.rules "$prefix/lib/udev/rules.d/"
cd "$box" || exit
# The system's programs, not busybox's of the same names.
sudo() { /usr/bin/env "$@"; }
as=
not_tried() { echo "not tried, there is no $1"; }

# $as runs it as another user. Fails if there is a problem.
# shellcheck disable=SC2086
doctor() { $as "$prefix/bin/heddle-smi" doctor >"$box/out" 2>&1; }
# finds LEVEL CHECK TEXT: the first such finding; its advice is in $advice.
finds() {
  doctor || [ "$1" = problem ] || fail "a problem: $(cat out)"
  advice="$(awk -v begin="$1  " -v check="$2: " -v text="$3" '
    found { sub(/^ *-> /, ""); print; exit }
    index($0, begin) == 1 && index($0, check) && index($0, text) { found = 1 }' out)"
  [ -n "$advice" ] || fail "no advice for $1 $2 '$3' in: $(cat out)"
}
# cure AFTER BEFORE: does what the advice says between these words; none: from its beginning, to its end.
cure() {
  text="$advice"
  if [ -n "$1" ]; then
    case "$text" in *"$1"*) text="${text#*"$1"}" ;; *) fail "no '$1' in: $advice" ;; esac
  fi
  if [ -n "$2" ]; then
    case "$text" in *"$2"*) text="${text%%"$2"*}" ;; *) fail "no '$2' in: $advice" ;; esac
  fi
  echo "\$ $text"
  eval "$text" >log 2>&1 || fail "exit code $?: $text: $(cat log)"
}
well() { until_true 5 doctor || fail "after '$text': $(cat out)"; }
until_true 5 doctor || fail "before anything is wrong: $(cat out)"

# The module: not installed, then not loaded. In emulation its build would take minutes (kmd's staged_driver_test has it):
# the kernel's build tree is one that has built it already.
mkdir -p /lib/modules
mount -t tmpfs none /lib/modules
mkdir -p "$modules/build"
cat >"$modules/build/Makefile" <<MAKEFILE
modules:
	cp $module \$(M)/heddle.ko
modules_install:
	install -D \$(M)/heddle.ko $modules/updates/heddle.ko
MAKEFILE
until_true 10 rmmod heddle 2>/dev/null || fail "heddle.ko stays"
finds problem module "not installed for the kernel $release"
if command -v make >/dev/null; then
  cure 'without packages: ' ', with PREFIX'
else
  not_tried "make: the module from its sources"
  cp "$module" "$modules/"
  sudo depmod -a
fi
finds problem module 'installed but not loaded'
cure '' ' (its messages: '
well
cure 'its messages: ' ')'
[ -s log ] || fail "'$text' shows nothing"

# The driver: none, none because another one is waited for, another one.
device="$(card 0)"
address="$(basename "$device")"
echo "$address" >"$device/driver/unbind"
finds problem driver "$address has no driver"
cure 'retry with: ' ''
well
echo pci-stub >"$device/driver_override"
echo "$address" >"$device/driver/unbind"
finds problem driver 'driver_override allows pci-stub'
cure '' ''
well
if cp "$stock$modules/kernel/drivers/pci"/pci-stub.ko* "$modules/" 2>/dev/null; then
  sudo depmod -a 2>log
  sudo modprobe pci-stub
fi
if [ -d /sys/bus/pci/drivers/pci-stub ]; then
  echo pci-stub >"$device/driver_override"
  echo "$address" >"$device/driver/unbind"
  echo "$address" >/sys/bus/pci/drivers_probe
  finds problem driver "$address is bound to the driver pci-stub"
  cure '' ''
  well
else
  not_tried "pci-stub: a card of another driver"
fi
echo >"$device/driver_override"

# The cards: gone, as far as the kernel knows.
for device in $(cards); do echo 1 >"$device/remove"; done
finds problem 'PCI device' 'no device'
cure 'if it was present before: ' ');'
well
node_count 2 || fail "nodes after '$text': $(nodes)"
if command -v lspci >/dev/null; then
  cure 'insert the card (' ' shows it'
  [ "$(wc -l <log)" = 2 ] || fail "'$text' shows: $(cat log)"
else
  not_tried "lspci: how a card is seen"
fi

# A card that does not respond, and is then reseated.
device="$(card 1)"
address="$(basename "$device")"
heddle-host kill 1
if [ -d /sys/module/virtio_uml ]; then # user-mode Linux empties the slot by itself
  slot_is_empty() { [ ! -e "$device" ]; }
  until_true 5 slot_is_empty || fail "$address is still there"
  not_tried "dead card in its slot: how it comes back"
  advice=
else
  finds problem 'PCI device' "$address does not respond"
fi
heddle-host unplug 1
heddle-host plug 1 --memory 64M --serial 2
until_true 5 node_count 2 || fail "no node"
[ -z "$advice" ] || cure 'card, then: ' ''
well
node_count 2 || fail "nodes after '$text': $(nodes)"

# The node: not there, or not the one that is asked for.
rm "$(node_of "$(card 0)")"
finds problem node 'does not exist'
cure 'makes it again: ' ''
well
export HEDDLE_DEVICE=drm:renderD191
finds problem HEDDLE_DEVICE 'asks for /dev/dri/renderD191, which is no card'
cure '' ''
well
unset HEDDLE_DEVICE

# The right to open it: nobody's without a udev rule, then the group's, which the user joins.
node="$(node_of "$(card 0)")"
other="$(node_of "$(card 1)")"
grep -q '^render:' /etc/group || groupadd --system render
useradd -M -U carol
USER=carol
as="/usr/bin/setpriv --reuid carol --regid carol --init-groups"
udevd=/lib/systemd/systemd-udevd
chown root:root "$node" "$other"
chmod 600 "$node"
chmod 666 "$other"
finds problem rights "may not open $node"
cure 'without packages: ' '), then: '
if [ -x "$udevd" ] && "$udevd" --daemon; then
  cure 'then: ' ''
  may() { [ "$(stat -c '%G %a' "$1")" = 'render 660' ]; }
  until_true 5 may "$node" || fail "after '$text': $(ls -l "$node")"
  as=
  finds note rights "every user may open $other"
  cure 'then: ' ''
  until_true 5 may "$other" || fail "after '$text': $(ls -l "$other")"
  as="/usr/bin/setpriv --reuid carol --regid carol --init-groups"
  udevadm control --exit
else
  not_tried "udev: its rule"
  chgrp render "$node" "$other"
  chmod 660 "$node" "$other"
fi
finds problem rights "may not open $node (group render, mode 0660)"
cure '' ', then log in again'
well

userdel carol
umount /lib/modules
