#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-timing and heddle-run --cycles exact: the cycles are those of the RTL card, for other inputs,
# and whatever does not fit is refused in one line with the command that helps.
set -euo pipefail
timing=$PWD/$1 compile=$PWD/$2 run=$PWD/$3 compare=$PWD/$4
model=$PWD/tools/demo/digits/digits_int8.onnx
images=$PWD/tools/demo/digits/digits_test.u8
export HEDDLE_BIN_DIR=$PWD/kmd/hosted:$PWD/simulator/platform HEDDLE_DEVICE=sim
export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1  # of tests/support/onnx_writer.py
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"

fail() { echo "FAILED: $*" >&2; cat out err >&2; exit 1; }
# expect CODE COMMAND...
expect() {
  local want=$1 have=0
  shift
  "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*"
}
# refused TEXT COMMAND...: one line with this text.
refused() {
  local text=$1
  shift
  expect 1 "$@"
  [[ $(wc -l <err) == 1 ]] || fail "more than one line: $*"
  grep -qF -- "$text" err || fail "not said: $text"
}

"$compile" "$model" -o m.hpk
refused "the package has no timing record 'm.timing'; make it with: heddle-timing m.hpk" \
  "$run" --cycles exact m.hpk
expect 0 "$timing" m.hpk
[[ -s m.timing ]] || fail "no record"
time="[0-9.]+ ms, [0-9.]+ per second at 1000 MHz"
grep -Eq " commands in [0-9]+ cycles \($time\), [0-9]+ with the copies of the job \($time\)$" out ||
  fail "no time: $(cat out)"
expect 0 "$timing" --progress m.hpk
cp m.timing again
expect 0 "$timing" m.hpk
cmp m.timing again || fail "two records differ"

# The functional card with one input, the RTL card with another.
expect 0 "$run" m.hpk --core rtl --json --images "$images" --dims 1,28,28 --limit 1
mv out rtl.json
expect 0 "$run" m.hpk --json --layers
mv out estimated.json
expect 0 "$run" m.hpk --cycles exact --json --layers --commands
python3 - <<'PY' || fail "JSON"
import json
exact, estimated, rtl = (json.load(open(f)) for f in ("out", "estimated.json", "rtl.json"))
assert exact["core"] == "functional" and rtl["core"] == "rtl"
assert rtl["cycles_source"] == "counted" and exact["cycles_source"] == "recorded"
assert estimated["cycles_source"] == "estimated" and estimated["cycles_estimated"]
assert not exact["cycles_estimated"]
# With the copies: as the card counts them.
assert exact["job_cycles"] == rtl["cycles"] > exact["cycles"]
assert "job_cycles" not in rtl and "job_cycles" not in estimated
# The estimate is near, and something else.
assert exact["cycles"] != estimated["cycles"]
assert 0.8 < exact["cycles"] / estimated["cycles"] < 1.25
layers = exact["layers"]
assert len(layers) == len(estimated["layers"]) > 3
assert sum(l["recorded_cycles"] for l in layers) == exact["cycles"]
assert all("recorded_cycles" not in l for l in estimated["layers"])
commands = exact["commands_in_time"]
assert 10 < len(commands) < exact["commands"] + 1
assert all(0 <= c["begin"] <= c["end"] < exact["cycles"] for c in commands)
assert {"load", "store", "matrix"} <= {c["engine"] for c in commands}
assert max(c["end"] for c in commands) > 0.9 * exact["cycles"]
PY
# Every command as the record has it. (The job is longer by what the trace writes.)
expect 0 "$run" m.hpk --core rtl --trace rtl.trace
expect 0 "$run" m.hpk --cycles exact --trace exact.trace
grep -q '^trace .* (exact, recorded on RTL; a record has no stalls)$' out || fail "trace is not marked"
expect 0 "$compare" rtl.trace exact.trace
grep -q ' commands, times counted and recorded: 0 differ$' out || fail "traces are not compared"
sed 's/"end":\([0-9]*\)\([0-9]\)/"end":\1\2\2/' exact.trace >other.trace
expect 1 "$compare" rtl.trace other.trace
expect 0 "$run" m.hpk --cycles exact --layers --commands --bench 2
grep -q '^cycles .* (exact, recorded on RTL) of the commands' out || fail "not marked as exact"
grep -q '^\* exact, recorded on RTL; ms at 1000 MHz$' out || fail "layers are not marked"
grep -Eq '^job .* \(exact, recorded on RTL\): [0-9.]+ ms, [0-9.]+ per second at 1000 MHz$' out ||
  fail "no cycles of the job, or no time"
