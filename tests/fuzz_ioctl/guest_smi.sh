#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# heddle-smi with heddle.ko: the card, a process that uses it, and the doctor.
. tests/guest/cases/common.sh
smi() { tools/heddle-smi/heddle-smi "$@" >/tmp/out 2>&1; }
has() { grep -q -- "$1" /tmp/out || fail "no '$1' in: $(cat /tmp/out)"; }

smi || fail "list: $(cat /tmp/out)"
has '^drm:/dev/\(accel/accel\|dri/renderD\)'
has ' h256 .* 0000:'
# A process that only holds the node open is a client.
node="$(node_of "$(card 0)")"
sleep 30 3<>"$node" &
holder=$!
smi --json || fail "JSON: $(cat /tmp/out)"
has "\"pid\":$holder,\"name\":\"sleep\",\"client\":"
has '"engine_ns":{"npu":'
has '"memory_bytes":{"device":0,"memory":0}'
kill "$holder"
wait "$holder" || true
smi --json || fail "JSON: $(cat /tmp/out)"
! grep -q '"name":"sleep"' /tmp/out || fail "the client stays: $(cat /tmp/out)"
# Jobs are counted.
HEDDLE_DEVICE="drm:$node" tools/demo/digits-demo tools/demo/digits >/tmp/out 2>&1 ||
  fail "demo: $(cat /tmp/out)"
smi --json || fail "JSON: $(cat /tmp/out)"
! grep -q '"jobs":0,"queued"' /tmp/out || fail "no jobs: $(cat /tmp/out)"
has '"used_bytes":0'

# Nothing that the doctor says of the kernel's side is a problem; the library is not installed here.
smi doctor || true
has '^ok       PCI device: 0000:'
has '^ok       module: heddle.ko is loaded'
has "^ok       node: $node"
has '^ok       rights: '
has "^ok       interface: $node speaks version 1"
has '^ok       interrupts: [1-9]'
# Without a driver at the card.
address="$(basename "$(card 0)")"
echo "$address" >"/sys/bus/pci/devices/$address/driver/unbind"
smi doctor && fail "a card without a driver is no problem"
has '^problem  driver: .* has no driver'
# What the doctor advises is done word for word, and the card is back.
sudo() { "$@"; }
advice() { sed -n "/^problem  $1: /{n;s/^ *-> //p;}" /tmp/out; }
cured() {
  until_true 5 node_count 1 || fail "no node after: $1"
  smi doctor || true
  has "^ok       interface: $(nodes) speaks version 1"
}
cure="$(advice driver)"
cure="${cure#*retry with: }"
eval "$cure" || fail "advice: $cure"
cured "$cure"
# Removed, as far as the kernel knows.
echo 1 >"/sys/bus/pci/devices/$address/remove"
smi doctor && fail "no card is no problem"
cure="$(advice 'PCI device')"
cure="${cure#*if it was present before: }"
cure="${cure%%)*}"
eval "$cure" || fail "advice: $cure"
cured "$cure"
# Taken by another driver, which gives it up.
if [ -d /sys/bus/pci/drivers/pci-stub ] || modprobe pci-stub 2>/dev/null; then
  echo pci-stub >"/sys/bus/pci/devices/$address/driver_override"
  echo "$address" >"/sys/bus/pci/devices/$address/driver/unbind"
  echo "$address" >/sys/bus/pci/drivers_probe
  smi doctor && fail "a card of another driver is no problem"
  has '^problem  driver: .* is bound to the driver pci-stub'
  cure="$(advice driver)"
  eval "$cure" || fail "advice: $cure"
  cured "$cure"
else
  echo "not tried, there is no pci-stub: a card of another driver"
fi
smi || fail "list: $(cat /tmp/out)"
