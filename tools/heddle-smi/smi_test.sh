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
