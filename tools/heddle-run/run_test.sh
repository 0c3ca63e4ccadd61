#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-run with the shipped digit models on a simulated card: values, exit
# codes, keys.
set -euo pipefail
run=$PWD/$1 compile=$PWD/$2
digits=$PWD/tools/demo/digits
export HEDDLE_BIN_DIR=$PWD/kmd/hosted:$PWD/simulator/platform
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"

fail() { echo "FAILED: $*" >&2; cat out err >&2; exit 1; }
# expect CODE ARGS...
expect() {
  local want=$1 have=0
  shift
  "$run" "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*"
}

int8=$digits/digits_int8.onnx
# Random inputs, and the warning that the card is simulated.
HEDDLE_DEVICE='' expect 0 "$int8"
grep -q '^MACs  ' out || fail "no MACs"
grep -q 'simulated' err || [[ -S /run/heddle/hosted.sock ]] || fail "no warning"
export HEDDLE_DEVICE=sim
expect 0 "$int8" --images "$digits/digits_test.u8" --labels "$digits/digits_test.i32" \
  --dims 1,28,28 --limit 50
grep -q 'top-1 50 (100.00 %)' out || fail "top-1"
# A package and another configuration.
"$compile" "$int8" -o h512.hpk --config h512
expect 3 h512.hpk
expect 0 h512.hpk --device sim:config=h512 --json --bench 3 --layers
python3 - <<'PY' || fail "JSON"
import json
r = json.load(open("out"))
assert r["schema"] == "heddle-run/1" and r["config"] == "h512" and r["simulated"]
assert r["bench"]["runs"] == 3 and r["layers"] and r["macs"] > 0
assert r["outputs"][0]["shape"] == [1, 10]
PY
# A data set made of its own output, and one that differs.
expect 0 "$int8" --taps taps
ls taps/*.pb >/dev/null || fail "no taps"
python3 - "$digits" <<'PY'
import os, struct, sys
def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128]); n >>= 7
    return out + bytes([n])
def tensor(dims, raw):  # onnx.TensorProto: dims = 1, data_type = 2, raw_data = 9
    return (b"".join(b"\x08" + varint(d) for d in dims) + b"\x10\x01"
            + b"\x4a" + varint(len(raw)) + raw)
image = open(sys.argv[1] + "/digits_test.u8", "rb").read(784)
logits = open(sys.argv[1] + "/digits_int8_logits.f32", "rb").read(40)
for name in ("good", "bad"):
    os.mkdir(name)
    pixels = struct.pack("<784f", *[b / 255 for b in image])
    open(name + "/input_0.pb", "wb").write(tensor([1, 1, 28, 28], pixels))
    values = list(struct.unpack("<10f", logits))
    if name == "bad":
        values[3] += 1000
    open(name + "/output_0.pb", "wb").write(tensor([1, 10], struct.pack("<10f", *values)))
PY
expect 0 "$int8" --data good --check --exact
grep -q "output 'logits'  matches, max error 0" out || fail "no match"
expect 5 "$int8" --data bad --check
grep -q 'first at 3' out || fail "first difference"
# Errors.
expect 2
expect 2 "$int8" --check
expect 2 "$int8" --shape x
expect 1 none.onnx
expect 1 "$int8" --data none
head -c 500 "$int8" >bad.onnx
expect 4 bad.onnx
expect 3 "$int8" --device none
expect 3 "$int8" --device hosted:/none
expect 1 "$int8" --device gpu
expect 0 --version
expect 0 --help
head -n 1 out | grep -q '^Example:' || fail "help does not begin with an example"
