#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-run with the shipped digit models on a simulated card: values, exit
# codes, keys.
set -euo pipefail
run=$PWD/$1 compile=$PWD/$2
digits=$PWD/tools/demo/digits
images=$PWD/tools/heddle-run/testdata
export HEDDLE_BIN_DIR=$PWD/kmd/hosted:$PWD/simulator/platform
export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1  # of tests/support/onnx_writer.py
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"

fail() { echo "FAILED: $*" >&2; cat out err >&2; exit 1; }
# expect CODE ARGS...
expect() {
  local want=$1 have=0
  shift
  "$run" "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*"
}

int8=$digits/digits_int8.onnx fp32=$digits/digits_fp32.onnx
# Random inputs, and the warning that the card is simulated.
HEDDLE_DEVICE='' expect 0 "$int8"
grep -q '^MACs  ' out || fail "no MACs"
grep -qx 'inputs  *pseudo-random; --data, --image or --images give real ones' out || fail "not said what the inputs were"
# Whose time it is, and what the card would take for what.
grep -q '^latency .* of this machine, which simulates the card$' out || fail "the time of the simulation"
grep -Eq '^cycles +[0-9]+ \(estimated\) of the commands, without copies: [0-9.]+ ms, [0-9.]+ per second at 1000 MHz$' out ||
  fail "time at the clock: $(grep '^cycles' out)"
! grep -Eq ': 0\.00[0-9] ms|[0-9]{4}\.[0-9] per second at' out || fail "too few digits, or too many: $(grep '^cycles' out)"
grep -q 'simulated' err || [[ -S /run/heddle/hosted.sock ]] || fail "no warning"
export HEDDLE_DEVICE=sim
# What is wrong is named, with its file and what may have been meant.
: >empty.onnx
expect 4 empty.onnx
grep -q 'empty.onnx: invalid model: the file is empty' err || fail "an empty file"
echo 'no model' >text.onnx
expect 4 text.onnx
grep -q 'text.onnx: ' err || fail "the file is not named"
grep -q '; the file has 9 bytes: download it again$' err || fail "not said what to do with it"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >pointer.onnx
HEDDLE_DEVICE='' expect 4 pointer.onnx
grep -q 'download it again (a Git LFS pointer? ' err || fail "not said what it may be"
! grep -q simulated err || fail "a card was started for what is no model"
"$compile" "$int8" -o kind.hpk
cp kind.hpk kind.onnx
expect 1 kind.onnx
grep -q "'kind.onnx' is a package" err || fail "a package that is called .onnx"
cp "$int8" model.hpk && head -c 1000 kind.hpk >cut.hpk && : >empty.hpk
for file in model cut empty; do
  expect 1 "$file.hpk"
  grep -q "error: '$file.hpk': " err || fail "$file.hpk is not named"
done
# What is read is not written to.
expect 2 kind.hpk --trace kind.hpk
cmp kind.hpk kind.onnx || fail "the trace is in the package"
expect 2 kind.hpk --trace -
expect 1 kind.hpk --trace /dev/full
expect 0 kind.hpk --trace /dev/null
[[ -c /dev/null && -c /dev/full ]] || fail "a device is replaced"
mkdir set
expect 0 kind.hpk --outputs set
cp set/output_0.pb output
python3 - <<'PY'
# float[1,1,28,28]: zeros.
open("set/input_0.pb", "wb").write(bytes([8, 1, 8, 1, 8, 28, 8, 28, 16, 1, 0x4a, 0xc0, 0x18]) + bytes(3136))
PY
for more in "" --check; do
  # shellcheck disable=SC2086
  expect 2 kind.hpk --data set --outputs set $more
  grep -q 'expected outputs would be lost' err || fail "no reason"
