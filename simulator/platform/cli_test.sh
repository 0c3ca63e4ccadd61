#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-sim as a program: exit codes, and what it says of a wrong command line.
set -euo pipefail
sim=$PWD/$1
folder=$(mktemp -d)
card=
# shellcheck disable=SC2317
finish() {
  [[ -z $card ]] || kill -9 "$card" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT
cd "$folder"

fail() { echo "FAILED: $*" >&2; cat out err >&2; exit 1; }
# expect CODE ARGS...
expect() {
  local want=$1 have=0
  shift
  timeout 60 "$sim" "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*"
}
# usage TEXT ARGS...: refused, with these words and the way to --help.
usage() {
  local text=$1
  shift
  expect 2 "$@"
  grep -q -- "^heddle-sim: error: .*$text" err || fail "no '$text': $*"
  grep -q '^heddle-sim --help lists all options.$' err || fail "no way out: $*"
}

expect 0 --help
grep -q '^Exit codes: 0 success, 1 failure' out || fail "--help lists no exit codes"
usage '--socket PATH is missing'
usage '--config h999: .*h256' --socket s --config h999
usage '--core slow: give fast' --socket s --core slow
usage '--serial: .*0x' --socket s --serial x
usage '--memory: ' --socket s --memory lots
usage 'give 64M to 4096M, in steps of 4K$' --socket s --memory 10M
usage '--hw-version two' --socket s --hw-version two
usage 'only --core rtl has waveforms' --socket s --trace t
usage 'either --qemu or --uml' --socket s --qemu --uml
usage '200' --socket "$(printf '%0200d' 0)"
usage "unknown option '--memroy'; did you mean --memory" --socket s --memroy 64M
usage '--config h999' selftest --config h999
usage '--control' ctl status
expect 3 ctl --control none status
expect 1 --socket /nowhere/at/all
"$sim" --socket s --control c --memory 64M >ready 2>&1 &
card=$!
for _ in $(seq 300); do
  grep -q ready ready && break
  sleep 0.05
done
expect 0 ctl --control c status
# wrong TEXT WORDS...: refused by the simulator, with these words.
wrong() {
  local text=$1
  shift
  expect 1 ctl --control c "$@"
  grep -qF -- "\"error\":\"$text\"" out || fail "no '$text': $*"
}
wrong "'zzz' is not a command: give status, unplug, plug, memory, fault, quit" zzz
wrong "'statsu' is not a command; did you mean status?" statsu
wrong "'plugg' is not a command; did you mean plug?" plugg
wrong "'no_such' is not a fault: see \`heddle-sim --help\` for the list" fault no_such
wrong "'bitflip' is not a fault; did you mean bit_flip?" fault bitflip
wrong "'link_upp' is not a fault; did you mean link_up?" fault link_upp
expect 1 --socket s
grep -q 'give another path' err || fail "a socket in use"
expect 0 ctl --control c quit
wait "$card" || fail "it was asked to quit"
card=
echo "heddle-sim: fine"