! grep -q 'estimated' out || fail "estimates among exact cycles"
expect 0 "$run" m.hpk --cycles estimated --layers
grep -q '^cycles .* (estimated) of the commands' out || fail "not marked as estimated"

# What is not exact is refused.
refused "omit the option" "$run" m.hpk --cycles exact --core rtl
refused "which counts no cycles" "$run" m.hpk --cycles exact --device null
expect 2 "$run" "$model" --cycles exact
grep -q 'heddle-timing' err || fail "no way out for a model"
expect 2 "$run" m.hpk --cycles exact --taps taps
expect 2 "$run" m.hpk --commands
expect 2 "$run" m.hpk --cycles roughly
again="make it with: heddle-timing"
"$compile" "$model" -o h512.hpk --config h512
cp m.timing h512.timing
refused "is of configuration h256, the package is for h512; $again h512.hpk" \
  "$run" h512.hpk --cycles exact --device sim:config=h512
expect 0 "$timing" h512.hpk
expect 0 "$run" h512.hpk --cycles exact --device sim:config=h512
grep -q '^cycles .* (exact, recorded on RTL) of the commands' out || fail "no exact cycles of h512"
"$compile" "$model" -o other.hpk --goal traffic --sram 64KB
cp m.timing other.timing
refused "is of another package than 'other.hpk'; $again other.hpk" "$run" other.hpk --cycles exact
# Other bytes in a file whose checksum is right.
change() {
  python3 - "$@" <<'PY'
import hashlib, sys
data = bytearray(open("m.timing", "rb").read())
data[int(sys.argv[2])] ^= 1
data[32:64] = bytes(32)
data[32:64] = hashlib.sha256(data).digest()
open(sys.argv[1], "wb").write(data)
PY
}
cp m.hpk n.hpk
change n.timing 100
refused "is of other RTL than this version's; $again n.hpk" "$run" n.hpk --cycles exact
change n.timing 144
refused "is of memories with other latencies; $again n.hpk" "$run" n.hpk --cycles exact
change n.timing 184
refused "has other commands than that of the package; $again n.hpk" "$run" n.hpk --cycles exact
head -c 300 m.timing >n.timing
refused "is damaged: it has 300 bytes, its header says" "$run" n.hpk --cycles exact
rm n.timing
mkdir n.timing
expect 1 "$run" n.hpk --cycles exact
rmdir n.timing

# A package whose time depends on indices: which commands, and no exact cycles of it.
python3 - <<'PY'
from tests.support.onnx_writer import number, tensor, text, value, write_model
table = tensor(1, [500, 24], bytes(48000), "t")
node = text(1, "t") + text(1, "i") + text(2, "y") + text(3, "rows") + text(4, "Gather")
graph = text(1, node) + text(2, "g") + text(5, table) + text(11, value("i", 6, [40])) + \
    text(12, value("y", 1, [40, 24]))
write_model("gather.onnx", graph)
PY
"$compile" gather.onnx -o gather.hpk
which="a time that depends on indices, the first is load.gather of node 'rows'"
refused "$which; those of given inputs are counted by: heddle-run --core rtl gather.hpk" \
  "$run" --cycles exact gather.hpk
expect 0 "$timing" gather.hpk
grep -q "$which" out || fail "not said what is inexact"
refused "$which" "$run" --cycles exact gather.hpk
expect 0 "$run" --core rtl gather.hpk

# Errors of heddle-timing; what it cannot write leaves nothing behind.
expect 2 "$timing"
refused "is not a package" "$timing" "$model"
refused "none.hpk" "$timing" none.hpk
head -c 2000 m.hpk >half.hpk
expect 1 "$timing" half.hpk
[[ ! -e half.timing ]] || fail "a record of half a package"
expect 0 "$timing" --version
for tool in "$timing" "$run"; do
  expect 0 "$tool" --help
  head -n 1 out | grep -q '^Example:' || fail "help does not begin with an example"
done
grep -q -- '--cycles' out || fail "--cycles is not in the help"
