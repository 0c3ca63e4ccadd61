#!/run/bin/sh
# SPDX-License-Identifier: Apache-2.0
# heddle-smi with heddle.ko: the card, a process that uses it, and what the doctor says when nothing is wrong
# (tests/guest/cases/doctor.sh: when something is).
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
smi || fail "list: $(cat /tmp/out)"
