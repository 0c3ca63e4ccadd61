#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-smi as a program: exit codes and output, with a card of heddle-hosted.
set -euo pipefail
smi=$PWD/$1 hosted=$PWD/$2 sim=$PWD/$3
folder=$(mktemp -d)
unset HEDDLE_DEVICE
processes=()
# shellcheck disable=SC2317
finish() {
  for process in "${processes[@]}"; do kill -9 "$process" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"

fail() { echo "FAILED: $*" >&2; cat out err >&2; exit 1; }
# expect CODE ARGS...
expect() {
  local want=$1 have=0
  shift
  "$smi" "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*"
}
has() { grep -q -- "$1" out || fail "no '$1'"; }

expect 0 --help
[[ $(head -1 out) == Example:* ]] || fail "--help begins otherwise"
expect 0 --version
expect 2 --colour
expect 2 docter
grep -q "did you mean doctor" err || fail "nearest name"
expect 2 --watch 0
expect 2 --watch nan
expect 2 --count 3
expect 2 --device gpu
expect 2 --device sim
expect 3 --device hosted:"$folder/none"
has 'heddle-smi doctor'

"$sim" --socket card --config h512 --memory 64M --serial 9 >/dev/null 2>&1 &
processes+=($!)
"$hosted" --socket hosted --card card --log warn &
processes+=($!)
for _ in $(seq 200); do
  "$smi" --device hosted:hosted >/dev/null 2>&1 && break
  sleep 0.05
done
expect 0 --device hosted:hosted
has 'hosted:hosted#0 .*h512 .*functional'
code=0
"$hosted" --socket hosted --card card >out 2>err || code=$?
[[ $code == 3 ]] && grep -q "^heddle-hosted: error: socket 'hosted' is in use" err || fail "a socket in use: $code"
HEDDLE_DEVICE=hosted:hosted expect 0 --json
python3 - <<'PY' || fail "JSON"
import json
view = json.load(open('out'))
card, = view['cards']
assert card['id'] == 'hosted:hosted#0' and card['serial'] == 9, card
assert card['error'] is None and card['pci'] is None, card
assert 0 < card['memory']['total_bytes'] <= 64 << 20, card
assert card['counters']['jobs'] == 0, card
PY
expect 0 --device hosted:hosted --json --watch 0.05 --count 3
[[ $(wc -l <out) == 3 ]] || fail "three lines of JSON"
mkdir empty
expect 1 doctor --root empty
has '^problem  PCI device: '
has ' -> '
# What the doctor advises is done word for word, and the problem is gone.
# cure CHECK: the advice of that problem, in `advice`.
cure() {
  "$smi" doctor >out 2>err && fail "no problem of $1"
  advice=$(grep -A1 "^problem  $1: " out | sed -n 's/^ *-> //p')
  [[ -n "$advice" ]] || fail "no advice for $1"
}
PATH="$(dirname "$smi"):$(dirname "$hosted"):$(dirname "$sim"):$PATH"
HEDDLE_DEVICE=gpu cure HEDDLE_DEVICE
[[ "$advice" == "unset HEDDLE_DEVICE" ]] || fail "advice: $advice"
(export HEDDLE_DEVICE=gpu && eval "$advice" && ! "$smi" doctor | grep -q '^problem  HEDDLE_DEVICE') || fail "$advice"
export HEDDLE_DEVICE=hosted:$folder/cured
cure heddle-hosted # there is no socket
[[ "$advice" == "start it: heddle-hosted --socket $folder/cured --card CARD_SOCKET" ]] || fail "advice: $advice"
start=${advice#start it: }
eval "${start/CARD_SOCKET/card_of_cure} &" 2>/dev/null
server=$!
processes+=("$server")
until [[ -S cured ]]; do sleep 0.05; done
cure heddle-hosted # it has no card
[[ "$advice" == "start a card: heddle-sim --socket CARD_SOCKET, "* ]] || fail "advice: $advice"
start=${advice#start a card: }
start=${start%%,*}
eval "${start/CARD_SOCKET/card_of_cure --control control_of_cure} &" >/dev/null 2>&1
processes+=($!)
fine() { "$smi" doctor >out 2>err || true; ! grep -q '^problem  heddle-hosted' out; }
for _ in $(seq 200); do fine && break; sleep 0.05; done
fine || fail "a card was started as advised"
heddle-sim ctl --control control_of_cure unplug
for _ in $(seq 200); do fine || break; sleep 0.05; done
cure heddle-hosted # its card is unplugged
eval "$(sed 's/.*plug it in again: //; s/CONTROL/control_of_cure/' <<<"$advice")"
for _ in $(seq 200); do fine && break; sleep 0.05; done
fine || fail "the card was plugged in as advised: $advice"
kill -9 "$server"
wait "$server" 2>/dev/null || true
cure heddle-hosted # nobody is behind the socket
[[ "$advice" == "restart heddle-hosted, or remove '$folder/cured'" ]] || fail "advice: $advice"
heddle-hosted --socket cured --card card_of_cure 2>/dev/null &
processes+=($!)
for _ in $(seq 200); do fine && break; sleep 0.05; done
fine || fail "heddle-hosted was started again as advised"
unset HEDDLE_DEVICE
LD_LIBRARY_PATH='' cure library
[[ "$advice" == *"LD_LIBRARY_PATH=FOLDER"* ]] || fail "advice: $advice"
mkdir lib && touch lib/libonnxifi-heddle.so
LD_LIBRARY_PATH=lib "$smi" doctor >out || true
has '^ok       library: lib/'
# A machine without a card on which one can be simulated is in order.
if ! grep -qsx 0x4e50 /sys/bus/pci/devices/*/device; then
  HEDDLE_BIN_DIR="$(dirname "$hosted"):$(dirname "$sim")" LD_LIBRARY_PATH=lib expect 0 doctor
  has '^note     PCI device: '
  HEDDLE_BIN_DIR=/nowhere LD_LIBRARY_PATH=lib "$smi" doctor >out 2>err || true
  grep -q '^problem  simulation: ' out || [[ -S /run/heddle/hosted.sock || -e /usr/bin/heddle-sim ]] ||
    fail "no card, and nothing that simulates one"
fi
expect 1 doctor --root empty --json
python3 -c "import json; json.load(open('out'))" || fail "JSON of doctor"
expect 2 doctor --root nowhere
HEDDLE_DEVICE=hosted:hosted "$smi" doctor >out 2>err || true
has "^ok       heddle-hosted: runs at 'hosted', cards: 1"
# The card goes while it is looked at.
kill -9 "${processes[0]}"
for _ in $(seq 200); do
  "$smi" --device hosted:hosted >/dev/null 2>&1 || break
  sleep 0.05
done
expect 3 --device hosted:hosted
echo "heddle-smi: fine"
