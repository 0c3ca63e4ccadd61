#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heddle-compile's command line: exit codes, files left behind, report keys.
set -euo pipefail
compile=$PWD/$1
model=$PWD/tools/demo/digits/digits_int8.onnx
export PYTHONPATH=$PWD PYTHONDONTWRITEBYTECODE=1  # of tests/support/onnx_writer.py
cd "$(mktemp -d "$TEST_TMPDIR/XXXXXX")"

fail() { echo "FAILED: $*" >&2; exit 1; }
# expect CODE ARGS...
expect() {
  local want=$1 have=0
  shift
  "$compile" "$@" >out 2>err || have=$?
  [[ $have == "$want" ]] || fail "exit code $have, expected $want: $*: $(cat err)"
}

expect 0 "$model" -o a.hpk
expect 0 "$model" -o b.hpk
cmp a.hpk b.hpk || fail "two compilations differ"
expect 0 "$model" -o c.hpk --config h512
! cmp -s a.hpk c.hpk || fail "the configuration has no effect"
for goal in speed thorough traffic compile-time; do
  expect 0 "$model" -o "$goal.hpk" --goal "$goal"
done
cmp a.hpk speed.hpk || fail "speed is not the default"
! cmp -s compile-time.hpk speed.hpk || fail "the goal has no effect"
expect 2 "$model" --goal best
expect 2 a.hpk
grep -q 'heddle-run runs it' err || fail "no way out for a package"
# What a file is, it says itself, not its name.
cp a.hpk named.onnx && cp "$model" named.hpk
expect 2 named.onnx
grep -q "'named.onnx' is already compiled" err || fail "a package is no model: $(cat err)"
expect 0 named.hpk
# Nothing is written over the model, by whatever name; devices stay devices.
ln -s named.hpk link.onnx
for options in "-o named.hpk" "-o ./named.hpk" "-o link.onnx" "--report --report-file named.hpk"; do
  # shellcheck disable=SC2086
  expect 2 named.hpk $options
  grep -q 'is the model itself' err || fail "$options: $(cat err)"
done
cmp named.hpk "$model" || fail "the model is overwritten"
expect 2 "$model" -o x.hpk --report --report-file x.hpk
expect 0 "$model" -o /dev/null
[[ -c /dev/null ]] || fail "/dev/null is replaced"
expect 1 "$model" -o /dev/full
grep -q "cannot write '/dev/full': No space left on device" err || fail "a full disk: $(cat err)"
expect 0 "$model" -o -
cmp out a.hpk || fail "-o - does not write to stdout"
expect 0 "$model" --report --report-file -
grep -q '^MACs  ' out && [[ ! -s err ]] || fail "--report-file - does not write to stdout"
rm named.onnx named.hpk link.onnx
for file in "$model" a.hpk; do
  expect 0 "$file" --list
  grep -q "^input  *'image' float\[1,1,28,28\]$" out || fail "no input of $file"
  grep -q "^output  *'logits' float\[1,10\]$" out || fail "no output of $file"
  expect 0 "$file" --list=json
  python3 -c 'import json; r = json.load(open("out")); assert r["schema"] == "heddle-list/1" and r["inputs"]'
done
head -c 1000 a.hpk >cut.hpk
expect 1 cut.hpk --list
grep -q "'cut.hpk': damaged package" err || fail "the file is not named: $(cat err)"
expect 0 a.hpk --list
for line in "cycles\* +[0-9]+" "job\* +[0-9]+ with its copies"; do
  grep -Eq "^$line, 0\.0[0-9]+ ms, [0-9]+ per second at 1000 MHz$" out || fail "no time of a package: $(cat out)"
done
expect 2 "$model" --list -o b.hpk
expect 2 "$model" --list=xml
# The report of a package, as far as it goes, is that of its model.
expect 1 cut.hpk --report
grep -q "'cut.hpk': damaged package" err || fail "the file is not named: $(cat err)"
expect 0 a.hpk --report
[[ ! -s err ]] && grep -q 'are not in a package' out || fail "no word on what is left out: $(cat out err)"
! grep -Eq '^layer .*operator|SRAM peak' out || fail "what a package does not hold: $(cat out)"
grep -Ev '^(layer |SRAM |[^ ]+ +(matrix|vector|dma|none) )|not in a package' out >of_package || true
expect 0 "$model" --report
diff <(grep -Fxf of_package out) of_package || fail "the reports of package and model differ"
expect 0 a.hpk --report=json
mv out package.json
expect 0 "$model" --report=json
python3 - <<'PY' || fail "JSON of a package"
import json
p, m = json.load(open("package.json")), json.load(open("out"))
assert p.pop("not_in_package") and 0 < p.pop("sram_touched_bytes") <= m["sram_peak_bytes"]
assert "wait_cycles" not in p["weight_plan"]
for key, value in p.items():
    if key == "layers":
        assert [{k: l[k] for k in value[0]} for l in m[key]] == value
        assert "shape" not in value[0] and "sources" not in value[0]
    elif key == "notes":
        assert value == []
    elif key == "weight_plan":
        assert all(m[key][k] == value[k] for k in value)
    else:
        assert m[key] == value, key