done
cmp set/output_0.pb output || fail "expected outputs are overwritten"
rm -r set ./*.hpk kind.onnx
# One word of one card, though the layers are compared on another.
HEDDLE_DEVICE='' expect 0 "$int8" --check=layers --no-cache
[[ $(grep -c 'no Heddle card found' err) -le 1 ]] || fail "two cards are announced"
expect 2 "$int8" --benhc=3
grep -q -- "unknown option '--benhc'; did you mean --bench?" err || fail "nearest option"
! grep -q 'Give one model' err || fail "a hint that has nothing to do with it"
HEDDLE_DEVICE=gpu expect 2 "$int8"
grep -q '^heddle-run: error: HEDDLE_DEVICE: ' err || fail "a wrong HEDDLE_DEVICE"
expect 2 "$int8" --device gpu
expect 3 "$int8" --device drm:/nowhere
grep -q "error: no card at '/nowhere'" err || fail "the missing node is not named"
grep -Eq 'heddle-smi( doctor|\))|permission denied' err || fail "no way out"
expect 3 "$int8" --device sim#3
grep -q 'no card 3; there is sim#0' err || fail "the missing card is not named, or not what there is"
expect 0 "$int8" --images "$digits/digits_test.u8" --labels "$digits/digits_test.i32" \
  --dims 1,28,28 --limit 50
grep -q 'top-1 50 (100.00 %), top-5 50' out || fail "top-1"
! grep -q 'pseudo-random' out || fail "images are said to be random"
# Images: grey by itself; top 5 with names.
# Which core a simulated card has.
expect 0 "$int8" --core rtl --bench 1 --warmup 1
grep -Eq '^cycles +[0-9]+ of the job with its copies: [0-9.]+ ms, .* at 1000 MHz$' out || fail "cycles of a job"
grep -q ' per second, of the simulation$' out || fail "the rate of a simulation"
# What is expected of the job is what the RTL counts, but for a twentieth.
counted=$(sed -n 's/^cycles  *\([0-9]*\) of the job.*/\1/p' out)
expect 0 "$int8" --core fast
expected=$(sed -n 's/^job  *\([0-9]*\) cycles including copies (estimated): [0-9.]* ms, [0-9]* per second at 1000 MHz$/\1/p' out)
((expected * 20 > counted * 19 && expected * 20 < counted * 21)) || fail "the job: $expected expected, $counted counted"
expect 1 "$int8" --core fast --device null
grep -q 'not a private simulated card' err || fail "--core on a device that is not simulated"
expect 1 "$int8" --core fast --device sim:core=reference
expect 2 "$int8" --core quantum
printf '%s\n' zero one two three four five six seven eight nine >names
expect 0 "$int8" --image "$images/rgb.png" --image "$images/baseline.jpg" --labels-file names --json
python3 - <<'PY' || fail "images"
import json
r = json.load(open("out"))
assert len(r["image_files"]) == 2
assert r["pictures"] == r["image_files"]  # its name before 0.3
names = "zero one two three four five six seven eight nine".split()
for p in r["image_files"]:
    assert len(p["top"]) == 5
    assert all(t["name"] == names[t["class"]] for t in p["top"])
    values = [t["value"] for t in p["top"]]
    assert values == sorted(values, reverse=True)