assert {"float_groups", "buffers", "sram_peak_bytes"} == set(m) - set(p), set(m) - set(p)
PY
expect 0 a.hpk --report=html
grep -q 'wrote report to a.html' err && grep -q 'not_in_package' a.html || fail "no page: $(cat err)"
expect 0 a.hpk --report=html --report-file p.html
cmp a.html p.html || fail "--report-file of a package"
for options in "-o b.hpk" "--config h512" "--taps" "--shape-set default" "--goal traffic"; do
  # shellcheck disable=SC2086
  expect 2 a.hpk --report $options
  grep -q "is for models: heddle-compile --report" err || fail "$options: $(cat err)"
done
expect 2 a.hpk --report --report-file a.hpk
rm cut.hpk a.html p.html package.json of_package
expect 0 "$model"
grep -q -- '-o FILE writes the package' err || fail "no word on what was done"
expect 0 --report "$model"
grep -q "^input  *'image' float\[1,1,28,28\]$" out || fail "no input in the report"
grep -q "^output  *'logits' float\[1,10\]$" out || fail "no output in the report"
grep -q '^MACs  ' out || fail "no MACs in the report"
grep -Eq '^cycles\*.*, 0\.00[0-9]{4} ms' out || fail "microseconds are rounded away: $(grep '^cycles' out)"
expect 0 --report=json "$model"
python3 - <<'PY' || fail "JSON report"
import json
r = json.load(open("out"))
assert r["schema"] == "heddle-compile/1" and r["config"] == "h256"
assert r["macs"] > 0 and r["layers"] and r["inputs"][0]["shape"] == [1, 1, 28, 28]
PY
rm -f ./*.hpk
# The HTML report: beside the package, named by the model without one, or as told.
expect 0 "$model" -o d.v1.hpk --report=html
[[ -s d.v1.html && ! -s out ]] || fail "no d.v1.html, or something on stdout"
grep -q 'wrote report to d.v1.html' err || fail "the file's name is not said"
expect 0 --report=html "$model"
cmp -s digits_int8.html d.v1.html || fail "the report depends on the output's name"
grep -q 'are estimates' digits_int8.html || fail "estimates without a word of warning"
expect 0 "$model" --report=json --report-file r.json
python3 -c 'import json; r = json.load(open("r.json")); assert r["buffers"] and r["limits"]["distance"] >= 1'
expect 1 "$model" --report=html --report-file none/r.html
rm -f ./*.hpk ./*.html r.json
# What became of a node.
node=$("$compile" "$model" --report=json | python3 -c 'import json, sys; print(json.load(sys.stdin)["layers"][0]["sources"][0])')
expect 0 "$model" --explain "$node"
grep -q "'$node'" out && grep -q 'commands  ' out || fail "--explain says too little: $(cat out)"
expect 1 "$model" --explain "${node}x"
grep -q "similar names: '$node'" err || fail "no suggestion: $(cat err)"
expect 2 "$model" --explain x -o a.hpk
# Passes.
expect 0 --print-passes
head -n 1 out | grep -q '^import  *parse ONNX' || fail "no table of passes: $(cat out)"
passes=$(awk '{print $1}' out)
for pass in $passes; do
  expect 0 "$model" --stop-after "$pass"
  [[ -s out ]] || fail "no state after $pass"
  mv out "after.$pass"
done
head -n 1 after.infer-shapes | grep -q '^graph .*(image:float\[1,1,28,28\]) ->' || fail "no graph"
grep -q '^op 0: .* on ' after.lower && grep -q '^  needs ' after.lower || fail "no operations"
grep -q '^  box ' after.plan-memory && grep -q ': SRAM 0x' after.plan-memory || fail "no plan"
! grep -q signal0 after.emit && grep -q signal0 after.synchronise || fail "no commands"
tail -n 1 after.synchronise | grep -qx end || fail "the stream does not end"
expect 0 "$model" --dump-dir dump -o a.hpk
[[ $(ls dump | wc -l) == $((2 * $(wc -w <<<"$passes") - 1)) ]] || fail "files: $(ls dump)"
cmp "after.emit" dump/*-emit.after.txt && cmp dump/*-emit.after.txt dump/*-synchronise.before.txt ||
  fail "states differ"
expect 0 "$model" --dump-dir dump --stop-after import
cmp out after.import || fail "no state on stdout"
expect 2 "$model" --stop-after fold-pat
grep -q "the nearest first: fold-pad, " err || fail "no list of passes: $(cat err)"
expect 2 "$model" --stop-after lower -o a.hpk
expect 1 "$model" --dump-dir none/dump
grep -q "none/dump" err || fail "no word on the folder: $(cat err)"
expect 4 "$model" --dump-dir small --sram 1KB
[[ -s $(echo small/*-lower.after.txt) ]] || fail "no states of a refused model: $(ls small)"
rm -rf ./*.hpk after.* dump small
# Operators.
expect 0 --supported-ops
grep -q '^| Conv | ai.onnx | yes |' out || fail "no table of operators"
expect 0 --supported-ops=json
python3 - <<'PY' || fail "JSON of operators"
import json
r = json.load(open("out"))
assert r["schema"] == "heddle-supported-ops/1"
conv = [o for o in r["operators"] if o["op"] == "Conv"]
assert conv and conv[0]["card"] and "float" in conv[0]["types"] and conv[0]["limits"]
PY
expect 2
expect 2 --report
expect 2 "$model" --report-file x
expect 2 "$model" --config h1
expect 2 "$model" --shape image
expect 2 "$model" --report=xml
expect 2 "$model" --report html
grep -q -- '--report=html' err || fail "no way out"
# A model whose weights are in a file beside it, which must not be left.
python3 -c 'from tests.support import onnx_writer; onnx_writer.write_apart("apart")'
expect 0 apart/m.onnx
(cd apart && expect 0 m.onnx)
truncate -s 11 apart/w.bin
expect 4 apart/m.onnx
grep -q "that file has 11 bytes" err || fail "no reason: $(cat err)"
mv apart/w.bin . && ln -s ../w.bin apart/w.bin
expect 4 apart/m.onnx
grep -q "link out of the model's folder" err || fail "no reason: $(cat err)"
# An operator that there is not: named, with what lists the others wherever the tools are.
python3 - <<'PY'
from tests.support.onnx_writer import text, value, write_model
node = text(1, text(1, "x") + text(2, "y") + text(4, "NoSuchOperator"))
write_model("unknown.onnx", node + text(2, "g") + text(11, value("x", 1, [6])) + text(12, value("y", 1, [6])))
PY
expect 4 unknown.onnx
grep -q 'NoSuchOperator at opset 13 is not supported; heddle-compile --supported-ops lists' err ||
  fail "not said what is supported: $(cat err)"
# What the card lacks: float to double, on the host.
python3 - <<'PY'
from tests.support.onnx_writer import number, text, value, write_model
to = text(5, text(1, "to") + number(3, 11) + number(20, 2))
nodes = text(1, text(1, "x") + text(2, "a") + text(3, "relu") + text(4, "Relu")) + \
    text(1, text(1, "a") + text(2, "y") + text(3, "wide") + text(4, "Cast") + to)
graph = nodes + text(2, "g") + text(11, value("x", 1, [6])) + text(12, value("y", 11, [6]))
write_model("wide.onnx", graph)
PY
expect 4 wide.onnx --no-host
grep -q 'type double' err || fail "--no-host does not say why: $(cat err)"
expect 0 wide.onnx -o wide.hpk --report --place=card
grep -q '1 node of the model runs on the host' err || fail "no word of the host: $(cat err)"
grep -Eq '^2 +host +1 ' out && grep -q '^operations .*host 1$' out ||
  fail "no segments: $(cat out)"
expect 0 wide.hpk --report
grep -Eq '^2 +host +[0-9]+ +[0-9]+ +[0-9]' out && grep -q "^host: Cast 'wide'" out ||
  fail "no segments of a package: $(cat out)"
expect 0 wide.hpk --report=json
python3 -c 'import json; r = json.load(open("out")); assert [s["on"] for s in r["segments"]] == ["card", "host"], r["segments"]
assert r["host_operators"] == [{"node": "wide", "op": "Cast"}] and r["host_profile"] == "default", r["host_operators"]'
expect 0 wide.onnx --report=json --place=card
python3 - <<'PY' || fail "JSON of segments"
import json
r = json.load(open("out"))
assert [s["on"] for s in r["segments"]] == ["card", "host"], r["segments"]
assert r["host_operators"][0]["node"] == "wide"
assert r["host_profile"] == "default"
card, host = r["segments"]
assert card["crossing_us"] > 0 and card["estimated_us"] > 0 and host["estimated_us"] > 0
assert host["crossing_us"] == 0
PY
# By cost six floats are not worth a job; unless that is free.
expect 0 wide.onnx --report=json
python3 - <<'PY' || fail "segments by cost"
import json
r = json.load(open("out"))
assert [s["on"] for s in r["segments"]] == ["host"], r["segments"]
assert [n["by_choice"] for n in r["host_operators"]] == [True, False], r["host_operators"]
PY
cat >free.profile <<'END'
heddle-host-profile 1
name free
node_ns 1000  # slow nodes, jobs that cost nothing
byte_ns 1
element_ns 1
instruction_ns 1
mac_float_ns 1
mac_int_ns 1
row_ns 1
job_us 0
transfer_byte_ns 0
threads 1
END
expect 0 wide.onnx --report --host-profile free.profile
grep -q "host profile 'free'" out && grep -Eq '^1 +card ' out || fail "--host-profile: $(cat out)"
sed -i /row_ns/d free.profile
expect 2 wide.onnx --host-profile free.profile
grep -q "free.profile: .*'row_ns'" err || fail "no name of what is missing: $(cat err)"
expect 0 wide.onnx --explain wide
grep -q 'It runs on the host' out || fail "--explain: $(cat out)"
expect 4 wide.onnx --taps
rm wide.hpk
# A dimension without a value stops, with its name and a command line.
python3 - <<'PY'
from tests.support.onnx_writer import text, value, write_model
node = text(1, "x") + text(2, "y") + text(3, "relu") + text(4, "Relu")
graph = text(1, node) + text(2, "g") + text(11, value("x", 1, ["batch", 3, "time"])) + \
    text(12, value("y", 1, ["batch", 3, "time"]))
write_model("open.onnx", graph)
PY
for how in "-o a.hpk" --report "--explain relu"; do
  # shellcheck disable=SC2086
  expect 4 open.onnx $how
  grep -q "leaves dimension 0 ('batch') of input 'x', dimension 2 ('time') of input 'x' open" err ||
    fail "$how: the names are missing: $(cat err)"
  grep -qxe "heddle-compile: for example: heddle-compile open.onnx $how --shape batch=1 --shape time=128" err ||
    fail "$how: no example: $(cat err)"
done
expect 4 open.onnx -o "a b.hpk"
example=$(sed -n 's/^heddle-compile: for example: heddle-compile //p' err)
eval "expect 0 $example"
rm "a b.hpk" || fail "the example lost -o: $example"
for how in "-o a.hpk" "--explain relu" "--shape-set batch=1,2"; do
  # shellcheck disable=SC2086
  expect 2 open.onnx $how --shape y=1,3,128
  grep -q "; its inputs are 'x'; its named dimensions are 'batch', 'time'$" err || fail "$how: no names: $(cat err)"
done
expect 0 open.onnx --shape x=1,3,128 --report
grep -q "^input  *'x' float\[1,3,128\]$" out || fail "the shape is not used"
expect 0 open.onnx --shape batch=1 --shape time=128 --report
grep -q "^input  *'x' float\[1,3,128\]$" out || fail "the dimensions are not used"
expect 1 none.onnx -o a.hpk
head -c 100 "$model" >bad.onnx
expect 4 bad.onnx -o a.hpk
grep -q '^heddle-compile: error: bad.onnx: .*the file has 100 bytes: download it again$' err ||
  fail "not said what to do: $(cat err)"
grep -q '^heddle-compile: error: ' err || fail "no message"
expect 1 "$model" -o none/a.hpk
expect 1 "$model" -o a.hpk --device-memory 4KB
[[ -z "$(ls ./*.hpk* 2>/dev/null)" ]] || fail "left behind: $(ls)"
expect 0 --version
expect 0 --help
head -n 1 out | grep -q '^Example:' || fail "help does not begin with an example"