PY
expect 0 "$int8" --image "$images/rgb.png" --labels-file names
grep -q 'rgb.png' out || fail "no image"
grep -q 'byte / 255' err || fail "not said what the pixels became"
expect 0 "$int8" --image "$images/rgb.png" --mean 0
! grep -q 'byte / 255' err || fail "a hint although --mean was given"
expect 1 "$int8" --image "$images/huge.png"
grep -q 'huge.png' err || fail "the file is not named"
expect 1 "$int8" --image "$images/rgb.png" --resize 28x30
grep -q -- '--crop' err || fail "no way out"
expect 1 "$int8" --image "$images/rgb.png" --channels bgr
expect 2 "$int8" --image "$images/rgb.png" --channels xyz
expect 2 "$int8" --resize 28
# Options that would have no effect.
expect 2 "$int8" --mean 0.5
expect 2 "$int8" --channels bgr
# A model whose weights are in a file beside it, read when it is compiled.
python3 -c 'from tests.support import onnx_writer; onnx_writer.write_apart("apart")'
expect 0 apart/m.onnx
rm apart/w.bin
expect 4 apart/m.onnx
# Compiled once: what was kept is what compiling gives; damage is made again.
export XDG_CACHE_HOME=$PWD/xdg
expect 0 "$int8" --outputs once
grep -q "stored in the cache '$PWD/xdg/heddle/compiled'" err || fail "not said that it is kept"
expect 0 "$int8" --outputs twice
grep -q 'using the compiled model' err || fail "not said that it was kept"
cmp once/output_0.pb twice/output_0.pb || fail "another model"
[[ $(ls xdg/heddle/compiled | wc -l) == 1 ]] || fail "one entry"
expect 0 "$int8" --no-cache
! grep -q 'cache' err || fail "--no-cache"
expect 0 "$int8" --cache other
grep -q "in the cache 'other'" err || fail "--cache"
HEDDLE_CACHE_DIR=$PWD/other expect 0 "$int8"
grep -q 'using the compiled model' err || fail "HEDDLE_CACHE_DIR"
expect 0 "$fp32"
[[ $(ls xdg/heddle/compiled | wc -l) == 2 ]] || fail "another model is another entry"
for entry in xdg/heddle/compiled/*; do
  printf 'x' | dd of="$entry" bs=1 seek=5000 conv=notrunc 2>dd.log
done
expect 0 "$int8" --outputs thrice
grep -q 'damaged' err && grep -q 'stored in the cache' err || fail "damage"
cmp once/output_0.pb thrice/output_0.pb || fail "what is damaged was used"
chmod go+w other
expect 1 "$int8" --cache other
grep -q 'chmod' err || fail "a folder that others may write"
# A package and another configuration.
"$compile" "$int8" -o h512.hpk --config h512
expect 3 h512.hpk
expect 2 h512.hpk --config h256
grep -q "'h512.hpk' is already compiled" err || fail "why --config is refused"
expect 0 h512.hpk --device sim:config=h512 --json --bench 3 --layers
python3 - <<'PY' || fail "JSON"
import json
r = json.load(open("out"))
assert r["schema"] == "heddle-run/1" and r["config"] == "h512" and r["simulated"]
assert r["bench"]["runs"] == 3 and r["bench"]["warmup"] == 1 and r["bench"]["p99_ms"] is None
assert r["bench"]["min_ms"] <= r["bench"]["median_ms"] <= r["bench"]["max_ms"]
assert r["layers"] and r["macs"] > 0
assert r["outputs"][0]["shape"] == [1, 10]
PY
# A data set made of its own output, and one that differs.
expect 0 "$int8" --taps taps --outputs outputs
ls taps/*.pb >/dev/null || fail "no taps"
[[ $(ls outputs) == output_0.pb ]] || fail "no outputs"
python3 - "$digits" <<'PY'
import os, struct, sys
from tests.support.onnx_writer import FLOAT, tensor
image = open(sys.argv[1] + "/digits_test.u8", "rb").read(784)
logits = open(sys.argv[1] + "/digits_int8_logits.f32", "rb").read(40)
for name in ("good", "bad"):
    os.mkdir(name)
    pixels = struct.pack("<784f", *[b / 255 for b in image])
    open(name + "/input_0.pb", "wb").write(tensor(FLOAT, [1, 1, 28, 28], pixels))
    values = list(struct.unpack("<10f", logits))
    if name == "bad":
        values[3] += 1000
    open(name + "/output_0.pb", "wb").write(tensor(FLOAT, [1, 10], struct.pack("<10f", *values)))
PY
expect 0 "$int8" --data good --check --exact
grep -q "output 'logits'  matches, max error 0" out || fail "no match"
! grep -q 'pseudo-random' out || fail "data are said to be random"
grep -Eq '^  quality     cosine similarity 1\.00000000, relative error 0, top-1 agrees \(class [0-9]\)$' out ||
  fail "how near a match is"
! grep -q '^  largest' out || fail "differences of equal outputs"
expect 5 "$int8" --data bad --check
grep -q '1 element differs, first at \[0,3\]: ' out || fail "first difference"
grep -Eq '^  quality     cosine similarity .*, top-1 DIFFERS \(class [0-9], expected 3\)$' out || fail "top-1"
grep -Eq '^  largest     \[0,3\]: .*, off by 1e\+03$' out || fail "the largest difference"
# In a network of this size rounding once or twice makes no difference.
grep -Eq '^quantization  all [0-9]+ tensors equal those of floating point' out ||
  fail "what quantization does to each layer"
grep -q 'equal the reference semantics byte for byte' out || fail "whose fault it is"
grep -q 'expected outputs come from different arithmetic' out || fail "what that means"
# Expected outputs of other arithmetic: said, and accepted in steps.
grep -q '^expected  *1 element differs from integer operators' out || fail "which arithmetic"
expect 2 "$int8" --data bad --check --exact --atol-steps 1
expect 2 "$int8" --data bad --atol-steps 1
# A type that no model has is refused as the model would be, not a failure.
mkdir text
printf '\010\001\020\010\062\001a' >text/input_0.pb  # dims 1, string, "a"
expect 4 "$int8" --data text
grep -q 'string' err || fail "the type is not named"
# Symbolic dimensions: from the data or the images, said in one line; else the
# names and a command line that gives them.
python3 - "$digits/digits_int8.onnx" <<'PY'
import sys
from tests.support.onnx_writer import varint
model = bytearray(open(sys.argv[1], "rb").read())
# ValueInfoProto of 'image': name, then its four dimensions as dim_value; the
# first becomes the dim_param "n", and that takes a byte more in each length.
def fields(b):
    i = 0
    while i < len(b):
        start, key = i, 0
        key, i = read(b, i)
        if key & 7 == 0: value, i = read(b, i)
        elif key & 7 == 2:
            n, i = read(b, i)
            value, i = b[i:i + n], i + n
        elif key & 7 == 5: value, i = b[i:i + 4], i + 4
        else: value, i = b[i:i + 8], i + 8
        yield key, value, b[start:i]
def read(b, i):
    n = shift = 0
    while True:
        n |= (b[i] & 127) << shift
        shift += 7
        i += 1
        if b[i - 1] < 128: return n, i
def edit(b, path, change):
    out = b""
    for key, value, whole in fields(b):
        if path and key >> 3 == path[0]:
            value = change(value) if len(path) == 1 else edit(value, path[1:], change)
            whole = varint(key) + varint(len(value)) + value
        out += whole
    return out
def first(shape):
    dims = list(fields(shape))
    return b"\x0a\x03\x12\x01n" + b"".join(whole for _, _, whole in dims[1:])
# graph = 7, input = 11, type = 2, tensor_type = 1, shape = 2
open("symbolic.onnx", "wb").write(edit(bytes(model), [7, 11, 2, 1, 2], first))
PY
expect 4 symbolic.onnx
grep -q "^heddle-run: error: symbolic.onnx: unsupported shape: the model leaves dimension 0 ('n') of input 'image' open" err ||
  fail "the names are missing"
grep -qx "heddle-run: for example: heddle-run symbolic.onnx --shape n=1" err || fail "no example"
expect 4 symbolic.onnx --bench 2 --outputs "a b"
grep -qx "heddle-run: for example: heddle-run symbolic.onnx --bench 2 --outputs 'a b' --shape n=1" err ||
  fail "the example lost options"
expect 0 symbolic.onnx --shape image=1,1,28,28
! grep -q 'from the data' err || fail "the user's shape is said to be the data's"
expect 0 symbolic.onnx --data good --check --exact
[[ $(grep -c "^heddle-run: from the data: 'n' = 1$" err) == 1 ]] || fail "not said what n is"
expect 0 symbolic.onnx --images "$digits/digits_test.u8" --dims 1,28,28 --limit 2
grep -q "^heddle-run: from the data: 'n' = 1$" err || fail "not said what n is for images"
expect 0 symbolic.onnx --data good --check=layers
# All tensors, without expected outputs; float networks, too.
for model in "$int8" "$digits"/digits_f*.onnx; do
  expect 0 "$model" --check=layers --json
  python3 - "$model" <<'PY' || fail "layers"
import json, sys
result = json.load(open("out"))
check = result["layer_check"]
assert check["compared"] >= 4 and check["differing"] == 0
if "digits_int8" in sys.argv[1]:
    check = result["quantization_check"]
    assert check["compared"] >= 4 and len(check.get("layers", [])) == check["differing"]
else:
    assert "quantization_check" not in result
PY
done
expect 1 h512.hpk --device sim:config=h512 --check=layers
expect 5 h512.hpk --device sim:config=h512 --data bad --check
grep -q 'run the ONNX model to compare the layers' err || fail "how to find the layer"
grep -q '^  largest     \[0,3\]: ' out || fail "the largest difference of a package"
# When commands ran: a file, and whose times they are. (tests/e2e/trace_test.cc looks into it.)
expect 0 "$int8" --trace t.json --bench 2
grep -q '^trace .*ESTIMATED: .* --core rtl counts, --cycles exact replays' out || fail "whose times they are"
grep -q '^  matrix  ' out || fail "no row of the matrix engine"
# More commands than rows: said.
grep -Eq '^ +of [0-9]+ that the card counts: the other [0-9]+ only control' out || fail "which commands have no row"
! grep -q 'LOST' out || fail "a trace that lost something"
python3 -c 'import json; assert len(json.load(open("t.json"))["traceEvents"]) > 10' || fail "t.json"
rm t.json
expect 1 "$int8" --trace t.json --device null
grep -q 'executes no commands, so it has no trace' err || fail "a trace of nothing"
[[ ! -e t.json ]] || fail "a file of a run that failed"
expect 1 "$int8" --trace none/t.json
grep -q 'none/t.json' err || fail "the file is not named"
expect 0 "$int8" --bench 20 --warmup 2
grep -q 'P99.9 -' out && grep -q 'relative MAD' out || fail "bench"
# So long instead of so often; whichever is first.
expect 0 "$int8" --duration 0.5 --json
python3 -c 'import json; b = json.load(open("out"))["bench"]; assert b["runs"] > 1 and b["warmup"] >= 1, b' || fail "--duration"
expect 0 "$int8" --duration 100 --bench 3 --warmup 1
grep -q '^bench  *3 runs after 1 to warm up' out || fail "--duration with --bench"
expect 0 "$int8" --duration 0.2 --in-flight 2
grep -q ', 2 in flight' out || fail "--duration in flight"
for option in "--warmup 3" "--in-flight 2" --all-shapes; do
  # shellcheck disable=SC2086  # words
  expect 2 "$int8" $option
  grep -q -- '--bench or --duration' err || fail "$option without a measurement"
done
for seconds in 0 -1 x nan inf; do
  expect 2 "$int8" --duration "$seconds"
  grep -q "'$seconds' is not a positive number of seconds" err || fail "--duration $seconds: no reason"
done
expect 0 "$int8" --duration 100 --bench 3
grep -q '^bench  *3 runs after 1 to warm up' out || fail "as many runs to warm up as 100 s allow"
expect 2 "$int8" --image "$images/rgb.png" --range 0:1
expect 4 text.onnx --batch 4
# The values of inputs.
expect 0 "$int8" --range 0:0 --outputs low --bench 1
expect 0 "$int8" --range 0:1 --outputs high --bench 1
! cmp -s low/output_0.pb high/output_0.pb || fail "--range changes nothing"
expect 0 "$int8" --range image=0:0 --outputs named --bench 1
cmp low/output_0.pb named/output_0.pb || fail "--range of one input"
rm -r low high named
expect 1 "$int8" --range none=0:1
grep -q "no input 'none'; it has 'image'" err || fail "the inputs are not named"
expect 2 "$int8" --range 1
grep -q 'such as -1:1' err || fail "no way out"
expect 1 "$int8" --batch 4
grep -q "the first dimension of no input open: 'image' is \[" err || fail "--batch of a fixed model"
expect 2 "$int8" --all-shapes --bench 1
grep -q '^heddle-run: error: .*heddle-compile --shape-set' err || fail "--all-shapes of a model"
expect 2 "$int8" --all-shapes --bench 1 --shape image=1
grep -q -- '--all-shapes excludes --shape' err || fail "--all-shapes in one shape"
# Several inferences in flight, on one card and on two.
expect 0 "$int8" --bench 20 --in-flight 3
grep -q '20 runs after 2 to warm up, 3 in flight' out || fail "--in-flight"
two=sim:cards=2,config=h256
for devices in "--device $two --devices all" "--device $two#0 --device $two#1"; do
  # shellcheck disable=SC2086  # words
  expect 0 "$int8" $devices --bench 20 --warmup 4 --json
  python3 - <<'PY' || fail "two cards: $devices"
import json
bench = json.load(open("out"))["bench"]
assert bench["runs"] == 20 and bench["in_flight"] == 4 and bench["lost"] == 0
assert [c["device"][-2:] for c in bench["cards"]] == ["#0", "#1"]
assert sum(c["runs"] for c in bench["cards"]) == 20 + 4
assert all(c["runs"] > 0 and c["present"] and c["lost"] == 0 for c in bench["cards"])
PY
done
expect 0 "$int8" --device "$two" --devices all --bench 5
grep -q '^  card        sim:.*#1: ' out || fail "cards of the report"
expect 1 "$int8" --device "$two#0" --device "$two#0" --bench 3
grep -q 'given twice' err || fail "a card that is given twice"
expect 2 "$int8" --device "$two" --devices all
expect 2 "$int8" --device "$two" --devices some --bench 3
expect 2 "$int8" --device "$two" --devices all --bench 3 --trace t.json
expect 2 "$int8" --bench 3 --in-flight 65
# Errors.
expect 2
expect 2 "$int8" "$images/rgb.png"
grep -q -- 'images follow --image' err || fail "no way out"
for count in 0 -3 x 1.5 99999999999; do
  expect 2 "$int8" --bench "$count"
  grep -q "'$count' is not a positive integer" err || fail "--bench $count: no reason"
done
expect 2 "$int8" --images "$digits/digits_test.u8" --dims 1,28,28 --limit -1
mkdir empty
"$compile" "$int8" -o fixed.hpk
for model in "$int8" symbolic.onnx fixed.hpk; do
  HEDDLE_DEVICE='' expect 1 "$model" --data empty --check
  grep -qx "heddle-run: error: no input_0.pb in 'empty'" err || fail "empty data set of $model"
done
mkdir -p zoo/test_data_set_0
cp good/*.pb zoo/test_data_set_0
for folder in zoo zoo/; do
  expect 1 symbolic.onnx --data "$folder" --check
  grep -qx "heddle-run: error: no input_0.pb in '$folder'; did you mean zoo/test_data_set_0?" err ||
    fail "the data set in the folder $folder"
done
cp good/input_0.pb two && mkdir data && cp two data/input_0.pb && cp two data/input_1.pb
expect 1 "$int8" --data data
grep -q "'data': the model has 1 input, the data set has 2" err || fail "a data set with too many inputs"
python3 - <<'PY'
# float[10]: of another model.
open("empty/input_0.pb", "wb").write(bytes([8, 10, 16, 1, 0x4a, 40]) + bytes(40))
PY
expect 1 "$int8" --data empty
grep -q "the data of 'empty' do not fit the model: " err || fail "data of another model"
expect 2 "$int8" --shape pixels=1,1,28,28
grep -q -- "error: --shape pixels=1,1,28,28: .* its inputs are 'image'$" err || fail "the inputs are not named"
expect 2 symbolic.onnx --shape m=1
grep -q "; its inputs are 'image'; its named dimensions are 'n'$" err || fail "the dimensions are not named"
expect 2 symbolic.onnx --shape n=1,2
expect 4 symbolic.onnx --shape image=1,1,28,27
grep -qF "'image' is declared with shape [n,1,28,28], but has [1,1,28,27]" err || fail "a dimension's name"
expect 2 "$int8" --check
expect 2 "$int8" --shape x
expect 1 none.onnx
expect 1 "$int8" --data none
head -c 500 "$int8" >bad.onnx
expect 4 bad.onnx
expect 3 "$int8" --device none
expect 3 "$int8" --device hosted:/none
expect 2 "$int8" --device gpu
expect 0 --version
expect 0 --help
head -n 1 out | grep -q '^Example:' || fail "help does not begin with an example"
